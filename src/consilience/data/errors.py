"""What can be wrong with one site's data, and with how several sites' fit together."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from consilience.data.finding import Finding
from consilience.errors import ConsilienceError, DataError, QuestionError, SchemaError

__all__ = [
    "ClusterError",
    "EmptyDataError",
    "InfiniteValueError",
    "KindConflictError",
    "KindError",
    "LevelConflictError",
    "NullColumnError",
    "RareLevelError",
    "ReadError",
    "UnknownLevelError",
    "UnknownVariableError",
    "error_of",
    "nearest",
]


class ReadError(DataError):
    """A file cannot be read as a table.

    ``finding`` is what was seen with the ways out, where there are some to choose from, so that the message can be said in the words of
    whoever asked; else None.
    """

    def __init__(self, said: str | Finding) -> None:
        self.finding = said if isinstance(said, Finding) else None
        super().__init__(said.said() if isinstance(said, Finding) else said)


class EmptyDataError(DataError):
    """A table without rows or without columns."""


class NullColumnError(DataError):
    """A column without a single value."""


class InfiniteValueError(DataError):
    """An infinite number in a column of numbers."""


class ClusterError(DataError):
    """The column that marks clusters is not there, or is a variable as well."""


class KindError(DataError):
    """A column cannot be of the kind that was asked for."""


class RareLevelError(DataError):
    """A level with so few rows that its owner does not want it counted."""


class KindConflictError(SchemaError):
    """Two sites disagree on a variable's kind."""


class LevelConflictError(SchemaError):
    """Two sites disagree on a variable's levels."""


class UnknownLevelError(SchemaError):
    """A value outside the levels the study declared."""


class UnknownVariableError(QuestionError):
    """A variable that no site measures and no schema declares."""


def error_of(cause: type[ConsilienceError], *findings: Finding) -> ConsilienceError:
    """An error that says what was found, with the findings themselves, so that the command line can name its own options.

    Parameters
    ----------
    cause : type
        What to raise.
    *findings : Finding
        All that stands against it.

    Returns
    -------
    ConsilienceError
        Of that type.

    Examples
    --------
    >>> from consilience.data.finding import Grade, Remedy, Step
    >>> str(error_of(KindError, Finding("kind", Grade.REFUSED, "'S' has no order.", remedies=(Remedy(Step.KIND, "S", "multinomial"),))))
    "'S' has no order. The way out: kinds={'S': 'multinomial'}."
    """
    error = cause("\n".join(finding.said() for finding in findings))
    error.findings = findings
    return error


def nearest(name: str, known: Iterable[str]) -> str:
    """What to say after a name that is not known: the names that are nearest to it, or all of them.

    Parameters
    ----------
    name : str
        What was asked for.
    known : iterable of str
        What there is.

    Returns
    -------
    str
        A sentence with a space before it.

    Examples
    --------
    >>> nearest("Agee", ["age", "sex"]), nearest("x", ["age", "sex"])
    (" Did you mean 'age'?", ' It has: age, sex.')
    """
    known = list(known)
    lower = {one.strip().casefold(): one for one in known}
    close = [lower[one] for one in get_close_matches(name.strip().casefold(), lower, n=3, cutoff=0.7)]
    return f" Did you mean {' or '.join(repr(one) for one in close)}?" if close else f" It has: {', '.join(known)}."
