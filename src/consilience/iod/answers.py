"""The answers of a CI test, asked in batches, remembered, and cut at one significance level.

What is decided is *independent*, *dependent* or *unknown*: a test that was not run, or that the data cannot answer, is unknown and is
never counted as independence.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from consilience.citest.diagnostics import Diagnostics
from consilience.citest.interface import CITest
from consilience.citest.question import Question
from consilience.citest.result import CIResult, Direction, to_frame
from consilience.frames import pl
from consilience.graph.marksets import bits
from consilience.iod.errors import PValueError

__all__ = ["Answers", "Key", "Results"]

Key = tuple[int, int, int]
"""A question as numbers: x < y, and the conditioning set as bits."""

AT_ONCE = 1 << 15
"""More questions than these are asked, and made into a table, in parts: their objects need not all be there at the same time."""

INFORMATIVE, CONVERGED = 1, 2
SPEAKS = INFORMATIVE | CONVERGED
_More = tuple[str, tuple[Direction, ...], tuple[str, ...], Diagnostics | None, str | None]
_NO_MORE: _More = ("", (), (), None, None)


class Results(Mapping[Key, CIResult]):
    """Results by question, kept as columns of numbers; a :class:`~consilience.CIResult` is made when it is asked for.

    A search can have a million answers, and an object for each, its key and its texts would be half a kilobyte.

    >>> results = Results(["A", "B", "C"])
    >>> results.add((0, 1, 0b100), CIResult("A", "B", ("C",), 0.25, n=120, contributors=2))
    >>> print(results[0, 1, 0b100])
    A ⫫ B | C: p = 0.25 (n = 120, 2 sites)
    >>> list(results), results.p_value((0, 1, 0b100))
    ([(0, 1, 4)], 0.25)
    """

    __slots__ = ("_contributors", "_flags", "_more", "_n", "_names", "_p", "_places", "_rounds", "_width")

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._width = len(self._names).bit_length()
        self._places: dict[int, int] = {}  # a question as one number, and where its answer stands in the columns
        self._p, self._n = array("d"), array("q")
        self._contributors, self._rounds, self._flags = array("l"), array("l"), bytearray()
        self._more: dict[int, _More] = {}  # what some answers have: reason, directions, sites, whether models hold, which method

    def _code(self, key: Key) -> int:
        x, y, given = key
        width = self._width
        return (given << width | x) << width | y

    def add(self, key: Key, result: CIResult) -> None:
        """Keep the answer to a new question."""
        place = len(self._p)
        self._places[self._code(key)] = place
        self._p.append(result.p_value)
        self._n.append(result.n)
        self._contributors.append(result.contributors)
        self._rounds.append(result.rounds)
        self._flags.append((INFORMATIVE if result.informative else 0) | (CONVERGED if result.converged else 0))
        more = result.reason, result.directions, result.participants, result.diagnostics, result.method
        if more != _NO_MORE:
            self._more[place] = more

    def p_value(self, key: Key) -> float:
        """The p-value of an answered question."""
        return self._p[self._places[self._code(key)]]

    def informative(self, key: Key) -> bool:
        """True if the question was answered and the data could speak."""
        place = self._places.get(self._code(key))
        # what a fit that did not reach its maximum says is no answer, whoever made the result
        return place is not None and self._flags[place] & SPEAKS == SPEAKS

    def accepted(self, key: Key, alpha: float) -> bool:
        """True if an answered question has a p-value above ``alpha``, and the data could speak."""
        place = self._places[self._code(key)]
        return self._p[place] > alpha and self._flags[place] & SPEAKS == SPEAKS

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and len(key) == 3 and self._code(key) in self._places

    def __len__(self) -> int:
        return len(self._p)

    def __iter__(self) -> Iterator[Key]:
        width, low = self._width, (1 << self._width) - 1
        return ((code >> width & low, code & low, code >> 2 * width) for code in self._places)

    def __getitem__(self, key: Key) -> CIResult:
        names, (x, y, given) = self._names, key
        place = self._places.get(self._code(key))
        if place is None:
            raise KeyError(key)
        reason, directions, participants, diagnostics, method = self._more.get(place, _NO_MORE)
        flags = self._flags[place]
        return CIResult(
            names[x],
            names[y],
            tuple(names[z] for z in bits(given)),
            self._p[place],
            self._n[place],
            self._contributors[place],
            self._rounds[place],
            bool(flags & INFORMATIVE),
            reason,
            bool(flags & CONVERGED),
            directions,
            participants,
            diagnostics,
            method,
        )


class Answers:
    """What a test says of questions over variables 0 … n-1, at one significance level.

    Without a test nothing can be asked here: answers come by :meth:`take` from whoever has them.
    """

    def __init__(self, test: CITest | None, names: Sequence[str], alpha: float) -> None:
        self.names, self.alpha = tuple(names), alpha
        self.results = Results(self.names)
        self._test = test

    def ask(self, keys: Iterable[Key]) -> None:
        """Ask, as one batch, what has not been asked yet."""
        new = self.new(keys)
        for first in range(0, len(new), AT_ONCE):
            part = new[first : first + AT_ONCE]
            assert self._test is not None, "whoever makes answers without a test answers every question before it is asked"
            self.take(part, self._test.answer([self.question(key) for key in part]))

    def new(self, keys: Iterable[Key]) -> list[Key]:
        """What of some questions has not been answered yet, each once."""
        return [key for key in dict.fromkeys(keys) if key not in self.results]

    def take(self, keys: Sequence[Key], answers: Sequence[CIResult]) -> None:
        """Keep the answers to new questions."""
        for answer in answers:  # a CI test may be anybody's; nan would pass every comparison below as "dependent"
            if not 0.0 <= answer.p_value <= 1.0:
                raise PValueError(f"A CI test answers with a p-value between 0 and 1; got {answer.p_value!r} for {answer.x} ⫫ {answer.y}.")
        for key, answer in zip(keys, answers, strict=True):
            self.results.add(key, answer)

    def question(self, key: Key) -> Question:
        """A question in the names of the variables."""
        x, y, given = key
        names = self.names
        return Question(names[x], names[y], tuple([names[z] for z in bits(given)]))

    def independent(self, key: Key) -> bool:
        """True if the test was informative and did not reject."""
        return self.results.accepted(key, self.alpha)

    def unknown(self, key: Key) -> bool:
        """True if the question was not asked or could not be answered."""
        return not self.results.informative(key)

    def p_value(self, key: Key) -> float:
        """The p-value of an answered question."""
        return self.results.p_value(key)

    def frame(self) -> pl.DataFrame:
        """All answers as a table, in the order in which they were asked for."""
        every = iter(self.results.values())
        parts = [to_frame(list(islice(every, AT_ONCE))) for _ in range(0, max(1, len(self.results)), AT_ONCE)]
        return pl.concat(parts, rechunk=True)
