"""Why each pair of variables is joined or not, to be unfolded one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.iod.report.html import Html, el, join, label
from consilience.iod.report.pairs import Pairs, Story

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["why_each_pair"]

MOST = 300
"""Pairs that are told, those with an edge first; 25 variables have as many."""


def why_each_pair(found: Discovery, told: Pairs | None = None) -> Html:
    """What is said of every pair, with the tests that decided it.

    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
    >>> why_each_pair(found).count("<details>")
    4
    """
    told = Pairs(found) if told is None else told
    stories = sorted((told.story(x, y) for x, y in told.pairs()), key=lambda story: story.status == "none")
    if not stories:
        return Html("")
    cut = el("p", f"These are the first {MOST} of {len(stories):,} pairs.", class_="cut") if len(stories) > MOST else None
    return el("details", el("summary", "Why: each pair, with the tests that decided it"), cut, *map(_story, stories[:MOST]))


def _story(story: Story) -> Html:
    facts = (el("div", el("dt", fact.term), el("dd", fact.words, fact.plot)) for fact in story.facts)
    head = join([label(story.x), " – ", label(story.y), el("span", f" {story.facts[0].words}", class_="score")])
    return el("details", el("summary", head), el("dl", *facts, class_="facts"))
