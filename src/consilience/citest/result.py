"""Results of conditional-independence tests: small frozen types that carry everything a reader may check."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, TypeVar

from consilience.citest.combine import log_symmetric
from consilience.citest.diagnostics import Diagnostics
from consilience.citest.laws import Law, log_tail
from consilience.citest.rounding import significant
from consilience.citest.size import Measure, Size, likelihood_strength
from consilience.citest.size_words import levels_in_words, sentence
from consilience.frames import pl
from consilience.showing import table

__all__ = ["CIResult", "Direction", "silent", "size_from_row", "to_frame", "untold"]

T = TypeVar("T", "CIResult", "Direction", Diagnostics, Size)


@dataclass(frozen=True, slots=True)
class Direction:
    """One of the two nested comparisons of a test: response ~ given against response ~ predictor + given.

    Where the comparison is not informative, ``df`` is zero, ``p_value`` one and ``reason`` says why; the log-likelihoods are then
    NaN. Where one site did the test alone, only ``df`` and ``separated`` are known: it keeps the numbers, which are NaN here, and tells the
    rounded p-value of both directions together (:attr:`CIResult.p_value`).

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
    sizes : tuple of Size, default ()
        How much of the response goes with how much of the predictor: one number, or one for each level. Empty where it is not known: one
        site did the test alone, a level is predicted perfectly, or levels are never compared at one site.
    sign : {"+", "−", ""} or None
        Whether more goes with more or with less; empty where there is no one direction, None where it is not known.

    Attributes
    ----------
    informative : bool
        True if the comparison has at least one degree of freedom.
    log_p : float
        The logarithm of the p-value, also where the p-value itself is too small for a number; NaN where one site keeps it.

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
    sizes: tuple[Size, ...] = ()
    sign: str | None = None

    @property
    def informative(self) -> bool:
        """True if the comparison has at least one degree of freedom."""
        return self.df > 0

    @property
    def log_p(self) -> float:
        """The logarithm of the p-value, also where the p-value itself is too small for a number."""
        if math.isnan(self.p_value):  # one site alone keeps it
            return math.nan
        if self.symmetric:  # its law is bounded: beyond a largest statistic there is nothing, and no logarithm
            return math.log(max(self.p_value, 1e-300))
        if not self.informative:
            return 0.0
        return log_tail(Law(self.law), self.statistic, self.df, self.rows, self.residual_df)


def untold(response: str, predictor: str, df: int, *, separated: bool = False, symmetric: bool = False) -> Direction:
    """A direction of which only the degrees of freedom are known: one site did the test alone, and keeps its numbers (NaN)."""
    nan = math.nan
    return Direction(response, predictor, nan, df, nan, nan, nan, separated=separated, dispersion=nan, symmetric=symmetric)


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
    log_p : float
        The logarithm of the p-value, also where the p-value itself is too small for a number; NaN where the data cannot speak.
    linear_p : float or None
        The p-value against the linear models of the test; None where nobody has looked.
    leading : Direction or None
        The direction whose size is told: of those that can speak the one with the fewest numbers.
    size : Size or None
        How strong, where one number says it; None where there are several (``leading.sizes``) or none.
    sign : {"+", "−", ""} or None
        Whether more of x goes with more of y; empty where there is no one direction, None where it is not known.
    strength : float or None
        How strong on one scale for all kinds, from 0 to 1: √(1 - e^{-T/n}) of nested models, which between continuous variables is the
        absolute partial correlation; the absolute correlation of residuals. None where it is not known.

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
    def log_p(self) -> float:
        """The logarithm of the p-value; from the directions, where it is too small for a number. NaN where the data cannot speak."""
        if not self.informative:
            return math.nan
        if self.p_value > 1e-280:
            return math.log(self.p_value)
        logs = [d.log_p for d in self.directions if d.informative]
        if not logs or any(d.symmetric for d in self.directions):
            return math.log(max(self.p_value, 1e-300))
        return logs[0] if len(logs) == 1 else log_symmetric(logs[0], logs[1])

    @property
    def linear_p(self) -> float | None:
        """The p-value against the linear models of the test; None where nobody has looked."""
        return None if self.diagnostics is None else self.diagnostics.linear_p

    @property
    def leading(self) -> Direction | None:
        """The direction whose size is told: the fewest numbers, then slopes before rates and odds, then y as the response."""
        speaking = [d for d in self.directions if d.informative]
        return min(speaking, key=_readable) if speaking else None

    @property
    def size(self) -> Size | None:
        """How strong, where one number says it."""
        leading = self.leading
        return leading.sizes[0] if leading is not None and len(leading.sizes) == 1 else None

    @property
    def sign(self) -> str | None:
        """Whether more of x goes with more of y; empty where there is no one direction, None where it is not known."""
        leading = self.leading
        return None if leading is None else leading.sign

    @property
    def strength(self) -> float | None:
        """How strong on one scale for all kinds, from 0 to 1; None where it is not known."""
        leading = self.leading
        if leading is None or math.isnan(leading.statistic):  # one site alone: it tells a rounded p-value, and no size
            return None
        if leading.symmetric:
            return abs(leading.sizes[0].estimate) if leading.sizes else None
        return likelihood_strength(leading.statistic, self.n)

    def in_words(self) -> str:
        """How strong, as a sentence that says no more than that two variables go together.

        Returns
        -------
        str
            Empty where nothing is known of it.

        Examples
        --------
        >>> size = Size("slope", 0.31, 0.03, 0.25, 0.37, "bp", "age")
        >>> told = Direction("bp", "age", 90.0, 1, 1e-20, -900.0, -855.0, sizes=(size,), sign="+")
        >>> CIResult("age", "bp", ("sex",), 1e-20, 1000, 2, directions=(told,)).in_words()
        'higher age goes with higher bp: +0.31 standard deviations per standard deviation (95 % interval 0.25 to 0.37), given sex'
        """
        sizes = () if self.leading is None else self.leading.sizes
        return sentence(self.x, self.y, self.given, self.size, self.strength, levels_in_words(sizes) if len(sizes) > 1 else "")

    def rounded(self, digits: int) -> CIResult:
        """The same answer with so many significant digits of every number, as it is published.

        Parameters
        ----------
        digits : int
            Significant digits.

        Returns
        -------
        CIResult
            What follows from it (``sign``, ``strength``, decisions) follows from the rounded numbers.

        Examples
        --------
        >>> CIResult("C", "E", ("A",), 0.123456789).rounded(6).p_value
        0.123457
        """
        sized = (replace(d, sizes=tuple(_rounded(size, digits) for size in d.sizes)) for d in self.directions)
        directions = tuple(_rounded(d, digits) for d in sized)
        diagnostics = None if self.diagnostics is None else _rounded(self.diagnostics, digits)
        return replace(_rounded(self, digits), directions=directions, diagnostics=diagnostics)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON.

        Returns
        -------
        dict
            Every field by its name; directions as dictionaries of theirs; ``sign``, ``strength`` and ``in_words``, which follow from them.

        Examples
        --------
        >>> CIResult("C", "E", ("A",), 0.25).to_dict()["given"]
        ('A',)
        """
        return asdict(self) | {"sign": self.sign, "strength": self.strength, "in_words": self.in_words()}

    def __str__(self) -> str:
        sites = "1 site" if self.contributors == 1 else f"{self.contributors} sites"
        head = f"{self._question()}: p = {self.p_value:.4g} (n = {self.n}, {sites})"
        if not self.informative:
            return f"{head}; not informative: {self.reason}"
        words = self.in_words()
        return f"{head}; {words}" if words else head

    def _question(self) -> str:
        return f"{self.x} ⫫ {self.y}" + (f" | {', '.join(self.given)}" if self.given else "")

    def _repr_html_(self) -> str:
        """What a notebook shows: the answer, and one row for each direction. Names and reasons are others' text, and escaped."""
        facts = [f"p = {self.p_value:.4g}", f"n = {self.n}", f"contributors: {self.contributors}"]
        facts += [] if self.informative else [f"not informative: {self.reason}"]
        facts += [] if self.converged else ["not converged"]
        facts += [words] if (words := self.in_words()) else []
        heads = ("response", "predictor", "statistic", "df", "p-value", "size (95 % interval)", "notes")
        return table(f"{self._question()}: {'; '.join(facts)}", heads, map(_cells, self.directions))


def _rounded(record: T, digits: int) -> T:
    """A record whose own floats are rounded."""
    floats = {f.name: value for f in fields(record) if isinstance(value := getattr(record, f.name), float)}
    changes: dict[str, Any] = {name: significant(value, digits) for name, value in floats.items()}
    return replace(record, **changes)


def _cells(direction: Direction) -> tuple[str, ...]:
    """One direction as a row of text."""
    notes = [*([] if direction.converged else ["not converged"]), *(["separated"] if direction.separated else [])]
    notes += [direction.reason] if direction.reason else []
    told = not math.isnan(direction.p_value)
    numbers = f"{direction.statistic:.4g}" if told else "–", str(direction.df), f"{direction.p_value:.4g}" if told else "–"
    notes += [] if told else ["one site alone"]
    if direction.symmetric:
        notes.insert(0, "products of residuals")
    return direction.response, direction.predictor, *numbers, levels_in_words(direction.sizes), "; ".join(notes)


_ORDER = {measure.value: place for place, measure in enumerate(Measure)}


def _readable(direction: Direction) -> tuple[int, int]:
    """Few numbers first, and those that are easier to read."""
    sizes = direction.sizes
    return (len(sizes), _ORDER[sizes[0].measure]) if sizes else (1 << 30, 0)


def to_frame(results: Sequence[CIResult]) -> pl.DataFrame:
    """Results as a table, one row a test.

    ``statistic_y`` and so on belong to the direction in which y is the response; ``linear_p`` and what follows say whether the linear
    models hold, and are null where nobody has looked. ``sign``, ``strength`` and what begins with ``size`` say how strong, and are null
    where it is not known; where several numbers say it, ``size`` is null and ``size_levels`` has them as text.
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
            told = [None if d is None else getattr(d, name) for d in found]
            values = [None if value is None or math.isnan(value) else value for value in told]  # NaN: one site alone keeps it
            columns[f"{name}_{side}"] = pl.Series(f"{name}_{side}", values, dtype=kind)
    columns["linear_p"] = pl.Series("linear_p", [r.linear_p for r in results], dtype=number)
    for name in ("curvature_p", "variance_p", "slopes_p", "i_squared"):
        told = [None if r.diagnostics is None else getattr(r.diagnostics, name) for r in results]
        columns[name] = pl.Series(name, told, dtype=number)
    columns["method"] = pl.Series("method", [r.method for r in results], dtype=text)
    columns |= _size_columns(results)
    order = [*kinds, *(name for name in columns if name not in kinds)]
    return pl.DataFrame([columns[name] for name in order])


_SIZE_TEXTS = {"size_of": "measure", "size_response": "response", "size_outcome": "outcome", "size_level": "level"}
_SIZE_TEXTS |= {"size_reference": "reference"}


def _size_columns(results: Sequence[CIResult]) -> dict[str, pl.Series]:
    """How strong, for a table of results."""
    leading = [r.leading for r in results]
    sizes = [d.sizes[0] if d is not None and len(d.sizes) == 1 else None for d in leading]
    found: dict[str, list[Any]] = {"sign": [None if d is None else d.sign for d in leading], "strength": [r.strength for r in results]}
    for name, field in {"size": "estimate", "size_low": "low", "size_high": "high", **_SIZE_TEXTS}.items():
        found[name] = [None if size is None else getattr(size, field) for size in sizes]
    found["size_levels"] = [None if d is None or len(d.sizes) < 2 else levels_in_words(d.sizes) for d in leading]
    texts = {"sign", "size_levels", *_SIZE_TEXTS}
    return {name: pl.Series(name, values, dtype=pl.String if name in texts else pl.Float64) for name, values in found.items()}


def size_from_row(row: Mapping[str, Any]) -> Size | None:
    """The size in a row of a table of results; None where there is none, or not one.

    >>> size_from_row({"x": "A", "y": "B", "size": None}) is None
    True
    """
    if row["size"] is None:
        return None
    response = row["size_response"]
    predictor = row["x"] if response == row["y"] else row["y"]
    texts = row["size_level"], row["size_reference"], row["size_outcome"]
    return Size(row["size_of"], row["size"], None, row["size_low"], row["size_high"], response, predictor, *texts)
