"""Does the linear model behind a test hold? What was found for one test, and for all of a study."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["LEVEL", "Diagnosis", "Diagnostics", "doubtful"]

LEVEL = 0.05
"""The chance that, of any number of tests whose models hold, one or more are said not to."""


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """Three checks of the models of one test, as p-values: small ones speak against the model. None where a check was not made.

    Each is the smaller of the test's two directions, doubled.

    Parameters
    ----------
    curvature_p : float or None
        Squares, cubes and products of the predictors add nothing.
    variance_p : float or None
        The variance is the same everywhere (of a count: everywhere the same multiple of the mean).
    slopes_p : float or None
        Slopes are the same at all sites (Cochran's Q).
    i_squared : float or None
        The share of the differences of slopes between sites that is not chance (Higgins' I²).

    Attributes
    ----------
    linear_p : float or None
        Of the three together: the smallest after Holm's correction.

    Examples
    --------
    >>> Diagnostics(curvature_p=0.004, slopes_p=0.6).linear_p
    0.008
    """

    curvature_p: float | None = None
    variance_p: float | None = None
    slopes_p: float | None = None
    i_squared: float | None = None

    @property
    def linear_p(self) -> float | None:
        """Of the three together: the smallest after Holm's correction. None if none was made."""
        made = [p for p in (self.curvature_p, self.variance_p, self.slopes_p) if p is not None]
        return min(1.0, len(made) * min(made)) if made else None


def doubtful(found: Iterable[float | None], level: float = LEVEL) -> list[bool]:
    """For every test whether its model does not hold, by Holm's correction of their ``linear_p`` over all of them.

    >>> doubtful([0.001, 0.02, 0.04, None])
    [True, True, True, False]
    >>> doubtful([0.001, 0.03, 0.04, None])
    [True, False, False, False]
    """
    values = list(found)
    made = sorted((p, place) for place, p in enumerate(values) if p is not None)
    flags = [False] * len(values)
    for rank, (p, place) in enumerate(made):
        if p * (len(made) - rank) > level:
            break
        flags[place] = True
    return flags


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Of all tests of a study: how many there are, of how many the models were looked at, and in how many they do not hold.

    ``replaced`` counts the tests that ``method="auto"`` has answered by residuals.

    >>> print(Diagnosis(80, 80, 12))
    in 12 of 80 tests the linear model does not hold: use method='residual'
    """

    tests: int
    made: int
    doubtful: int
    replaced: int = 0

    @staticmethod
    def of(found: Sequence[float | None], methods: Sequence[str | None] = ()) -> Diagnosis:
        """From the ``linear_p`` of all tests, and the methods that answered them where there were two.

        >>> Diagnosis.of([0.2, 1e-9, None])
        Diagnosis(tests=3, made=2, doubtful=1, replaced=0)
        """
        replaced = sum(method == "residual" for method in methods)
        return Diagnosis(len(found), sum(p is not None for p in found), sum(doubtful(found)), replaced)

    def __str__(self) -> str:
        return self.said()

    def said(self, way: str = "method='residual'") -> str:
        """In words, with the way out as whoever asked would write it.

        >>> Diagnosis(80, 80, 12).said("--method residual")
        'in 12 of 80 tests the linear model does not hold: use --method residual'
        >>> Diagnosis(80, 80, 12, 20).said()
        "method='residual' answers 20 of 80 tests, where the linear model does not hold, or counts are in too few rows to tell"
        """
        if not self.tests:
            return "there are no tests, so no linear model to look at"
        if not self.made:
            return "whether linear models hold was not looked at"
        among = f"{self.made} test{'' if self.made == 1 else 's'}"
        if self.replaced > self.doubtful:
            return f"{way} answers {self.replaced} of {among}, where the linear model does not hold, or counts are in too few rows to tell"
        if self.replaced:
            return f"in {self.replaced} of {among} the linear model does not hold: {way} answers there"
        if not self.doubtful:
            return f"nothing speaks against the linear model in {among}"
        return f"in {self.doubtful} of {among} the linear model does not hold: use {way}"
