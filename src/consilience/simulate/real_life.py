"""Data of several sites in which nothing is linear: effects bend, noise grows, slopes differ between sites, and patients share wards.

The structural models are those of :mod:`consilience.simulate.scm` in form, over the canonical diagram of a MAG, with

- an effect of a number that is a line, a square, a wave or a hinge, of a level a number of its own;
- a factor on every effect that differs between sites (0.6 to 1.4);
- an intercept of its own for every site, and an effect of the ward on every variable (a fifth of the variance of the noise);
- noise of a number whose spread grows with its first parent: exp(0.4 tanh).

X ⫫ Y | Z still means separation in the graph, given site and ward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.frames import pl
from consilience.graph import MAG, PAG, MixedGraph, canonical_dag, mag_to_pag
from consilience.simulate.partition import split_rows, split_variables
from consilience.simulate.randomness import Seed, generator, logistic, signed_uniform
from consilience.simulate.scm import LEVELS, THRESHOLDS, causal_order, random_kinds
from consilience.simulate.sites import as_mag

__all__ = ["WARD", "RealLife", "real_life"]

Floats = NDArray[np.float64]
WARD = "ward"
"""The column that names the ward of a row; it is no variable."""
WARD_ROWS = 25
"""Patients in a ward."""
WARD_SHARE = 0.2
"""The variance that wards add, as a share of that of the noise."""
SHAPES = 4


@dataclass(frozen=True, slots=True, eq=False)
class RealLife:
    """Synthetic sites with bent effects, unequal noise and wards.

    Attributes
    ----------
    frames : dict of str to polars.DataFrame
        The data of each site, with the column ``ward``.
    schema : Schema
        Of the study.
    mag : MAG
        The graph over all observed variables.
    pag : PAG
        Its equivalence class: the most that tests can find.

    Examples
    --------
    >>> made = real_life("A --> B, C --> B", n=100, sites=2, seed=1)
    >>> made.frames["site1"].columns, made.pag
    (['A', 'B', 'C', 'ward'], PAG.parse('A o-> B, C o-> B'))
    """

    frames: dict[str, pl.DataFrame]
    schema: Schema
    mag: MAG
    pag: PAG


def real_life(
    graph: MixedGraph | str, *, n: int, sites: int, seed: Seed, kinds: Mapping[str, str] | None = None, exclusive: Iterable[str] = ()
) -> RealLife:
    """Data of several sites, from a random model without straight lines on a graph.

    Parameters
    ----------
    graph : PAG, MAG, DAG or str
        A graph, or text such as ``"A o-> C, B o-> C, C --> D"``.
    n : int
        Rows of all sites together.
    sites : int
        How many sites.
    seed : int, sequence of int, SeedSequence or Generator
        The same seed gives the same data.
    kinds : mapping of str to str, optional
        Kinds of some or all variables; the others are random.
    exclusive : iterable of str, optional
        Variables that are measured by every second (third, …) site only.

    Returns
    -------
    RealLife

    Raises
    ------
    OptionError
        If the graph is none of these, or the rest does not fit together.

    Examples
    --------
    >>> made = real_life("A o-> C, B o-> C, C --> D", n=400, sites=2, seed=1, exclusive="AD")
    >>> {name: (frame.height, "".join(frame.columns[:-1])) for name, frame in made.frames.items()}
    {'site1': (200, 'ABC'), 'site2': (200, 'BCD')}
    """
    mag = as_mag(graph)
    rng = generator(seed)
    rows, held = split_rows(n, sites), split_variables(mag.labels, exclusive, sites)
    chosen = random_kinds(mag.labels, rng, continuous=min(2, len(mag))) | dict(kinds or {})
    schema = Schema([Variable(name, Kind(chosen[name]), LEVELS[Kind(chosen[name])]) for name in mag.labels])
    site = np.repeat(np.arange(sites), rows)
    # wards lie within sites: the first ward of a site is not the last one of the site before
    ward = np.concatenate([k * n + np.arange(count) // WARD_ROWS for k, count in enumerate(rows)])
    dag, values, observed = canonical_dag(mag), dict[str, Floats](), dict(schema)
    for name in causal_order(dag):
        parents = {parent: values[parent] for parent in dag.parents(name)}
        values[name] = _draw(observed.get(name), parents, observed, site, ward, rng)
    columns = {name: _column(schema[name], values[name]) for name in schema}
    frame = pl.DataFrame(columns).with_columns(pl.Series(WARD, ward))
    ends, width = np.cumsum(rows).tolist(), len(str(sites))
    frames = {
        f"site{k + 1:0{width}d}": frame[end - count : end].select([*names, WARD])
        for k, (end, count, names) in enumerate(zip(ends, rows, held, strict=True))
    }
    return RealLife(frames, schema, mag, mag_to_pag(mag))


def _draw(
    variable: Variable | None,
    parents: Mapping[str, Floats],
    observed: Mapping[str, Variable],
    site: NDArray[np.int64],
    ward: NDArray[np.int64],
    rng: np.random.Generator,
) -> Floats:
    n, sites = len(site), int(site.max()) + 1
    if variable is None:
        return rng.standard_normal(n)
    signals = [_effect(values, observed.get(name), rng) for name, values in parents.items()]
    # every effect varies between sites, in size and not in kind
    factors = 0.6 + 0.8 * rng.random((len(parents), sites))
    eta = 0.5 * rng.standard_normal(sites)[site]
    for signal, factor in zip(signals, factors, strict=True):
        eta = eta + factor[site] * signal
    of_ward = rng.standard_normal(len(np.unique(ward)))
    eta = eta + np.sqrt(WARD_SHARE) * of_ward[np.unique(ward, return_inverse=True)[1]]
    if variable.kind is Kind.CONTINUOUS:
        spread = np.exp(0.4 * np.tanh(signals[0])) if signals else np.ones(n)
        drawn: Floats = eta + spread * rng.standard_normal(n)
        return drawn
    if variable.kind is Kind.MULTINOMIAL:
        gumbel = -np.log(-np.log(np.maximum(rng.random((n, 4)), 1e-300)))
        picked: Floats = np.argmax(np.outer(1.5 * eta, [0.0, 1.0, -1.0, 0.5]) + gumbel, axis=1).astype(np.float64)
        return picked
    cuts = [0.0] if variable.kind is Kind.BINARY else THRESHOLDS
    levels: Floats = np.digitize(1.5 * eta + logistic(rng, n), cuts).astype(np.float64)
    return levels


def _effect(values: Floats, variable: Variable | None, rng: np.random.Generator) -> Floats:
    """What one parent adds: of a number one of four shapes, of a level a number of its own; about zero, of like size."""
    weight, shape = float(signed_uniform(rng, (1,), 0.7, 1.2)[0]), int(rng.integers(SHAPES))
    own = rng.permutation(np.linspace(-1.0, 1.0, 4))
    if variable is not None and variable.kind.is_discrete:
        codes = values.astype(np.int64)
        return np.asarray(weight * (own[codes] if len(variable.levels) == len(own) else 1.4 * codes - 0.7), dtype=np.float64)
    z = (values - values.mean()) / max(float(values.std()), 1e-12)
    bent = (z, 0.7 * (z * z - 1.0), 1.3 * np.sin(1.5 * z), 1.5 * np.maximum(z, 0.0) - 0.6)[shape]
    return weight * np.asarray(bent, dtype=np.float64)


def _column(variable: Variable, values: Floats) -> Any:
    if variable.kind is Kind.CONTINUOUS:
        return pl.Series(variable.name, values)
    return pl.Series(variable.name, [variable.levels[int(code)] for code in values], dtype=pl.String)
