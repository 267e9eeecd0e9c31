"""Situations in which X and Y are independent given Z, and an ordinary linear model does not see it.

Each is a study in small: data of several sites, a question whose true answer is known, and what is wrong with the data. Real tables have
such things: effects that bend, noise that grows, slopes and spreads that differ between sites, patients who share a ward, counts.
``docs/calibration.md`` says how often each test rejects in each of them.

A situation is a function of the number of rows and a generator; :data:`SITUATIONS` has them by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.frames import pl
from consilience.options import check_number, check_option
from consilience.simulate.randomness import Seed, generator, logistic

__all__ = ["SITUATIONS", "Drawn", "Situation", "draw_kind", "situation"]

Floats = NDArray[np.float64]
Columns = dict[str, NDArray[Any]]
WARD = 50
"""Patients in a ward."""
ICC = 0.3
"""The share of a variance that lies between wards."""
CODES = 200
"""Levels of a text code."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Data of several sites, and the question to ask of them.

    Attributes
    ----------
    frames : dict of str to polars.DataFrame
        The rows of every site.
    kinds : dict of str to str
        The kind of every variable; counts are declared as ``"count"``.
    levels : dict of str to range
        The levels of ordinal and multinomial variables.
    given : tuple of str
        What X and Y are independent given.
    cluster : str, optional
        The column that names the ward of a row.

    Examples
    --------
    >>> drawn = situation("counts", n=80, seed=1)
    >>> drawn.kinds, drawn.frames["site0"].shape
    ({'X': 'count', 'Y': 'count', 'Z': 'continuous'}, (20, 3))
    """

    frames: dict[str, pl.DataFrame]
    kinds: dict[str, str]
    levels: dict[str, range]
    given: tuple[str, ...] = ("Z",)
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Situation:
    """A law of data in which X ⫫ Y | Z holds.

    Attributes
    ----------
    name : str
        What it is called.
    about : str
        What is special about it, in a few words.
    make : callable
        Columns of n rows, from a generator and each row's site.
    sites : int
        How many sites share the rows.
    kinds : mapping of str to str
        Kinds of variables that are not continuous.
    levels : mapping of str to int
        How many levels ordinal and multinomial variables have.
    given : tuple of str
        What X and Y are independent given.
    cluster : str, optional
        The column that names the ward of a row.
    holds : bool
        Whether a test with smooth means, site intercepts, site slopes and clusters has its assumptions.

    Examples
    --------
    >>> SITUATIONS["square"].about
    'X, Y = Z² + noise'
    """

    name: str
    about: str
    make: Callable[[NDArray[np.int64], int, np.random.Generator], Columns]
    sites: int = 4
    kinds: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    levels: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    given: tuple[str, ...] = ("Z",)
    cluster: str | None = None
    holds: bool = True

    def draw(self, n: int, seed: Seed) -> Drawn:
        """Draw the data of all sites.

        Parameters
        ----------
        n : int
            Rows of all sites together, shared evenly.
        seed : int, sequence of int, SeedSequence or Generator
            The same seed gives the same data.

        Returns
        -------
        Drawn

        Examples
        --------
        >>> drawn = SITUATIONS["wards"].draw(400, seed=1)
        >>> sum(frame.height for frame in drawn.frames.values()), drawn.cluster, drawn.given
        (400, 'ward', ('Z',))
        """
        check_number("n", n, least=self.sites)
        site = np.sort(np.arange(n) % self.sites)
        columns = self.make(site, self.sites, generator(seed))
        names = [name for name in columns if name != self.cluster]
        kinds = {name: self.kinds.get(name, "continuous") for name in names}
        frame = pl.DataFrame({name: v if kinds.get(name) == "continuous" else v.astype(np.int64) for name, v in columns.items()})
        ends = np.searchsorted(site, np.arange(self.sites + 1))
        frames = {f"site{k}": frame[int(ends[k]) : int(ends[k + 1])] for k in range(self.sites)}
        return Drawn(frames, kinds, {name: range(count) for name, count in self.levels.items()}, self.given, self.cluster)


def draw_kind(kind: str, signal: Floats, rng: np.random.Generator) -> Floats:
    """One variable that depends on ``signal`` as the response model of its kind says; codes for the discrete kinds.

    >>> draw_kind("ordinal", np.zeros(5), generator(1)).tolist()
    [2.0, 3.0, 0.0, 3.0, 1.0]
    """
    n = len(signal)
    if kind == "continuous":
        return signal + rng.standard_normal(n)
    codes: NDArray[Any]
    if kind == "binary":
        codes = signal + logistic(rng, n) > 0
    elif kind == "ordinal":
        codes = np.digitize(signal + logistic(rng, n), [-1.2, 0.0, 1.2])
    elif kind == "count":
        codes = rng.poisson(np.exp(0.7 + 0.5 * signal))
    else:
        gumbel = -np.log(-np.log(np.maximum(rng.random((n, 4)), 1e-300)))
        codes = np.argmax(np.outer(signal, [0.0, 0.8, -0.8, 0.4]) + gumbel, axis=1)
    return codes.astype(np.float64)


def situation(name: str, n: int, seed: Seed) -> Drawn:
    """Data of a situation, by its name.

    Parameters
    ----------
    name : str
        One of :data:`SITUATIONS`.
    n : int
        Rows of all sites together.
    seed : int, sequence of int, SeedSequence or Generator
        The same seed gives the same data.

    Returns
    -------
    Drawn

    Raises
    ------
    OptionError
        If there is no such situation, or there are fewer rows than sites.

    Examples
    --------
    >>> drawn = situation("slopes by site", n=200, seed=3)
    >>> list(drawn.frames), drawn.frames["site0"].shape
    (['site0', 'site1', 'site2', 'site3'], (50, 3))
    """
    return SITUATIONS[check_option("situation", name, tuple(SITUATIONS))].draw(n, seed)


def _bent(f: Callable[[Floats], Floats], sd: Callable[[Floats], Floats] = np.ones_like) -> Any:
    """X and Y are f(Z) plus noise with standard deviation sd(Z)."""

    def make(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
        z = rng.standard_normal(len(site)) + _shift(site, sites, rng)
        return {v: f(z) + _shift(site, sites, rng) + sd(z) * rng.standard_normal(len(site)) for v in "XY"} | {"Z": z}

    return make


def _product(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
    z, w = rng.standard_normal((2, len(site)))
    return {v: z * w + _shift(site, sites, rng) + rng.standard_normal(len(site)) for v in "XY"} | {"Z": z, "W": w}


def _site_slopes(kind: str) -> Any:
    def make(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
        z = rng.standard_normal(len(site))
        slopes = np.linspace(-1.5, 1.5, sites)[site]
        return {v: draw_kind(kind, slopes * z + _shift(site, sites, rng), rng) for v in "XY"} | {"Z": z}

    return make


def _site_noise(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
    z = rng.standard_normal(len(site))
    sd = np.geomspace(0.3, 4.0, sites)[site]
    return {v: 0.5 * z + _shift(site, sites, rng) + sd * rng.standard_normal(len(site)) for v in "XY"} | {"Z": z}


def _wards(kind: str) -> Any:
    """Wards of 50 within sites; a ward moves X, Y and Z, each on its own."""

    def make(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
        n = len(site)
        ward = np.arange(n) // WARD
        z = rng.standard_normal(n)
        between, within = (np.sqrt([ICC, 1 - ICC])) if kind == "continuous" else (1.1, 1.0)
        columns: Columns = {}
        for v in "XY":
            signal = 0.5 * z + _shift(site, sites, rng) + between * rng.standard_normal(n // WARD + 1)[ward]
            columns[v] = signal + within * rng.standard_normal(n) if kind == "continuous" else draw_kind(kind, signal, rng)
        return columns | {"Z": z, "ward": ward}

    return make


def _counts(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
    z = rng.standard_normal(len(site))
    return {v: rng.poisson(np.exp(1.0 + 0.6 * z)).astype(np.float64) for v in "XY"} | {"Z": z}


def _zero_inflated(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
    z = rng.standard_normal(len(site))
    columns: Columns = {}
    for v in "XY":
        mean = np.exp(1.0 + 0.4 * z)
        drawn = rng.poisson(mean * rng.gamma(1.5, 1 / 1.5, len(z)))
        columns[v] = np.where(rng.random(len(z)) < 0.3, 0, drawn).astype(np.float64)
    return columns | {"Z": z}


def _pair(x: str, y: str, z: str = "continuous") -> Any:
    """Each kind's own response model: here the likelihood test has its assumptions."""

    def make(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
        effects = rng.uniform(-1.0, 1.0, size=(2, 4))
        drawn = draw_kind(z, _shift(site, sites, rng), rng)
        discrete = z in ("binary", "ordinal", "multinomial")
        pull = [e[drawn.astype(int)] if discrete else 0.5 * e[0] * drawn for e in effects]
        own = {v: draw_kind(kind, _shift(site, sites, rng) + pull[i], rng) for i, (v, kind) in enumerate([("X", x), ("Y", y)])}
        return own | {"Z": drawn}

    return make


def _binary_square(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
    z = rng.standard_normal(len(site))
    return {v: draw_kind("binary", z * z - 1.0, rng) for v in "XY"} | {"Z": z}


def _codes(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Columns:
    z = rng.standard_normal(len(site))
    return {"X": rng.integers(CODES, size=len(site)), "Y": 0.5 * z + rng.standard_normal(len(site)), "Z": z}


def _shift(site: NDArray[np.int64], sites: int, rng: np.random.Generator) -> Floats:
    """An intercept of its own for every site."""
    shifts: Floats = 0.7 * rng.standard_normal(sites)[site]
    return shifts


def _all() -> dict[str, Situation]:
    binary = {"X": "binary", "Y": "binary"}
    counts = {"X": "count", "Y": "count"}
    found = [
        Situation("linear", "normal, linear", _bent(lambda z: 0.5 * z)),
        Situation("noise grows", "noise grows with Z (exp 0.7 Z)", _bent(lambda z: 0.5 * z, lambda z: np.exp(0.7 * z))),
        Situation("square", "X, Y = Z² + noise", _bent(lambda z: z * z)),
        Situation("sine", "X, Y = sin 2Z + noise", _bent(lambda z: np.sin(2.0 * z))),
        Situation("step", "X, Y = 1(Z > 0.3) + noise", _bent(lambda z: (z > 0.3).astype(np.float64)), holds=False),
        Situation("product", "X, Y = Z·W + noise, given Z, W", _product, given=("Z", "W")),
        Situation("slopes by site", "slope of Z differs between sites", _site_slopes("continuous")),
        Situation("noise by site", "noise differs between sites (sd 0.3 to 4)", _site_noise),
        Situation("wards", "patients in wards of 50, ICC 0.3", _wards("continuous"), cluster="ward"),
        Situation("counts", "counts, Poisson(exp(1 + 0.6 Z))", _counts, kinds=counts),
        Situation("zero-inflated", "counts, zero-inflated negative binomial", _zero_inflated, kinds=counts),
        Situation("binary square", "binary X, Y with logit Z² - 1", _binary_square, kinds=binary),
        Situation("binary slopes", "binary X, Y, slopes of Z by site", _site_slopes("binary"), kinds=binary),
        Situation("binary wards", "binary X, Y in wards of 50, latent ICC 0.27", _wards("binary"), kinds=binary, cluster="ward"),
    ]
    for kind in ("continuous", "ordinal", "multinomial"):
        about = f"20 small sites, {kind} pair"
        made = Situation(about, about, _pair(kind, kind), sites=20, **_declared(X=kind, Y=kind))
        found.append(made)
    found.append(Situation("codes", "random text codes, 200 levels", _codes, kinds={"X": "multinomial"}, levels={"X": CODES}))
    kinds = ("continuous", "binary", "ordinal", "multinomial", "count")
    for i, x in enumerate(kinds):
        for y in kinds[i:]:
            for z in kinds:
                name = f"{x} – {y} given {z}"
                found.append(Situation(name, name, _pair(x, y, z), **_declared(X=x, Y=y, Z=z)))
    return {s.name: s for s in found}


def _declared(**kinds: str) -> dict[str, Any]:
    levels = {name: 4 for name, kind in kinds.items() if kind in ("ordinal", "multinomial")}
    return {"kinds": {name: kind for name, kind in kinds.items() if kind != "continuous"}, "levels": levels}


SITUATIONS: dict[str, Situation] = _all()
"""Every situation, by its name."""
