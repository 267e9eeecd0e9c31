"""The states of a site in a study, and what moves it from one to the next: one table.

The site's code asks the table before it acts on a message and tells it afterwards what became of it; the server's code reads off it
which answers it may expect; the page ``docs/protocol.md`` is drawn from it. A message without a transition in the site's state is refused
by name. (The idea is that of h11, which keeps all of HTTP/1.1's turn-taking in one such table.)

Sites in the same process as the server begin at *consented*: joining is consenting there, and there is nobody to challenge.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import msgspec

from consilience.errors import ConsilienceError, ProtocolError
from consilience.protocol.errors import OutOfTurnError, StudyClosedError, WrongRosterError, WrongTermsError
from consilience.protocol.handshake import (
    Challenge,
    Checked,
    Closing,
    Consent,
    Declare,
    DeclareAsk,
    Declined,
    Preview,
    Proof,
    Proposal,
    Token,
    Waiting,
    Welcome,
)
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round

__all__ = ["MESSAGES", "TABLE", "SiteState", "Standing", "Transition", "drawing", "refusal_in", "replies_to", "table_text"]

Message = type[msgspec.Struct]


class Standing(StrEnum):
    """Where a site stands in a study. Each value is the state's name in the drawing."""

    CONNECTED = "connected"
    """It has said who it is; neither side has proved anything."""
    PROVED = "proved"
    """It has answered the server's challenge, and waits for the server's signed word that it has taken the answer, on this channel."""
    WELCOMED = "welcomed"
    """It is in the study, and its owner has not agreed to anything."""
    BOUND = "bound"
    """It is in the study again, and holds a contract that its owner agreed to before."""
    CONSENTED = "consented"
    """Its owner has agreed to the contract; it has no key in any run."""
    OFFERED = "offered"
    """It has offered a key for a run that has not begun."""
    RUNNING = "running"
    """It shares a secret with every other site of the run, and answers rounds."""
    CLOSED = "closed"
    """It answers nothing more in this study, to protect its data."""
    DECLINED = "declined"
    """Its owner does not agree. The end."""
    OVER = "over"
    """The study is. The end."""


@dataclass(frozen=True, slots=True)
class Transition:
    """A message of the server, the states it may lead to (the first, if nothing is wrong), and what the site answers."""

    message: Message
    to: tuple[Standing, ...]
    replies: tuple[Message, ...] = ()


_S = Standing
_PROPOSAL = (Consent, Declined)
_OVER = Transition(Closing, (_S.OVER,))


def _token(standing: Standing) -> Transition:
    """A token comes when the site has asked for one, which it may as soon as both sides have proved who they are."""
    return Transition(Token, (standing,))


def _news(standing: Standing) -> Transition:
    """Whom the study waits for may be told whenever it changes; it may be on its way while something else happens."""
    return Transition(Waiting, (standing,))


def _preview(standing: Standing, *others: Standing) -> Transition:
    """What an open study declares, to a site that connects. It may be started at the same moment, and the preview come after that."""
    return Transition(Preview, (standing, *others), (Checked, Declined))


# Handshake, consent and runs are in one table though two classes act on it (the agent's session and the site's half of a study): two tables
# had a seam between them, where a message could be in turn for one and out of turn for the other.
#
# A proposal may come twice: a site that connects while a study starts is told by the greeting and by the start. The second is answered
# like the first, and moves nothing. Before a run it may also be another one, without a site that the owner goes on without.
TABLE: dict[Standing, tuple[Transition, ...]] = {
    _S.CONNECTED: (Transition(Challenge, (_S.PROVED,), (Proof,)),),
    _S.PROVED: (Transition(Welcome, (_S.WELCOMED, _S.BOUND)),),
    _S.WELCOMED: (
        Transition(DeclareAsk, (_S.WELCOMED, _S.DECLINED), (Declare, Declined)),
        _preview(_S.WELCOMED, _S.DECLINED),
        Transition(Proposal, (_S.CONSENTED, _S.CLOSED, _S.DECLINED), _PROPOSAL),
        _news(_S.WELCOMED),
        _token(_S.WELCOMED),
        _OVER,
    ),
    _S.BOUND: (
        _preview(_S.BOUND),
        Transition(Proposal, (_S.CONSENTED, _S.CLOSED, _S.DECLINED), _PROPOSAL),
        _news(_S.BOUND),
        _token(_S.BOUND),
        _OVER,
    ),
    _S.CONSENTED: (
        _preview(_S.CONSENTED),
        Transition(Proposal, (_S.CONSENTED, _S.CLOSED, _S.DECLINED), _PROPOSAL),
        Transition(KeyAsk, (_S.OFFERED, _S.CONSENTED), (KeyOffer, Refused)),
        _news(_S.CONSENTED),
        _OVER,
    ),
    _S.OFFERED: (
        _preview(_S.OFFERED),
        Transition(Proposal, (_S.OFFERED,), _PROPOSAL),
        Transition(KeyAsk, (_S.OFFERED,), (KeyOffer, Refused)),
        Transition(KeySet, (_S.RUNNING, _S.OFFERED), (Entered, Refused)),
        _news(_S.OFFERED),
        _OVER,
    ),
    _S.RUNNING: (
        _preview(_S.RUNNING),
        Transition(Proposal, (_S.RUNNING,), _PROPOSAL),
        Transition(KeyAsk, (_S.OFFERED, _S.RUNNING), (KeyOffer, Refused)),
        Transition(Round, (_S.RUNNING, _S.CLOSED), (Answer, Refused)),
        _news(_S.RUNNING),
        _OVER,
    ),
    # closed is about data, not about turns: the site still consents to the contract it has, and answers no request
    _S.CLOSED: (_preview(_S.CLOSED), Transition(Proposal, (_S.CLOSED,), _PROPOSAL), _news(_S.CLOSED), _OVER),
    _S.DECLINED: (_news(_S.DECLINED), _OVER),
    _S.OVER: (_news(_S.OVER), _token(_S.OVER), _OVER),  # the end, too, may be told twice
}
"""What may come in which state. Everything else is refused, with what :func:`refusal_in` says."""

MESSAGES: tuple[Message, ...] = (Challenge, Welcome, DeclareAsk, Preview, Proposal, Waiting, KeyAsk, KeySet, Round, Token, Closing)
"""All that a server may say to a site."""

_RUN = (KeyAsk, KeySet, Round)


def refusal_in(state: Standing, message: Message, site: str = "This site") -> ConsilienceError:
    """What a site says to a message that has no transition in ``state``.

    A :class:`ProtocolError` ends the connection. Messages of a run are refused in words that go back to the server, with the connection
    left open: a server that resumes may be out of step with one site, and the others should not pay for it.

    >>> refusal_in(Standing.WELCOMED, Round)
    OutOfTurnError("This site's owner has not consented to anything yet.")
    """
    if message is DeclareAsk and state not in (_S.CONNECTED, _S.PROVED, _S.DECLINED, _S.OVER):
        return WrongTermsError("The server asks for this site's variables again, after the contract has fixed them. Nothing is sent.")
    if message not in _RUN or state is _S.OVER:
        return ProtocolError(f"{message.__name__} has no place here: the site is {state.value} in the study.")
    if state in (_S.CONNECTED, _S.PROVED, _S.BOUND):
        return OutOfTurnError(f"{site} has not been shown the contract on this connection; propose it first.")
    if state in (_S.WELCOMED, _S.DECLINED):
        return OutOfTurnError(f"{site}'s owner has not consented to anything yet.")
    if state is _S.CLOSED:
        return StudyClosedError(f"{site} answers nothing more in this study; its ledger says why. Start a new study.")
    if message is KeySet and state is _S.RUNNING:
        return WrongRosterError("This run has begun already; its keys cannot be exchanged again.")
    if message is KeySet:
        return WrongRosterError(f"{site} has no key in this run; ask it for one first.")
    return OutOfTurnError(f"{site} has not entered a run yet; exchange keys first.")


def replies_to(message: Message) -> tuple[Message, ...]:
    """What a site may answer to a message, in whatever state it is.

    >>> [reply.__name__ for reply in replies_to(KeyAsk)]
    ['KeyOffer', 'Refused']
    """
    return tuple(dict.fromkeys(reply for row in TABLE.values() for step in row if step.message is message for reply in step.replies))


class SiteState:
    """The state of one site in one study.

    >>> state = SiteState(Standing.CONSENTED)
    >>> state.moves(KeyAsk)
    >>> state.now.value
    'offered'
    >>> state.check(Round)
    Traceback (most recent call last):
    consilience.protocol.errors.OutOfTurnError: This site has not entered a run yet; exchange keys first.
    """

    def __init__(self, now: Standing = Standing.CONNECTED, site: str = "This site") -> None:
        self.now = now
        self._site = site

    def check(self, message: Message) -> Transition:
        """The transition for a message, before it is acted upon; the refusal that the state calls for, if there is none."""
        for step in TABLE[self.now]:
            if step.message is message:
                return step
        raise refusal_in(self.now, message, self._site)

    def moves(self, message: Message, to: Standing | None = None) -> None:
        """A message was acted upon: go on to ``to``, or to where it leads if nothing is wrong."""
        step = self.check(message)
        if to is not None and to not in step.to:
            raise ValueError(f"{message.__name__} does not lead from {self.now.value} to {to.value}.")
        self.now = step.to[0] if to is None else to

    def reconnects(self) -> None:
        """A new connection: nothing is proved on it yet. What the owner agreed to, and what was answered, is kept elsewhere."""
        self.now = Standing.CONNECTED


def _steps() -> Iterator[tuple[Standing, Transition]]:
    return ((state, step) for state, row in TABLE.items() for step in row)


def table_text() -> str:
    """The table as Markdown, for the documentation."""
    rows = ["| state | message of the server | answer | next state |", "|---|---|---|---|"]
    for state, step in _steps():
        replies = " or ".join(reply.__name__ for reply in step.replies) or "–"
        rows.append(f"| {state.value} | {step.message.__name__} | {replies} | {' or '.join(s.value for s in step.to)} |")
    return "\n".join(rows) + "\n"


def drawing() -> str:
    """The table as a drawing (Mermaid), for the documentation; messages that change nothing are left out."""
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> connected: Hello"]
    arrows: dict[tuple[Standing, Standing], list[str]] = {}
    for state, step in _steps():
        for to in step.to:
            if to is not state:
                arrows.setdefault((state, to), []).append(step.message.__name__)
    lines += [f"    {state.value} --> {to.value}: {', '.join(names)}" for (state, to), names in arrows.items()]
    lines += [f"    {state.value} --> [*]" for state in (Standing.DECLINED, Standing.OVER)]
    return "\n".join([*lines, "```"]) + "\n"
