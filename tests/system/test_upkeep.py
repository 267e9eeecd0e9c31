"""The commands of the page on operations, as they stand there, on a server of one's own: backup, restore, another certificate."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from consilience.service.tls import life_of
from tests.system.processes import PROGRAM, Server, declaration, environment
from tests.system.test_equality import frames_of

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs" / "operations.md"


def command(section: str) -> str:
    """What is typed in a section: one line."""
    chapter = re.search(rf"^##+ {section}$(.*?)^##", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert chapter is not None, section
    (line,) = [line for block in re.findall(r"^```sh\n(.*?)^```$", chapter[1], re.MULTILINE | re.DOTALL) for line in block.splitlines()]
    return line.partition("#")[0].strip()


def typed(command: str, server: Server) -> str:
    words = command.split()
    assert words[0] == "consilience"
    settings = environment(CONSILIENCE_SERVER_HOME=str(server.home))
    done = subprocess.run([*PROGRAM, *words[1:]], env=settings, cwd=server.home.parent, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_commands_of_the_documentation_do_what_it_says(folder: Path) -> None:
    backup, restore, renew = command("Backup"), command("Restore"), command("Certificates that end")
    server = Server(folder)
    try:
        server.start()
        kept = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
        assert "identity.pem" in typed(backup, server)
        later = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
        fingerprint = server.http.get("/health").json()["fingerprint"]
        server.stop()
        (server.home / "identity.pem").unlink()
        (server.home / "studies.sqlite").unlink()
        typed(restore, server)
        before = life_of((server.home / "tls.crt").read_text())
        assert "Start the server again" in typed(renew, server)
        assert life_of((server.home / "tls.crt").read_text()) > before
        server.start()
        assert server.http.get("/health").json()["fingerprint"] == fingerprint
        assert server.do("GET", f"/studies/{kept}")["id"] == kept
        assert server.call("GET", f"/studies/{later}").status_code == 404
    finally:
        server.kill()
