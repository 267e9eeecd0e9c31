"""The life of a study in words, and the steps that its pages show at the side."""

from __future__ import annotations

from collections.abc import Mapping

from consilience.service.store import State, StudyRow
from consilience.web.pages.server.visit import HOME
from consilience.web.rendering import Link

__all__ = ["COLOURS", "meaning_of", "steps"]

COLOURS: Mapping[State, str] = {
    State.DRAFT: "",
    State.OPEN: "busy",
    State.RUNNING: "busy",
    State.FINISHED: "good",
    State.FAILED: "bad",
    State.CANCELLED: "warn",
}
_ASKED = "The contract is fixed. Every site's owner is asked for consent; the tests begin when all have agreed."
_AGREED = "Every site's owner has agreed to the contract. The tests are made, then the graphs that fit them are sought."
_MEANINGS: Mapping[State, str] = {
    State.DRAFT: "It can be changed. Sites can be invited and can join; nothing is asked of them yet.",
    State.OPEN: "It cannot be changed any more. Sites connect and wait until it is started.",
    State.FINISHED: "There is a result. Its owners and every site can see it.",
    State.FAILED: "It ended without a result. The tests that were done are kept.",
    State.CANCELLED: "One of its owners ended it. The tests that were done are kept.",
}


def meaning_of(state: State, *, agreed: bool) -> str:
    """What a state means, in a sentence; ``agreed`` says whether all sites' owners have.

    >>> meaning_of(State.RUNNING, agreed=True)[:36]
    "Every site's owner has agreed to the"
    """
    return _MEANINGS.get(state) or (_AGREED if agreed else _ASKED)


def steps(row: StudyRow, path: str, *, result: bool = True) -> tuple[Link, ...]:
    """The study's steps, for its owners and observers; ``path`` is the page one is on, ``result`` says whether that is shown."""
    base, draft = f"{HOME}/{row.id}", row.state is State.DRAFT
    declared = "done" if row.variables is not None else "the sites are asked"
    begun = row.state not in (State.DRAFT, State.OPEN)
    running = "done" if row.state is State.FINISHED else row.state.value if begun else "not yet"
    found = (
        ("Variables", f"{base}/variables", declared if draft or row.variables is not None else "done" if begun else declared),
        ("Settings", f"{base}/settings", "" if draft else "done"),
        ("Sites", f"{base}/lobby", "done" if begun else ""),
        ("Run", f"{base}/progress" if begun else "", running),
        _result(row, f"{base}/result", shown=result),
    )
    return tuple(Link(title, href, href == path, state) for title, href, state in found)


def _result(row: StudyRow, href: str, *, shown: bool) -> tuple[str, str, str]:
    if not shown:
        return "Result", "", "not shown to you"
    return ("Result", href, "") if row.state is State.FINISHED else ("Result", "", "not yet")
