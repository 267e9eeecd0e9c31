"""Structural causal models over mixed kinds, with a site that shifts everything (the paper's section IV-A).

Every variable is drawn from a generalized linear model over its parents. A predictor is a number or, for a discrete parent, the columns of
its treatment coding; every column has a coefficient of its own. A count acts as (X - 3)/4, so that coefficients of its usual range have
effects of the usual size. With η the sum over parents, and one more term for the site:

===========  ======================================================================================
continuous   N(η, 1)
binary       P(1) = 1 / (1 + exp(-η))
ordinal      P(X ≤ j) = 1 / (1 + exp(η - τ_j)); the four levels are equally probable at η = 0
multinomial  P(X = j) ∝ exp(η_j), η_1 = 0: each level but the first has coefficients of its own
count        Poisson(exp(1 + η)), with a mean of e⁶ at most; only where ``kinds`` asks for it
latent       N(0, 1), whatever the site
===========  ======================================================================================

Coefficients are uniform on [-1, -0.2] ∪ [0.2, 1]. The site is a parent of every observed variable: each site but the first has a
coefficient for each. There are no other intercepts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.data.kinds import Kind, Variable, as_kind
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.frames import pl
from consilience.graph import DAG, MAG, canonical_dag
from consilience.graph.errors import UnknownNodeError
from consilience.options import check_number
from consilience.simulate.randomness import Seed, generator, logistic, signed_uniform

__all__ = ["Model", "random_kinds", "random_model"]

Floats = NDArray[np.float64]
LEVELS = {
    Kind.CONTINUOUS: (),
    Kind.BINARY: ("0", "1"),
    Kind.ORDINAL: ("1", "2", "3", "4"),
    Kind.MULTINOMIAL: ("p", "q", "r", "s"),
    Kind.COUNT: (),
}
DRAWN = (Kind.CONTINUOUS, Kind.BINARY, Kind.ORDINAL, Kind.MULTINOMIAL)
"""Kinds that are drawn at random: the paper's four."""
MOST_MEAN = 6.0
"""The largest logarithm of a count's mean: a chain of counts would know no bounds."""
THRESHOLDS = [-math.log(3.0), 0.0, math.log(3.0)]
"""Quartiles of the logistic distribution."""


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A structural causal model: what data are drawn from.

    Attributes
    ----------
    dag : DAG
        The diagram, latent variables included.
    schema : Schema
        The observed variables.
    coefficients : dict
        ``coefficients[child][parent]`` has a row per level of the parent (one, if it is continuous) and a column per linear predictor of
        the child; rows of first levels are zero.
    shifts : dict
        ``shifts[child]`` has a row per site.

    Examples
    --------
    >>> model = random_model(MAG.parse("A --> B"), sites=2, seed=1)
    >>> model.sites, [frame.height for frame in model.sample([10, 20], seed=2)]
    (2, [10, 20])
    """

    dag: DAG
    schema: Schema
    coefficients: dict[str, dict[str, Floats]]
    shifts: dict[str, Floats]

    @property
    def sites(self) -> int:
        """How many sites the model knows."""
        return len(next(iter(self.shifts.values())))

    def sample(self, rows: Sequence[int], seed: Seed) -> list[pl.DataFrame]:
        """Draw the data of every site, with all observed variables.

        Parameters
        ----------
        rows : sequence of int
            How many for each site.
        seed : int, sequence of int, SeedSequence or Generator
            The same seed gives the same data on every machine.

        Returns
        -------
        list of polars.DataFrame

        Raises
        ------
        OptionError
            If ``rows`` are not as many numbers as the model has sites.
        """
        if len(rows) != self.sites:
            raise OptionError(f"The model has {self.sites} sites, and rows are given for each; got {list(rows)}.")
        rng = generator(seed)
        site = np.repeat(np.arange(self.sites), rows)
        values: dict[str, NDArray[Any]] = {}
        for name in causal_order(self.dag):
            values[name] = self._draw(name, values, site, rng)
        frame = pl.DataFrame({name: _column(self.schema[name], values[name]) for name in self.schema})
        ends = np.cumsum(rows).tolist()
        return [frame[end - count : end] for count, end in zip(rows, ends, strict=True)]

    def _draw(self, name: str, values: Mapping[str, NDArray[Any]], site: NDArray[np.int64], rng: np.random.Generator) -> NDArray[Any]:
        n = len(site)
        eta = self.shifts[name][site] if name in self.schema else np.zeros((n, 1))
        for parent, weights in self.coefficients[name].items():
            given = values[parent]
            # a discrete parent picks its level's row: no matrix product, whose rounding could differ between machines
            eta = eta + (weights[given] if _is_discrete(self.schema, parent) else self._score(parent, given)[:, None] * weights[0])
        kind = self.schema[name].kind if name in self.schema else Kind.CONTINUOUS
        if kind is Kind.CONTINUOUS:
            drawn: NDArray[Any] = eta[:, 0] + rng.standard_normal(n)
        elif kind is Kind.COUNT:
            drawn = rng.poisson(np.exp(np.minimum(1.0 + eta[:, 0], MOST_MEAN)))
        elif kind is Kind.MULTINOMIAL:
            gumbel = -np.log(-np.log(np.maximum(rng.random((n, eta.shape[1] + 1)), 1e-300)))
            gumbel[:, 1:] += eta
            drawn = np.argmax(gumbel, axis=1)
        else:
            drawn = np.digitize(eta[:, 0] + logistic(rng, n), [0.0] if kind is Kind.BINARY else THRESHOLDS)
        return drawn

    def _score(self, name: str, values: NDArray[Any]) -> Floats:
        """The number that a parent without levels is to its children."""
        counted = name in self.schema and self.schema[name].kind is Kind.COUNT
        score: Floats = (values - 3.0) / 4.0 if counted else values
        return score


def random_kinds(names: Sequence[str], seed: Seed, *, continuous: int = 2) -> dict[str, str]:
    """A kind for each variable, all but counts equally probable, given that some are continuous.

    Parameters
    ----------
    names : sequence of str
        The variables.
    seed : int, sequence of int, SeedSequence or Generator
        The same seed gives the same kinds on every machine.
    continuous : int, default 2
        The fewest that must be continuous.

    Returns
    -------
    dict of str to str

    Raises
    ------
    OptionError
        If more are to be continuous than there are.

    Examples
    --------
    >>> random_kinds("ABC", seed=4)
    {'A': 'ordinal', 'B': 'continuous', 'C': 'continuous'}
    """
    if check_number("continuous", continuous, least=0) > len(names):
        raise OptionError(f"At most {len(names)} variables can be continuous; got continuous={continuous}.")
    rng = generator(seed)
    while True:
        drawn = [DRAWN[i] for i in rng.integers(len(DRAWN), size=len(names)).tolist()]
        if drawn.count(Kind.CONTINUOUS) >= continuous:
            return {name: kind.value for name, kind in zip(names, drawn, strict=True)}


def random_model(
    mag: MAG, sites: int, seed: Seed, *, kinds: Mapping[str, str | Kind] | None = None, least: float = 0.2, most: float = 1.0
) -> Model:
    """A model on the canonical diagram of a MAG, with random coefficients.

    Parameters
    ----------
    mag : MAG
        The graph over the observed variables; every bidirected edge becomes a latent variable.
    sites : int
        How many sites.
    seed : int, sequence of int, SeedSequence or Generator
        The same seed gives the same model on every machine.
    kinds : mapping of str to str or Kind, optional
        Kinds of some or all variables.
    least, most : float, default 0.2 and 1.0
        Bounds of the absolute value of coefficients.

    Returns
    -------
    Model

    Raises
    ------
    UnknownNodeError
        If a kind is given for a variable that the graph does not have.

    Examples
    --------
    >>> model = random_model(MAG.parse("A --> B, B <-> C"), sites=2, seed=1, kinds={"A": "binary", "B": "continuous", "C": "continuous"})
    >>> model.dag, model.coefficients["B"]["A"].shape
    (DAG.parse('A --> B, "L(B,C)" --> B, "L(B,C)" --> C'), (2, 1))
    >>> [frame.shape for frame in model.sample([10, 20], seed=2)]
    [(10, 3), (20, 3)]
    """
    check_number("sites", sites, least=1)
    rng = generator(seed)
    drawn = random_kinds(mag.labels, rng, continuous=min(2, len(mag)))
    for name in kinds or {}:
        if name not in mag:
            raise UnknownNodeError(f"Kinds are given for nodes of the graph, {', '.join(mag.labels)}; got {name!r}.")
    chosen = {name: as_kind((kinds or {}).get(name, drawn[name]), name) for name in mag.labels}
    schema = Schema([Variable(name, kind, LEVELS[kind]) for name, kind in chosen.items()])
    dag = canonical_dag(mag)
    coefficients: dict[str, dict[str, Floats]] = {}
    shifts: dict[str, Floats] = {}
    for name in causal_order(dag):
        width = 3 if name in schema and schema[name].kind is Kind.MULTINOMIAL else 1
        coefficients[name] = {}
        for parent in dag.parents(name):
            discrete = _is_discrete(schema, parent)
            weights = signed_uniform(rng, (len(schema[parent].levels) if discrete else 1, width), least, most)
            if discrete:
                weights[0] = 0.0
            coefficients[name][parent] = weights
        if name in schema:
            shifts[name] = signed_uniform(rng, (sites, width), least, most)
            shifts[name][0] = 0.0
    return Model(dag, schema, coefficients, shifts)


def causal_order(dag: DAG) -> list[str]:
    """Parents before children; among those that may come next, the first in the alphabet."""
    left, order = set(dag.labels), []
    while left:
        ready = min(name for name in left if not left.intersection(dag.parents(name)))
        order.append(ready)
        left.remove(ready)
    return order


def _is_discrete(schema: Schema, name: str) -> bool:
    return name in schema and schema[name].kind.is_discrete


def _column(variable: Variable, values: NDArray[Any]) -> pl.Series:
    """Values in the type from which the kind would be inferred, where one is: a count must be declared."""
    if variable.kind is Kind.CONTINUOUS:
        return pl.Series(variable.name, values, dtype=pl.Float64)
    if variable.kind is Kind.COUNT:
        return pl.Series(variable.name, values, dtype=pl.Int64)
    if variable.kind is Kind.BINARY:
        return pl.Series(variable.name, values.astype(bool))
    if variable.kind is Kind.ORDINAL:
        return pl.Series(variable.name, values.astype(np.int64) + 1)
    return pl.Series(variable.name, np.array(variable.levels)[values], dtype=pl.String)
