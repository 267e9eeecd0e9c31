"""What would change, as it is told: forest plots, ranges, zero and what cannot be told, in the report, notebook, terminal and files."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from consilience.citest.effect import Contrast, Estimate
from consilience.cli.files import write_result
from consilience.cli.show import show_discovery
from consilience.iod.effects import Effects, GraphEffect
from consilience.iod.report import render, render_digest
from consilience.iod.report.effects import effect_in_short, effects_section, effects_table
from consilience.iod.report.pairs import Pairs
from tests.iod.report.effected import ADJUSTED, HIDDEN, RISK, ZERO, effected, effects
from tests.iod.report.helpers import HOSTILE, Node, Reader
from tests.iod.report.sized import sized

SHORT = "ill = 1: 0.0 to +10.0 percentage points (0.0 to 14.0) for smoker = yes rather than no; in 50% of the graphs it cannot be told"


def read(text: str) -> Node:
    reader = Reader()
    reader.feed(text)
    return reader.root


def cells(table: Node) -> list[list[str]]:
    return [[cell.text for cell in row.all("td")] for row in table.all("tr")[1:]]


def test_a_forest_plot_has_a_row_for_every_number_and_every_reason() -> None:
    table = read(effects_table(effects())).one("table")
    number, zero, hidden, over = cells(table)
    assert number == ["smoker = yes rather than no", "ill = 1", "+10.0 (6.0 to 14.0)", "25%", "age", "30.0%", "20.0%", "900", "3"]
    assert zero == ["smoker is no possible cause of ill: the effect is zero.", "zero", "25%", "–"]
    assert hidden[0] == f"not identifiable {HIDDEN.words}"
    assert hidden[1] == "50%"
    assert over == ["smoker = yes rather than no", "ill = 1", "0.0 to +10.0", "50%", "over all graphs that say"]
    head = table.all("th")[2]
    assert head.text == "change in percentage points (95 % interval)−15.00.0+15.0"
    plots = [svg for svg in table.all("svg") if svg.attributes["class"] == "interval"]
    assert len(plots) == 3
    assert all(svg.attributes["aria-hidden"] == "true" for svg in plots)


def test_a_number_has_its_unit_in_the_head() -> None:
    table = read(effects_table(effected().effects[1])).one("table")
    assert table.all("th")[2].text == "change in mmHg (95 % interval)−7.000+7.00"
    assert cells(table) == [["age +12 years", "pressure", "+4.00 (2.00 to 6.00)", "100%", "nothing", "–", "–", "1,000", "2"]]


def test_a_ratio_is_drawn_by_factors() -> None:
    contrast = Contrast("rate ratio", 1.5, 0.1, 1.2, 1.8, "yes", "no", "", 3.0, 2.0)
    told = Effects("smoker", "visits", (GraphEffect("adjusted", ((),), ()),), (Estimate("smoker", "visits", (), 90, 2, (contrast,)),))
    table = read(effects_table(told)).one("table")
    assert table.all("th")[2].text == "change in rate (95 % interval)× 0.500× 1.00× 2.00"
    assert cells(table)[0][2:7] == ["× 1.50 (1.20 to 1.80)", "100%", "nothing", "3", "2"]


def test_without_a_number_there_are_words_alone() -> None:
    told = effects(ZERO, HIDDEN)
    assert cells(read(effects_table(told)).one("table")) == [[f"zero {ZERO.words}", "50%"], [f"not identifiable {HIDDEN.words}", "50%"]]
    assert not read(effects_table(effects(HIDDEN))).all("table")
    failed = replace(effects(ADJUSTED, HIDDEN), estimates=(Estimate("smoker", "ill", ("age",), 0, 0, reason="age does not vary"),))
    assert ["not estimated adjusted for age: age does not vary", "50%"] in cells(read(effects_table(failed)).one("table"))


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (effects(), SHORT),
        (effects(ADJUSTED), "ill = 1: +10.0 percentage points (6.0 to 14.0) for smoker = yes rather than no"),
        (effected().effects[1], "+4.00 mmHg (2.00 to 6.00) for 12 years more of age"),
        (effects(ZERO), "zero"),
        (effects(ZERO, HIDDEN), "zero; in 50% of the graphs it cannot be told"),
        (effects(HIDDEN), "not identifiable"),
        (effects(ZERO, complete=False), "zero; the list of graphs is not complete"),
        (replace(effects(ADJUSTED), estimates=(Estimate("smoker", "ill", ("age",), 0, 0, reason="no rows"),)), "no estimate"),
        (Effects("smoker", "ill", ()), "there is no graph"),
    ],
)
def test_in_short(told: Effects, words: str) -> None:
    assert effect_in_short(told) == words


def test_the_report_has_a_section_and_a_list() -> None:
    root = read(render(effected()))
    assert f"smoker → ill: {SHORT}." in root.one("section", id="result").text
    section = root.one("section", id="effects")
    assert section.one("h2").text == "What would change"
    assert [head.text for head in section.all("h3")] == ["smoker → ill", "age → pressure"]
    assert 'id="effects"' not in render(sized())
    assert effects_section(sized()) == "<p>No effects were asked for.</p>"


def test_effects_with_a_number_come_first_in_the_overview() -> None:
    told = read(render(effected(*[effects(ZERO)] * 6, effects()))).one("section", id="result")
    assert f"smoker → ill: {SHORT}." in told.text
    assert told.text.index(SHORT) < told.text.index("smoker → ill: zero.")


def test_many_effects_are_listed_first_and_folded() -> None:
    found = effected(*[effects() for _ in range(7)])
    section = read(render(found)).one("section", id="effects")
    assert len(section.one("table", id="all-effects").all("tr")) == 8
    assert len(section.all("details")) == 7
    assert len(section.one("table", id="all-effects").all("svg")) == 7
    assert "2 more effects" in read(render(found)).one("section", id="result").text


def test_the_pair_the_notebook_and_the_terminal_say_it() -> None:
    facts = {fact.term: fact.words for fact in Pairs(effected()).story("pressure", "age").facts}
    assert facts["Effect on pressure"].startswith(
        "The effect of age on pressure: in the only graph, adjusted for nothing, pressure +4.00 mmHg"
    )
    assert f"Effect of smoker on ill: {SHORT}." in render_digest(effected())
    out = StringIO()
    show_discovery(effected(), Console(file=out, width=500))  # type: ignore[arg-type]
    assert "What would change:\n  - The effect of smoker on ill: in 1 of 4 graphs, adjusted for age, ill = 1 in 30.0 %" in out.getvalue()
    out = StringIO()
    show_discovery(effected(*[effects()] * 22), Console(file=out, width=500))  # type: ignore[arg-type]
    assert "… and 2 more; --out or --json has all of them" in out.getvalue()


def test_files_have_it(tmp_path: Path) -> None:
    write_result(effected(), tmp_path)
    head, first, *_ = (tmp_path / "effects.csv").read_text(encoding="utf-8").splitlines()
    assert head.startswith("x,y,share,graphs,identification,given,measure,estimate,se,low,high")
    assert first.startswith("smoker,ill,0.25,1,adjusted,age,risk difference,0.1,0.02,0.06,0.14,yes,no,1")
    write_result(sized(), tmp_path / "..")
    assert not (tmp_path.parent / "effects.csv").exists()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_become_part_of_the_page(name: str) -> None:
    contrast = replace(RISK.contrasts[0], level=name, reference=name, outcome=name)
    estimate = replace(RISK, x=name, y=f"{name} y", given=(f"{name} z",), contrasts=(contrast,))
    told = Effects(
        name, f"{name} y", (GraphEffect("adjusted", (estimate.given,), estimate.given), replace(HIDDEN, words=name)), (estimate,)
    )
    text = effects_table(told)
    assert "<script" not in text
    assert "<img" not in text
