"""Over replicates: how often each edge and mark is found, how p-values spread, and the graph that most of them have."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.frames import pl
from consilience.graph.graphs import PAG
from consilience.iod.answers import Answers
from consilience.iod.stability.replicate import Graphs

__all__ = ["QUANTILES", "consensus", "edge_frame", "edge_schema", "edges_without_schema", "mean_shares", "test_frame", "test_schema"]

Shares = NDArray[np.float64]
MARKS = {"circle": 1, "arrow": 2, "tail": 3}
QUANTILES = {"p_low": 0.05, "p_median": 0.5, "p_high": 0.95}
"""Of the p-values of a test over replicates, by column."""


def edge_schema() -> dict[str, Any]:
    """The columns of the table of edges.

    >>> list(edge_schema())
    ['x', 'y', 'share', 'x_arrow', 'x_tail', 'x_circle', 'y_arrow', 'y_tail', 'y_circle', 'plain']
    """
    ends = {f"{end}_{mark}": pl.Float64 for end in "xy" for mark in ("arrow", "tail", "circle")}
    return {"x": pl.String, "y": pl.String, "share": pl.Float64, **ends, "plain": pl.Float64}


def test_schema() -> dict[str, Any]:
    """The columns of the table of tests.

    >>> list(test_schema())
    ['x', 'y', 'given', 'p_value', 'dependent', 'answered', 'p_low', 'p_median', 'p_high', 'significant', 'same']
    """
    names = {"x": pl.String, "y": pl.String, "given": pl.List(pl.String), "p_value": pl.Float64, "dependent": pl.Boolean}
    return {**names, "answered": pl.Int64, **dict.fromkeys(QUANTILES, pl.Float64), "significant": pl.Float64, "same": pl.Float64}


def edges_without_schema() -> dict[str, Any]:
    """The columns of the table of edges without a site.

    >>> list(edges_without_schema())
    ['site', 'x', 'y', 'share', 'plain']
    """
    return {"site": pl.String, "x": pl.String, "y": pl.String, "share": pl.Float64, "plain": pl.Float64}


def mean_shares(lists: Sequence[Graphs], n: int) -> Shares:
    """The mean over replicates of the shares within each list; lists without a graph have none, and are left out."""
    shares = [one.shares for one in lists if one.count]
    return np.mean(shares, axis=0) if shares else np.zeros((n, n, 4))


def edge_frame(shares: Shares, plain: Shares, names: Sequence[str]) -> pl.DataFrame:
    """A row for each pair of variables: the share of its edge, of each mark at each end, and of the edge in the plain list."""
    rows = []
    for i, j in combinations(range(len(names)), 2):
        ends = {f"{end}_{mark}": float(shares[a, b, m]) for end, a, b in (("x", j, i), ("y", i, j)) for mark, m in MARKS.items()}
        edge = {"share": float(shares[i, j, 1:].sum()), "plain": float(plain[i, j, 1:].sum())}
        rows.append({"x": names[i], "y": names[j], **edge, **ends})
    return pl.DataFrame(rows, schema=edge_schema())


def consensus(shares: Shares, names: Sequence[str]) -> PAG:
    """The graph of the majority: edges with a share above one half; at each end the mark of more than half of that, else a circle.

    >>> shares = np.zeros((2, 2, 4))
    >>> shares[0, 1], shares[1, 0] = [0.2, 0.1, 0.7, 0.0], [0.2, 0.3, 0.2, 0.3]
    >>> print(consensus(shares, "AB"))
    A o-> B
    """
    n = len(names)
    matrix = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(n):
            share = shares[i, j, 1:].sum()
            if i != j and share > 0.5:
                most = int(np.argmax(shares[i, j, 1:])) + 1
                matrix[i, j] = most if shares[i, j, most] > 0.5 * share else MARKS["circle"]
    return PAG.from_matrix(matrix, names)


def test_frame(plain: Answers, replicates: Sequence[Answers]) -> pl.DataFrame:
    """A row for each test of the plain search: its p-value, and those of the same test in replicates that could answer it.

    ``significant`` is the share of these at or below the level, ``same`` of those that decide as the plain test does.
    """
    rows = []
    for key, result in plain.results.items():
        found = np.array([one.p_value(key) for one in replicates if not one.unknown(key)])
        dependent = None if plain.unknown(key) else not plain.independent(key)
        row = {"x": result.x, "y": result.y, "given": list(result.given), "p_value": result.p_value, "dependent": dependent}
        row["answered"] = len(found)
        if len(found):
            rejects = float(np.mean(found <= plain.alpha))
            row |= {name: float(np.quantile(found, q)) for name, q in QUANTILES.items()}
            row |= {"significant": rejects, "same": None if dependent is None else rejects if dependent else 1.0 - rejects}
        rows.append(row)
    return pl.DataFrame(rows, schema=test_schema())
