"""What objects show in a notebook: IPython finds it, the plain text stays, and nobody's words become part of a page."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import polars as pl
import pytest
from IPython.core.formatters import DisplayFormatter
from IPython.lib.pretty import pretty

import consilience as cs
from consilience.graph import PAG
from consilience.iod.effects import Effects, GraphEffect
from consilience.showing import MOST_ROWS
from consilience.simulate import GraphPower, NextMeasurement, from_graph, graph_power, next_measurement, power
from consilience.simulate.graph_power import EDGE_COLUMNS, MARK_COLUMNS
from consilience.simulate.next_measurement import COLUMNS
from tests.iod.report.helpers import Node, read, small
from tests.iod.report.sured import by_site, edge, frame, stable

EVIL = "<script>alert('x')</script>&amp;"
FORBIDDEN = {"script", "img", "iframe", "link", "a", "style", "b", "i"}
GRAPHS = PAG.from_matrix([[0, 0, 2], [0, 0, 2], [1, 1, 0]], [EVIL, "B", "C"])


def columns() -> dict[str, list[Any]]:
    return {EVIL: [0.5, 1.5, 2.5, 4.0, 1.1, 0.3], "B": ["yes", "no", "<b>", "yes", "no", "<b>"], "C": [1.5, 2.5, 0.5, 1.0, 2.2, 3.1]}


@cache
def server() -> cs.Server:
    """Two sites, of which one does not measure C."""
    held = pl.DataFrame(columns())
    return cs.Server([cs.Client(EVIL, held), cs.Client("<i>two</i>", held.drop("C"))])


def contrast(level: str) -> cs.Contrast:
    return cs.Contrast("risk difference", 0.1, 0.02, 0.06, 0.14, level, EVIL, "<b>", 0.3, 0.2)


def graph_plan() -> GraphPower:
    names = {"x": EVIL, "y": "B"}
    edges = [names | {"edge": f"{EVIL} --> B", "unlimited": "some", "in_all": 0.85, "low": 0.64, "high": 0.95, "in_some": 0.15}]
    edges.append({"x": EVIL, "y": "C", "edge": "", "unlimited": "no", "in_all": 0.05, "low": 0.01, "high": 0.24, "in_some": 0.0})
    edges.append({"x": "B", "y": "C", "edge": "", "unlimited": "no", "in_all": 0.0, "low": 0.0, "high": 0.16, "in_some": 0.0})
    at = {"mark": "arrow", "unlimited": "right", "right": 0.9, "low": 0.7, "high": 0.97, "wrong": 0.0, "open": 0.1, "absent": 0.0}
    marks = [names | at, {"x": "B", "y": EVIL} | at | {"mark": "circle", "open": 1.0}]
    edge_frame, mark_frame = pl.DataFrame(edges, schema=EDGE_COLUMNS), pl.DataFrame(marks, schema=MARK_COLUMNS)
    return GraphPower(edge_frame, mark_frame, GRAPHS, {EVIL: (EVIL, "B"), "two": ("B", "C")}, (300, 400), 20, 17)


@cache
def objects() -> dict[str, Any]:
    """Everything public that shows itself, with a name in it that would be a script; without users' words where it has none."""
    following = pl.DataFrame([("<i>site</i>", EVIL, 1.5, 2.5, 3, 1.2)], schema=COLUMNS, orient="row")
    sure = stable(edges=frame(edge(EVIL, "B", 0.97, 1.0, arrow=0.6)), consensus=PAG.from_matrix([[0, 2], [1, 0]], [EVIL, "B"]))
    found = cs.discover(cs.Oracle(GRAPHS))
    return {
        "Client": server().clients[0],
        "Server": server(),
        "Schema": server().schema,
        "CIResult": cs.CIResult(EVIL, "B", ("C",), 0.5, directions=(cs.Direction(EVIL, "B", 0, 0, 1, 0, 0, reason=EVIL),)),
        "Estimate": cs.Estimate(EVIL, "B", (EVIL,), 500, 3, (contrast(EVIL), contrast("<i>"))),
        "no Estimate": cs.Estimate(EVIL, "B", (), 500, 3, reason=f"{EVIL} does not vary"),
        "Effects": Effects(EVIL, "B", (GraphEffect("zero"),)),
        "Knowledge": cs.Knowledge(tiers=[[EVIL], ["B"]], exogenous=[EVIL]),
        "Stability": replace(sure, **by_site(sites=(EVIL, "<i>two</i>"))),
        "PAG": GRAPHS,
        "Discovery": found,
        "Summary": found.summary,
        "Check": cs.check(server().clients, estimate=False),
        "GraphPower": graph_plan(),
        "NextMeasurement": NextMeasurement(following, 4, 3.0, 2, complete=True),
        "Simulation": from_graph(GRAPHS, n=60, sites=2, seed=1, kinds=dict.fromkeys([EVIL, "B", "C"], "continuous")),
    }


NAMES = (
    *("Client", "Server", "Schema", "CIResult", "Estimate", "no Estimate", "Effects", "Knowledge", "Stability", "PAG"),
    *("Discovery", "Summary", "Check", "GraphPower", "NextMeasurement", "Simulation"),
)


def shown(thing: Any) -> str:
    """The HTML or the drawing that a notebook shows."""
    found, _ = DisplayFormatter().format(thing)
    return str(found.get("text/html") or found["image/svg+xml"])


def rows_of(root: Node) -> list[list[str]]:
    """The cells of all tables, heads included."""
    return [[cell.text for cell in row.children if isinstance(cell, Node)] for row in root.all("tr")]


def test_all_of_them_are_looked_at() -> None:
    assert tuple(objects()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_words_of_others_stay_words(name: str) -> None:
    text = shown(objects()[name])
    root = read(text)
    assert not root.tags() & (FORBIDDEN - ({"style"} if "<svg" in text else set()))  # a drawing brings its own style
    assert not any(key.startswith("on") or key in ("href", "src") for node in root.nodes() for key in node.attributes)
    assert EVIL in root.text or any(EVIL in value for node in root.nodes() for value in node.attributes.values())


@pytest.mark.parametrize("name", NAMES)
def test_the_plain_text_stays(name: str) -> None:
    """What is shown where there is no HTML is the object's own repr, without a tag of ours."""
    found, _ = DisplayFormatter().format(objects()[name])
    assert found["text/plain"] == pretty(objects()[name])
    assert not any(tag in found["text/plain"] for tag in ("<table", "<div", "<svg", "<ul"))


@pytest.mark.parametrize("name", NAMES)
def test_it_is_small(name: str) -> None:
    assert len(shown(objects()[name])) < 30_000


def test_a_site_shows_how_its_columns_were_read() -> None:
    client = cs.Client("mainz", pl.DataFrame({"age": [61.5, None, 55.2], "stage": [1, 3, 1]}), levels={"stage": [1, 2, 3]}, min_cell=2)
    root = read(client._repr_html_())
    assert root.one("caption").text == "mainz: 3 rows, 2 columns"
    head, *rows = rows_of(root)
    told = [dict(zip(head, row, strict=True)) for row in rows]
    assert [(row["column"], row["kind"], row["verdict"], row["missing"]) for row in told] == [
        ("age", "continuous", "sure", "1"),
        ("stage", "ordinal", "sure", "0"),
    ]
    assert (told[1]["levels"], told[1]["rare"]) == ("1 < 2 < 3", "3")
    assert [row["because"] for row in told] == client.variables["because"].to_list()


def test_a_server_shows_who_measures_what() -> None:
    root = read(server()._repr_html_())
    _, *rows = rows_of(root)
    assert {row[0]: row[-1] for row in rows} == {EVIL: "all", "B": "all", "C": EVIL}
    assert root.one("caption").text.startswith("fedci: 2 clients (")


def test_long_tables_are_cut_and_say_so() -> None:
    wide = cs.Schema({f"v{k:03d}": "continuous" for k in range(MOST_ROWS + 5)})
    _, *rows = rows_of(read(wide._repr_html_()))
    assert len(rows) == MOST_ROWS + 1
    assert rows[-1] == ["and 5 more"]


def test_an_estimate_shows_its_contrasts() -> None:
    told = cs.Estimate("dose", "cure", (), 500, 3, (cs.Contrast("rate ratio", 1.5, 0.1, 1.2, 1.8, "", "", "", 3.0, 2.0),), step=2.0)
    root = read(told._repr_html_())
    assert root.one("caption").text == "dose → cure, adjusted for nothing: 500 rows of 3 sites"
    assert rows_of(root)[1] == ["2 more of dose", "cure", "× 1.50", "1.20 to 1.80", "3.00", "2.00"]


def test_nothing_known_is_said() -> None:
    assert read(cs.Knowledge()._repr_html_()).text == "Nothing is known beforehand."
    known = cs.Knowledge(tiers=[["age"], ["pulse"]], forbidden=["age *-* pulse"])
    assert [item.text for item in read(known._repr_html_()).all("li")] == known.lines()


def test_stability_shows_sentences_the_graph_and_the_shares() -> None:
    told = replace(stable(), **by_site())
    root = read(told._repr_html_())
    assert root.one("p").text == " ".join(told.in_words())
    assert len(root.all("svg", role="img")) == 1
    pairs, sites = root.all("table")
    assert [row[:2] for row in rows_of(pairs)[1:]] == [["age – pressure", "97% "], ["age – smoker", "60%  hangs on marburg"]]
    assert [row[0] for row in rows_of(sites)[1:]] == ["mainz", "marburgstands out"]
    assert not any("id" in node.attributes for node in root.all("table"))  # two of them may stand in one notebook


def test_stability_without_copies_shows_what_it_has() -> None:
    none = stable(done=0, edges=stable().edges.clear(), tests=stable().tests.clear())
    root = read(none._repr_html_())
    assert root.one("p").text == " ".join(none.in_words())
    assert not root.all("table")
    assert not root.all("svg")


def test_power_shows_what_was_tried_and_what_is_enough() -> None:
    found = power(0.8, sites=(2, 3), rows=(10, 60), replications=6, methods=["fedci"])
    root = read(found._repr_html_())
    head, *rows = rows_of(root)
    assert head == ["method", "sites", "10 rows each", "60 rows each", "enough"]
    for row, (sites, part) in zip(rows, found.table.group_by("sites", maintain_order=True), strict=True):
        assert row[1] == str(sites[0])
        assert [cell.split()[0] for cell in row[2:4]] == [f"{share:.0%}" for share in part["power"].to_list()]
    assert [row[4] for row in rows] == ["more than were tried" if r is None else str(r) for r in found.needed()["rows"].to_list()]
    bold = sum(share >= 0.8 for share in found.table["power"].to_list())
    assert len(root.all("strong")) == bold


def test_graph_power_shows_every_edge_of_the_truth() -> None:
    found = graph_plan()
    root = read(found._repr_html_())
    assert root.one("p").text == str(found).splitlines()[0]
    _, first, other = rows_of(root)  # the pair that no study joins is not there
    assert first[0] == f"{EVIL} --> B"
    assert first[1].startswith("85% (64% to 95%)")
    assert first[3] == f"{'; '.join(found.mark_lines(EVIL, 'B'))}; in some with unlimited rows, too"
    assert other[0] == f"none between {EVIL} and C"
    assert all(line.strip() in str(found) for line in found.mark_lines("B", EVIL))


def test_graph_power_of_a_simulation_can_be_shown() -> None:
    found = graph_power("A o-> C, B o-> C", sites=2, rows=200, kinds=dict.fromkeys("ABC", "continuous"), replications=3)
    assert [row[0] for row in rows_of(read(found._repr_html_()))[1:3]] == ["A o-> C", "B o-> C"]


def test_next_measurement_shows_what_would_settle() -> None:
    found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    told = next_measurement(found, {"north": "ABC", "south": "BCD"})
    root = read(told._repr_html_())
    assert root.one("p").text == str(told).splitlines()[0]
    assert [row[:2] for row in rows_of(root)[1:]] == [["A", "south"], ["D", "north"]]
    settled = next_measurement(small().pags[:1], {"all": "ABCD"})
    assert read(settled._repr_html_()).text == "0 marks are open in 1 graph"


def test_a_simulation_shows_its_graph_and_its_sites() -> None:
    made = from_graph("A o-> C, B o-> C, C --> D", n=60, sites=2, seed=1, exclusive="AD")
    root = read(made._repr_html_())
    assert rows_of(root)[1:] == [["site1", "30", "A, B, C"], ["site2", "30", "B, C, D"]]
    assert {node.attributes["data-label"] for node in root.all("g", class_="node")} == set("ABCD")
