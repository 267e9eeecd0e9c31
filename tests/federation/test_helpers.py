"""Another process helps with sums over many rows: no digit of a result depends on it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from consilience.data.helpers import Helper, Helpers
from consilience.data.table import Table
from consilience.federation import Server
from consilience.protocol.desk import Desk
from tests.data.started import started
from tests.federation.test_blocks import clients, results
from tests.federation.test_out_of_core import client_of, written

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="only Linux has memory without a name")]
OPTIONS: list[dict[str, Any]] = [{}, {"site_effects": "none", "min_cell": 5}, {"ordinal": "generalized"}]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """A helper that has begun, and the rows of all parts that are given to it."""
    found, rows = Helpers(spent=1e9), list[int]()
    give = Helper.give

    def noted(self: Helper, part: Table) -> None:
        rows.append(part.n_rows)
        give(self, part)

    monkeypatch.setattr(Helper, "give", noted)
    monkeypatch.setattr("consilience.data.blocks.helpers", found)
    monkeypatch.setattr("consilience.federation.site.client.LEAST_FOR_HELPERS", 0)
    started(found)
    yield rows
    assert found.lost == 0
    found.close()


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_of_a_table_in_memory(monkeypatch: pytest.MonkeyPatch, given: list[int], options: dict[str, Any]) -> None:
    alone = results(monkeypatch, clients(gaps=True), blocks=True, **options)
    assert given == []
    assert results(monkeypatch, clients(gaps=True, threads=2), blocks=True, **options).equals(alone, null_equal=True)
    assert len(given) > 50  # means, products, models and whether they hold


def test_of_a_table_larger_than_memory(monkeypatch: pytest.MonkeyPatch, given: list[int], tmp_path: Path) -> None:
    for module in ("table", "streamed"):
        monkeypatch.setattr(f"consilience.data.{module}.BLOCK_ROWS", 64)
    for name in ("BLOCKS_HELD", "PARTS_HELD"):
        monkeypatch.setattr(f"consilience.data.streamed.{name}", 1)
    paths = [written(tmp_path, site) for site in range(2)]
    alone, together = (
        Server([client_of(path, path.stem, threads=threads) for path in paths], min_cell=5).test_all(max_given=1) for threads in (1, 2)
    )
    assert together.equals(alone, null_equal=True)
    assert len(given) > 50


def test_a_site_computes_with_one_thread_of_linear_algebra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two make other sums of long columns, and a helper has one."""
    found = set[int]()
    answer = Desk.answer

    def noted(self: Desk, body: Any, site: int) -> Any:
        found.update(each["num_threads"] for each in threadpool_info() if "numpy" in each["filepath"])
        return answer(self, body, site)

    monkeypatch.setattr(Desk, "answer", noted)
    monkeypatch.setattr("consilience.federation.exchange.batch.one_thread", nullcontext)  # as where the server is another process
    with threadpool_limits(2, "blas"):
        Server(clients(gaps=False)).test("a", "b")
    assert found == {1}
