"""Many replicates in one round: the same kinds of request, each of another copy of every site's rows."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import msgspec
import numpy as np

from consilience.data.schema import Schema
from consilience.glm.kernel import Floats
from consilience.protocol.desk import Desk
from consilience.protocol.guard import Guard
from consilience.protocol.replicates import Replicate
from consilience.protocol.request import MANY, Announced, Request, VariableSet
from consilience.protocol.single import SingleRequest
from consilience.wording import counted

__all__ = ["Part", "Resampled"]


class Part(msgspec.Struct, frozen=True):
    """A request to a replicate, with the counts that the replicate's survey found for the variable sets that it sums over.

    They come with every part, and not once in a run: a bundle is the same bytes whatever was asked before.
    """

    replicate: Replicate
    body: SingleRequest
    announced: Annotated[tuple[Announced, ...], MANY] = ()


class Resampled(Request, frozen=True, tag="resampled"):
    """One request for each of many replicates; the answer is their answers, one after the other.

    >>> from consilience.protocol.survey import Survey
    >>> request = Resampled((Part(Replicate(1), Survey((("A",),))), Part(Replicate(2), Survey((("A",),)))))
    >>> request.length(Schema({"A": "continuous"}))
    4
    """

    parts: Annotated[tuple[Part, ...], MANY]

    def length(self, schema: Schema) -> int:
        """The parts, one after the other."""
        return sum(part.body.length(schema) for part in self.parts)

    def samples(self) -> tuple[VariableSet, ...]:
        """None that are announced outside the parts: each replicate has counts of its own."""
        return ()

    def check(self, guard: Guard) -> None:
        """Replicates that were agreed on, each once; and each part as if it came alone, held against what its replicate was told before."""
        guard.replicates([part.replicate for part in self.parts])
        try:
            for part in self.parts:
                own = guard.of(part.replicate)
                for announced in part.announced:
                    own.hears(announced.variables, announced.contributors, announced.rows)
                own.keeps_counts()
                part.body.check(own)
        finally:
            guard.rest()

    def answer(self, desk: Desk, site: int) -> Floats:
        """Every part on its copy of the rows."""
        copies = desk.copies
        assert copies is not None, "a site that was asked for a replicate has copies"
        return np.concatenate([np.empty(0), *(part.body.answer(copies.desk(part.replicate), site) for part in self.parts)])

    def split(self, total: Floats, schema: Schema) -> list[Floats]:
        """Server: the sums of the parts."""
        ends = np.cumsum([part.body.length(schema) for part in self.parts])
        return np.split(total, ends[:-1])

    def read(self, total: Floats, schema: Schema) -> list[Any]:
        """What the sums of the parts say, in their order."""
        return [part.body.read(own, schema) for part, own in zip(self.parts, self.split(total, schema), strict=True)]

    def words(self) -> str:
        """What is asked for, in words.

        >>> from consilience.protocol.survey import Survey
        >>> Resampled((Part(Replicate(1), Survey((("A",),))), Part(Replicate(2), Survey((("A",),))))).words()
        'for 2 resampled copies of its rows: whether and with how many rows this site can contribute to 1 variable set'
        """
        drawn = [part for part in self.parts if part.replicate.draw]
        left = [part for part in self.parts if not part.replicate.draw]
        said = [f"for {_copies(len(drawn))} of its rows: {_kinds(drawn)}"] if drawn else []
        said += [f"{counted(len(left), 'time')}, each without one of the sites: {_kinds(left)}"] if left else []
        return "; ".join(said)


def _copies(count: int) -> str:
    return "1 resampled copy" if count == 1 else f"{count} resampled copies"


def _kinds(parts: list[Part]) -> str:
    """What parts ask for: the words of the first of each kind, with how many there are where they are not all of one."""
    first = {type(part.body): part.body.words() for part in reversed(parts)}
    many = Counter(type(part.body) for part in parts)
    return "; ".join(words if len(first) == 1 else f"{words} (in {many[kind]} of them)" for kind, words in first.items())
