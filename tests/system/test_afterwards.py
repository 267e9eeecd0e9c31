"""Before and after a study, with real processes: who withdraws, what is on record, its archive, its end, accounts, an upgrade."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from consilience.service.store.migrations import MIGRATIONS
from tests.service.store.test_upgrades import DUMPS, STUDY, laid, version_of
from tests.system.processes import OWNER, PASSWORD, PROGRAM, Agent, Server, declaration, enrol, environment, until
from tests.system.test_equality import connected
from tests.system.test_lives import as_owner, frames_of, owner, program

pytestmark = pytest.mark.slow
NEW = "another horse, another battery"


def finished(server: Server, study: str, agents: list[Agent]) -> None:
    connected(server, study, len(agents))
    server.do("POST", f"/studies/{study}/start")
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0] * len(agents)


def typed(said: str, *words: str, **around: str) -> subprocess.CompletedProcess[str]:
    """``consilience`` with these words, to which somebody says something."""
    return subprocess.run([*PROGRAM, *words], input=said, env=environment(**around), capture_output=True, text=True, check=False)


def test_a_site_withdraws_before_the_study_and_another_after_it(server: Server, folder: Path, agents: list[Agent]) -> None:
    study, started = enrol(server, folder, frames_of(3), declaration(frames_of(3)))
    agents += [agent.start() for agent in started]
    connected(server, study, 3)
    gone = program("client", "withdraw", "--home", str(started[2].home), "--reason", "not approved")
    assert gone.returncode == 0, gone.stderr
    assert "Nothing of this site was summed. The study's owner decides whether to go on without" in " ".join(gone.stderr.split())
    assert started[2].wait(60) != 0
    (told,) = [body for _, kind, body in server.events(study) if kind == "withdrew"]
    assert (told["site"], told["reason"], told["answers"]) == ("site2", "not approved", 0)
    waits = until(lambda: [body["words"] for _, kind, body in server.events(study) if kind == "waiting" and "withdrawn" in body["words"]])
    assert "site2 (it has withdrawn)" in waits[-1]
    assert owner(server, "without", study, "site2").returncode == 0
    finished(server, study, started[:2])
    assert server.result(study)["study"]["sites"] == ["site0", "site1"]
    before = server.result(study)

    late = program("client", "withdraw", "--home", str(started[1].home), "--reason", "<b>a mistake</b>")
    assert late.returncode == 0, late.stderr
    assert "are part of sums with those of the others, and cannot be taken out of them" in " ".join(late.stderr.split())
    fetched = owner(server, "result", study, "--out", str(folder / "out"))
    assert fetched.returncode == 0, fetched.stderr
    result = json.loads((folder / "out" / "result.json").read_text())
    (words,) = result["study"].pop("withdrawn")
    assert words.startswith("site1 withdrew on 20")
    assert result == before, "what was summed stays"
    page = (folder / "out" / "report.html").read_text()
    assert "&lt;b&gt;a mistake&lt;/b&gt;. What it had contributed before is part of the sums behind this result" in page
    assert "<b>a mistake" not in page


def test_a_study_leaves_a_record_an_archive_and_nothing(server: Server, folder: Path, agents: list[Agent]) -> None:
    study, started = enrol(server, folder, frames_of(2), declaration(frames_of(2)) | {"name": "a name like no other"})
    agents += [agent.start() for agent in started]
    finished(server, study, started)
    tests = len(server.result(study)["tests"])
    assert owner(server, "tests", study).stdout.startswith(f"{tests} test")
    assert "finished" in [event["kind"] for event in json.loads(owner(server, "events", study, "--json").stdout)]
    ledgers = []
    for agent in started:
        told = program("client", "ledger", "--home", str(agent.home), "--summary")
        assert " left this site; 0 refused" in told.stdout.splitlines()[0]
        ledgers.append(folder / f"{agent.name}.jsonl")
        ledgers[-1].write_text(program("client", "ledger", "--home", str(agent.home), "--json").stdout)
    file = folder / "study.zip"
    assert owner(server, "export", study, "--out", str(file)).returncode == 0
    whole = program("server", "study", "verify", str(file), *map(str, ledgers))
    assert whole.returncode == 0, whole.stdout
    lines = ledgers[0].read_text().splitlines()
    ledgers[0].write_text("\n".join(lines[:-1]) + "\n")
    assert program("server", "study", "verify", str(file), *map(str, ledgers)).returncode == 3, "a line less than the server has heard"

    done = owner(server, "delete", study, "--yes")
    assert (done.returncode, done.stdout) == (0, f"deleted {study}\n"), done.stderr
    assert done.stderr.count("What stays:") == 2
    assert owner(server, "show", study).returncode == 2
    files = [path for path in server.home.iterdir() if path.is_file()]
    assert files
    assert [path.name for path in files if b"a name like no other" in path.read_bytes()] == []
    assert all((agent.home / "studies" / study / "result.json").exists() for agent in started), "which is what was said to stay"


def test_accounts_are_made_by_links_lost_passwords_are_set_anew_and_observers_only_look(server: Server) -> None:
    home, here = ("--home", str(server.home)), {"CONSILIENCE_SERVER_PUBLIC_URL": server.url, "CONSILIENCE_SERVER_CA": server.ca}

    def logged_in(name: str, password: str) -> dict[str, str]:
        told = server.http.post("/api/v1/login", json={"name": name, "password": password}).raise_for_status().json()
        return {**here, "CONSILIENCE_SERVER_TOKEN": told["token"]}

    def operator(*words: str) -> str:
        found = program("server", *words, *home, **here)
        assert found.returncode == 0, found.stderr
        return found.stdout.strip()

    link = operator("invite-link", "--role", "owner")
    assert typed(f"{link}\n{PASSWORD}\n", "server", "account", "accept", "grace", "--stdin", **here).stdout.strip() == "grace (owner)"
    assert typed(f"{link}\n{PASSWORD}\n", "server", "account", "accept", "eve", "--stdin", **here).returncode == 2, "it works once"
    grace = logged_in("grace", PASSWORD)
    link = operator("reset-link", "grace")
    assert typed(f"{link}\n{NEW}\n", "server", "account", "reset", "--stdin", **here).returncode == 0
    assert program("server", "account", "show", **grace).returncode == 2, "who was logged in with the old password is not any more"
    grace = logged_in("grace", NEW)
    assert len(json.loads(program("server", "account", "sessions", "--json", **grace).stdout)) == 1

    assert typed(f"{PASSWORD}\n", "server", "observer", "olga", "--password-stdin", *home).returncode == 0
    study = server.do("POST", "/studies", declaration(frames_of(2)))["id"]
    olga = logged_in("olga", PASSWORD)
    assert program("server", "study", "show", study, **olga).returncode == 2, "nobody has shared it with her"
    assert owner(server, "share", study, "olga", "--observer").returncode == 0
    assert json.loads(program("server", "study", "show", study, **olga).stdout)["id"] == study
    for words in (["open", study], ["invite", study, "one"], ["delete", study, "--yes"], ["cancel", study]):
        assert program("server", "study", *words, **olga).returncode == 2
    assert server.state(study)[0] == "draft"
    assert operator("end-sessions", "olga") == "1"
    assert program("server", "study", "show", study, **olga).returncode == 2
    assert program("server", "account", "show", **as_owner(server)).stdout.strip() == f"{OWNER} (owner)"


@pytest.mark.parametrize("dump", [DUMPS[0], DUMPS[-1]], ids=lambda dump: dump.stem)
def test_a_server_of_before_goes_on_with_this_program(folder: Path, dump: Path) -> None:
    """Its database as it was left by an earlier version; the others are tried without a process."""
    server, version = Server(folder), int(dump.stem.partition("-")[2])
    (server.home / "studies.sqlite").unlink()
    laid(dump, server.home)
    made = typed(f"{PASSWORD}\n", "server", "owner-password", "ada", "--password-stdin", "--home", str(server.home))
    assert made.returncode == 0, made.stderr
    kept = server.home / f"studies.sqlite.version-{version}"
    assert version_of(kept) == version, "a copy of what was there before"
    try:
        server.start()
        assert version_of(server.home / "studies.sqlite") == len(MIGRATIONS)
        assert server.do("GET", f"/studies/{STUDY}")["state"] == "failed"
        server.stop()
        shutil.copy(kept, server.home / "studies.sqlite")  # the way back, and forth once more
        server.start()
    finally:
        server.kill()
