"""What can be wrong with one site's data, and with how several sites' fit together."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from consilience.data.finding import Finding
from consilience.errors import ConsilienceError, DataError, QuestionError, SchemaError

__all__ = [
    "ClusterError",
    "EmptyDataError",
    "ExpressionError",
    "HarmoniseError",
    "InfiniteValueError",
    "KindConflictError",
    "KindError",
    "LevelConflictError",
    "NullColumnError",
    "OutOfMemoryError",
    "OutOfRangeError",
    "RareLevelError",
    "ReadError",
    "UnknownLevelError",
    "UnknownVariableError",
    "error_of",
    "nearest",
]


MOST_NAMED = 20
"""Names that are listed where none is near."""


class ReadError(DataError):
    """A file cannot be read as a table: a sentence, or what was found, with the ways out."""

    def __init__(self, said: str | Finding) -> None:
        super().__init__(said.said() if isinstance(said, Finding) else said)
        self.findings = (said,) if isinstance(said, Finding) else ()


class EmptyDataError(DataError):
    """A table without rows or without columns."""


class NullColumnError(DataError):
    """A column without a single value."""


class InfiniteValueError(DataError):
    """An infinite number in a column of numbers."""


class OutOfMemoryError(DataError):
    """A table that is larger than memory, and something that cannot be done with it a block of rows at a time."""


class ClusterError(DataError):
    """The column that marks clusters is not there, or is a variable as well."""


class KindError(DataError):
    """A column cannot be of the kind that was asked for."""


class RareLevelError(DataError):
    """A level with so few rows that its owner does not want it counted."""


class HarmoniseError(DataError):
    """A plan to harmonise a site's table does not say what can be done, or does not fit the table."""


class ExpressionError(HarmoniseError):
    """The text of a derived variable cannot be read, or does not fit the columns it names."""


class KindConflictError(SchemaError):
    """Two sites disagree on a variable's kind."""


class LevelConflictError(SchemaError):
    """Two sites disagree on a variable's levels."""


class OutOfRangeError(SchemaError):
    """Values outside the range that the study declared."""


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
    """What to say after a name that is not known: the names that are nearest to it, or what there is.

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
    known = [str(one) for one in known]
    lower = {one.strip().casefold(): one for one in known}
    close = [lower[one] for one in get_close_matches(name.strip().casefold(), lower, n=3, cutoff=0.6)]
    if close:
        return f" Did you mean {' or '.join(repr(one) for one in close)}?"
    return f" It has: {', '.join(known[:MOST_NAMED])}{', …' if len(known) > MOST_NAMED else ''}."
