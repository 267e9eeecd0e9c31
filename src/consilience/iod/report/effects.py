"""Effects: what the listed graphs say of them, as sentences and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from consilience.citest.effect import Change, Contrast, Estimate
from consilience.citest.effect_words import change_in_words, interval_in_words
from consilience.graph.identification import Identification
from consilience.iod.effects import Effects, Say
from consilience.iod.effects_words import effects_in_words
from consilience.iod.report.html import Html, el, join, label, labels
from consilience.iod.report.tables import Column, table

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["effects_section", "effects_table"]

COLUMNS = (
    Column("share of graphs", number=True),
    Column("adjusted for"),
    Column("set"),
    Column("outcome"),
    Column("if set", number=True),
    Column("else", number=True),
    Column("change (95 % interval)"),
    Column("rows", number=True),
    Column("sites", number=True),
)
HOW = (
    "An effect is what would become of the outcome if the other variable were set, and not only seen. Each graph is asked for itself: it "
    "may name variables that, held fixed, leave nothing but the effect; it may rule an effect out; or it may leave open whether an "
    "association is one. Numbers over several graphs are not averaged. They hold if the graph does, and if the models they come from do."
)


def effects_table(effects: Effects) -> Html:
    """The sentences and the table of one pair, as a piece of a page.

    >>> from consilience.iod.effects import GraphEffect
    >>> effects_table(Effects("X", "<y>", (GraphEffect("zero"),)))[:65]
    '<div class="consilience-effects"><p>The effect of X on &lt;y&gt;:'
    """
    rows = [row for say in effects.says for row in _rows(say)]
    shown = table(COLUMNS, rows, caption=f"{effects.x} → {effects.y}") if rows else None
    return el("div", el("p", effects_in_words(effects)), shown, class_="consilience-effects")


def effects_section(found: Discovery) -> Html:
    """All effects that were asked for beforehand."""
    parts = (join([el("h3", label(one.x), " → ", label(one.y)), effects_table(one)]) for one in found.effects)
    return join([el("p", HOW), *parts])


def _rows(say: Say) -> list[Html]:
    share = el("td", f"{say.share:.0%}", class_="number", data_value=repr(say.share))
    if say.estimate is None or not say.estimate.known:
        word = "zero" if say.identification == Identification.ZERO else "not identifiable" if say.estimate is None else "not estimated"
        given = None if say.estimate is None else labels(say.estimate.given)
        return [el("tr", share, el("td", given or "–"), *(el("td", "–") for _ in range(4)), el("td", word), el("td", "–"), el("td", "–"))]
    return [_row(share, say.estimate, contrast) for contrast in say.estimate.contrasts]


def _row(share: Html, estimate: Estimate, contrast: Contrast) -> Html:
    told = interval_in_words(contrast)
    change = change_in_words(contrast, estimate.unit_y) + (f" ({told})" if told else "")
    step = "" if estimate.step is None else f"+{estimate.step:.3g} {estimate.unit_x}".rstrip()
    moved = f"{contrast.level} rather than {contrast.reference}" if contrast.level else step
    return el(
        "tr",
        share,
        el("td", labels(estimate.given) or "–"),
        el("td", moved),
        el("td", contrast.outcome or "–"),
        _value(contrast, contrast.value),
        _value(contrast, contrast.value_reference),
        el("td", change, data_value=repr(contrast.estimate)),
        el("td", f"{estimate.n:,}", class_="number", data_value=estimate.n),
        el("td", f"{estimate.contributors:,}", class_="number"),
    )


def _value(contrast: Contrast, value: float | None) -> Html:
    shown = "–" if value is None else f"{value:.1%}" if contrast.measure == Change.RISK else f"{value:.3g}"
    return el("td", shown, class_="number", data_value="" if value is None else repr(value))
