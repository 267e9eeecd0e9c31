"""What several tests of this folder need: participants driven by hand as a hostile server could, and clients that vanish."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.data.schema import unite
from consilience.federation.site.half import SiteHalf
from consilience.glm.kernel import Floats
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.messages import Announced, RoundRequest
from consilience.protocol.request import Request
from consilience.secagg import RingVector, Roster, SignedKey, decode, total
from consilience.settings.terms import Terms

ROWS = 40


def told(p_value: float) -> float:
    """What a site alone tells of a p-value: three digits, and nothing below 1e-10."""
    return max(float(f"{p_value:.2e}"), 1e-10)


def assert_alone(got: cs.CIResult, wanted: cs.CIResult) -> None:
    """The answer of one site: the p-value in three digits (the last may fall either way), degrees of freedom, and no other number."""
    assert (got.n, got.contributors, got.informative) == (wanted.n, 1, wanted.informative)
    assert got.p_value == told(got.p_value)
    assert got.p_value == pytest.approx(max(wanted.p_value, 1e-10), rel=0.0051)
    for a, b in zip(got.directions, wanted.directions, strict=False):
        assert (a.response, a.df, a.separated) == (b.response, b.df, b.separated)
        assert not a.informative or np.isnan([a.statistic, a.p_value, a.loglik_restricted, a.loglik_unrestricted, a.dispersion]).all()


def mixed_frames(sites: int, seed: int = 5, **options: Any) -> list[pl.DataFrame]:
    """A and B continuous, C binary, D ordinal, E multinomial; 40 rows a site."""
    return list(cs.simulate.mixed_sites(n=ROWS * sites, sites=sites, seed=seed, **options).values())


def mixed_clients(sites: int, seed: int = 5, columns: str = "ABCDE", **options: Any) -> list[cs.Client]:
    frames = mixed_frames(sites, seed, **options)
    return [cs.Client(f"site{i}", f.select(c for c in f.columns if c in columns)) for i, f in enumerate(frames)]


class Wire:
    """The participants of a study, and every message that a server could send them."""

    def __init__(self, clients: Sequence[cs.Client], **terms: Any) -> None:
        self.clients = list(clients)
        self.schema = unite({c.name: c.declarations for c in clients})
        self.terms = Terms(**terms)
        self.members = [c.identity.fingerprint for c in clients]
        self.participants = [c.join("study", self.schema, self.terms, self.members) for c in clients]
        self.run, self.digest, self.keys, self.round = b"", b"", list[SignedKey](), 0

    @classmethod
    def open(cls, clients: Sequence[cs.Client], **terms: Any) -> Wire:
        """With keys exchanged."""
        wire = cls(clients, **terms)
        wire.begin(wire.participants, b"run 1")
        return wire

    def begin(self, present: Sequence[SiteHalf], run: bytes) -> None:
        """A run of the ``present``."""
        self.keys = [p.offer(run) for p in present]
        for participant in present:
            participant.enter(run, self.keys)
        self.run, self.round = run, 0
        self.digest = Roster(run, [key.fingerprint for key in self.keys]).digest

    def request(self, body: Request, announced: Sequence[Announced] = (), **changes: Any) -> RoundRequest:
        """The next round of this run, unless ``changes`` say otherwise."""
        message = RoundRequest(self.run, self.round, self.digest, body, tuple(announced))
        self.round += 1
        return msgspec.structs.replace(message, **changes)

    def send(self, body: Request, announced: Sequence[Announced] = (), to: int = 0, **changes: Any) -> bytes | Floats:
        """One participant's answer."""
        return self.participants[to].answer(self.request(body, announced, **changes))

    def total(self, body: Request, announced: Sequence[Announced] = ()) -> Floats:
        """What the server learns of an honest round."""
        message = self.request(body, announced)
        return unmasked([p.answer(message) for p in self.participants])

    def everywhere(self, *variables: str) -> Announced:
        """A set that every site holds, truly announced."""
        return Announced(variables, len(self.clients), ROWS * len(self.clients))

    def evaluate(self, *models: ModelAsk, **changes: Any) -> Evaluate:
        """The models at one point, as this study asks for them."""
        body = Evaluate(1, models, self.terms.effects, self.terms.ordinal, len(self.keys), {})
        return msgspec.structs.replace(body, **changes)

    def length(self, body: Request) -> int:
        """Bytes of a masked answer."""
        return 16 * body.length(self.schema)


def unmasked(replies: Sequence[bytes | Floats]) -> Floats:
    assert all(isinstance(reply, bytes) for reply in replies)
    return decode(total(RingVector.from_bytes(bytes(reply)) for reply in replies))


def point(*beta: float) -> bytes:
    return np.array(beta, dtype="<f8").tobytes()


LOGIT = ModelAsk("C", ("A",), ("A", "C"), (0,), (0, 1), point(0.25))
"""A valid question under every way of site effects but joint and none, which have intercepts in β."""


@contextmanager
def refused(client: cs.Client, error: type[Exception]) -> Iterator[pytest.ExceptionInfo[Exception]]:
    """Exactly this error, and exactly one line on it in the ledger, with nothing sent."""
    before = client.record.entries
    with pytest.raises(error) as caught:
        yield caught
    assert type(caught.value) is error
    *kept, line = client.record.entries
    assert tuple(kept) == before
    assert line.refused.startswith(f"{error.__name__}: ")
    assert (line.numbers, line.bytes) == (0, 0)


class Vanishing:
    """A participant that is gone from the ``at``-th call (counted from 0) of one of its methods on."""

    def __init__(self, participant: SiteHalf, at: int, method: str = "answer") -> None:
        self._participant, self._at, self._method, self._calls = participant, at, method, 0

    def __getattr__(self, name: str) -> Any:
        if name == self._method:
            self._calls += 1
            if self._calls > self._at:
                raise errors.ClientGoneError(self._participant.name)
        return getattr(self._participant, name)


class Tapped:
    """A participant whose answers are kept."""

    def __init__(self, participant: SiteHalf) -> None:
        self._participant = participant
        self.replies: list[Any] = []

    def answer(self, request: RoundRequest) -> bytes | Floats:
        self.replies.append(self._participant.answer(request))
        return self.replies[-1]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._participant, name)


def tap(server: cs.Server) -> dict[str, list[Any]]:
    """What every client of the server sends from now on, by name."""
    participants: list[Any] = server._transport._sites
    participants[:] = [Tapped(p) for p in participants]
    return {p.name: p.replies for p in participants}


def lose(server: cs.Server, which: int, at: int, method: str = "answer") -> str:
    """Let a client of the server vanish; returns its name."""
    participants: list[Any] = server._transport._sites
    participants[which] = Vanishing(participants[which], at, method)
    return participants[which].name


class Spy:
    """Every request of a server in order, with the names of the sites asked and whether a sum came back."""

    def __init__(self, server: cs.Server) -> None:
        self.seen: list[tuple[Request, tuple[str, ...], dict[tuple[str, ...], Announced], bool]] = []
        transport, ask = server._transport, server._transport.ask

        def spy(request: Request, announced: Sequence[Announced]) -> Floats:
            told = {a.variables: a for a in announced}
            names = transport.names
            self.seen.append((request, names, told, False))
            answer = ask(request, announced)
            self.seen[-1] = (request, names, told, True)
            return answer

        transport.ask = spy  # type: ignore[method-assign]

    def of(self, *kinds: type) -> list[Request]:
        return [request for request, *_ in self.seen if isinstance(request, kinds)]
