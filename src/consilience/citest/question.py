"""A conditional-independence question, checked once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations

import msgspec

from consilience.citest.errors import ConditioningError, SameVariableError
from consilience.data.errors import UnknownVariableError

__all__ = ["Question", "all_questions", "ask"]


class Question(msgspec.Struct, frozen=True, array_like=True):
    """Is X independent of Y given Z?

    >>> Question("X", "Y", ("A", "B")).variables
    ('A', 'B', 'X', 'Y')
    """

    x: str
    y: str
    given: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables of the question, sorted: R = {X, Y} ∪ Z."""
        return tuple(sorted((self.x, self.y, *self.given)))

    def __str__(self) -> str:
        return f"{self.x} ⫫ {self.y}" + (f" | {', '.join(self.given)}" if self.given else "")


def ask(x: str, y: str, given: Iterable[str], known: Collection[str]) -> Question:
    """A question about variables of a study, or an error that says what is wrong with it.

    >>> str(ask("C", "E", ["A"], {"A", "C", "E"}))
    'C ⫫ E | A'
    """
    given = (given,) if isinstance(given, str) else tuple(given)
    for name in (x, y, *given):
        if name not in known:
            raise UnknownVariableError(f"No variable {name!r} in this study. It has: {', '.join(sorted(known))}.")
    if x == y:
        raise SameVariableError(f"X and Y must be two variables; both are {x!r}.")
    for name in (x, y):
        if name in given:
            raise ConditioningError(f"{name!r} is tested and cannot be conditioned on as well; take it out of given={list(given)}.")
    if len(set(given)) != len(given):
        raise ConditioningError(f"Every conditioning variable may be named once; got given={list(given)}.")
    return Question(x, y, given)


def all_questions(names: Sequence[str], max_given: int | None = None) -> list[Question]:
    """Every pair given every set of at most ``max_given`` other variables, small sets first.

    >>> len(all_questions("ABCDE")), len(all_questions("ABCDE", max_given=1))
    (80, 40)
    """
    most = len(names) - 2 if max_given is None else min(max_given, len(names) - 2)
    return [
        Question(x, y, given)
        for size in range(most + 1)
        for x, y in combinations(names, 2)
        for given in combinations([v for v in names if v not in (x, y)], size)
    ]
