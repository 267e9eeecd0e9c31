"""Which sums may be made at all."""

from __future__ import annotations

from dataclasses import dataclass

from consilience.settings.choices import SingleSite
from consilience.settings.declaration import DEFAULTS

__all__ = ["OPEN", "Disclosure"]


@dataclass(frozen=True, slots=True)
class Disclosure:
    """Which sums may be made at all: contributors and rows that each must have.

    A sum with one contributor is that site's number. A test that only one site can do is answered by that site alone
    (``single_site="local"``), with a rounded p-value and no statistic; or not at all.

    >>> limits = Disclosure(min_contributors=3, min_rows=10)
    >>> limits.refusal(2, 500)
    'only 2 sites have the rows for it, and the study asks for at least 3'
    >>> limits.refusal(3, 500)
    ''
    """

    min_contributors: int = DEFAULTS.min_contributors
    min_rows: int = DEFAULTS.min_rows
    single_site: SingleSite = DEFAULTS.single_site

    def alone(self, contributors: int) -> bool:
        """True if a test with so many contributors is one for a site alone."""
        return contributors == 1 and self.min_contributors > 1 and self.single_site is SingleSite.LOCAL

    @property
    def rounds_alone(self) -> bool:
        """True if a number may turn out to be one site's own: p-values of sites are rounded then (see citest.rounding)."""
        return self.alone(1)

    def refusal(self, contributors: int, rows: int) -> str:
        """Why a sum over so many sites and rows is not made, or the empty string."""
        if contributors < self.min_contributors and not self.alone(contributors):
            have = "only one site has" if contributors == 1 else f"only {contributors} sites have"
            return f"{have} the rows for it, and the study asks for at least {self.min_contributors}"
        if rows < self.min_rows:
            return f"{rows} rows are fewer than the {self.min_rows} that the study asks for"
        return ""


OPEN = Disclosure(min_contributors=1, min_rows=1)
"""No limits: where all rows are in one place anyway."""
