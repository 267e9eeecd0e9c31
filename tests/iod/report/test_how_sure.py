"""How sure, as it is told: of a pair, in the report, in a notebook and at the command line, and what older results say of it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

from rich.console import Console

from consilience.cli.files import write_result
from consilience.cli.show import show_discovery
from consilience.iod import Discovery
from consilience.iod.report import render, render_digest
from consilience.iod.report.graphs import common_positions
from consilience.iod.report.pairs import Pairs
from consilience.iod.report.resampled import how_sure_section
from consilience.service.result_files import plain
from tests.iod.report.helpers import Reader, small
from tests.iod.report.sized import sized
from tests.iod.report.sured import by_site, stable, sured

SURE = (
    "97% of the graphs join them, on average over 30 resampled copies of the data; at age a circle in 97%, at pressure an arrowhead in "
    "60%, a circle in 37%."
)
SHORT = (
    "Of 2 edges that more than half of the graphs have, 1 is found again in 90% or more of 30 resampled copies of the data; "
    "least sure is age – smoker (60%)."
)


def page(found: Discovery) -> Reader:
    reader = Reader()
    reader.feed(render(found))
    return reader


def test_a_pair_is_told_with_its_share_and_its_interval_drawn() -> None:
    facts = {fact.term: fact for fact in Pairs(sured()).story("pressure", "age").facts}
    assert facts["How sure"].words == SURE
    assert facts["How strong"].plot.startswith('<svg class="interval"')
    assert "0.25 to 0.37" in facts["How strong"].words
    assert facts["How sure"].plot == ""


def test_the_report_has_a_section_a_column_and_a_sentence() -> None:
    root = page(sured(**by_site())).root
    assert SHORT in root.one("section", id="result").text
    section = root.one("section", id="sure")
    for words in (
        "Consensus graph",
        "Decisions over the copies",
        "Without each site",
        "no probability that the edge is true",
        "In simulated studies whose models hold",
    ):
        assert words in section.text
    sure, wavering, sites = (section.one("table", id=name) for name in ("sure", "wavering", "sites"))
    assert [cell.text for cell in sure.all("tr")[1].all("td")] == ["age – pressure", "97% ", "100%", "circle 97%", "arrow 60%, circle 37%"]
    assert sure.all("tr")[2].all("td")[1].text == "60%  hangs on marburg"
    assert [cell.text for cell in wavering.all("tr")[1].all("td")] == ["age – smoker", "60%", "0.040", "0.001 to 0.400 "]
    assert len(wavering.all("tr")) == 2
    assert [cell.text for cell in sites.all("tr")[2].all("td")] == ["marburgstands out", "9.0", "1", "1", "0", "age – smoker"]
    heads = [head.text for head in root.one("section", id="summary").one("table").all("th")]
    assert heads[5:] == ["share of graphs", "how sure", "strength", "95 % interval"]
    (first, *_) = root.one("section", id="summary").one("table").all("tr")[1:]
    assert [cell.text for cell in first.all("td")][6:] == ["97% ", "+0.31", "+0.31 (0.25 to 0.37)"]


def test_without_a_graph_nothing_is_said_of_edges_without_a_site() -> None:
    sites = page(sured(**by_site(graphs=0))).root.one("table", id="sites")
    assert [cell.text for cell in sites.all("tr")[2].all("td")][3:] == ["–", "–", "no graph was found without it"]


def test_lines_are_thick_where_edges_are_sure() -> None:
    drawing = page(sured()).root.one("section", id="summary").one("figure")
    widths = {
        group.attributes["data-to"]: group.attributes["stroke-width"] for group in drawing.all("g") if group.attributes.get("data-to")
    }
    assert widths == {"pressure": "3.0", "smoker": "1.9"}
    assert "found again in 90% of copies or more" in drawing.text
    assert "found again in less than 50%" not in drawing.text


def test_what_nobody_resampled_has_none_of_it() -> None:
    for found in (sized(), small()):
        text = render(found)
        assert 'id="sure"' not in text
        assert "How sure:" not in text
        assert 'stroke-width="3.0"' not in text
        assert all(fact.term != "How sure" for fact in Pairs(found).story(*next(iter(Pairs(found).pairs()))).facts)


def test_no_finished_copy_is_told_and_draws_nothing() -> None:
    found = sured(done=0, edges=stable().edges.clear(), tests=stable().tests.clear())
    section = page(found).root.one("section", id="sure")
    assert "none was finished before the search was stopped" in section.text
    assert "Consensus graph" not in section.text
    assert not section.all("table")
    heads = [head.text for head in page(found).root.one("section", id="summary").one("table").all("th")]
    assert "how sure" not in heads


def test_a_notebook_has_a_sentence() -> None:
    assert SHORT in render_digest(sured())
    assert "resampled" not in render_digest(sized())


def test_the_terminal_has_all_sentences() -> None:
    out = StringIO()
    show_discovery(sured(), Console(file=out, width=500))  # type: ignore[arg-type]
    said = out.getvalue()
    assert (
        "How sure: The search was repeated in 30 resampled copies of the data. Found again in nine of ten or more: age – pressure" in said
    )
    out = StringIO()
    show_discovery(sized(), Console(file=out, width=500))  # type: ignore[arg-type]
    assert "How sure" not in out.getvalue()


def test_files_have_it(tmp_path: Path) -> None:
    write_result(sured(**by_site()), tmp_path)
    assert (tmp_path / "sure.csv").read_text(encoding="utf-8").splitlines()[1].startswith("age,pressure,0.97,")
    assert (tmp_path / "sites.csv").read_text(encoding="utf-8").splitlines()[2].startswith("marburg,9.0,3,")
    assert {"copies.csv", "without.csv", "tests.csv"} <= {path.name for path in tmp_path.iterdir()}


def test_it_is_written_down_and_read_back() -> None:
    found = sured(**by_site())
    told = json.loads(json.dumps(plain(found.to_dict()), allow_nan=False))
    again = Discovery.from_dict(told)
    assert how_sure_section(again, common_positions(again)) == how_sure_section(found, common_positions(found))
    del told["stability"]
    assert Discovery.from_dict(told).stability is None
