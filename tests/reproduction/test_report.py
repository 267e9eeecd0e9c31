"""Tables, checks, figures and the page, from records made up by hand."""

from __future__ import annotations

import csv
import io
import math
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import consilience as cs
from consilience.reproduction.checks import check_results
from consilience.reproduction.experiment import Results
from consilience.reproduction.figures import _bins, draw_figures
from consilience.reproduction.page import page
from consilience.reproduction.report import write_report
from consilience.reproduction.runs import Record
from consilience.reproduction.sizes import SIZES, Size
from consilience.reproduction.summary import Cell, cells_of
from consilience.reproduction.tables import StudyTable, tables_of
from consilience.simulate.methods import ComparedMethod
from consilience.simulate.plotting import need_matplotlib
from tests.reproduction.helpers import PERFECT, case, found, record, results


def study(fisher_shd: float = 0.2, drift: float = 0.0, slow: float = 1.0) -> Results:
    """Two sizes and two numbers of partitions in which all is as it must be, unless told otherwise.

    Fisher's p-values are larger and scattered; with more rows and fewer partitions it is right more often.
    """
    rng = np.random.default_rng(1)
    made = []
    for n in (500, 5000):
        for sites in (4, 8):
            for r in range(6):
                right = [v if rng.random() < (0.7 if n == 500 else 0.95) else math.log(0.5) for v in PERFECT]
                lost = [math.log(0.3) if rng.random() < 0.06 * sites / 4 else v for v in right]
                fisher = found([v + abs(rng.normal()) for v in lost], fisher_shd + 0.05 * (r % 2))
                same, moved = found(right), found([v + drift for v in right], 0.1 + drift)
                made.append(record(n, sites, r, slow, rest=same, fisher=fisher, coordinate=moved))
    return results(made, [case(), case(30, 30, 30)])


def held(made: Results) -> dict[str, bool]:
    return {check.claim: check.holds for check in check_results(made)}


def failing(made: Results) -> str:
    return " / ".join(claim for claim, holds in held(made).items() if not holds)


def test_all_checks_hold_where_all_is_as_it_must_be() -> None:
    assert failing(study()) == ""


@pytest.mark.slow
def test_each_check_can_fail() -> None:
    assert "Fisher above pooled" in failing(study(fisher_shd=0.05))
    assert "centred at zero" in failing(study(drift=0.02))
    assert "within 0.01 of pooled" in failing(study(drift=0.02))
    assert "less than 3 hours" in failing(study(slow=2.5))
    good = study()
    assert "three variants" in failing(Results(good.plan, good.records, (case(agree=False),)))
    assert "three variants" in failing(Results(good.plan, good.records, (case(30, 40, 10),)))
    assert "three variants" in failing(Results(good.plan, good.records, ()))
    swapped = tuple(
        _renamed(r, {ComparedMethod.FISHER: ComparedMethod.POOLED, ComparedMethod.POOLED: ComparedMethod.FISHER}) for r in good.records
    )
    reverse = failing(Results(good.plan, swapped, good.cases))
    assert "Fisher below pooled" in reverse
    assert "within 0.005 of pooled" in reverse
    turned = tuple(record(5500 - r.n, r.sites, r.replication, 1.0, **{m.value: f for m, f in r.found.items()}) for r in good.records)
    assert "rises with the sample size" in failing(results(turned, good.cases))
    crossed = tuple(record(r.n, 12 - r.sites, r.replication, 1.0, **{m.value: f for m, f in r.found.items()}) for r in good.records)
    assert "loss of accuracy" in failing(results(crossed, good.cases))
    scattered = tuple(_renamed(r, {ComparedMethod.FEDCI: ComparedMethod.FISHER}) for r in good.records)
    assert "Interquartile range" in failing(Results(good.plan, scattered, good.cases))


def _renamed(one: Record, names: dict[ComparedMethod, ComparedMethod]) -> Record:
    """The record with some methods' outcomes taken from others."""
    return record(one.n, one.sites, one.replication, one.seconds, **{m.value: one.found[names.get(m, m)] for m in ComparedMethod})


def test_tables_have_the_cells_numbers() -> None:
    made = study()
    tables = {table.name: table for table in tables_of(made)}
    cell: Cell = cells_of(made)[-1]
    rows = {(row[0], row[1]): row[2:] for row in tables["shd"].rows}
    assert tables["shd"].head == ("algorithm", "partitions", "500", "5,000")
    assert rows["Fisher", "8"][1] == f"{cell.mean_shd(ComparedMethod.FISHER):.3f}" == "0.225"
    assert rows["Pooled", "8"][1] == "0.100"
    effects = {(row[0], row[1]): row[2:] for row in tables["cohens-d"].rows}
    differences = np.array([0.1, 0.15] * 3)
    assert effects["Fisher", "4"][0] == f"{differences.mean() / differences.std(ddof=1):.3f}"
    assert effects["fedCI", "4"] == ("0.000", "0.000")
    assert tables["candidates"].rows[1] == ("TWO vs. original", "2", "1", "20", "20")


def test_the_three_forms_of_a_table_say_the_same() -> None:
    for table in tables_of(study()):
        read = list(csv.reader(io.StringIO(table.to_csv())))
        marked = [[cell.strip() for cell in line.strip("|").split(" |")] for line in table.to_markdown().splitlines()]
        assert [tuple(row) for row in read] == [table.head, *table.rows]
        assert [marked[0], *marked[2:]] == read
        assert table.to_text().splitlines()[0] == table.title
        assert len(table.to_text().splitlines()) == len(table.rows) + 2


def test_columns_line_up() -> None:
    text = StudyTable("t", "T", ("name", "n"), (("a", "1"), ("longer", "1,000"))).to_text().splitlines()
    assert text[1:] == ["name        n", "a           1", "longer  1,000"]


def test_the_page_puts_our_numbers_beside_the_papers() -> None:
    text = page(study(), "pictures", "consilience reproduce --size smoke")
    assert "| Fisher | 8 | 0.225 / 0.393 (-0.168) | 0.225 / 0.216 (+0.009) |" in text
    assert "| Pooled | 4 | 0.100 / 0.337 (-0.237) | 0.100 / 0.174 (-0.074) |" in text
    assert "| TWO vs. original | 1 of 2 | 33 of 100 | 20 to 20 | 12 to 1,014 |" in text
    assert "All of them hold." in text
    rows = [line.replace(r"\|", "") for line in text.splitlines() if line.startswith("| ") and ("| yes |" in line or "| **no** |" in line)]
    assert len(rows) == 12
    assert all(row.count("|") == 4 for row in rows)  # |median| must not open cells of its own
    assert "`consilience reproduce --size smoke`" in text
    assert text.count("](pictures/") == 4
    worse = page(study(fisher_shd=0.05), "pictures", "x")
    assert "do not hold.**" in worse
    assert "| **no** | Fisher − pooled from" in worse
    assert "Fisher is above pooled in 4 of 4 cells" in text
    assert "Fisher is above pooled in 0 of 4 cells" in worse


@pytest.mark.slow
def test_figures_are_drawings_and_always_the_same(tmp_path: Path) -> None:
    made = study()
    paths = draw_figures(made, tmp_path / "one")
    assert [path.name for path in paths] == ["accuracy.svg", "log-ratios.svg", "shd.svg", "candidates.svg"]
    for path, again in zip(paths, draw_figures(made, tmp_path / "two"), strict=True):
        text = path.read_text(encoding="utf-8")
        assert ET.fromstring(text).tag.endswith("svg")
        assert text == again.read_text(encoding="utf-8")
    words = (tmp_path / "one" / "accuracy.svg").read_text(encoding="utf-8")
    assert all(label in words for label in ("fedCI-CA", "Fisher", "Pooled", "4 partitions", "8 partitions"))


def test_bins_of_reductions_lose_nothing() -> None:
    values = [0, 0, 5, 10, 11, 350, 1000, 1500]
    assert sum(count for _, count in _bins(values)) == len(values)
    assert _bins(values)[0] == ("0", 2)
    assert _bins(values)[-1] == ("1001–1500", 1)


@pytest.mark.slow
def test_the_report_writes_everything(tmp_path: Path) -> None:
    written = write_report(study(), tmp_path)
    assert all(path.exists() for path in written)
    assert {path.suffix for path in written} == {".md", ".txt", ".csv", ".svg"}
    assert written[0].name == "reproduction.md"
    for link in ("figures/accuracy.svg", "figures/candidates.svg"):
        assert link in written[0].read_text(encoding="utf-8")
        assert (tmp_path / link).exists()


def test_without_matplotlib_the_way_out_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(cs.errors.MissingPackageError, match=r"consilience\[plots\]"):
        need_matplotlib()


def test_the_page_in_the_documentation_is_of_the_default_size() -> None:
    """Written by ``make reproduction``: its runs are those of the size it names, its checks hold, its figures are there."""
    docs = Path(__file__).parents[2] / "docs"
    text = (docs / "reproduction.md").read_text(encoding="utf-8")
    assert "`consilience reproduce --size default`" in text or "`consilience reproduce --size paper`" in text
    size = Size.PAPER if "--size paper`:" in text else Size.DEFAULT
    assert f"there are {len(SIZES[size].runs()):,} runs" in text
    assert "All of them hold." in text
    for name in ("accuracy", "log-ratios", "shd", "candidates"):
        assert f"](reproduction/{name}.svg)" in text
        assert ET.fromstring((docs / "reproduction" / f"{name}.svg").read_text(encoding="utf-8")).tag.endswith("svg")
    for number in ("/ 0.393 (", "/ 0.166 (", "/ 0.455 (", "/ -0.117 ("):  # some of the paper's
        assert number in text
