"""The agent's side without a network: what it answers, when it stops, what it rehearses."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from websockets.exceptions import ConnectionClosedError
from websockets.frames import Close

import consilience as cs
from consilience import errors
from consilience.citest.question import Question
from consilience.protocol.handshake import Challenge, Welcome
from consilience.protocol.messages import Announced, Answer, KeyAsk, KeySet, Refused
from consilience.protocol.products import Products
from consilience.protocol.states import SiteState, Standing
from consilience.protocol.survey import Survey
from consilience.service.agent import Agent, Site
from consilience.service.agent.entry import check_url
from consilience.service.agent.link import FORBIDDEN, MOST_REFUSALS, _check_challenge
from consilience.service.agent.rehearsal import rehearse
from consilience.service.config import AgentConfig
from consilience.service.contract import Contract, Member
from consilience.service.settings import specs_of
from consilience.settings import NetworkSettings
from tests.federation.helpers import mixed_clients
from tests.service.agent.sites import CLIENTS, STUDY, ask, folder_of, proposal, run_of, shown_by_a_server, site_in, yes


def test_without_consent_to_restarts_a_smaller_run_is_refused(tmp_path: Path) -> None:
    sites = [site_in(tmp_path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    run_of(sites, b"one")
    keys = [sites[i].handle(KeyAsk(b"two")) for i in range(2)]
    reply = sites[0].handle(KeySet(b"two", tuple(keys)))
    assert isinstance(reply, Refused)
    assert reply.error == "WrongRosterError"
    assert isinstance(ask(sites[0], b"two", bytes(32), 0, Survey((("A",),))), Refused)


@pytest.mark.parametrize("most", [0, None])
def test_conditioning_sets_are_no_larger_than_agreed(tmp_path: Path, most: int | None) -> None:
    clients = mixed_clients(2, columns="ABC")
    schema = cs.Server(clients).schema
    members = tuple(Member(c.name, c.identity.public_bytes) for c in clients)
    contract = Contract(STUDY, "trial", specs_of(schema), (("A", "B", "C"),), NetworkSettings(max_given=most), members)
    sites = [Site(c, folder_of(tmp_path / c.name, c.name), yes) for c in clients]
    for site in sites:
        site.state.now = Standing.WELCOMED
        site.handle(proposal(contract))
    digest = run_of(sites, b"one")
    assert isinstance(ask(sites[0], b"one", digest, 0, Survey((("A", "B"),))), Answer)
    counts = (Announced(("A", "B", "C"), 2, 80),)
    bodies = (Survey((("A",), ("A", "B", "C"))), Products((("A", "B", "C"),), {}), Products((), {}, alone=(Question("A", "B", ("C",)),)))
    for number, body in enumerate(bodies, start=1):
        reply = ask(sites[0], b"one", digest, number, body, counts)
        told = isinstance(reply, Refused) and reply.error == "WrongTermsError" and "at most 0 variables" in reply.message
        assert told == (most == 0)


@pytest.mark.parametrize("time", [-1, 2**41, 2**64])
def test_the_time_of_a_challenge_is_one(time: int) -> None:
    good = Challenge(bytes(32), bytes(32), 1_800_000_000, bytes(64))
    assert _check_challenge(good, SiteState()) is good
    with pytest.raises(errors.ProtocolError, match="seconds from 0"):
        _check_challenge(msgspec.structs.replace(good, time=time), SiteState())


class _Refusing:
    """A connection on which the challenge goes well, and the proof is refused, before or after a welcome."""

    async def __aenter__(self) -> _Refusing:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("welcome", [False, True])
def test_a_site_whose_proof_is_refused_stops_after_five_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, welcome: bool) -> None:
    said: list[str] = []
    agent = Agent(folder_of(tmp_path).joined, CLIENTS[0].identity, AgentConfig(backoff_seconds=0.001), said.append)

    async def open_(_socket: Any, state: SiteState) -> Welcome:
        state.moves(Challenge)
        return Welcome("site0", STUDY, "trial", "open") if welcome else await receive()

    async def receive(*_: Any) -> Any:
        raise ConnectionClosedError(Close(FORBIDDEN, "no\x1b"), None)

    monkeypatch.setattr(agent, "_connect", _Refusing)
    monkeypatch.setattr(agent, "_open", open_)
    monkeypatch.setattr(agent, "_receive", receive)

    async def run() -> None:
        await asyncio.wait_for(agent.run(site_in(tmp_path)), 1.0 if welcome else 30.0)

    with pytest.raises(TimeoutError if welcome else errors.AccessError):
        asyncio.run(run())
    assert len(said) >= MOST_REFUSALS if welcome else len(said) == MOST_REFUSALS - 1
    assert all(line.isprintable() for line in said)


def test_only_tls_unless_asked_otherwise() -> None:
    assert check_url("http://127.0.0.1:1", insecure=True) == "http://127.0.0.1:1"
    for url in ("http://study.example", "ftp://x", "file:///etc/passwd"):
        with pytest.raises(errors.ConfigurationError):
            check_url(url, insecure=False)


def test_a_rehearsal_lists_what_would_leave_and_leaves_no_trace(tmp_path: Path) -> None:
    study = shown_by_a_server()
    before = CLIENTS[0].record.entries
    ledger = rehearse(CLIENTS[0], study)
    assert ledger.totals()["messages"] >= 2
    stated, *rest = ledger.entries
    assert "in the open" in stated.what
    assert rest
    assert all(entry.masked_with == 2 for entry in rest)
    assert CLIENTS[0].record.entries == before
    with pytest.raises(errors.StudyError, match="no schema"):
        rehearse(CLIENTS[0], {**study, "variables": None})
