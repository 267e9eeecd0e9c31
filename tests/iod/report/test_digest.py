"""What a notebook shows: a headline and the summary, well formed and escaped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from consilience.graph import PAG
from consilience.iod import Discovery, Summary
from consilience.iod.report import render
from tests.iod.report.helpers import HOSTILE, found_of, hostile, read, small


def test_a_discovery_shows_a_headline_and_its_summary() -> None:
    shown = small()._repr_html_()
    root = read(shown)
    (block,) = root.children
    assert block.attributes == {"class": "consilience-discovery"}
    words = root.one("p").text
    assert words.startswith("All decisions agree: 2 graphs. 3 edges hold in every one of the 2 graphs,")
    assert words.endswith("From 2 data sets, 7 tests at α = 0.05.")
    assert len(root.all("svg")) == 1
    assert {node.attributes["data-label"] for node in root.all("g", class_="node")} == set("ABCD")
    assert len(shown) < len(render(small())) / 2


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (found_of([], ["ABC", "BCD"]), "The decisions contradict each other: no graph agrees with all of them. So nothing can be said"),
        (found_of([PAG.parse("A <-> B, C")], ["ABC"]), "All decisions agree: exactly one graph. It has 1 edge;"),
        (
            replace(small(), complete=False, summary=Summary.of(small().pags, "ABCD", complete=False)),
            "All decisions agree. When time ran out, 2 graphs had been found; there may be more. 1 edge is in some graphs",
        ),
    ],
    ids=["none", "one", "stopped"],
)
def test_whatever_was_found_can_be_shown(found: Discovery, words: str) -> None:
    assert read(found._repr_html_()).one("p").text.startswith(words)


@pytest.mark.parametrize("shown", [hostile()._repr_html_(), hostile().summary._repr_html_()], ids=["discovery", "summary"])
def test_hostile_text_stays_text(shown: str) -> None:
    root = read(shown)
    assert not root.tags() & {"script", "img", "iframe", "link", "a", "section", "td"}
    for node in root.nodes():
        assert not any(name.startswith("on") for name in node.attributes)
        assert not {"href", "src", "id", "style"} & set(node.attributes)
    assert set(HOSTILE[:4]) <= {node.attributes["data-label"] for node in root.all("g", class_="node")}


def test_a_summary_shows_its_drawing() -> None:
    summary = small().summary
    root = read(summary._repr_html_())
    (block,) = root.children
    assert block.attributes == {"class": "consilience-summary"}
    assert summary._repr_html_() == f'<div class="consilience-summary">{summary.to_svg()}</div>'
    assert len(root.all("g", class_="edge")) > len(root.one("svg").all("g", class_="legend")[0].all("g", class_="edge"))
