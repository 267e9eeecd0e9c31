"""How much y would change if x were set: the estimate of a total effect, adjusted for other variables.

An estimate is an effect only where the adjustment is right, which no data say and a graph may: :mod:`consilience.iod` asks for estimates
where a graph has an adjustment set. docs/effects.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any

from consilience.citest.rounding import significant
from consilience.frames import pl
from consilience.showing import table
from consilience.wording import counted

__all__ = ["Change", "Contrast", "Estimate", "Variance", "contrast_schema"]


class Change(StrEnum):
    """What a contrast is measured in.

    >>> Change("rate ratio").none, Change.RISK.none
    (1.0, 0.0)
    """

    MEAN = "mean difference"
    RATE = "rate ratio"
    RISK = "risk difference"

    @property
    def none(self) -> float:
        """The value where x does nothing."""
        return 1.0 if self is Change.RATE else 0.0


class Variance(StrEnum):
    """Where standard errors come from."""

    ROBUST = "robust"
    """Residuals may scatter differently from row to row, and from site to site (White 1980, HC1)."""
    MODEL = "model"
    """The information of the fitted model and, for risks and rates, how covariates scatter (delta method)."""


@dataclass(frozen=True, slots=True)
class Contrast:
    """What y would be if x were set to one value rather than to another.

    Parameters
    ----------
    measure : {"mean difference", "rate ratio", "risk difference"}
        Of a continuous y, in its own unit; the factor on the mean of a count; the difference of probabilities of a discrete y.
    estimate : float
        The number.
    se : float or None
        Its standard error; of a ratio that of its logarithm. None where it is not known.
    low, high : float or None
        The ends of its 95 % interval.
    level, reference : str, default ""
        The two levels of a discrete x that are compared; both empty where x is a number, which then rises by one standard deviation.
    outcome : str, default ""
        The level of a discrete y whose probability this is; of an ordinal one that level "or higher".
    value, value_reference : float or None
        The probability of the outcome (the mean of a count) in both cases; None for a continuous y.

    Attributes
    ----------
    clear : bool
        True if the interval leaves "no effect" out.

    Examples
    --------
    >>> Contrast("risk difference", 0.1, 0.02, 0.06, 0.14, "yes", "no", "ill", 0.3, 0.2).clear
    True
    """

    measure: str
    estimate: float
    se: float | None
    low: float | None
    high: float | None
    level: str = ""
    reference: str = ""
    outcome: str = ""
    value: float | None = None
    value_reference: float | None = None

    @property
    def clear(self) -> bool:
        """True if the interval leaves "no effect" out."""
        return self.low is not None and self.high is not None and not self.low <= Change(self.measure).none <= self.high


@dataclass(frozen=True, slots=True)
class Estimate:
    """The total effect of x on y, adjusted for a set of variables, over the rows of all sites that measure all of them.

    Parameters
    ----------
    x, y : str
        What is set, and what is looked at.
    given : tuple of str
        The variables adjusted for.
    n, contributors : int
        Rows and sites that it rests on.
    contrasts : tuple of Contrast
        Each level of x against the reference, and each outcome of y; empty where there is a ``reason``.
    p_value : float or None
        Of no association between x and y given the set.
    step : float or None
        The standard deviation of x by which it rises, where x is a number: from half of it below its mean to half of it above.
    unit_x, unit_y : str, default ""
        The units of numbers.
    variance : {"", "robust", "model"}
        Where standard errors come from.
    reason : str, default ""
        Why there is no estimate.

    Attributes
    ----------
    known : bool
        True if there is an estimate.
    width : float
        The length of the widest interval: what is smaller says more. Infinite where an interval is not known.

    Examples
    --------
    >>> contrast = Contrast("mean difference", 2.0, 0.5, 1.0, 3.0)
    >>> print(Estimate("age", "bp", ("sex",), 500, 3, (contrast,), 1e-4, 12.0, "years", "mmHg", "robust"))
    age → bp, adjusted for sex: bp +2.00 mmHg for 12 years more of age (95 % interval 1.00 to 3.00); 500 rows of 3 sites
    """

    x: str
    y: str
    given: tuple[str, ...]
    n: int
    contributors: int
    contrasts: tuple[Contrast, ...] = ()
    p_value: float | None = None
    step: float | None = None
    unit_x: str = ""
    unit_y: str = ""
    variance: str = ""
    reason: str = ""

    @property
    def known(self) -> bool:
        """True if there is an estimate."""
        return bool(self.contrasts)

    @property
    def width(self) -> float:
        """The length of the widest interval."""
        ends = [(c.low, c.high) for c in self.contrasts]
        return max((high - low if low is not None and high is not None else float("inf") for low, high in ends), default=float("inf"))

    def to_dict(self) -> dict[str, Any]:
        """For JSON.

        Returns
        -------
        dict
            With plain values only; :meth:`from_dict` is its inverse.

        Examples
        --------
        >>> told = Estimate("X", "Y", (), 10, 2, reason="X does not vary")
        >>> Estimate.from_dict(told.to_dict()) == told
        True
        """
        found = asdict(self)
        return found | {"given": list(self.given), "contrasts": [asdict(c) for c in self.contrasts]}

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Estimate:
        """An estimate that was stored.

        Parameters
        ----------
        told : mapping
            What :meth:`to_dict` made.

        Returns
        -------
        Estimate

        Examples
        --------
        >>> Estimate.from_dict({"x": "X", "y": "Y", "given": [], "n": 10, "contributors": 2, "reason": "X does not vary"}).known
        False
        """
        contrasts = tuple(Contrast(**contrast) for contrast in told.get("contrasts", ()))
        return cls(**{**told, "given": tuple(told["given"]), "contrasts": contrasts})

    def frame(self) -> pl.DataFrame:
        """One row a contrast.

        Returns
        -------
        polars.DataFrame
            ``x``, ``y``, ``given``, then the fields of :class:`Contrast`, then ``n``, ``contributors`` and ``variance``.

        Examples
        --------
        >>> contrast = Contrast("mean difference", 2.0, 0.5, 1.0, 3.0)
        >>> Estimate("age", "bp", ("sex",), 500, 3, (contrast,)).frame().select("x", "y", "given", "estimate").rows()
        [('age', 'bp', ['sex'], 2.0)]
        """
        about = {"x": self.x, "y": self.y, "given": list(self.given)}
        rests_on = {"n": self.n, "contributors": self.contributors, "variance": self.variance}
        return pl.DataFrame([about | asdict(c) | rests_on for c in self.contrasts], schema=contrast_schema())

    def rounded(self, digits: int) -> Estimate:
        """The same with numbers of so many significant digits, as they are published.

        Parameters
        ----------
        digits : int

        Returns
        -------
        Estimate

        Examples
        --------
        >>> told = Estimate("X", "Y", (), 10, 2, (Contrast("mean difference", 1.23456789, None, None, None),), step=2.0 / 3.0)
        >>> told.rounded(3).contrasts[0].estimate, told.rounded(3).step
        (1.23, 0.667)
        """
        shorter = partial(_significant, digits=digits)
        contrasts = tuple(
            replace(
                one,
                estimate=significant(one.estimate, digits),
                se=shorter(one.se),
                low=shorter(one.low),
                high=shorter(one.high),
                value=shorter(one.value),
                value_reference=shorter(one.value_reference),
            )
            for one in self.contrasts
        )
        return replace(self, contrasts=contrasts, p_value=shorter(self.p_value), step=shorter(self.step))

    def in_words(self) -> str:
        """The estimate as a sentence without its full stop.

        Returns
        -------
        str

        Examples
        --------
        >>> Estimate("X", "Y", (), 10, 2, reason="X does not vary").in_words()
        'X → Y, adjusted for nothing: no estimate, since X does not vary'
        """
        from consilience.citest.effect_words import estimate_in_words  # noqa: PLC0415 (words are made of these types)

        return estimate_in_words(self)

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        """What a notebook shows: what it rests on, and one row for each contrast."""
        from consilience.citest.effect_words import contrast_cells, set_in_words  # noqa: PLC0415 (words are made of these types)

        head = f"{self.x} → {self.y}, adjusted for {set_in_words(self.given)}"
        if not self.known:
            return table(f"{head}: no estimate, since {self.reason}")
        rests_on = f"{counted(self.n, 'row')} of {counted(self.contributors, 'site')}"
        heads = ("if", "of", "change", "95 % interval", "if set", "else")
        return table(f"{head}: {rests_on}", heads, (contrast_cells(self, one) for one in self.contrasts))


def _significant(number: float | None, digits: int) -> float | None:
    return None if number is None else significant(number, digits)


def contrast_schema() -> dict[str, Any]:
    """The columns of a table of contrasts, the same where there are none.

    >>> list(contrast_schema())[:5]
    ['x', 'y', 'given', 'measure', 'estimate']
    """
    texts, numbers = ("level", "reference", "outcome"), ("value", "value_reference")
    return (
        {"x": pl.String, "y": pl.String, "given": pl.List(pl.String), "measure": pl.String}
        | dict.fromkeys(("estimate", "se", "low", "high"), pl.Float64)
        | dict.fromkeys(texts, pl.String)
        | dict.fromkeys(numbers, pl.Float64)
        | {"n": pl.Int64, "contributors": pl.Int64, "variance": pl.String}
    )
