"""What the page says: headline, certainties, conflicts, the summary and the list of graphs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from consilience.graph import PAG
from consilience.iod import Summary
from consilience.iod.report import render
from consilience.iod.report.graphs import DRAWN, LISTED
from consilience.iod.resolution import Resolution
from consilience.settings import Resolve
from tests.iod.report.helpers import SECTIONS, found_of, many, read, said, small, with_settings


def test_sections_headings_and_contents() -> None:
    root = read(render(small()))
    sections = root.one("main").all("section")
    assert [section.attributes["id"] for section in sections] == SECTIONS
    assert len(root.all("h1")) == 1
    for section in sections:
        heading = section.all("h2")
        assert [h.attributes["id"] for h in heading] == [section.attributes["aria-labelledby"]]
    links = [link.attributes["href"] for link in root.one("nav").all("a")]
    assert links == [f"#{name}" for name in SECTIONS]
    ids = [node.attributes["id"] for node in root.nodes() if "id" in node.attributes]
    assert len(set(ids)) == len(ids)
    assert all(link.attributes["href"][1:] in ids for link in root.all("a"))
    assert root.one("html").attributes["lang"] == "en"


def test_headline_and_certainties() -> None:
    result = read(render(small())).one("section", id="result").text
    assert "All decisions agree: 2 graphs." in result
    assert "3 edges hold in every one of the 2 graphs, 1 is in some of them and not in others;" in result
    assert "; 2 pairs of variables are joined in none." in result
    assert "C is a cause of D, directly or through others." in result
    assert "C is not a cause of A." in result
    assert "C is not a cause of B." in result


def test_a_common_cause_in_all_graphs() -> None:
    words = read(render(found_of([PAG.parse("A <-> B, C")], ["ABC"]))).one("section", id="result").text
    assert "All decisions agree: exactly one graph. It has 1 edge; the other 2 pairs of variables are not joined." in words
    assert "A and B do not cause each other: something that nobody measured causes both." in words


def test_selection_bias_weakens_what_a_tail_says() -> None:
    pags = [PAG.parse("A --> B, B --> C, C --- D")]
    found = found_of(pags, ["ABCD"])
    assert "(or of who is in the data)" not in render(found)
    words = read(render(with_settings(found, selection_bias=True))).one("section", id="result").text
    assert "A is a cause of B, directly or through others (or of who is in the data)." in words
    assert "C and D both influence who is in the data." in words


def test_no_graph() -> None:
    conflicts = (said("A and B are independent (p = 0.3)", 0.3, 1.2), said("A and C are dependent (p = 10⁻⁷)", 1e-7, 3.0))
    root = read(render(replace(found_of([], ["ABC", "BCD"]), conflicts=conflicts)))
    words = root.one("section", id="result").text
    assert "The decisions contradict each other: no graph agrees with all of them." in words
    assert "hold in every" not in words
    assert "certain" not in words
    section = root.one("section", id="conflicts")
    assert [item.text for item in section.all("li")] == [
        "A and B are independent (p = 0.3) weight 1.2",
        "A and C are dependent (p = 10⁻⁷) weight 3",
    ]
    assert 'resolve="auto"' in section.text
    assert "There is no graph to show." in root.one("section", id="graphs").text
    assert "No graph agrees with all decisions." in root.one("section", id="summary").text


def test_overruled_decisions() -> None:
    first, second = said("A and B are independent (p = 0.06)", 0.06, 0.18), said("B and C are dependent (p = 0.04)", 0.04, 0.18)
    resolution = Resolution(Resolve.OPTIMAL, (first, second), given_up=0.18, bound=0.18, decisions=12, total=9.0)
    found = with_settings(small(), resolve="optimal")
    found = replace(found, overruled=(first, second), resolution=resolution, _contradicted=((first,), (second,)))
    root = read(render(found))
    words = "No graph gives up decisions of less weight than 0.18 of 9. 2 graphs give up no more; each contradicts 1 of 12."
    assert words in root.one("section", id="result").text
    folded = [figure.one("details").text for figure in root.one("section", id="graphs").all("figure")]
    assert folded == [f"contradicts 1 decision{one.text}" for one in (first, second)]
    words = "2 graphs give up no more; each contradicts 1 to 2 of 12."
    assert words in render(replace(found, _contradicted=((first,), (first, second))))
    rows = root.one("table", id="overruled").one("tbody").all("tr")
    assert [[cell.text for cell in row.all("td")] for row in rows] == [[first.text, "0.18", "–"], [second.text, "0.18", "–"]]


def test_what_was_overruled_stands_beside_the_stronger_decisions_it_clashes_with() -> None:
    weak, *strong = (said(f"decision {k}", 0.01, float(k)) for k in (1, 2, 3))
    resolution = Resolution(
        Resolve.STRONGEST, (weak,), given_up=1.0, weakest=strong[0], reasons={weak: tuple(strong)}, decisions=3, total=6.0
    )
    root = read(render(replace(small(), overruled=(weak,), resolution=resolution)))
    words = root.one("section", id="result").text
    assert "Strongest first, 1 of 3 was overruled (weight 1 of 6); the weakest that was kept has p = 0.010." in words
    assert "What follows, if the overruled decision is wrong and the others right" in words
    assert "if the overruled decision is wrong and the others right" in root.one("section", id="summary").text
    (row,) = root.one("table", id="overruled").one("tbody").all("tr")
    assert [item.text for item in row.all("li")] == ["decision 2", "decision 3"]


def test_a_search_that_was_stopped() -> None:
    found = replace(small(), complete=False, summary=Summary.of(small().pags, "ABCD", complete=False))
    words = read(render(found)).one("section", id="result").text
    assert "All decisions agree. When time ran out, 2 graphs had been found; there may be more." in words
    assert "1 edge is in some graphs and not in others, of 5 pairs of variables it is not known whether graphs join them." in words
    assert read(render(found)).one("h1").text == "Causal discovery: 2 graphs or more from 2 data sets"
    cells = [cell.text for cell in read(render(found)).one("section", id="summary").all("table")[0].one("tbody").all("tr")[2].all("td")]
    assert cells == ["A", "arrow, tail?, circle?", "D", "arrow, tail?, circle?", "some", "–"]


def test_who_has_what() -> None:
    rows = read(render(small())).one("table", id="matrix").one("tbody").all("tr")
    table = {row.one("th").text: [cell.attributes["class"] for cell in row.all("td")[:-1]] for row in rows}
    assert table == {"A": ["yes", "no"], "B": ["yes", "yes"], "C": ["yes", "yes"], "D": ["no", "yes"]}
    assert "1 pair of variables is in no data set together" in read(render(small())).one("section", id="data").text


def test_the_table_of_edges() -> None:
    rows = read(render(small())).one("section", id="summary").all("table")[0].one("tbody").all("tr")
    cells = [[cell.text for cell in row.all("td")] for row in rows]
    assert cells == [
        ["A", "circle", "C", "arrow", "all", "100%"],
        ["A", "arrow", "D", "arrow", "some", "50%"],
        ["B", "arrow 50%, circle 50%", "C", "arrow", "all", "100%"],
        ["C", "tail", "D", "arrow", "all", "100%"],
    ]


def test_graphs_are_drawn_best_first_with_common_positions() -> None:
    root = read(render(small()))
    figures = root.one("section", id="graphs").all("figure")
    captions = [figure.one("figcaption").text for figure in figures]
    assert captions == [
        "Graph 1 score 0A o-> C, B o-> C, C --> D ",
        "Graph 2 score 0.5A o-> C, A <-> D, B <-> C, C --> D ",
    ]
    drawings = [*root.one("section", id="summary").all("svg"), *(figure.one("svg") for figure in figures)]
    centres = []
    for drawing in drawings:
        boxes = {node.attributes["data-label"]: node.one("rect").attributes for node in drawing.all("g", class_="node")}
        centres.append(
            {
                name: tuple(round(float(box[at]) + float(box[size]) / 2, 1) for at, size in (("x", "width"), ("y", "height")))
                for name, box in boxes.items()
            }
        )
    assert len(centres) == 3
    assert all(one == centres[0] for one in centres)


def test_many_edges_are_told_by_what_is_not_shared() -> None:
    chain = ", ".join(f"v{k:02d} --> v{k + 1:02d}" for k in range(11))
    pags = [PAG.parse(f"{chain}, v00 o-> v05"), PAG.parse(f"{chain}, v00 <-> v05, v00 o-o v07")]
    figures = read(render(found_of(pags, [pags[0].labels], []))).one("section", id="graphs").all("figure")
    own = [figure.one("figcaption").all("code")[0].text.strip() for figure in figures]
    assert own == ["v00 o-> v05", "v00 <-> v05, v00 o-o v07"]
    folded = [PAG.parse(figure.one("details").one("code").text).reordered(pags[0].labels) for figure in figures]
    assert folded == pags


@pytest.mark.slow
def test_long_lists_are_cut_with_a_word() -> None:
    found = many(LISTED + 700)
    page = render(found)
    section = read(page).one("section", id="graphs")
    assert len(section.all("figure")) == DRAWN
    assert len(section.one("details").all("li")) == LISTED - DRAWN
    assert section.one("ol").attributes["start"] == str(DRAWN + 1)
    assert f"the first {LISTED} of 1,200 graphs; the result as JSON has all of them" in section.text
    assert len(page) < 700_000


def test_short_lists_are_not_cut() -> None:
    section = read(render(many(DRAWN))).one("section", id="graphs")
    assert section.all("details") == []
    assert "JSON" not in section.text


def test_graphs_with_one_score_are_said_to_be_alike() -> None:
    assert "All have the same score" in render(replace(small(), scores=(0.0, 0.0)))
    assert "All have the same score" not in render(small())
