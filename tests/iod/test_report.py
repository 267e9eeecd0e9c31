"""The page: complete, self-contained, escaped, and alive in a real browser."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.result import CIResult, to_frame
from consilience.graph import PAG
from consilience.iod.report import render, write_report
from consilience.iod.report.found import Known
from consilience.iod.report.graphs import DRAWN, LISTED
from consilience.iod.report.tables import MOST_ROWS
from consilience.iod.summary import Summary

SECTIONS = ["result", "data", "summary", "graphs", "local", "conflicts", "tests", "disclosed", "settings", "reading"]


@dataclass(frozen=True)
class Said:
    """A decision."""

    text: str
    p_value: float | None = None
    weight: float | None = None


class KnownBefore:
    def lines(self) -> list[str]:
        return ["In time order: <A>, then B."]


@dataclass(frozen=True)
class Found:
    """What a report needs of a discovery."""

    pags: tuple[PAG, ...]
    local_pags: tuple[PAG, ...]
    datasets: tuple[tuple[str, ...], ...]
    tests: pl.DataFrame
    summary: Summary
    scores: tuple[float, ...] = ()
    complete: bool = True
    alpha: float = 0.05
    engine: str = "exact"
    variant: str = "triples"
    resolve: str = "strict"
    max_given: int | None = None
    selection_bias: bool = False
    conflicts: tuple[Said, ...] = ()
    overruled: tuple[Said, ...] = ()
    knowledge: Known | None = None
    settings: dict[str, object] = field(default_factory=lambda: {"limit": 10_000, "masking": True, "time_limit": None})
    versions: dict[str, str] = field(default_factory=lambda: {"consilience": "0.1.0"})
    disclosed: pl.DataFrame | None = None
    candidates: int = 7
    given_up: tuple[tuple[Said, ...], ...] = ()
    timings: dict[str, float] = field(default_factory=lambda: {"tests": 1.234})

    def contradicted(self, number: int) -> tuple[Said, ...]:
        return self.given_up[number] if self.given_up else ()


def result(x: str, y: str, given: Sequence[str], p: float, n: int = 100, *, informative: bool = True) -> CIResult:
    reason = "" if informative else "too few rows"
    return CIResult(x, y, tuple(given), p, n, 2, 3, informative, reason, converged=True, directions=())


RESULTS = [
    result("A", "B", "", 0.3, 900),
    result("A", "C", "", 1e-7, 1000),
    result("B", "C", "", 0.049, 80),
    result("B", "D", "C", 1.0, 200, informative=False),
    result("C", "D", "", 1e-20, 70),
    result("A", "B", "C", 0.0002, 700),
    result("B", "D", "", 0.7, 3000),
]


def found_of(pags: Sequence[PAG], datasets: Sequence[Sequence[str]], results: Sequence[CIResult] = RESULTS) -> Found:
    labels = sorted({name for held in datasets for name in held})
    local = tuple(PAG.parse("").reordered(sorted(held)) for held in datasets)
    held = tuple(tuple(sorted(one)) for one in datasets)
    summary = Summary.of(pags, labels)
    return Found(tuple(pags), local, held, to_frame(results), summary, scores=tuple(0.5 * k for k in range(len(pags))))


def small() -> Found:
    pags = [PAG.parse("A o-> C, B o-> C, C --> D"), PAG.parse("A o-> C, B <-> C, C --> D, A <-> D")]
    return found_of(pags, ["ABC", "BCD"])


def many(count: int) -> Found:
    """A long list: five variables, any marks."""
    random = np.random.default_rng(0)
    pags = []
    for _ in range(count):
        marks = np.triu(random.integers(0, 4, size=(5, 5)), 1)
        pags.append(PAG.from_matrix(marks + marks.T, "ABCDE"))
    return found_of(pags, ["ABCD", "BCDE"])


# Reading a page back

VOID = {"meta", "path", "rect", "circle"}


@dataclass
class Node:
    tag: str
    attributes: dict[str, str]
    children: list[Node | str] = field(default_factory=list)

    def all(self, tag: str, **attributes: str) -> list[Node]:
        found = []
        for child in self.children:
            if isinstance(child, Node):
                if child.tag == tag and all(child.attributes.get(k.rstrip("_").replace("_", "-")) == v for k, v in attributes.items()):
                    found.append(child)
                found += child.all(tag, **attributes)
        return found

    def one(self, tag: str, **attributes: str) -> Node:
        (node,) = self.all(tag, **attributes)
        return node

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def tags(self) -> set[str]:
        return {self.tag}.union(*(child.tags() for child in self.children if isinstance(child, Node)))

    def nodes(self) -> list[Node]:
        return [self, *(node for child in self.children if isinstance(child, Node) for node in child.nodes())]


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({key for key, _ in attrs}) == len(attrs), f"an attribute stands twice in <{tag}>"
        node = Node(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open[-1].children.append(Node(tag, {key: value or "" for key, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(page: str) -> Node:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


# Structure


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
    assert "2 graphs agree with every data set." in result
    assert "3 edges hold in every one of the 2 graphs, 1 is in some of them and not in others;" in result
    assert "; 2 pairs of variables are joined in none." in result
    assert "C is a cause of D, directly or through others." in result
    assert "C is not a cause of A." in result
    assert "C is not a cause of B." in result


def test_a_common_cause_in_all_graphs() -> None:
    words = read(render(found_of([PAG.parse("A <-> B, C")], ["ABC"]))).one("section", id="result").text
    assert "Exactly one graph agrees with every data set. It has 1 edge; the other 2 pairs of variables are not joined." in words
    assert "A and B do not cause each other: something that nobody measured causes both." in words


def test_selection_bias_weakens_what_a_tail_says() -> None:
    pags = [PAG.parse("A --> B, B --> C, C --- D")]
    found = found_of(pags, ["ABCD"])
    assert "(or of who is in the data)" not in render(found)
    words = read(render(replace(found, selection_bias=True))).one("section", id="result").text
    assert "A is a cause of B, directly or through others (or of who is in the data)." in words
    assert "C and D both influence who is in the data." in words


def test_no_graph() -> None:
    conflicts = (Said("A and B are independent (p = 0.3)", 0.3, 1.2), Said("A and C are dependent (p = 10⁻⁷)", 1e-7, 3.0))
    root = read(render(replace(found_of([], ["ABC", "BCD"]), conflicts=conflicts)))
    words = root.one("section", id="result").text
    assert "No graph agrees with all decisions" in words
    assert "hold in every" not in words
    assert "certain" not in words
    section = root.one("section", id="conflicts")
    assert [item.text for item in section.all("li")] == [
        "A and B are independent (p = 0.3) weight 1.2",
        "A and C are dependent (p = 10⁻⁷) weight 3",
    ]
    assert 'resolve="optimal"' in section.text
    assert "There is no graph to show." in root.one("section", id="graphs").text
    assert "No graph agrees with all decisions." in root.one("section", id="summary").text


def test_overruled_decisions() -> None:
    first, second = Said("A and B are independent (p = 0.06)", 0.06, 0.18), Said("B and C are dependent (p = 0.04)", 0.04, 0.18)
    found = replace(small(), overruled=(first, second), given_up=((first,), (second,)), resolve="optimal")
    root = read(render(found))
    words = "No graph agrees with all that was weighed. 2 contradict the least evidence: each overrules 1 decision."
    assert words in root.one("section", id="result").text
    folded = [figure.one("details").text for figure in root.one("section", id="graphs").all("figure")]
    assert folded == [f"overrules 1 decision{one.text}" for one in (first, second)]
    words = "2 contradict the least evidence: each overrules 1 to 2 decisions."
    assert words in render(replace(found, given_up=((first,), (first, second))))
    assert "A and B are independent (p = 0.06) weight 0.18" in [item.text for item in root.one("section", id="conflicts").all("li")]


def test_a_search_that_was_stopped() -> None:
    found = replace(small(), complete=False, summary=Summary.of(small().pags, "ABCD", complete=False))
    words = read(render(found)).one("section", id="result").text
    assert "The search was stopped after 2 graphs; there may be more." in words
    assert "No edge holds in every graph that agrees with the data, 1 is in some of them" in words
    assert read(render(found)).one("h1").text == "Causal discovery: 2 or more graphs from 2 data sets"
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


def test_the_table_of_tests() -> None:
    root = read(render(small()))
    rows = root.one("table", id="ci").one("tbody").all("tr")
    cells = [[cell.text for cell in row.all("td")] for row in rows]
    assert [row[:5] for row in cells] == [
        ["A", "B", "–", "0.300", "independent"],
        ["A", "C", "–", "1.0 × 10⁻⁷", "dependent"],
        ["B", "C", "–", "0.049", "dependent"],
        ["C", "D", "–", "< 10⁻¹⁵", "dependent"],
        ["B", "D", "–", "0.700", "independent"],
        ["B", "D", "C", "–", "uninformative"],
        ["A", "B", "C", "2.0 × 10⁻⁴", "dependent"],
    ]
    assert cells[5][-1] == "too few rows"
    assert rows[6].attributes["data-variables"] == "0 1 2"
    assert "7 tests: 2 independent, 4 dependent, 1 uninformative." in root.one("section", id="tests").text


def test_decisions_are_those_of_the_search() -> None:
    """At p = α the test rejects, as in :class:`consilience.iod.answers.Answers`."""
    rows = read(render(found_of([PAG.parse("A, B")], ["AB"], [result("A", "B", "", 0.05)]))).one("table", id="ci").one("tbody").all("tr")
    assert [row.attributes["data-decision"] for row in rows] == ["dependent"]


@pytest.mark.slow
def test_very_many_tests_are_cut_with_a_word() -> None:
    results = [result("A", "B", "C", (k % 97) / 97) for k in range(MOST_ROWS)] + [result("A", "C", "", 0.5)]
    page = render(found_of([PAG.parse("A, B, C")], ["ABC"], results))
    section = read(page).one("section", id="tests")
    rows = section.one("table", id="ci").one("tbody").all("tr")
    assert len(rows) == MOST_ROWS
    assert rows[0].all("td")[1].text == "C"  # fewest variables given first
    assert "of 5,001; the result as JSON and the CI table as CSV have all of them" in section.text
    assert len(page) < 2_500_000


def test_what_left_each_site() -> None:
    assert "kept no ledger" in read(render(small())).one("section", id="disclosed").text
    frame = pl.DataFrame(
        {"site": ["<b>", "köln"], "study": ["s", "s"], "rounds": [14, 12], "numbers": [12034, 7], "bytes": [192544, 112], "refused": [0, 2]}
    )
    table = read(render(replace(small(), disclosed=frame))).one("table", id="ledgers")
    assert [cell.text for cell in table.one("thead").all("th")] == frame.columns
    cells = [[cell.text for cell in row.all("td")] for row in table.one("tbody").all("tr")]
    assert cells == [["<b>", "s", "14", "12,034", "192,544", "0"], ["köln", "s", "12", "7", "112", "2"]]


def test_settings_and_knowledge() -> None:
    root = read(render(replace(small(), knowledge=KnownBefore(), max_given=2)))
    assert [item.text for item in root.one("section", id="knowledge").all("li")] == ["In time order: <A>, then B."]
    rows = [row for table in root.one("section", id="settings").all("tbody") for row in table.all("tr")]
    values = {row.one("th").text: row.one("td").text for row in rows}
    assert values["engine"] == "exact"
    assert values["alpha"] == "0.05"
    assert values["max_given"] == "2"
    assert values["selection_bias"] == "no"
    assert values["limit"] == "10,000"
    assert values["time_limit"] == "–"
    assert values["consilience"] == "0.1.0"
    assert values["tests"] == "1.23"


# Safety

HOSTILE = ["<script>alert(1)</script>", "\"&'", "</svg></td></section>", "' onload=alert(1) x='", "\x00\x07", "<!--", "x" * 400]


def hostile() -> Found:
    marks = np.zeros((len(HOSTILE), len(HOSTILE)), dtype=int)
    for k in range(len(HOSTILE) - 1):
        marks[k, k + 1], marks[k + 1, k] = 2, 1 + k % 3
    pags = [PAG.from_matrix(marks, HOSTILE), PAG.from_matrix(np.zeros_like(marks), HOSTILE)]
    results = [replace(result(x, y, HOSTILE[:1], 0.5), reason="<img src=x onerror=alert(1)>") for x in HOSTILE[1:3] for y in HOSTILE[3:]]
    said = (Said("<img src=x> and \"&'", 0.1, 0.2),)
    sites = pl.DataFrame({"site": HOSTILE[:2], "study": HOSTILE[2:4], "numbers": [1, 2]})
    return replace(
        found_of(pags, [HOSTILE, HOSTILE[:4]], results),
        conflicts=said,
        overruled=said,
        knowledge=KnownBefore(),
        disclosed=sites,
        settings={"<b>": "</script><script>", "list": HOSTILE[:2]},
        versions={"</style>": "<style>"},
        timings={"<i>": 1.0},
        engine="<exact>",
    )


def test_hostile_text_stays_text() -> None:
    plain, root = read(render(replace(small(), knowledge=KnownBefore()))), read(render(hostile()))
    assert root.tags() <= plain.tags() | {"details", "summary"}
    assert [section.attributes["id"] for section in root.one("main").all("section")] == [*SECTIONS[:6], "knowledge", *SECTIONS[6:]]
    assert len(root.all("script")) == len(root.all("style")) == 1
    for node in root.nodes():
        assert not any(name.startswith("on") for name in node.attributes)
        assert "style" not in node.attributes
    shown = {cell.text for cell in root.one("table", id="matrix").all("th")}
    assert set(HOSTILE[:4]) <= shown
    assert "␀␇" in shown
    assert f"{'x' * 79}…" in shown
    labels = {node.attributes["data-label"] for node in root.all("g", class_="node")}
    assert set(HOSTILE[:4]) <= labels
    assert "<img src=x> and \"&' weight 0.2" in [item.text for item in root.one("section", id="conflicts").all("li")]


@pytest.mark.parametrize("make", [small, hostile])
def test_the_page_asks_for_nothing(make: Callable[[], Found]) -> None:
    page = render(make())
    root = read(page)
    assert not root.tags() & {"link", "img", "iframe", "object", "embed", "base", "form", "video", "audio", "source", "use", "image"}
    for node in root.nodes():
        assert not {"src", "srcset", "action", "formaction", "xlink:href", "ping", "background"} & set(node.attributes)
        assert node.attributes.get("href", "#").startswith("#")
    assert set(re.findall(r"https?://[^\s\"'<]+", page)) == {"http://www.w3.org/2000/svg"}
    style = root.one("style").text
    assert not re.search(r"url\(|@import|@font-face|expression", style)
    assert not re.search(r"fetch|XMLHttp|import\(|eval|innerHTML|document\.write|localStorage|cookie", root.one("script").text)


def test_the_policy_names_this_style_and_this_script_only() -> None:
    root = read(render(hostile()))
    (meta,) = [node for node in root.all("meta") if "http-equiv" in node.attributes]
    assert meta.attributes["http-equiv"] == "Content-Security-Policy"
    policy = dict(part.strip().split(" ", 1) for part in meta.attributes["content"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["form-action"] == "'none'"
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(root.one(tag).text.encode()).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in meta.attributes["content"]


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    return float(np.dot([0.2126, 0.7152, 0.0722], [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]))


def test_colours_can_be_read_on_light_and_dark_pages() -> None:
    """WCAG 2.1: text has a contrast of 4.5 at least."""
    style = read(render(small())).one("style").text
    schemes = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in re.findall(r":root \{(.*?)\}", style, flags=re.DOTALL)]
    assert len(schemes) == 2
    for colours in schemes:
        for ground in (colours["page"], colours["soft"]):
            for name in ("ink", "quiet", "link", "accent", "independent", "dependent", "uninformative"):
                low, high = sorted([luminance(ground), luminance(colours[name])])
                assert (high + 0.05) / (low + 0.05) >= 4.5, name


def test_the_same_page_every_time() -> None:
    assert render(small()) == render(small())


def test_writing(tmp_path: Path) -> None:
    write_report(hostile(), tmp_path / "a.html")
    write_report(small(), str(tmp_path / "b.html"))
    assert (tmp_path / "a.html").read_bytes().decode("utf-8").startswith("<!doctype html>\n<html")
    assert (tmp_path / "b.html").exists()


# Of real discoveries


def test_a_discovery_writes_its_page(tmp_path: Path) -> None:
    found = cs.discover(cs.Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    found.to_html(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == render(found)
    root = read(page)
    assert root.one("h1").text == "Causal discovery: 2 graphs from 2 data sets"
    assert len(root.one("section", id="graphs").all("figure")) == len(found.pags) == 2
    assert len(root.one("table", id="ci").one("tbody").all("tr")) == found.tests.height


@pytest.mark.slow
def test_a_federated_discovery_says_what_left_each_site() -> None:
    sites = cs.simulate.mixed_sites(n=300, sites=3, seed=1)
    found = cs.discover(cs.Server([cs.Client(name, frame) for name, frame in sites.items()]), max_given=1, limit=50)
    root = read(render(found))
    assert found.disclosed is not None
    rows = root.one("table", id="ledgers").one("tbody").all("tr")
    assert [row.all("td")[0].text for row in rows] == list(sites)
    numbers = found.disclosed.columns.index("numbers")
    assert [row.all("td")[numbers].text for row in rows] == [f"{count:,}" for count in found.disclosed["numbers"]]


# In a browser


def browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path:
            return path
    reason = "the page's script is tried in chromium, chromium-browser or google-chrome, and none is installed"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


STEPS = """<!doctype html><meta charset="utf-8"><iframe src="page.html" width="{width}" height="900"></iframe><pre id="said"></pre>
<script>
window.addEventListener("load", () => {{
  const page = document.querySelector("iframe").contentDocument, said = {{}};
  const $ = (query) => page.querySelector(query);
  const column = (table, k) => [...$(table).tBodies[0].rows].filter((row) => !row.hidden).map((row) => row.cells[k].textContent);
  const click = (table, k) => $(table).tHead.rows[0].cells[k].querySelector("button").click();
  const choose = (id, value) => {{ const one = $(id); one.value = value; one.dispatchEvent(new Event("change")); }};
  try {{ {steps} }} catch (error) {{ said.error = String(error); }}
  document.getElementById("said").textContent = JSON.stringify(said);
}});
</script>"""


def tried(found: Found, steps: str, folder: Path, width: int = 1200) -> dict[str, object]:
    """What a page that holds the report, unchanged, sees when it clicks in it."""
    write_report(found, folder / "page.html")
    (folder / "steps.html").write_text(STEPS.format(steps=steps, width=width), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-extensions"]
    options += ["--disable-dev-shm-usage", "--allow-file-access-from-files", f"--user-data-dir={folder / 'profile'}", "--dump-dom"]
    done = subprocess.run(
        [browser(), *options, "--virtual-time-budget=5000", (folder / "steps.html").as_uri()],
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=120,
    )
    reader = Reader()
    reader.feed(done.stdout[done.stdout.index('<pre id="said">') :].split("</pre>")[0] + "</pre>")
    said: dict[str, object] = json.loads(reader.root.one("pre").text)
    assert "error" not in said, said
    return said


@pytest.mark.slow
def test_columns_sort_and_rows_are_chosen_by_clicks(tmp_path: Path) -> None:
    steps = """
      said.before = column("#ci", 3);
      click("#ci", 3); said.up = column("#ci", 3); said.sort = $("#ci").tHead.rows[0].cells[3].getAttribute("aria-sort");
      click("#ci", 3); said.down = column("#ci", 3);
      click("#ci", 5); said.rows = column("#ci", 5);
      click("#ci", 2); said.given = column("#ci", 2);
      said.sorted = [...$("#ci").tHead.rows[0].cells].map((head) => head.getAttribute("aria-sort"));
      choose("#ci-variable", "3"); said.with_d = column("#ci", 1); said.shown = $("#ci-shown").textContent;
      choose("#ci-decision", "independent"); said.both = column("#ci", 3);
      choose("#ci-variable", ""); choose("#ci-decision", ""); said.again = column("#ci", 3).length;
      said.choices = $("#ci-choices").hidden;
      click("#summary table", 5); said.shares = column("#summary table", 5);
    """
    said = tried(small(), steps, tmp_path)
    up = ["< 10⁻¹⁵", "1.0 × 10⁻⁷", "2.0 × 10⁻⁴", "0.049", "0.300", "0.700", "–"]
    assert said["before"] != up
    assert said["up"] == up
    assert said["sort"] == "ascending"
    assert said["down"] == [*up[-2::-1], "–"]
    assert said["rows"] == ["70", "80", "200", "700", "900", "1,000", "3,000"]
    assert said["given"] == ["–"] * 5 + ["C"] * 2
    assert said["sorted"] == [None, None, "ascending", None, None, None, None, None]
    assert said["with_d"] == ["D", "D", "D"]
    assert said["shown"] == "3 of 7 shown"
    assert said["both"] == ["0.700"]
    assert said["again"] == 7
    assert said["choices"] is False
    assert said["shares"] == ["50%", "100%", "100%", "100%"]


@pytest.mark.slow
def test_the_policy_lets_the_style_work_and_nothing_of_the_users_run(tmp_path: Path) -> None:
    steps = """
      said.sticky = page.defaultView.getComputedStyle($("thead th")).position;
      said.open = page.defaultView.getComputedStyle($("svg.consilience-graph")).maxWidth;
      said.scripts = page.scripts.length;
      said.strange = page.querySelectorAll("img, iframe, [onload], [onerror]").length;
    """
    said = tried(hostile(), steps, tmp_path)
    assert said == {"sticky": "sticky", "open": "100%", "scripts": 1, "strange": 0}


@pytest.mark.slow
@pytest.mark.parametrize("width", [400, 1400])
def test_nothing_is_wider_than_the_window(width: int, tmp_path: Path) -> None:
    steps = """
      const root = page.documentElement;
      said.inside = root.clientWidth; said.needed = root.scrollWidth;
      said.out = [...page.querySelectorAll("p, li, figure, .scroll, h1, h2, h3, nav")].filter(
        (node) => node.getBoundingClientRect().right > root.clientWidth + 1).map((node) => node.outerHTML.slice(0, 80));
    """
    for number, found in enumerate((small(), hostile())):
        (tmp_path / str(number)).mkdir()
        said = tried(found, steps, tmp_path / str(number), width)
        assert said["needed"] == said["inside"]
        assert said["out"] == []
