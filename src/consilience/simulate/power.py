"""How many sites with how many rows an effect needs: power by simulation, with the tests that will be used.

X has an effect on Y; both are caused by as many Z as there are conditioning variables, and every site has intercepts of its own. The
question asked of each simulated study is X ⫫ Y | Z.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from consilience.citest.question import Question
from consilience.data.kinds import Kind, Variable, as_kind
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.frames import pl
from consilience.graph import DAG
from consilience.options import check_number, check_option
from consilience.parallel import Jobs, gathered
from consilience.settings import DEFAULTS, LOCAL
from consilience.simulate.methods import ComparedMethod, run_methods
from consilience.simulate.plotting import COLOURS, LINES, save_svg
from consilience.simulate.randomness import generator
from consilience.simulate.scm import LEVELS, Floats, Model
from consilience.simulate.shares import wilson

__all__ = ["Power", "power"]

COLUMNS = {
    "method": str,
    "sites": int,
    "rows": int,
    "n": int,
    "power": float,
    "low": float,
    "high": float,
}
SHADES = (0.4, 0.6, 0.8, 1.0)
MARKERS = "osD^v"


@dataclass(frozen=True, slots=True, eq=False)
class Power:
    """How often each method rejects.

    Attributes
    ----------
    table : polars.DataFrame
        One row per method, number of sites and rows per site, with power and its 95% interval (Wilson's).
    alpha : float
        The level of the tests.
    target : float
        The power that is wanted.

    Examples
    --------
    >>> found = power(1.0, sites=2, rows=60, replications=10, methods=["fedci"])
    >>> print(found)
    rows per site for power 0.8 at level 0.05
    fedCI            2 sites: 60 rows each (power 1.00)
    """

    table: pl.DataFrame
    alpha: float
    target: float

    def needed(self, target: float | None = None) -> pl.DataFrame:
        """For each method and number of sites, the fewest rows per site, of those that were tried, that are enough.

        Parameters
        ----------
        target : float, optional
            The least power, between 0 and 1; that of the simulation, if not given.

        Returns
        -------
        polars.DataFrame
            ``method``, ``sites``, ``rows``, ``n`` and ``power``; ``rows`` is null where none of them is enough.
        """
        enough = self.target if target is None else _share("target", target)
        found = []
        for (method, sites), part in self.table.group_by(["method", "sites"], maintain_order=True):
            rows = part.filter(pl.col("power") >= enough)["rows"].min()
            row = part.filter(pl.col("rows") == rows) if rows is not None else part.clear()
            found.append({"method": method, "sites": sites, "rows": rows, "n": _first(row, "n"), "power": _first(row, "power")})
        return pl.DataFrame(found, schema={name: COLUMNS[name] for name in ("method", "sites", "rows", "n", "power")})

    def to_svg(self, path: str | Path) -> Path:
        """Draw power over rows per site, a line per number of sites, a panel per method.

        Parameters
        ----------
        path : str or Path
            The file to write.

        Returns
        -------
        Path

        Raises
        ------
        MissingPackageError
            Without matplotlib.
        """
        target = Path(path)
        methods = self.table["method"].unique(maintain_order=True).to_list()
        save_svg(lambda figure: self._draw(figure, methods), target, 4.3 * len(methods) + 0.4, 3.7)
        return target

    def _draw(self, figure: Any, methods: Sequence[str]) -> None:
        panels = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
        for axes, name in zip(panels, methods, strict=True):
            method = ComparedMethod(name)
            lines = list(self.table.filter(pl.col("method") == name).group_by("sites", maintain_order=True))
            for i, ((sites,), part) in enumerate(lines):
                rows, shade = part["rows"].to_list(), SHADES[max(i - len(lines), -len(SHADES))]
                colour = COLOURS[method]
                axes.fill_between(rows, part["low"].to_list(), part["high"].to_list(), color=colour, alpha=0.10 * shade, linewidth=0)
                marker = MARKERS[i % len(MARKERS)]
                axes.plot(
                    rows,
                    part["power"].to_list(),
                    color=colour,
                    alpha=shade,
                    linestyle=LINES[method],
                    marker=marker,
                    markersize=4.5,
                    label=f"{sites} sites",
                )
            axes.axhline(self.target, color="#888888", linewidth=0.9, linestyle=(0, (2, 2)))
            ticks = sorted(set(self.table["rows"].to_list()))
            axes.set_xscale("log")
            axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
            axes.minorticks_off()
            axes.legend(loc="lower right", frameon=False)
            axes.set_ylim(-0.02, 1.03)
            axes.set_title(method.label)
            axes.set_xlabel("rows per site")
        panels[0].set_ylabel(f"power at level {self.alpha:g}")

    def _repr_html_(self) -> str:
        """Shown in notebooks: a table."""
        from consilience.simulate.showing import show_power  # noqa: PLC0415  only who looks pays for it

        return show_power(self)

    def __str__(self) -> str:
        lines = [f"rows per site for power {self.target:g} at level {self.alpha:g}"]
        for row in self.needed().iter_rows(named=True):
            need = f"{row['rows']} rows each (power {row['power']:.2f})" if row["rows"] is not None else "more rows than were tried"
            lines.append(f"{ComparedMethod(row['method']).label:14s} {row['sites']:3d} sites: {need}")
        return "\n".join(lines)


def power(
    effect: float,
    *,
    kinds: tuple[str, str] = ("continuous", "continuous"),
    given: int = 0,
    sites: int | Iterable[int] = (2, 4, 8),
    rows: int | Iterable[int] = (25, 50, 100, 200, 400),
    methods: Iterable[str] = ("fedci", "fisher"),
    alpha: float = DEFAULTS.alpha,
    target: float = 0.8,
    confounding: float = 0.5,
    site_shift: float = 0.5,
    replications: int = 200,
    seed: int = 1,
    jobs: Jobs = LOCAL.jobs,
) -> Power:
    """How often X ⫫ Y | Z is rejected when X has an effect on Y: power by simulation.

    Parameters
    ----------
    effect : float
        The change of Y's linear predictor per unit of X (per four of a count), or from the first to the last level of a discrete X (levels
        between have their share; for a multinomial Y it is the effect on its last level against its first).
    kinds : pair of str, default ("continuous", "continuous")
        The kinds of X and Y.
    given : int, default 0
        Conditioning variables, continuous ones.
    sites : int or iterable of int, default (2, 4, 8)
        Numbers of sites to try.
    rows : int or iterable of int, default (25, 50, 100, 200, 400)
        Rows per site to try.
    methods : iterable of str, default ("fedci", "fisher")
        Tests to compare: ``"fedci"``, ``"fisher"``, ``"pooled"``, ``"joint"``, ``"coordinate"``.
    alpha : float, default 0.05
        The level of the tests.
    target : float, default 0.8
        The power that is wanted, for :meth:`Power.needed`.
    confounding : float, default 0.5
        The coefficient of each conditioning variable for X and for Y.
    site_shift : float, default 0.5
        The standard deviation of intercepts between sites.
    replications : int, default 200
        Studies simulated for every number of sites and rows.
    seed : int, default 1
        The same seed gives the same numbers, however many ``jobs``.
    jobs : int or str, default 1
        Processes to use, or the address of a Dask scheduler.

    Returns
    -------
    Power

    Raises
    ------
    OptionError
        If an option cannot be used; a method over several sites needs two at least.

    Examples
    --------
    >>> found = power(0.5, kinds=("continuous", "binary"), sites=4, rows=(20, 120), replications=20, methods=["fedci"])
    >>> found.needed()["rows"].to_list()
    [120]
    """
    chosen = [ComparedMethod(check_option("methods", name, tuple(ComparedMethod))) for name in methods]
    pair = as_kind(kinds[0], "X"), as_kind(kinds[1], "Y")
    counts, sizes = _whole("sites", sites, least=1), _whole("rows", rows, least=2)
    if min(counts) < 2 and any(method is not ComparedMethod.POOLED for method in chosen):
        raise OptionError(f"Methods over several sites need at least two of them; got sites={counts}. Ask for methods=['pooled'] with one.")
    check_number("replications", replications, least=1)
    setting = _Setting(
        float(check_number("effect", abs(effect), least=0.0)) * math.copysign(1.0, effect), pair, given, confounding, site_shift
    )
    tasks = [(k, n, r) for (k, n), r in product(product(counts, sizes), range(replications))]
    level = math.log(_share("alpha", alpha))
    rejected = gathered(_rejects, [(setting, k, n, chosen, level, (seed, k, n, r)) for k, n, r in tasks], jobs, batch=16)
    hits = {(m, k, n): 0 for m in chosen for k in counts for n in sizes}
    for (k, n, _), found in zip(tasks, rejected, strict=True):
        for method in chosen:
            hits[method, k, n] += found[method]
    table = [
        {"method": m.value, "sites": k, "rows": n, "n": k * n, "power": hit / replications, **wilson(hit, replications)}
        for (m, k, n), hit in hits.items()
    ]
    return Power(pl.DataFrame(table, schema=COLUMNS), alpha, _share("target", target))


@dataclass(frozen=True, slots=True)
class _Setting:
    effect: float
    kinds: tuple[Kind, Kind]
    given: int
    confounding: float
    site_shift: float

    def model(self, sites: int, rng: np.random.Generator) -> Model:
        """X → Y, Z → X, Z → Y, with new intercepts for every site."""
        causes = [f"Z{i}" for i in range(1, self.given + 1)]
        edges = ["X --> Y", *(f"{z} --> {child}" for z in causes for child in "XY")]
        x, y = self.kinds
        variables = [Variable("X", x, LEVELS[x]), Variable("Y", y, LEVELS[y]), *(Variable(z, Kind.CONTINUOUS) for z in causes)]
        width = {"X": _predictors(x), "Y": _predictors(y)} | dict.fromkeys(causes, 1)
        coefficients = {
            "X": {z: self.confounding * _spread(Kind.CONTINUOUS, x) for z in causes},
            "Y": {"X": self.effect * _spread(x, y)} | {z: self.confounding * _spread(Kind.CONTINUOUS, y) for z in causes},
        } | {z: {} for z in causes}
        shifts = {name: self.site_shift * rng.standard_normal((sites, columns)) for name, columns in width.items()}
        return Model(DAG.parse(", ".join(edges)), Schema(variables), coefficients, shifts)


def _predictors(kind: Kind) -> int:
    return len(LEVELS[kind]) - 1 if kind is Kind.MULTINOMIAL else 1


def _spread(parent: Kind, child: Kind) -> Floats:
    """Coefficients of size one: from the first to the last level of the parent, on the last linear predictor of the child."""
    levels, predictors = len(LEVELS[parent]), _predictors(child)
    down = np.linspace(0.0, 1.0, levels) if levels else np.ones(1)
    return np.outer(down, np.arange(1, predictors + 1) / predictors)


def _rejects(
    setting: _Setting, sites: int, rows: int, methods: Sequence[ComparedMethod], level: float, seed: Sequence[int]
) -> dict[ComparedMethod, bool]:
    rng = generator(seed)
    model = setting.model(sites, rng)
    frames = {f"site{k}": frame for k, frame in enumerate(model.sample([rows] * sites, rng))}
    question = Question("X", "Y", tuple(f"Z{i}" for i in range(1, setting.given + 1)))
    found = run_methods(frames, model.schema, [question], methods)
    return {method: outcome.log_p[0] <= level for method, outcome in found.items()}


def _whole(name: str, values: int | Iterable[int], least: int) -> list[int]:
    found = sorted({int(check_number(name, value, least=least)) for value in ([values] if isinstance(values, int) else values)})
    if not found:
        raise OptionError(f"{name} must name at least one number; got none.")
    return found


def _share(name: str, value: float) -> float:
    if not 0.0 < check_number(name, value, least=0.0) < 1.0:
        raise OptionError(f"{name} must lie between 0 and 1; got {value!r}.")
    return float(value)


def _first(row: pl.DataFrame, name: str) -> Any:
    return row[name][0] if row.height else None
