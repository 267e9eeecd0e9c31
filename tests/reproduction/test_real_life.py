"""The second study: its records are kept, its table counts what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from consilience.cli.app import app
from consilience.reproduction.design import Run, study_graphs
from consilience.reproduction.errors import ForeignResultsError
from consilience.reproduction.experiment import Experiment
from consilience.reproduction.real_life import Found, RealLifeRecord, RealLifeStudy, Shown, do_real_life, page_of, summarise
from consilience.reproduction.sizes import Plan, Size

SMALL = Plan(1, 2, (300,), (4,), 0)


def test_the_table_counts_decisions() -> None:
    graph = study_graphs(1)[0]
    truth = graph.truth()
    right = tuple(0.5 if independent else 0.01 for independent in truth)
    wrong = tuple(0.01 if independent else None for independent in truth)
    records = [
        RealLifeRecord((0, 0, 500, 4), {"fedci": Found(right, 2, 0.0, 1.0)}),
        RealLifeRecord((1, 0, 500, 4), {"fedci": Found(wrong, 0, None, 3.0)}),
    ]
    independent = sum(truth)
    answered = (42 + independent) / 84
    correct = 42 / (42 + independent)
    assert summarise(records, 1) == [("500", "fedci", f"{answered:.3f}", "0.500", "1.000", f"{correct:.3f}", "1/2", "0.000", "2.00")]
    assert "| 500 | fedci |" in page_of(records, 1, "x")


@pytest.mark.slow
def test_a_study_goes_on_where_it_was(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    first = RealLifeStudy(tmp_path, SMALL).run(progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 2), (2, 2)]
    assert RealLifeStudy(tmp_path, SMALL).run(progress=lambda done, total: told.append((done, total))) == first
    assert len(told) == 2
    assert {method for record in first for method in record.found} == set(Shown)
    with pytest.raises(ForeignResultsError, match="study"):
        Experiment(tmp_path, Size.SMOKE).run()


def test_a_run_is_the_same_again() -> None:
    graph = study_graphs(1)[0]
    first, again = (do_real_life(Run(0, 0, 300, 4), graph, [Shown.RESIDUAL]).found["residual"] for _ in range(2))
    assert (first.p, first.pags, first.shd) == (again.p, again.pags, again.shd)


@pytest.mark.slow
def test_the_command_writes_the_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    answer = CliRunner().invoke(
        app, ["reproduce", "--study", "real-life", "--size", "smoke", "--out", str(tmp_path / "out"), "--jobs", "1", "--page", str(page)]
    )
    assert answer.exit_code == 0, answer.output
    assert "residual" in answer.output
    assert page.read_text(encoding="utf-8") == (tmp_path / "out" / "real-life.md").read_text(encoding="utf-8")
    assert "--study real-life --size smoke" in page.read_text(encoding="utf-8")
