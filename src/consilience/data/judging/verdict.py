"""What was decided about a column, how sure it is, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from consilience.data.errors import (
    InfiniteValueError,
    KindConflictError,
    KindError,
    LevelConflictError,
    UnknownLevelError,
    error_of,
)
from consilience.data.finding import Finding, Grade
from consilience.data.kinds import Kind
from consilience.data.schema import Declaration
from consilience.errors import ConsilienceError

__all__ = ["Standing", "Verdict", "use_error"]

_CAUSES: dict[str, type[ConsilienceError]] = {
    "infinite": InfiniteValueError,
    "strange-level": UnknownLevelError,
    "level-conflict": LevelConflictError,
    "spelling-conflict": LevelConflictError,
    "kind-conflict": KindConflictError,
}


class Standing(StrEnum):
    """How a column stands.

    >>> [standing.usable for standing in Standing]
    [True, True, False, False]
    """

    SURE = "sure"
    """It is what it seems to be."""
    DOUBTFUL = "doubtful"
    """It is used, and somebody should look."""
    REFUSED = "refused"
    """It cannot be used as it is; an error for whoever uses it."""
    EXCLUDED = "excluded"
    """It is no variable (an identifier, a date, an index), and left out unless somebody asks for it."""

    @property
    def usable(self) -> bool:
        """True if a study may use the column as it is."""
        return self in (Standing.SURE, Standing.DOUBTFUL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was decided about a column.

    Attributes
    ----------
    name : str
    standing : Standing
    reason : str
        Why this kind, or why it is none.
    declaration : Declaration or None
        Kind and levels: of an excluded column those that it would have; None if it is refused, or can be no variable.
    findings : tuple of Finding
        What was noticed, the gravest first.

    Examples
    --------
    >>> Verdict("visit", Standing.EXCLUDED, "dates").kind is None
    True
    """

    name: str
    standing: Standing
    reason: str
    declaration: Declaration | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def kind(self) -> Kind | None:
        """The kind that it is taken for, if any."""
        return None if self.declaration is None else self.declaration.variable.kind

    def error(self) -> ConsilienceError:
        """What to raise when somebody uses the column all the same."""
        return use_error(tuple(f for f in self.findings if f.grade is Grade.REFUSED) or self.findings)


def use_error(findings: Sequence[Finding]) -> ConsilienceError:
    """What to raise when variables are used that cannot be: one error for all that stands against it.

    Parameters
    ----------
    findings : sequence of Finding

    Returns
    -------
    ConsilienceError
        Of the cause of the first.

    Examples
    --------
    >>> use_error([Finding("infinite", Grade.REFUSED, "'A' is infinite in 3 rows.")])
    InfiniteValueError("'A' is infinite in 3 rows.")
    """
    return error_of(_CAUSES.get(findings[0].code, KindError), *findings)
