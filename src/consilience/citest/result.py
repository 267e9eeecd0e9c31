"""Results of conditional-independence tests: small frozen types that carry everything a reader may check."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

import polars as pl

from consilience.citest.diagnostics import Diagnostics
from consilience.citest.laws import Law, log_tail

__all__ = ["CIResult", "Direction", "silent", "to_frame"]


@dataclass(frozen=True, slots=True)
class Direction:
    """One of the two nested comparisons of a test: response ~ given against response ~ predictor + given.

    Where the comparison is not informative, ``df`` is zero, ``p_value`` one and ``reason`` says why; the log-likelihoods are then
    NaN.

    Parameters
    ----------
    response, predictor : str
        Which of the two variables is modelled, and which is added to the model.
    statistic : float
        Twice the gain in log-likelihood; with a count as the response divided by the dispersion.
    df : int
        Degrees of freedom: the rank that the predictor adds to the design, times the slopes per column.
    p_value : float
        From ``law``.
    loglik_restricted, loglik_unrestricted : float
        Log-likelihoods without and with the predictor.
    converged : bool, default True
        False if one of the two fits did not reach its maximum.
    separated : bool, default False
        A level is predicted perfectly: the statistic is the limit it tends to.
    reason : str, default ""
        Why the comparison is not informative.
    dispersion : float, default 1.0
        With a count as the response, how many times as large as the mean its variance was found to be (NaN if a site did the test alone).
    symmetric : bool, default False
        True where there is no direction: the residuals of both variables were multiplied (``method="residual"``). Then ``statistic`` is
        the quadratic form of the products, ``df`` its rank, and there are no log-likelihoods; the law is one of its own.
    law : {"chi2", "scaled chi2", "F", "quasi F"}
        The law that the p-value is from: χ²(df), χ²(df) of the statistic times ``residual_df``/``rows``, F(df, ``residual_df``) of the sums
        of squares behind a Gaussian likelihood, or, with a count as the response, F(df, ``residual_df``) of ``statistic``/``df``.
    residual_df : int, default 0
        Rows less parameters per linear predictor, intercepts of sites counted; with a count as the response the degrees of freedom that the
        dispersion was estimated with. Zero where the law does not need it.
    rows : int, default 0
        Rows of the comparison. Zero where the law does not need them.

    Attributes
    ----------
    informative : bool
        True if the comparison has at least one degree of freedom.
    log_p : float
        The logarithm of the p-value, also where the p-value itself is too small for a number.

    Examples
    --------
    >>> Direction("Y", "X", 3.84, 1, 0.05, -102.0, -100.08).informative
    True
    """

    response: str
    predictor: str
    statistic: float
    df: int
    p_value: float
    loglik_restricted: float
    loglik_unrestricted: float
    converged: bool = True
    separated: bool = False
    reason: str = ""
    dispersion: float = 1.0
    symmetric: bool = False
    law: str = Law.CHI2.value
    residual_df: int = 0
    rows: int = 0

    @property
    def informative(self) -> bool:
        """True if the comparison has at least one degree of freedom."""
        return self.df > 0

    @property
    def log_p(self) -> float:
        """The logarithm of the p-value, also where the p-value itself is too small for a number."""
        if self.symmetric:  # its law is bounded: beyond a largest statistic there is nothing, and no logarithm
            return math.log(max(self.p_value, 1e-300))
        if not self.informative:
            return 0.0
        return log_tail(Law(self.law), self.statistic, self.df, self.rows, self.residual_df)


def silent(response: str, predictor: str, reason: str, *, converged: bool = True, symmetric: bool = False) -> Direction:
    """A direction that is not informative."""
    return Direction(response, predictor, 0.0, 0, 1.0, math.nan, math.nan, converged, reason=reason, symmetric=symmetric)


@dataclass(frozen=True, slots=True)
class CIResult:
    """The answer to one question.

    A test of one's own makes it with :meth:`consilience.Question.result`.

    Parameters
    ----------
    x, y : str
        The two variables that were tested.
    given : tuple of str
        The variables conditioned on.
    p_value : float
        Of both directions together. One where the data cannot speak, which is *no* evidence of independence.
    n : int, default 0
        Rows of all contributing sites.
    contributors : int, default 0
        Sites that measure all variables of the question.
    rounds : int, default 0
        Exchanges with the sites until this answer was there (tests of a batch share them).
    informative : bool, default True
        False, with the ``reason``, where the data cannot speak.
    reason : str, default ""
        Why not.
    converged : bool, default True
        False if one of the fits did not reach its maximum.
    directions : tuple of Direction, default ()
        The two comparisons behind the p-value, where there are any; one that is ``symmetric`` with ``method="residual"``.
    participants : tuple of str, default ()
        The sites that took part in the run (not all of them need have contributed).
    diagnostics : Diagnostics, optional
        Whether the linear models of the test hold; None where nobody has looked.
    method : str, optional
        With ``method="auto"``: which of the two methods answered.

    Attributes
    ----------
    linear_p : float or None
        The p-value against the linear models of the test; None where nobody has looked.

    Examples
    --------
    >>> print(CIResult("C", "E", ("A",), 0.25, n=120, contributors=2))
    C ⫫ E | A: p = 0.25 (n = 120, 2 sites)
    """

    x: str
    y: str
    given: tuple[str, ...]
    p_value: float
    n: int = 0
    contributors: int = 0
    rounds: int = 0
    informative: bool = True
    reason: str = ""
    converged: bool = True
    directions: tuple[Direction, ...] = ()
    participants: tuple[str, ...] = ()
    diagnostics: Diagnostics | None = None
    method: str | None = None

    @property
    def linear_p(self) -> float | None:
        """The p-value against the linear models of the test; None where nobody has looked."""
        return None if self.diagnostics is None else self.diagnostics.linear_p

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON.

        Returns
        -------
        dict
            Every field by its name; directions as dictionaries of theirs.

        Examples
        --------
        >>> CIResult("C", "E", ("A",), 0.25).to_dict()["given"]
        ('A',)
        """
        return asdict(self)

    def __str__(self) -> str:
        sites = "1 site" if self.contributors == 1 else f"{self.contributors} sites"
        head = f"{self._question()}: p = {self.p_value:.4g} (n = {self.n}, {sites})"
        return head if self.informative else f"{head}; not informative: {self.reason}"

    def _question(self) -> str:
        return f"{self.x} ⫫ {self.y}" + (f" | {', '.join(self.given)}" if self.given else "")

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, and one row for each direction. Names and reasons are others' text, and escaped."""
        facts = [f"p = {self.p_value:.4g}", f"n = {self.n}", f"contributors: {self.contributors}"]
        facts += [] if self.informative else [f"not informative: {self.reason}"]
        facts += [] if self.converged else ["not converged"]
        caption = f"<caption>{escape(self._question())}: {escape('; '.join(facts))}</caption>"
        if not self.directions:
            return f"<table>{caption}</table>"
        names = ("response", "predictor", "statistic", "df", "p-value", "notes")
        head = "".join(f"<th>{name}</th>" for name in names)
        rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(d)) + "</tr>" for d in self.directions)
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cells(direction: Direction) -> tuple[str, ...]:
    """One direction as a row of text."""
    notes = [*([] if direction.converged else ["not converged"]), *(["separated"] if direction.separated else [])]
    notes += [direction.reason] if direction.reason else []
    numbers = f"{direction.statistic:.4g}", str(direction.df), f"{direction.p_value:.4g}"
    if direction.symmetric:
        notes.insert(0, "products of residuals")
    return direction.response, direction.predictor, *numbers, "; ".join(notes)


def to_frame(results: Sequence[CIResult]) -> pl.DataFrame:
    """Results as a table, one row a test.

    ``statistic_y`` and so on belong to the direction in which y is the response; ``linear_p`` and what follows say whether the linear
    models hold, and are null where nobody has looked.
    """
    text, number, whole, truth = pl.String, pl.Float64, pl.Int64, pl.Boolean
    kinds: dict[str, Any] = {"x": text, "y": text, "given": pl.List(text), "p_value": number, "n": whole, "contributors": whole}
    kinds |= {"informative": truth, "reason": text, "converged": truth, "rounds": whole}
    # column by column: a large discovery has a million rows, of few different conditioning sets
    columns = {name: pl.Series(name, [getattr(r, name) for r in results], dtype=kind) for name, kind in kinds.items() if name != "given"}
    sets = {given: place for place, given in enumerate(dict.fromkeys(r.given for r in results))}
    distinct = pl.Series("given", [list(given) for given in sets], dtype=kinds["given"])
    columns["given"] = distinct.gather([sets[r.given] for r in results]) if results else distinct
    for side in "yx":
        found = [next((d for d in r.directions if d.response == getattr(r, side)), None) for r in results]
        for name, kind in (("statistic", number), ("df", whole), ("p_value", number)):
            values = [None if d is None else getattr(d, name) for d in found]
            columns[f"{name}_{side}"] = pl.Series(f"{name}_{side}", values, dtype=kind)
    columns["linear_p"] = pl.Series("linear_p", [r.linear_p for r in results], dtype=number)
    for name in ("curvature_p", "variance_p", "slopes_p", "i_squared"):
        told = [None if r.diagnostics is None else getattr(r.diagnostics, name) for r in results]
        columns[name] = pl.Series(name, told, dtype=number)
    columns["method"] = pl.Series("method", [r.method for r in results], dtype=text)
    order = [*kinds, *(name for name in columns if name not in kinds)]
    return pl.DataFrame([columns[name] for name in order])
