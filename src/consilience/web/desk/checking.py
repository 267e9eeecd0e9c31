"""The check of this site's table alone: what is doubtful or refused in it, and what a study's units and ranges say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from consilience.data.checking.comparing import by_gravity
from consilience.data.finding import Finding, Grade
from consilience.web.desk.fitting import Match
from consilience.wording import counted

__all__ = ["TableCheck", "conflicts", "table_check"]


@dataclass(frozen=True, slots=True)
class TableCheck:
    """What was found, the gravest first: in what is used, and in the rest of the table."""

    used: tuple[Finding, ...]
    rest: tuple[Finding, ...]

    def count(self, grade: str) -> int:
        """How many findings of a grade concern what is used."""
        return sum(finding.grade is Grade(grade) for finding in self.used)

    @property
    def headline(self) -> str:
        """How many findings there are of which grade.

        >>> TableCheck((), ()).headline
        '0 refused, 0 doubtful, 0 notices'
        """
        return f"{self.count('refused')} refused, {self.count('doubtful')} doubtful, {counted(self.count('notice'), 'notice')}"


def table_check(found: list[Finding], used: set[str]) -> TableCheck:
    """Sort findings by whether they concern variables that are used, and by how grave they are.

    >>> known = Finding("constant", Grade.NOTICE, "'ward' has one value only.", ("ward",))
    >>> table_check([known], {"age"}).rest == (known,)
    True
    """
    once = list(dict.fromkeys(found))
    of_use = [finding for finding in once if not finding.columns or set(finding.columns) & used]
    return TableCheck(tuple(by_gravity(of_use)), tuple(by_gravity([finding for finding in once if finding not in of_use])))


def conflicts(matches: Iterable[Match]) -> list[Finding]:
    """What does not fit a study, as findings: levels that it has not, numbers outside its range, a unit with no way to its own."""
    return [
        Finding("does-not-fit", Grade.REFUSED, f"{match.variable.name!r} does not fit the study. {match.words}", (match.variable.name,))
        for match in matches
        if match.state == "conflict"
    ]
