"""The reverse proxy of the page on operations, as it stands there: a study through nginx."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import httpx
import pytest

from consilience.service.config import load_server
from consilience.service.server.metrics import HELP
from consilience.service.tls import client_context, self_signed
from tests.code_blocks import ROOT, blocks
from tests.programs import missing
from tests.system.processes import Agent, declaration, enrol, free_port, until
from tests.system.test_equality import frames_of
from tests.system.test_relay import Behind

PAGE = "docs/operations.md"
HERE = "tests/system/test_nginx.py"
AROUND = """
user root;
daemon off;
pid nginx.pid;
error_log stderr;
events {}
http {
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
"""


UNPACKED = ROOT / "build" / "nginx" / "usr" / "sbin" / "nginx"
"""Where ``make nginx`` puts it on a machine that has none: nothing is installed, and nothing started."""


def nginx() -> str:
    found = shutil.which("nginx") or (str(UNPACKED) if UNPACKED.exists() else None)
    return found or missing("a study through a reverse proxy needs nginx; `make nginx` unpacks it where Debian's packages can be had")


def of_page(language: str) -> str:
    (text,) = [block.text for block in blocks() if block.page == PAGE and block.runner == HERE and block.language == language]
    return text


def test_the_servers_settings_beside_it_are_some(tmp_path: Path) -> None:
    (tmp_path / "server.toml").write_text(of_page("toml"))
    found = load_server(tmp_path / "server.toml", {})
    assert (found.behind_proxy, found.public_url, found.proxy_cert) == (True, "https://study.example", "/etc/ssl/study.example.crt")
    assert found.heartbeat_seconds < float(re.search(r"proxy_read_timeout (\d+)s", of_page("nginx"))[1])  # type: ignore[index]
    assert f"server_name {found.public_url.removeprefix('https://')};" in of_page("nginx")


def test_the_page_has_every_number_that_is_counted() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert [name for name in HELP if f"`consilience_{name}_total`" not in text] == []
    said = set(re.findall(r"`consilience_(\w+)_total`", text))
    assert said == set(HELP)


def _is_up(seen: httpx.Client) -> bool:
    """Whether the proxy listens already, and the server behind it."""
    try:
        return seen.get("/health").status_code == 200
    except httpx.TransportError:
        return False


@pytest.mark.slow
def test_a_study_through_nginx(folder: Path, agents: list[Agent]) -> None:
    program, port = nginx(), free_port()
    certificate, key = self_signed(["127.0.0.1"])
    (folder / "proxy.crt").write_text(certificate)
    (folder / "proxy.key").write_text(key)
    told = tomllib.loads(of_page("toml")) | {"public_url": f"https://127.0.0.1:{port}", "proxy_cert": str(folder / "proxy.crt")}
    server = Behind(folder, **{name: str(value) for name, value in told.items() if name != "behind_proxy"})
    words = of_page("nginx").replace("443 ssl", f"{port} ssl").replace("study.example;", "127.0.0.1;").replace("8443", str(server.port))
    words = words.replace("/etc/ssl/study.example", str(folder / "proxy"))
    (folder / "nginx.conf").write_text(f"{AROUND}{words}}}\n")
    with (folder / "nginx.log").open("wb") as log:
        proxy = subprocess.Popen([program, "-p", str(folder), "-c", "nginx.conf"], stderr=log)
    try:
        server.start()
        with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=client_context(certificate), trust_env=False) as seen:
            assert until(lambda: _is_up(seen))
            assert seen.get("/login").status_code == 200, "under the name that the proxy passes on"
        frames = frames_of(2)
        study, joined = enrol(server, folder / "sites", frames, declaration(frames))
        agents += [agent.start() for agent in joined]
        until(lambda: all(site["connected"] for site in server.do("GET", f"/studies/{study}")["sites"]))
        server.do("POST", f"/studies/{study}/start")
        assert server.wait(study, 120.0) == "finished", (folder / "nginx.log").read_text()
    finally:
        proxy.terminate()
        proxy.wait(10)
        server.kill()
