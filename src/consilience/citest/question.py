"""A conditional-independence question, checked once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import combinations
from numbers import Real

import msgspec

from consilience.citest.errors import ConditioningError, SameVariableError
from consilience.citest.result import CIResult
from consilience.data.errors import UnknownVariableError
from consilience.errors import OptionError, QuestionError

__all__ = ["Question", "all_questions", "ask", "read_question"]

_NUMBER = (float, Real)
"""Float first: most are, and to ask an abstract class takes as long as to make a result."""


class Question(msgspec.Struct, frozen=True, array_like=True):
    """Is X independent of Y given Z?

    A :class:`~consilience.CITest` is asked questions that are already checked: two different variables of the study, and
    others to condition on.

    Parameters
    ----------
    x, y : str
        The two variables.
    given : tuple of str, default ()
        The variables conditioned on.

    Attributes
    ----------
    variables : tuple of str
        All of them, sorted.

    Examples
    --------
    >>> question = Question("X", "Y", ("A", "B"))
    >>> print(question)
    X ⫫ Y | A, B
    >>> question.variables
    ('A', 'B', 'X', 'Y')
    """

    x: str
    y: str
    given: tuple[str, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables of the question, sorted: R = {X, Y} ∪ Z."""
        return tuple(sorted((self.x, self.y, *self.given)))

    def result(self, p_value: float, *, n: int = 0, contributors: int = 1, converged: bool = True, reason: str = "") -> CIResult:
        """The answer to this question, for a test of one's own.

        Parameters
        ----------
        p_value : float
            Between zero and one. Where the data cannot speak, one.
        n : int, default 0
            Rows that the answer rests on.
        contributors : int, default 1
            Data sets that the answer rests on.
        converged : bool, default True
            False if a fit did not reach its maximum. The question then counts as unanswered.
        reason : str, default ""
            Why the data cannot speak. A result with a reason is not informative: the question then counts as unanswered,
            never as independence.

        Returns
        -------
        CIResult

        Raises
        ------
        OptionError
            If ``p_value`` is not a number between zero and one.

        Examples
        --------
        >>> print(Question("A", "B").result(0.5, n=10))
        A ⫫ B: p = 0.5 (n = 10, 1 site)
        >>> Question("A", "B").result(1.0, reason="A does not vary").informative
        False
        """
        # asked as "is it within" and not as "is it outside": NaN fails every comparison, and must not come through
        if not (isinstance(p_value, _NUMBER) and 0.0 <= p_value <= 1.0):
            raise OptionError(
                f"p_value must be a number between 0 and 1; got {p_value!r} for {self}. Where there is none, give 1 and a reason."
            )
        if not converged and not reason:
            reason = "a fit did not reach its maximum"
        return CIResult(
            self.x, self.y, self.given, float(p_value), n, contributors, informative=not reason, reason=reason, converged=converged
        )

    def __str__(self) -> str:
        return f"{self.x} ⫫ {self.y}" + (f" | {', '.join(self.given)}" if self.given else "")


def read_question(asked: object, known: Collection[str]) -> Question:
    """A question as a user writes it, in a list of many: (x, y), (x, y, given) or a :class:`Question`.

    >>> str(read_question(("C", "E", ["A"]), {"A", "C", "E"}))
    'C ⫫ E | A'
    >>> read_question("CE", {"A", "C", "E"})
    Traceback (most recent call last):
    ...
    consilience.errors.QuestionError: A question is (x, y) or (x, y, given), each name a string; got 'CE'.
    """
    if isinstance(asked, Question):
        return ask(asked.x, asked.y, asked.given, known)
    # a string is a sequence of strings: without this, "CE" would be the question C ⫫ E, and a variable "CE" would be two
    if isinstance(asked, str) or not isinstance(asked, Sequence) or len(asked) not in (2, 3):
        raise QuestionError(f"A question is (x, y) or (x, y, given), each name a string; got {asked!r}.")
    return ask(asked[0], asked[1], asked[2] if len(asked) == 3 else (), known)


def ask(x: str, y: str, given: Iterable[str], known: Collection[str]) -> Question:
    """A question about variables of a study, or an error that says what is wrong with it.

    >>> str(ask("C", "E", ["A"], {"A", "C", "E"}))
    'C ⫫ E | A'
    """
    if not isinstance(given, Iterable):
        raise QuestionError(f"given must be names of variables; got {given!r}. For none, leave it out.")
    given = (given,) if isinstance(given, str) else tuple(given)
    for name in (x, y, *given):
        if not isinstance(name, str):
            raise QuestionError(f"Variables are asked for by name, a string; got {name!r}.")
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
