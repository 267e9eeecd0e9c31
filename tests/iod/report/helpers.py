"""Discoveries to write pages of, and pages read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from html.parser import HTMLParser

import numpy as np
import polars as pl

from consilience.citest.result import CIResult, to_frame
from consilience.graph import PAG
from consilience.iod import Decision, Discovery, Knowledge, Summary
from consilience.iod.evidence import Source

SECTIONS = ["result", "data", "summary", "graphs", "local", "conflicts", "tests", "linear", "disclosed", "settings", "reading"]
KNOWN = Knowledge(tiers=[["<A>"], ["B"]])
SETTINGS: dict[str, object] = {
    "alpha": 0.05,
    "engine": "exact",
    "variant": "triples",
    "resolve": "strict",
    "max_given": None,
    "selection_bias": False,
}


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


def found_of(pags: Sequence[PAG], datasets: Sequence[Sequence[str]], results: Sequence[CIResult] = RESULTS) -> Discovery:
    labels = sorted({name for held in datasets for name in held})
    local = tuple(PAG.parse("").reordered(sorted(held)) for held in datasets)
    held = tuple(tuple(sorted(one)) for one in datasets)
    return Discovery(
        pags=tuple(pags),
        scores=tuple(0.5 * k for k in range(len(pags))),
        complete=True,
        summary=Summary.of(pags, labels),
        conflicts=(),
        overruled=(),
        local_pags=local,
        datasets=held,
        tests=to_frame(results),
        candidates=7,
        timings={"tests": 1.234},
        settings=SETTINGS | {"limit": 10_000, "masking": True, "time_limit": None},
        versions={"consilience": "0.1.0"},
    )


def with_settings(found: Discovery, **changes: object) -> Discovery:
    """The same discovery, done otherwise."""
    return replace(found, settings=found.settings | changes)


def said(text: str, p_value: float, weight: float) -> Decision:
    return Decision(Source.SEPARATION, text, p_value=p_value, weight=weight)


@cache
def small() -> Discovery:
    pags = [PAG.parse("A o-> C, B o-> C, C --> D"), PAG.parse("A o-> C, B <-> C, C --> D, A <-> D")]
    return found_of(pags, ["ABC", "BCD"])


def many(count: int) -> Discovery:
    """A long list: five variables, any marks."""
    random = np.random.default_rng(0)
    pags = []
    for _ in range(count):
        marks = np.triu(random.integers(0, 4, size=(5, 5)), 1)
        pags.append(PAG.from_matrix(marks + marks.T, "ABCDE"))
    return found_of(pags, ["ABCD", "BCDE"])


HOSTILE = [
    "<script>alert(1)</script>",
    "\"&'",
    "</svg></td></section>",
    "' onload=alert(1) x='",
    "\x00\x07",
    "<!--",
    "x" * 400,
    "</script><!--",
    "{{ 7*7 }}{% x %}",
    "גיל",
    "🧪👩‍⚕️",
    "a, b; c",
]


@cache
def hostile() -> Discovery:
    marks = np.zeros((len(HOSTILE), len(HOSTILE)), dtype=int)
    for k in range(len(HOSTILE) - 1):
        marks[k, k + 1], marks[k + 1, k] = 2, 1 + k % 3
    pags = [PAG.from_matrix(marks, HOSTILE), PAG.from_matrix(np.zeros_like(marks), HOSTILE)]
    results = [replace(result(x, y, HOSTILE[:1], 0.5), reason="<img src=x onerror=alert(1)>") for x in HOSTILE[1:3] for y in HOSTILE[3:]]
    wrong = (said("<img src=x> and \"&'", 0.1, 0.2),)
    sites = pl.DataFrame({"site": HOSTILE[:2], "study": HOSTILE[2:4], "numbers": [1, 2]})
    return replace(
        found_of(pags, [HOSTILE, HOSTILE[:4]], results),
        conflicts=wrong,
        overruled=wrong,
        knowledge=KNOWN,
        disclosed=sites,
        settings=SETTINGS | {"<b>": "</script><script>", "list": HOSTILE[:2], "engine": "<exact>"},
        versions={"</style>": "<style>"},
        timings={"<i>": 1.0},
    )


# Reading a page back

VOID = {"input", "meta", "path", "rect", "circle"}


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
