"""A real site in every state it can be in, and every message of a server in each of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from consilience import errors
from consilience.protocol.errors import code_of
from consilience.protocol.handshake import Challenge, Closing, DeclareAsk, Preview, Token, Waiting, Welcome
from consilience.protocol.history import Closed
from consilience.protocol.messages import KeyAsk, KeySet, Refused, Round, RoundRequest
from consilience.protocol.states import MESSAGES, TABLE, Standing, refusal_in
from consilience.protocol.survey import Survey
from consilience.service.agent import Site
from tests.service.agent.sites import CLIENTS, STUDY, changed, proposal, proved, run_of, site_in


def no(_lines: list[str], _warnings: list[str]) -> bool:
    return False


def connected(path: Path) -> Site:
    site = site_in(path)
    site.state.reconnects()
    return site


def bound(path: Path) -> Site:
    site_in(path).handle(proposal())
    return site_in(path)


def consented(path: Path) -> Site:
    site = site_in(path)
    site.handle(proposal())
    return site


def offered(path: Path) -> Site:
    site = consented(path)
    site.handle(KeyAsk(b"first"))
    return site


def running(path: Path) -> Site:
    sites = [site_in(path / str(i), which=i) for i in range(3)]
    for site in sites:
        site.handle(proposal())
    run_of(sites, b"first")
    return sites[0]


def closed(path: Path) -> Site:
    consented(path)._folder.history().take(Closed())
    return consented(path)


def declined(path: Path) -> Site:
    site = site_in(path, no)
    site.handle(proposal())
    return site


def over(path: Path) -> Site:
    site = site_in(path)
    site.handle(Closing("cancelled", ""))
    return site


STATES: dict[Standing, Callable[[Path], Site]] = {
    Standing.CONNECTED: connected,
    Standing.PROVED: proved,
    Standing.WELCOMED: site_in,
    Standing.BOUND: bound,
    Standing.CONSENTED: consented,
    Standing.OFFERED: offered,
    Standing.RUNNING: running,
    Standing.CLOSED: closed,
    Standing.DECLINED: declined,
    Standing.OVER: over,
}


def message_of(kind: type, site: Site) -> Any:
    """A message of a kind that has nothing wrong with it but, perhaps, its time."""
    half = site._half
    run = half._run if half is not None else None
    examples: dict[type, Any] = {
        Challenge: Challenge(bytes(32), bytes(32), 1_800_000_000, bytes(64)),
        Welcome: Welcome(CLIENTS[0].name, STUDY, "trial", "open"),
        DeclareAsk: DeclareAsk(),
        Preview: Preview(changed(members=()).encoded()),
        Waiting: Waiting("agree", 3, (("site1", "not connected"),)),
        KeyAsk: KeyAsk(b"second"),
        KeySet: KeySet(b"first", ()),
        Round: Round(RoundRequest(run.run_id if run else b"", 0, run.digest if run else b"", Survey((("A", "C"),)))),
        Token: Token("token", 1),
        Closing: Closing("cancelled", ""),
    }
    return examples[kind] if kind in examples else proposal()


def test_every_state_is_tried() -> None:
    assert set(STATES) == set(Standing)


@pytest.mark.parametrize("kind", [kind for kind in MESSAGES if kind not in (Challenge, Token)])
@pytest.mark.parametrize("state", STATES)
def test_a_site_does_what_the_table_says(tmp_path: Path, state: Standing, kind: type) -> None:
    site = STATES[state](tmp_path)
    assert site.state.now is state
    message, before = message_of(kind, site), len(site._folder.ledger().entries)
    step = next((step for step in TABLE[state] if step.message is kind), None)
    if step is not None:
        reply = site.handle(message)
        assert site.state.now in step.to
        assert type(reply) in (step.replies or (type(None),))
        return
    wanted = refusal_in(state, kind)
    if isinstance(wanted, errors.ProtocolError) or kind is DeclareAsk:
        with pytest.raises(type(wanted)):
            site.handle(message)
    else:
        reply = site.handle(message)
        assert isinstance(reply, Refused)
        assert reply.error == code_of(wanted)
    assert site.state.now is state
    # what a server asks of a site that has agreed to something, out of turn, is written down: somebody may be probing
    probing = kind in (KeyAsk, KeySet, Round) and site._half is not None
    assert len(site._folder.ledger().entries) - before == probing


@pytest.mark.parametrize("kind", [Challenge, Token])
@pytest.mark.parametrize("state", STATES)
def test_challenge_and_token_are_the_connections_business(tmp_path: Path, state: Standing, kind: type) -> None:
    """It knows the channel, and what it has asked for; a site that is handed one must not take it for proof of anything."""
    site = STATES[state](tmp_path)
    with pytest.raises(errors.ProtocolError):
        site.handle(message_of(kind, site))
    assert site.state.now is state


def test_a_new_connection_proves_itself_again(tmp_path: Path) -> None:
    site = running(tmp_path)
    site.state.reconnects()
    reply = site.handle(Round(RoundRequest(b"first", 1, b"", Survey((("A", "C"),)))))
    assert isinstance(reply, Refused)
    assert reply.error == "OutOfTurnError"
    with pytest.raises(errors.ProtocolError):
        site.handle(proposal())
