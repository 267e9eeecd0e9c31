"""What would change: what the listed graphs say of effects, as sentences and as forest plots, each a table whose rows share a scale."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from consilience.citest.effect import Change, Contrast, Estimate
from consilience.citest.effect_words import change_in_words, interval_in_words, set_to_in_words
from consilience.frames import pl
from consilience.graph.identification import Identification
from consilience.iod.effects import Effects, Range, Say
from consilience.iod.effects_words import effects_in_words
from consilience.iod.report.html import Html, el, join, label, labels
from consilience.iod.report.intervals import Scale, axis_plot, interval_plot, symmetric
from consilience.iod.report.sentences import isolated
from consilience.iod.report.tables import Column, table
from consilience.iod.summary import percent
from consilience.iod.wording import counted

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["effect_in_short", "effects_frame", "effects_section", "effects_table"]

CHANGE = "change"
HEADS = ("if", "of", CHANGE, "share of graphs", "adjusted for", "if set", "else", "rows", "sites")
NUMBERS = ("share of graphs", "if set", "else", "rows", "sites")
HOW = (
    "An effect is what would become of the outcome if the other variable were set, and not only seen. Each graph is asked for itself: it "
    "may name variables that, held fixed, leave nothing but the effect; it may rule an effect out; or it may leave open whether an "
    "association is one. Numbers over several graphs are not averaged. They hold if the graph does, and if the models they come from do."
)
FEW = 3
"""More effects than this have a table of all of them first, and are folded away themselves."""


def effects_table(effects: Effects) -> Html:
    """The sentences and the table of one pair, as a piece of a page.

    >>> from consilience.iod.effects import GraphEffect
    >>> effects_table(Effects("X", "<y>", (GraphEffect("zero"),)))[:65]
    '<div class="consilience-effects"><p>The effect of X on &lt;y&gt;:'
    """
    caption = f"{effects.x} → {effects.y}"
    shown: Html | None = None
    if any(estimate.known for estimate in effects.estimates):
        scale = _scale(effects.estimates)
        rows = [row for say in effects.says for row in _rows(say, scale)]
        rows += [_over_graphs(effects, one, scale) for one in effects.ranges if one.least < one.most]
        columns = [Column(_head(name, effects.estimates, scale), number=name in NUMBERS) for name in HEADS]
        shown = table(columns, rows, caption=caption, sortable=False)
    else:  # words alone
        rows = [el("tr", el("td", _in_words(say)), _share(say.share)) for say in effects.says]
        columns = [Column("what graphs say"), Column("share of graphs", number=True)]
        shown = table(columns, rows, caption=caption, sortable=False) if len(rows) > 1 else None
    return el("div", el("p", effects_in_words(effects)), shown, class_="consilience-effects")


def effects_section(found: Discovery) -> Html:
    """All effects that were asked for beforehand."""
    if not found.effects:
        return el("p", "No effects were asked for.")
    if len(found.effects) <= FEW:
        return join([el("p", HOW), *(join([el("h3", _arrow(one)), effects_table(one)]) for one in found.effects)])
    scales = _scales(found.effects)
    rows = [
        el("tr", el("td", _arrow(one)), el("td", effect_in_short(one), _first(one, scales)), _share(_saying(one))) for one in found.effects
    ]
    columns = [Column("effect"), Column("what the graphs say"), Column("share that says", number=True)]
    caption = f"{counted(len(rows), 'effect')} that {'was' if len(rows) == 1 else 'were'} asked for"
    each = (el("details", el("summary", _arrow(one)), effects_table(one)) for one in found.effects)
    return join([el("p", HOW), table(columns, rows, caption=caption, name="all-effects"), *each])


def effects_frame(found: Discovery) -> pl.DataFrame | None:
    """All effects as one table, for a file; None where none was asked for.

    >>> import consilience as cs
    >>> effects_frame(cs.discover(cs.Oracle(cs.PAG.parse("A o-o B")))) is None
    True
    """
    return pl.concat([one.frame() for one in found.effects]) if found.effects else None


def effect_in_short(effects: Effects) -> str:
    """What the graphs say of an effect, in few words: zero, a number, or between which numbers, and what stands in the way in others.

    >>> from consilience.iod.effects import GraphEffect
    >>> effect_in_short(Effects("X", "Y", (GraphEffect("zero"), GraphEffect("hidden cause"))))
    'zero; in 50% of the graphs it cannot be told'
    """
    if not effects.graphs:
        return "there is no graph"
    told = [_number(effects, one) for one in effects.ranges[:1]]
    more = len(effects.ranges) - 1
    if not told and any(say.identification == Identification.ZERO for say in effects.says):
        told = ["zero"]
    words = "; ".join(told) + (f"; and {more} more" if more > 0 else "")
    silent = 1.0 - _saying(effects)
    if not words:
        return "no estimate" if any(say.estimate is not None for say in effects.says) else "not identifiable"
    rest = f"; in {percent(round(silent, 9))} of the graphs it cannot be told" if silent > 1e-9 else ""
    return words + rest + ("" if effects.complete else "; the list of graphs is not complete")


def _number(effects: Effects, one: Range) -> str:
    unit = next((estimate.unit_y for estimate in effects.estimates), "")
    least, most = (Contrast(one.measure, number, None, one.low, one.high) for number in (one.least, one.most))
    low = _change(least) if one.least < one.most else ""
    between = f"{low}{' to ' if low else ''}{change_in_words(most, unit)}"
    reach = f" ({told})" if (told := interval_in_words(most)) else ""
    estimate = next(estimate for estimate in effects.estimates if estimate.known)
    of = f" for {set_to_in_words(estimate, Contrast(one.measure, 0.0, None, None, None, one.level, one.reference))}"
    outcome = f"{isolated(effects.y)} = {isolated(one.outcome)}: " if one.outcome else ""
    return f"{outcome}{between}{reach}{of}"


def _scales(effects: Sequence[Effects]) -> dict[str, Scale]:
    """One scale for all effects on the same outcome."""
    by: dict[str, list[Estimate]] = {}
    for one in effects:
        by.setdefault(one.y, []).extend(one.estimates)
    return {outcome: _scale(estimates) for outcome, estimates in by.items()}


def _first(effects: Effects, scales: Mapping[str, Scale]) -> Html:
    """The first contrast as a plot: a dot where all graphs that say agree, else a line over all that they say."""
    if not effects.ranges:
        return Html("")
    one = effects.ranges[0]
    return interval_plot(scales[effects.y], one.most if one.least == one.most else None, one.low, one.high)


def _saying(effects: Effects) -> float:
    """The share of graphs that say a number, or zero."""
    return sum(say.share for say in effects.says if say.known)


def _arrow(effects: Effects) -> Html:
    return join([label(effects.x), " → ", label(effects.y)])


def _scale(estimates: Iterable[Estimate]) -> Scale:
    contrasts = [one for estimate in estimates for one in estimate.contrasts]
    ends = [end for one in contrasts for end in (one.estimate, one.low, one.high) if end is not None]
    return symmetric(ends, ratio=any(one.measure == Change.RATE for one in contrasts), held=1.0)


def _head(name: str, estimates: Sequence[Estimate], scale: Scale) -> str:
    """The head of a column; that of the plots has their unit and their scale."""
    if name != CHANGE:
        return name
    measure, unit = next((one.measure, estimate.unit_y) for estimate in estimates for one in estimate.contrasts)  # an outcome has one kind
    ends = [Contrast(measure, number, None, None, None) for number in (scale.low, scale.none or 0.0, scale.high)]
    counts = "percentage points" if measure == Change.RISK else "rate" if measure == Change.RATE else unit
    return join(
        [f"change{f' in {counts}' if counts else ''} (95 % interval)", axis_plot(scale, [(one.estimate, _change(one)) for one in ends])]
    )


def _change(contrast: Contrast) -> str:
    """The number alone; the head of the column has its unit."""
    return change_in_words(contrast).removesuffix(" percentage points")


def _in_words(say: Say) -> Html:
    """What stands in the place of a number."""
    if say.identification == Identification.ZERO:
        return join([el("strong", "zero"), " ", el("span", say.words, class_="score")])
    if say.estimate is None:
        return join([el("strong", "not identifiable"), " ", el("span", say.words, class_="score")])
    return join(
        [
            el("strong", "not estimated"),
            " ",
            el("span", f"adjusted for {', '.join(say.estimate.given) or 'nothing'}: {say.estimate.reason}", class_="score"),
        ]
    )


def _rows(say: Say, scale: Scale) -> list[Html]:
    share = _share(say.share)
    if say.estimate is not None and say.estimate.known:
        return [_row(share, say.estimate, contrast, scale) for contrast in say.estimate.contrasts]
    if say.identification == Identification.ZERO:
        zero = join(["zero", interval_plot(scale, scale.none, None, None)])
        return [el("tr", el("td", say.words, class_="score", colspan=2), el("td", zero, class_="reach"), share, el("td", "–", colspan=5))]
    return [el("tr", el("td", _in_words(say), colspan=3), share, el("td", "–", colspan=5))]


def _row(share: Html, estimate: Estimate, contrast: Contrast, scale: Scale) -> Html:
    told = interval_in_words(contrast)
    return el(
        "tr",
        el("td", _set(estimate, contrast.level, contrast.reference)),
        el("td", _outcome(estimate.y, contrast.outcome)),
        el(
            "td",
            f"{_change(contrast)}{f' ({told})' if told else ''}",
            interval_plot(scale, contrast.estimate, contrast.low, contrast.high),
            class_="reach",
        ),
        share,
        el("td", labels(estimate.given) or "nothing"),
        _value(contrast, contrast.value),
        _value(contrast, contrast.value_reference),
        el("td", f"{estimate.n:,}", class_="number"),
        el("td", f"{estimate.contributors:,}", class_="number"),
    )


def _over_graphs(effects: Effects, one: Range, scale: Scale) -> Html:
    """Between which numbers a contrast lies over all graphs that say, as a line without a dot."""
    least, most = (_change(Contrast(one.measure, end, None, None, None)) for end in (one.least, one.most))
    estimate = next(estimate for estimate in effects.estimates if estimate.known)
    return el(
        "tr",
        el("td", _set(estimate, one.level, one.reference)),
        el("td", _outcome(effects.y, one.outcome)),
        el("td", f"{least} to {most}", interval_plot(scale, None, one.least, one.most), class_="reach"),
        _share(_saying(effects)),
        el("td", "over all graphs that say", colspan=5),
        class_="over",
    )


def _outcome(name: str, level: str) -> Html:
    return join([label(name), " = ", label(level)]) if level else label(name)


def _set(estimate: Estimate, level: str, reference: str) -> Html:
    """What x is set to."""
    if level:
        return join([label(estimate.x), " = ", label(level), " rather than ", label(reference)])
    step = "more" if estimate.step is None else f"+{estimate.step:.3g} {estimate.unit_x}".rstrip()
    return join([label(estimate.x), " ", step])


def _share(share: float) -> Html:
    return el("td", percent(round(share, 9)), class_="number", data_value=share)


def _value(contrast: Contrast, value: float | None) -> Html:
    shown = "–" if value is None else f"{value:.1%}" if contrast.measure == Change.RISK else f"{value:.3g}"
    return el("td", shown, class_="number")
