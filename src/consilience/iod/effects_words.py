"""What graphs say of an effect, in sentences. Where it is not identified, nothing here calls an association a cause.

Names are others' text; whoever puts these words on a page escapes them there.
"""

from __future__ import annotations

from consilience.citest.effect import Contrast, Estimate
from consilience.citest.effect_words import change_in_words, contrast_in_words, interval_in_words, set_in_words
from consilience.graph.identification import Identification
from consilience.iod.effects import Effects, Range, Say

__all__ = ["effects_in_words", "range_in_words", "say_in_words", "share_in_words"]

SHOWN = 4
"""Contrasts of one estimate in a sentence; the table has the others."""


def share_in_words(graphs: int, of: int) -> str:
    """Which share of the graphs.

    >>> share_in_words(1, 1), share_in_words(2, 2), share_in_words(4, 4), share_in_words(1, 4)
    ('in the only graph', 'in both graphs', 'in all 4 graphs', 'in 1 of 4 graphs')
    """
    if of == 1:
        return "in the only graph"
    everywhere = "in both graphs" if of == 2 else f"in all {of} graphs"
    return everywhere if graphs == of else f"in {graphs} of {of} graphs"


def say_in_words(effects: Effects, say: Say) -> str:
    """What some of the graphs say, without a full stop.

    >>> from consilience.iod.effects import GraphEffect
    >>> effects = Effects("dose", "cure", (GraphEffect("zero"), GraphEffect("zero")))
    >>> say_in_words(effects, effects.says[0])
    'in both graphs it is zero, since dose is no possible cause of cure'
    """
    where = share_in_words(len(say.graphs), len(effects.graphs))
    if say.identification == Identification.ZERO:
        return f"{where} it is zero, since {effects.x} is no possible cause of {effects.y}"
    if say.estimate is not None:
        adjusted = f"{where}, adjusted for {set_in_words(say.estimate.given)}"
        return (
            f"{adjusted}, {_contrasts(say.estimate)}" if say.estimate.known else f"{adjusted}, there is no estimate: {say.estimate.reason}"
        )
    head = f"The effect of {effects.x} on {effects.y} "
    obstacle = say.words.removeprefix(f"{head}is not identifiable by adjustment: ").removeprefix(head).rstrip(".")
    return f"{where} it is {'not identifiable: ' if say.identification != Identification.ADJUSTED else ''}{obstacle}"


def _contrasts(estimate: Estimate) -> str:
    told = [contrast_in_words(estimate, one) for one in estimate.contrasts[:SHOWN]]
    more = len(estimate.contrasts) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more > 0 else "")


def range_in_words(effects: Effects, one: Range) -> str:
    """Between which numbers a contrast lies.

    >>> range_in_words(Effects("X", "Y", ()), Range("risk difference", "1", "0", "yes", 0.0, 0.1, -0.02, 0.15))
    'Y = yes with X = 1 rather than 0: from 0.0 to +10.0 percentage points (95 % intervals reach from −2.0 to 15.0)'
    """
    least, most = (Contrast(one.measure, number, None, one.low, one.high) for number in (one.least, one.most))
    unit = next((estimate.unit_y for estimate in effects.estimates), "")
    of = f"{effects.y} = {one.outcome}" if one.outcome else effects.y
    when = f" with {effects.x} = {one.level} rather than {one.reference}" if one.level else ""
    low = change_in_words(least, unit).removesuffix(" percentage points").removesuffix(f" {unit}" if unit else "\0")
    told = interval_in_words(least)
    reach = f" (95 % intervals reach from {told})" if told else ""
    return f"{of}{when}: from {low} to {change_in_words(most, unit)}{reach}"


def effects_in_words(effects: Effects) -> str:
    """All that the graphs say, in sentences."""
    effect = f"effect of {effects.x} on {effects.y}"
    if not effects.graphs:
        return f"There is no graph, and so nothing to say of the {effect}."
    told = [say_in_words(effects, say) for say in effects.says]
    if effects.known:
        sentences = [f"The {effect}: {'; '.join(told)}."]
    else:
        sentences = [f"No {effect} can be told. {_upper('; '.join(told))}. What the data show of the two is an association."]
    several = [one for one in effects.ranges if one.least < one.most]
    if several:
        sentences.append(f"Over all graphs that say, {'; '.join(range_in_words(effects, one) for one in several[:SHOWN])}.")
    if len(effects.graphs) < effects.listed:
        sentences.append(f"Only the first {len(effects.graphs)} of {effects.listed} graphs were looked at.")
    if not effects.complete:
        sentences.append("The list of graphs is not complete: graphs that are not on it may say something else.")
    return " ".join(sentences)


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
