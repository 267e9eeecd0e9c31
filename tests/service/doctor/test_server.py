"""A real server, looked at along real roads: open, proxied, refused, inspected, without WebSockets, and with another time."""

from __future__ import annotations

import re
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from consilience.secagg import Identity
from consilience.service.doctor.server import Known, look_at_server
from consilience.service.doctor.sign import Sign, Standing, in_the_way
from consilience.service.errors import ConfigurationError
from consilience.service.invitation import Invitation, read_invitation
from consilience.service.tls import self_signed
from tests.service.doctor.middle import answering, inspecting, listening
from tests.system.processes import Server, declaration, free_port
from tests.system.proxy import delaying
from tests.system.test_relay import FRAME

pytestmark = pytest.mark.slow
FINE = ["proxy", "connection", "certificate", "server", "clock", "websocket"]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def invitation(server: Server) -> Invitation:
    study = server.do("POST", "/studies", declaration({"site": FRAME, "other": FRAME}))["id"]
    return read_invitation(server.do("POST", f"/studies/{study}/invitations", {"site": "site"})["invitation"])


def known(invitation: Invitation, port: int = 0, certificate: str | None = None) -> Known:
    url = f"https://127.0.0.1:{port}" if port else invitation.url
    return Known(url, invitation.server, invitation.certificate if certificate is None else certificate, invitation.study)


def sign_of(signs: list[Sign], about: str) -> Sign:
    return next(sign for sign in signs if sign.about == about)


def only_obstacle(signs: list[Sign]) -> Sign:
    (found,) = in_the_way(signs)
    assert found is signs[-1] or found.about in ("clock", "server")
    assert found.ask.endswith((".", "?"))
    return found


def test_nothing_stands_in_the_way_of_a_server_that_is_reached(invitation: Invitation) -> None:
    signs = look_at_server(known(invitation))
    assert [sign.about for sign in signs] == FINE
    assert {sign.standing for sign in signs} == {Standing.GOOD}
    assert "nobody in between opens TLS" in sign_of(signs, "certificate").words


def test_an_invitation_is_not_used_up_and_no_site_is_refused(server: Server, invitation: Invitation) -> None:
    def refused() -> str:
        return next(line for line in server.http.get("/metrics").text.splitlines() if "sites_refused" in line and "#" not in line)

    study = f"/studies/{invitation.study}"
    before = refused()
    look_at_server(known(invitation))
    assert refused() == before
    assert [site["name"] for site in server.do("GET", study)["sites"]] == []


def test_without_an_invitation_a_certificate_of_its_own_making_is_not_trusted_unless_it_is_named(server: Server) -> None:
    found = only_obstacle(look_at_server(Known(server.url)))
    assert found.about == "certificate"
    assert "--ca" in found.words
    assert "TLS inspection" in found.ask
    signs = look_at_server(Known(server.url), server.ca)
    assert in_the_way(signs) == []
    assert "an invitation tells for certain" in sign_of(signs, "certificate").words


def test_the_road_through_a_proxy_is_looked_at(invitation: Invitation, monkeypatch: pytest.MonkeyPatch) -> None:
    with delaying(None, 0.0) as proxy:
        monkeypatch.setenv("https_proxy", f"http://ada:secret@127.0.0.1:{proxy.port}")
        signs = look_at_server(known(invitation))
        assert [sign.about for sign in signs] == FINE
        assert in_the_way(signs) == []
        assert len(proxy.asked) == 5
        assert f"127.0.0.1:{proxy.port} lets" in signs[0].words
        assert "secret" not in str(signs)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert "None is set" in look_at_server(known(invitation))[0].words


@pytest.mark.parametrize(
    ("head", "words"),
    [
        (b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n", "asks for a login"),
        (b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", "does not let this machine through (status 403)"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "not HTTP"),
        (b"", "ended in its answer"),
    ],
)
def test_a_proxy_that_does_not_let_through(invitation: Invitation, monkeypatch: pytest.MonkeyPatch, head: bytes, words: str) -> None:
    with listening(answering(head)) as port:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{port}")
        found = only_obstacle(look_at_server(known(invitation)))
    assert found.about == "proxy"
    assert words in found.words
    assert f"no_proxy={'127.0.0.1'}" in found.ask


def test_a_proxy_that_no_site_can_go_through(invitation: Invitation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "socks5://127.0.0.1:1080")
    assert "none that a site can go through" in only_obstacle(look_at_server(known(invitation))).words


def test_nobody_there_no_such_name_and_no_address() -> None:
    found = only_obstacle(look_at_server(Known(f"https://127.0.0.1:{free_port()}")))
    assert (found.about, "open TCP connections to 127.0.0.1" in found.ask) == ("connection", True)
    found = only_obstacle(look_at_server(Known("https://study.invalid")))  # which no name server knows (RFC 6761)
    assert (found.about, "name server" in found.ask) == ("connection", True)
    with pytest.raises(ConfigurationError, match="https://HOST"):
        look_at_server(Known("study.example"))


def test_a_box_that_opens_tls_is_found_whomever_the_system_trusts(
    server: Server, invitation: Invitation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate, key = self_signed(["Gateway Inspection", "127.0.0.1"])
    (tmp_path / "system.pem").write_text(certificate)
    with inspecting(server.port, tmp_path, certificate, key) as port:
        found = only_obstacle(look_at_server(known(invitation, port)))
        assert found.about == "certificate"
        assert "opens TLS" in found.words
        assert "Gateway Inspection" in found.ask
        assert "exempt 127.0.0.1" in found.ask
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "system.pem"))  # an authority that the employer has put there
        assert "opens TLS" in only_obstacle(look_at_server(known(invitation, port, certificate=""))).words
        assert in_the_way(look_at_server(Known(f"https://127.0.0.1:{port}"))) == [], "without an invitation nobody can tell"


def test_a_certificate_that_was_renewed_is_no_box(invitation: Invitation, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server's identity vouches for the certificate that is shown; the invitation's is an older one, or a newer."""
    newer = self_signed(["127.0.0.1"])[0]
    monkeypatch.setattr("consilience.service.tls.CLOCK_MINUTES", 60 * 24)  # valid from a day ago
    older = self_signed(["127.0.0.1"])[0]
    signs = look_at_server(known(invitation, certificate=older))
    assert sign_of(signs, "certificate").standing is Standing.NOTICE
    assert in_the_way(signs) == []
    assert "new certificate since the invitation" in sign_of(signs, "certificate").words
    assert "older than the one of the invitation" in only_obstacle(look_at_server(known(invitation, certificate=newer))).words


def test_another_server_than_the_invitations(invitation: Invitation) -> None:
    other = Known(invitation.url, Identity.generate().public_bytes, invitation.certificate)
    found = only_obstacle(look_at_server(other))
    assert found.about == "server"
    assert "To the study's owner" in found.ask


def test_a_server_that_lies_about_the_time(server: Server, tmp_path: Path) -> None:
    """The clock of this machine is held against what the server says, whichever of the two is wrong."""
    certificate, key = self_signed(["127.0.0.1"])
    for seconds, standing in ((3600.0, Standing.OBSTACLE), (-60.0, Standing.NOTICE), (3.0, Standing.GOOD)):

        def lie(data: bytes, seconds: float = seconds) -> bytes:
            return re.sub(rb"(?i)date: [^\r]*", f"date: {formatdate(time.time() + seconds, usegmt=True)}".encode(), data)

        with inspecting(server.port, tmp_path, certificate, key, back=lie) as port:
            signs = look_at_server(Known(f"https://127.0.0.1:{port}"), str(tmp_path / "box.crt"))
        found = sign_of(signs, "clock")
        assert found.standing is standing
        assert standing is Standing.GOOD or ("behind" if seconds > 0 else "ahead of") in found.words
        assert sign_of(signs, "websocket").standing is Standing.GOOD


def test_a_clock_that_makes_certificates_invalid(invitation: Invitation) -> None:
    found = only_obstacle(look_at_server(known(invitation), clock=lambda: time.time() + 3e8))
    assert found.about == "certificate"
    assert "Is this machine's clock right?" in found.ask


@pytest.mark.parametrize("way", ["asked", "answered", "cut"])
def test_a_box_that_lets_no_websocket_through(server: Server, tmp_path: Path, way: str) -> None:
    certificate, key = self_signed(["127.0.0.1"])

    def there(data: bytes) -> bytes:
        return re.sub(rb"(?i)upgrade: websocket\r\n", b"", data) if way == "asked" else data

    def back(data: bytes) -> bytes:
        if way == "answered":
            return re.sub(rb"(?i)(sec-websocket-accept: )....", rb"\1AAAA", data)
        if way == "cut" and data[:1] == b"\x8a":  # the pong
            raise OSError
        return data

    with inspecting(server.port, tmp_path, certificate, key, there, back) as port:
        found = only_obstacle(look_at_server(Known(f"https://127.0.0.1:{port}"), str(tmp_path / "box.crt"), seconds=3.0))
    assert found.about == "websocket"
    assert "RFC 6455" in found.ask


def test_what_answers_in_the_place_of_a_server() -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nblocked!"
    with listening(answering(page)) as plain:
        signs = look_at_server(Known(f"http://127.0.0.1:{plain}"))
        assert [sign.about for sign in in_the_way(signs)] == ["certificate", "server"]
        assert "does not tell its time" in sign_of(signs, "clock").words
        assert "does not speak TLS" in only_obstacle(look_at_server(Known(f"https://127.0.0.1:{plain}"), seconds=0.5)).words
