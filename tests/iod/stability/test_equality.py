"""A replicate is the ordinary bootstrap: the same weights, on pooled rows, give the same p-values and the same graphs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.question import Question, all_questions
from consilience.data.table import Table
from consilience.disclosure.resampling import Draws
from consilience.protocol.replicates import Replicate
from tests.federation.helpers import mixed_frames

METHODS: list[dict[str, Any]] = [
    {"method": "fedci"},
    {"method": "fedci", "site_effects": "random"},
    {"method": "fedci", "site_effects": "none"},
    {"method": "residual"},
    {"method": "auto"},
    {"method": "residual", "cluster": "ward"},
]


def ask(questions: Sequence[Question]) -> Generator[Sequence[Question], list[cs.CIResult], list[cs.CIResult]]:
    """A search of one batch."""
    return (yield questions)


def drawn(server: cs.Server, client: cs.Client, draw: int) -> pl.DataFrame:
    """The rows of a client as often as they stand in a copy, by the site's own draws; copies of a ward are wards of their own."""
    table = Table(client.fitted(server.schema, server.terms.cluster).frame, server.schema, client.name, server.terms.cluster)
    times = Draws(table, client._draws).times(draw)
    rows = np.repeat(np.arange(client.frame.height), times)
    frame = client.frame[rows]
    if server.terms.cluster is not None:
        copy = np.concatenate([np.arange(n) for n in times])
        wards = [f"{ward}/{number}" for ward, number in zip(frame[server.terms.cluster], copy, strict=True)]
        frame = frame.with_columns(pl.Series(server.terms.cluster, wards))
    return frame


def frames_of(sites: int, seed: int, rows: int = 120) -> list[pl.DataFrame]:
    frames = list(cs.simulate.mixed_sites(n=rows * sites, sites=sites, seed=seed).values())
    return [f.with_columns(ward=pl.Series([f"w{i // 3}" for i in range(f.height)])) for f in frames]


@pytest.mark.slow
@pytest.mark.parametrize("sites", [1, 3])
@pytest.mark.parametrize("options", METHODS, ids=lambda o: "-".join(map(str, o.values())))
def test_replicates_are_the_bootstrap_of_pooled_rows(options: dict[str, Any], sites: int) -> None:
    columns = ["A", "B", "C", "D", "E", *([options["cluster"]] if "cluster" in options else [])]
    clients = [cs.Client(f"site{k}", f.select(columns), seed=5 + k) for k, f in enumerate(frames_of(sites, seed=7))]
    server = cs.Server(clients, min_contributors=1, **options)
    if options["method"] == "fedci":  # diagnostics are off in replicates, and do not change a p-value
        options = options | {"diagnostics": False}
    questions = list(all_questions(server.variables, 1))
    asked = {Replicate(draw): ask(questions) for draw in (1, 2)}
    for replicate, found in server.answer_together(asked):
        pooled = cs.pooled([drawn(server, client, replicate.draw) for client in clients], schema=server.schema, **options)
        for got, wanted in zip(found, pooled.test_many(questions), strict=True):
            assert got.p_value == pytest.approx(wanted.p_value, abs=1e-9), (replicate, got)
            assert (got.n, got.informative, got.method) == (wanted.n, wanted.informative, wanted.method)


@pytest.mark.parametrize("method", ["fisher"])
def test_replicates_of_fishers_method_combine_the_sites_own_bootstraps(method: str) -> None:
    clients = [cs.Client(f"site{k}", f.select("A", "B", "C"), seed=k) for k, f in enumerate(frames_of(3, seed=3))]
    server = cs.fisher(clients, single_site="refuse")
    questions = list(all_questions(server.variables, 1))
    ((_, found),) = server.answer_together({Replicate(4): ask(questions)})
    again = cs.fisher([cs.Client(c.name, drawn(server, c, 4)) for c in clients], schema=server.schema, single_site="refuse")
    wanted = again.test_many(questions)
    assert [r.p_value for r in found] == pytest.approx([r.p_value for r in wanted], abs=1e-9)


@pytest.mark.slow
def test_the_list_of_a_replicate_is_that_of_a_discovery_in_its_rows() -> None:
    """With one replicate the shares are those of one list: the one that is found where the copies are the data."""
    clients = [cs.Client(f"site{k}", f, seed=k) for k, f in enumerate(mixed_frames(3, seed=11))]
    server = cs.Server(clients)
    stability = cs.discover(server, bootstrap=1).stability
    assert stability is not None
    again = cs.discover(cs.Server([cs.Client(c.name, drawn(server, c, 1)) for c in clients], schema=server.schema))
    n = len(again.pags)
    for x, y, share, at_y in stability.edges.select("x", "y", "share", "y_arrow").iter_rows():
        with_edge = [pag for pag in again.pags if pag.adjacent(x, y)]
        assert share == pytest.approx(len(with_edge) / n)
        assert at_y == pytest.approx(sum(pag.mark(x, y).name == "ARROW" for pag in with_edge) / n)
    by_question = {(r["x"], r["y"], *r["given"]): r["p_value"] for r in again.tests.iter_rows(named=True)}
    rows = [row for row in stability.tests.iter_rows(named=True) if (row["x"], row["y"], *row["given"]) in by_question]
    assert len(rows) > 5
    for row in rows:
        assert row["p_low"] == row["p_high"] == pytest.approx(by_question[row["x"], row["y"], *row["given"]], abs=1e-9)
