"""Answers of replicates, kept until graphs are sought: a study server asks its sites in one process, and seeks graphs in another."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

import msgspec

from consilience.citest.result import CIResult
from consilience.iod.answers import Answers, Key
from consilience.iod.stability.replicate import Asked, Plan, search_again
from consilience.typed import msgpack_decoder

__all__ = ["KeptReplicates", "Name", "kept_of"]

Name = int | str
"""The number of a resampled copy, or the name of the site that was left out."""
_INFORMATIVE, _CONVERGED = 1, 2


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """One replicate. Of a copy what decisions need: p-values, rows, flags; without a site the whole results, whose sizes are compared."""

    name: Name
    keys: list[tuple[int, int, int]]
    p: bytes = b""
    n: bytes = b""
    flags: bytes = b""
    results: list[CIResult] = []


_encoder = msgspec.msgpack.Encoder()
_one = msgpack_decoder(_Kept)


def kept_of(name: Name, asked: Asked) -> bytes:
    """A replicate as bytes."""
    found = asked.every.results
    keys = list(found)
    if isinstance(name, str):
        return _encoder.encode(_Kept(name, keys, results=[found[key] for key in keys]))
    results = [found[key] for key in keys]
    flags = bytes(_INFORMATIVE * r.informative | _CONVERGED * r.converged for r in results)
    p, n = array("d", [r.p_value for r in results]), array("q", [r.n for r in results])
    return _encoder.encode(_Kept(name, keys, p.tobytes(), n.tobytes(), flags))


class KeptReplicates:
    """Replicates that were asked elsewhere, as a source of them. ``rounds`` is what it took to ask them."""

    def __init__(self, kept: Sequence[bytes], rounds: int) -> None:
        self._kept, self._took, self.rounds = kept, rounds, 0

    def replicates(
        self, plan: Plan, first: Sequence[Key], bootstrap: int, told: Callable[[str], None], *, leave_one_out: bool
    ) -> Iterator[tuple[Name, Asked]]:
        """Those that were kept, each searched again from its answers."""
        self.rounds = self._took
        for data in self._kept:
            one = _one.decode(data)
            every = Answers(None, plan.names, plan.alpha)
            every.take(one.keys, _results(one, every))
            yield one.name, search_again(plan, every)


def _results(one: _Kept, every: Answers) -> list[CIResult]:
    if one.results:
        return one.results
    p, n = array("d"), array("q")
    p.frombytes(one.p)
    n.frombytes(one.n)
    found = []
    for key, p_value, rows, flags in zip(one.keys, p, n, one.flags, strict=True):
        q = every.question(key)
        informative, converged = bool(flags & _INFORMATIVE), bool(flags & _CONVERGED)
        found.append(CIResult(q.x, q.y, q.given, p_value, rows, 0, informative=informative, converged=converged))
    return found
