"""What a site or an owner can do many times, or at the same time as something else."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from consilience.protocol.handshake import Token, TokenAsk
from consilience.secagg import Identity
from consilience.service.invitation import read_invitation
from consilience.service.store.accounts import MOST_TOKENS
from tests.service.helpers import join_body
from tests.system.crowd import gauge
from tests.system.processes import Server, declaration, until
from tests.system.test_attacks import member, proved, receive, send, site
from tests.system.test_equality import frames_of

pytestmark = pytest.mark.slow
FLOOD_SECONDS = 1.0
STUDIES = 24


def test_a_site_that_asks_for_tokens_without_end_gets_few(server: Server, folder: Path) -> None:
    study, identity = member(server, folder)
    got, end = 0, time.monotonic() + FLOOD_SECONDS
    codes: set[int] = set()
    while time.monotonic() < end:
        with site(server, study) as link:
            proved(server, link, study, identity)
            try:
                while time.monotonic() < end:
                    send(link, TokenAsk())
                    assert isinstance(receive(link), Token)
                    got += 1
            except ConnectionClosed as error:
                codes.add(error.rcvd.code if error.rcvd else 1006)
    assert 0 < got <= MOST_TOKENS
    assert codes == {4429}
    assert server.sql("select count(*) from tokens where study = ?", study)[0][0] == got


def ready(server: Server) -> str:
    """A study that can be started: open, with two sites that have joined and are away."""
    study = str(server.do("POST", "/studies", declaration(frames_of(2)))["id"])
    for name in ("one", "two"):
        text = server.do("POST", f"/studies/{study}/invitations", {"site": name})["invitation"]
        assert server.http.post("/api/v1/join", json=join_body(read_invitation(text), Identity.generate())).status_code == 200
    server.do("POST", f"/studies/{study}/open")
    return study


def test_no_run_is_left_when_studies_are_cancelled_as_they_start(server: Server) -> None:
    before = gauge(server, "consilience_runs_active")
    studies = [ready(server) for _ in range(STUDIES)]
    with ThreadPoolExecutor(8) as threads:
        for study in studies:
            started = threads.submit(server.call, "POST", f"/studies/{study}/start")
            cancelled = [threads.submit(server.call, "POST", f"/studies/{study}/cancel") for _ in range(6)]
            answers = [one.result().status_code for one in (started, *cancelled)]
            assert set(answers) <= {200, 409}
    assert {server.state(study)[0] for study in studies} == {"cancelled"}
    until(lambda: gauge(server, "consilience_runs_active") == before, 10.0)
