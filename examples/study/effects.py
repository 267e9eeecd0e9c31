"""Effects: what the graphs identify, what they rule out, and what stands in the way of the rest."""

from __future__ import annotations

from collections.abc import Iterable

from study.words import table

import consilience as cs
from consilience.citest.effect import Contrast, Estimate
from consilience.citest.effect_words import change_in_words, interval_in_words, set_in_words, set_to_in_words
from consilience.iod.effects import Effects
from consilience.iod.effects_words import share_in_words

__all__ = ["effects_sentence", "effects_table", "ruled_out", "untold"]


def effects_table(found: cs.Discovery) -> str:
    """What the graphs identify: a row a contrast and a way in which graphs identify it."""
    rows = []
    for one in found.effects:
        for say in one.says:
            if say.estimate is not None and say.estimate.known:
                share = share_in_words(len(say.graphs), len(one.graphs)).removeprefix("in ")
                rows += [_contrast(say.estimate, contrast, share) for contrast in say.estimate.contrasts]
    return table(("if", "outcome", "else", "then", "change", "95 % interval", "adjusted for", "rows", "graphs"), rows)


def _contrast(estimate: Estimate, one: Contrast, share: str) -> list[str]:
    outcome = f"{estimate.y} = {one.outcome}" if one.outcome else estimate.y
    change = change_in_words(one, estimate.unit_y)
    risks = ["" if risk is None else f"{risk:.0%}" for risk in (one.value_reference, one.value)]
    told = [f"**{change}**" if one.clear else change, interval_in_words(one), set_in_words(estimate.given)]
    return [set_to_in_words(estimate, one), outcome, *risks, *told, f"{estimate.n}", share]


def untold(effects: Iterable[Effects]) -> dict[str, list[str]]:
    """Effects of which no graph tells anything, by what stands in the way in most of the graphs."""
    found: dict[str, list[str]] = {}
    for one in effects:
        if not one.known:
            say = max(one.says, key=lambda say: len(say.graphs))
            found.setdefault(_obstacle(say.words if say.estimate is None else say.estimate.reason), []).append(f"{one.x} on {one.y}")
    return found


def _obstacle(words: str) -> str:
    """What stands in the way, without the pair it stands in the way of and without the rest of the way.

    >>> _obstacle("The effect of A on C is not identifiable by adjustment: the edge A --> B might hide it, with which the way A begins.")
    'the edge A --> B might hide it'
    """
    return words.partition("is not identifiable by adjustment: ")[2].partition(", with which the way")[0].rstrip(".") or words.rstrip(".")


def ruled_out(effects: Iterable[Effects]) -> dict[str, list[str]]:
    """Effects that are zero in every graph, by what would be set."""
    found: dict[str, list[str]] = {}
    for one in effects:
        if one.says and all(say.identification == "zero" for say in one.says):
            found.setdefault(one.x, []).append(one.y)
    return found


def effects_sentence(found: cs.Discovery) -> str:
    """How many effects can be told."""
    numbers = [[say.estimate is not None and say.estimate.known for say in one.says] for one in found.effects]
    told, everywhere = sum(map(any, numbers)), sum(bool(known) and all(known) for known in numbers)
    zero, none = (sum(map(len, kinds.values())) for kinds in (ruled_out(found.effects), untold(found.effects)))
    rest = len(found.effects) - told - zero - none
    other = f", and {rest} {'is' if rest == 1 else 'are'} zero in some graphs and cannot be told in the others" if rest else ""
    return (
        f"Of {len(found.effects)} effects of one variable on another, {told} have an estimate in some graph ({everywhere} in every one), "
        f"{zero} are zero in every graph, {none} cannot be told in any{other}."
    )
