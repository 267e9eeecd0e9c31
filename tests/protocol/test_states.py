"""The table of states: whole, reachable, the one in the documentation, and kept by the site's code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

from consilience import errors
from consilience.protocol.handshake import Checked, Consent, Declare, Declined, Proof, from_server, from_site
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round
from consilience.protocol.states import MESSAGES, TABLE, SiteState, Standing, Transition, drawing, refusal_in, replies_to, table_text

STEPS = [(state, step) for state, row in TABLE.items() for step in row]


def test_every_state_has_its_row_and_every_message_of_a_server_is_known() -> None:
    assert set(TABLE) == set(Standing)
    assert set(MESSAGES) == set(get_args(from_server.type))


def test_a_message_stands_once_in_a_row() -> None:
    for row in TABLE.values():
        assert len({step.message for step in row}) == len(row)


def test_what_a_site_answers_is_what_a_server_understands() -> None:
    said = {reply for _, step in STEPS for reply in step.replies}
    assert said == {Proof, Declare, Checked, Declined, Consent, KeyOffer, Entered, Answer, Refused}
    assert said <= set(get_args(from_site.type))


def test_every_state_can_be_reached_and_every_study_can_end() -> None:
    def reached(start: Standing) -> set[Standing]:
        found, todo = {start}, [start]
        while todo:
            for step in TABLE[todo.pop()]:
                todo += [to for to in step.to if to not in found]
                found.update(step.to)
        return found

    assert reached(Standing.CONNECTED) == set(Standing)
    assert all(Standing.OVER in reached(state) for state in Standing)


@pytest.mark.parametrize("message", MESSAGES)
@pytest.mark.parametrize("state", Standing)
def test_every_message_in_every_state_is_a_transition_or_a_named_refusal(state: Standing, message: Any) -> None:
    now = SiteState(state)
    step = next((step for step in TABLE[state] if step.message is message), None)
    if step is None:
        wanted = refusal_in(state, message)
        with pytest.raises(type(wanted), match=r"\w"):
            now.check(message)
        with pytest.raises(type(wanted)):
            now.moves(message)
        assert now.now is state
        assert isinstance(wanted, errors.ProtocolError | errors.RefusalError)
    else:
        assert now.check(message) is step
        now.moves(message)
        assert now.now is step.to[0]


@pytest.mark.parametrize(
    ("state", "message", "error"),
    [
        (Standing.WELCOMED, Round, errors.OutOfTurnError),
        (Standing.CONSENTED, Round, errors.OutOfTurnError),
        (Standing.OFFERED, Round, errors.OutOfTurnError),
        (Standing.CONSENTED, KeySet, errors.WrongRosterError),
        (Standing.RUNNING, KeySet, errors.WrongRosterError),
        (Standing.CLOSED, Round, errors.StudyClosedError),
        (Standing.CLOSED, KeyAsk, errors.StudyClosedError),
        (Standing.OVER, Round, errors.ProtocolError),
    ],
)
def test_refusals_have_the_name_of_their_cause(state: Standing, message: Any, error: type[Exception]) -> None:
    assert type(refusal_in(state, message)) is error


@pytest.mark.parametrize(("state", "step"), STEPS)
def test_a_message_leads_nowhere_else(state: Standing, step: Transition) -> None:
    for to in set(Standing) - set(step.to):
        with pytest.raises(ValueError, match="does not lead"):
            SiteState(state).moves(step.message, to)


def test_answers_by_message() -> None:
    assert replies_to(Round) == (Answer, Refused)
    assert replies_to(KeySet) == (Entered, Refused)


def test_the_documentation_shows_the_table() -> None:
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    assert drawing() in page
    assert table_text() in page
