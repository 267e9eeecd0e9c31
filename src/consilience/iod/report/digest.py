"""The little of a discovery that a notebook shows: a headline and the drawing of its summary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.iod.report.effects import FEW, effect_in_short
from consilience.iod.report.how_sure import HowSure, sure_in_short
from consilience.iod.report.html import Html, el, listed
from consilience.iod.report.sentences import edges_in_words
from consilience.iod.summary_drawing import draw_summary
from consilience.iod.wording import counted

if TYPE_CHECKING:  # a Discovery shows itself with this module
    from consilience.iod.discovery import Discovery

__all__ = ["render_digest"]


def render_digest(found: Discovery) -> str:
    """A headline, what the result rests on, how sure it is, and what the graphs have in common, as a piece of a page.

    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
    >>> render_digest(found)[:96]
    '<div class="consilience-discovery"><p><strong>All 3 decisions agree: exactly one graph.</strong>'
    """
    rests_on = f"{counted(len(found.datasets), 'data set')}, {counted(found.tests.height, 'test')} at α = {found.alpha:g}."
    return el(
        "div",
        el("p", el("strong", found.headline), " ", edges_in_words(found), " From ", rests_on),
        el("p", sure_in_short(found.stability)) if found.stability is not None else None,
        listed(f"Effect of {one.x} on {one.y}: {effect_in_short(one)}." for one in found.effects[:FEW]) if found.effects else None,
        el("figure", Html(draw_summary(found.summary, shares=HowSure(found.stability).shares))) if found.pags else None,
        class_="consilience-discovery",
    )
