"""Variable kinds and levels.

A *kind* says how a variable is modelled when it is the response, and how it is coded when it is a predictor:

===========  ==========================  ==================================
kind         response model              predictor columns
===========  ==========================  ==================================
continuous   Gaussian                    the number itself
count        Poisson, quasi-likelihood   the number itself
binary       logit                       0/1
ordinal      cumulative logit            treatment-coded, one per non-first level
multinomial  baseline-category logit     treatment-coded, one per non-first level
===========  ==========================  ==================================

Levels are text labels in a fixed order, so that ``1``, ``1.0`` and ``True`` at three sites can mean one level.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from consilience.data.errors import KindError, LevelConflictError, error_of
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.errors import OptionError

__all__ = ["Kind", "Variable", "as_kind", "level_label", "sort_levels"]


class Kind(StrEnum):
    """How a variable is modelled. A kind may be written as its name wherever one is asked for.

    Attributes
    ----------
    CONTINUOUS
        ``"continuous"``: a number; Gaussian as a response.
    BINARY
        ``"binary"``: two levels; logit.
    ORDINAL
        ``"ordinal"``: levels with an order; cumulative logit.
    MULTINOMIAL
        ``"multinomial"``: levels without an order; baseline-category logit.
    COUNT
        ``"count"``: how often something happened, 0, 1, 2, …; Poisson mean, with a variance that the data say (quasi-likelihood). Only
        where it is declared: an integer may be an age, a grade or a code.

    Examples
    --------
    >>> Kind("ordinal").is_discrete
    True
    """

    CONTINUOUS = "continuous"
    BINARY = "binary"
    ORDINAL = "ordinal"
    MULTINOMIAL = "multinomial"
    COUNT = "count"

    @property
    def is_discrete(self) -> bool:
        """True for the kinds that have levels. Continuous variables and counts have none: they are numbers, and one column as a
        predictor.
        """
        return self not in (Kind.CONTINUOUS, Kind.COUNT)

    @property
    def in_words(self) -> str:
        """What stands after "is" in a sentence: ``continuous``, ``a count``."""
        return "a count" if self is Kind.COUNT else self.value


def as_kind(value: str | Kind, variable: str) -> Kind:
    """Read a kind from its name.

    >>> as_kind("binary", "smoker")
    <Kind.BINARY: 'binary'>
    """
    try:
        return Kind(value)
    except ValueError:
        names = ", ".join(k.value for k in Kind)
        raise OptionError(f"The kind of {variable!r} must be one of {names}; got {value!r}.") from None


def level_label(value: Any) -> str:
    """The text label of a level: whole numbers without a point, booleans as 0 and 1, text as it is.

    >>> [level_label(v) for v in (True, 3, 3.0, 2.5, "stage II")]
    ['1', '3', '3', '2.5', 'stage II']
    """
    # labels and not values, since types differ between files for reasons that mean nothing: one missing value turns a column of integers
    # into floats, and 1 into 1.0
    if isinstance(value, str):
        return value
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise KindError(f"A level must be text, a number or a boolean; got {value!r} of type {type(value).__name__}.") from None
    return str(int(number)) if number.is_integer() else repr(number)


def _as_number(label: str) -> float | None:
    try:
        return float(label)
    except ValueError:
        return None


def sort_levels(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels in order: by value when every label is a number, else alphabetically.

    >>> sort_levels({"10", "9"}), sort_levels({"b", "10"})
    (('9', '10'), ('10', 'b'))
    """
    unique = set(labels)
    numbers = {label: _as_number(label) for label in unique}
    if all(number is not None for number in numbers.values()):
        # by value, then by text: "1" and "01" are two levels of one value, and their order must not depend on a set's
        return tuple(sorted(unique, key=lambda label: (numbers[label], label)))
    return tuple(sorted(unique))


def have_natural_order(labels: Iterable[str]) -> bool:
    """True if every label is a number, so that an order need not be declared.

    >>> have_natural_order(["1", "2"]), have_natural_order(["low", "high"])
    (True, False)
    """
    return all(_as_number(label) is not None for label in labels)


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of a study.

    Attributes
    ----------
    name : str
        As the sites' columns are called.
    kind : Kind
        How it is modelled.
    levels : tuple of str, default ()
        If it is discrete, its levels in order; the first is the reference. Empty if it is continuous or a count.

    Raises
    ------
    KindError
        If a continuous variable or a count has levels, or a discrete one has none.
    LevelConflictError
        If a level is there twice, or a binary variable has more than two.

    Examples
    --------
    >>> Variable("stage", Kind.ORDINAL, ("I", "II", "III")).n_columns
    2
    """

    name: str
    kind: Kind
    levels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.kind.is_discrete and self.levels:
            raise KindError(
                f"{self.name!r} is {self.kind.in_words} and cannot have levels; got {list(self.levels)}. "
                f"Leave the levels out or choose a discrete kind."
            )
        if len(set(self.levels)) != len(self.levels):
            raise LevelConflictError(f"The levels of {self.name!r} must differ from each other; got {list(self.levels)}.")
        if self.kind.is_discrete and not self.levels:
            raise KindError(f"{self.name!r} is {self.kind.value} and needs levels; got none. Declare them.")
        # one level is allowed: a site may have seen one, and a study where nobody has seen two says so test by test
        if self.kind is Kind.BINARY and len(self.levels) > 2:
            ways = tuple(Remedy(Step.KIND, self.name, kind.value) for kind in (Kind.MULTINOMIAL, Kind.ORDINAL))
            words = f"{self.name!r} is binary and may have two levels at most; got {list(self.levels)}."
            raise error_of(LevelConflictError, Finding("level-conflict", Grade.REFUSED, words, (self.name,), remedies=ways))

    @property
    def n_columns(self) -> int:
        """How many columns the variable has as a predictor."""
        return len(self.levels) - 1 if self.kind.is_discrete else 1
