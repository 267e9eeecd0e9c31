"""The sentences at the top of every form of a result: what was found, and how far it can be relied on.

Two things can be cut short, and each has its own sentence: the choice of the decisions that give way, and the list of the graphs that
agree with the rest. A sentence is said only where it is true whatever else happened:

- that decisions contradict each other follows from a conflict, from a decision that stronger ones rule out, or from a proved bound above
  zero; not from a graph that gives something up, since a better one may not have been found;
- how many graphs there are follows from a complete list only.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from consilience.iod.wording import counted, format_p, format_weight
from consilience.settings.choices import Resolve

if TYPE_CHECKING:  # a Discovery says its own headline
    from consilience.iod.discovery import Discovery

__all__ = ["Ended", "all_agree", "condition", "conditioned", "ended", "headline"]


class Ended(Enum):
    """What cut a result short."""

    NOTHING = "nothing"
    LIMIT = "limit"
    TIME = "time"
    STOPPED = "stopped"


def ended(found: Discovery) -> Ended:
    """What cut a result short, if anything did."""
    if found.complete and found.resolution.proved:
        return Ended.NOTHING
    if found.stopped:
        return Ended.STOPPED
    limit, most = found.settings.get("limit"), found.settings.get("time_limit")
    in_time = found.resolution.proved or most is None or found.timings.get("graphs", most) < most
    return Ended.LIMIT if in_time and limit is not None and len(found.pags) >= limit else Ended.TIME


def all_agree(found: Discovery) -> bool:
    """True if some graph agrees with all decisions and all knowledge, which only a graph can show."""
    told = found.resolution
    return bool(found.pags) and not told.overruled and not found.overruled and not told.undecided and not found.conflicts


def headline(found: Discovery) -> str:
    """What was found, how contradictions were resolved, how far that is proved, and what is missing.

    >>> import consilience as cs
    >>> headline(cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"])))
    'All 3 decisions agree: exactly one graph.'
    """
    if all_agree(found):
        said = _agreement(found)
    elif not found.pags:
        said = _nothing(found)
    elif found.resolution.how is Resolve.OPTIMAL:
        said = _optimal(found)
    else:
        said = _strongest(found)
    return f"{said}{_missing(found)}"


def condition(found: Discovery) -> str:
    """What must be so for the graphs to be right: "if …".

    >>> import consilience as cs
    >>> condition(cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"])))
    'if the decisions are right'
    """
    told = found.resolution
    others = "and those that were kept right" if told.undecided else "and the others right"
    own = {frozenset(found.contradicted(number)) for number in range(len(found.pags))}
    if told.how is Resolve.OPTIMAL and len(own) > 1:
        return f"if the decisions that a graph contradicts are wrong {others}"
    count = len(told.overruled or found.overruled)
    if count:
        return f"if the {'overruled decision is' if count == 1 else f'{count:,} overruled decisions are'} wrong {others}"
    return "if the decisions that were considered are right" if told.undecided else "if the decisions are right"


def conditioned(found: Discovery) -> Discovery:
    """The same, with a summary that says what it hangs on, unless all decisions agree.

    >>> import consilience as cs
    >>> conditioned(cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))).summary.condition
    ''
    """
    return found if all_agree(found) else replace(found, summary=replace(found.summary, condition=condition(found)))


def _agreement(found: Discovery) -> str:
    """Some graph agrees with everything."""
    number = found.resolution.decisions
    decisions = "The one decision holds" if number == 1 else f"All {number:,} decisions agree" if number else "All decisions agree"
    known = " with what is known" if number == 1 else " with each other and with what is known"
    agree = f"{decisions}{known if found.knowledge else ''}"
    n = len(found.pags)
    if found.complete:
        return f"{agree}: {'exactly one graph' if n == 1 else counted(n, 'graph')}."
    if ended(found) is Ended.LIMIT:
        return f"{agree}. {_first(n)} listed, which is the limit; there may be more."
    return f"{agree}. {_when(found)}, {counted(n, 'graph')} had been found; there may be more."


def _nothing(found: Discovery) -> str:
    """There is no graph to show: either there is none, or none was found in time."""
    told = found.resolution
    if not found.complete or not told.proved:
        at_least = f"; every graph gives up decisions of weight {format_weight(told.bound)} at least" if told.bound else ""
        known = _contradiction(found)
        open_ = "" if known or at_least else ": whether the decisions agree is not known"
        return f"{known}{_when(found)}, no graph had been found{at_least}{open_}."
    if told.how is not Resolve.STRICT:
        return f"No graph agrees with what is {'known' if found.knowledge else 'asked for'}, whichever decisions are given up."
    if found.knowledge:
        return "The decisions and what is known contradict each other: no graph agrees with all of it."
    return "The decisions contradict each other: no graph agrees with all of them."


def _contradiction(found: Discovery) -> str:
    """That not all can be true, where that is established."""
    told = found.resolution
    ruled_out = told.how is not Resolve.OPTIMAL and told.overruled
    if not (found.conflicts or ruled_out or told.bound > 0.0 or (told.how is Resolve.OPTIMAL and told.proved and told.given_up > 0.0)):
        return ""
    return "The decisions and what is known contradict each other. " if found.knowledge else "The decisions contradict each other. "


def _strongest(found: Discovery) -> str:
    """Decisions were considered one by one."""
    told, n = found.resolution, len(found.pags)
    count, of = len(told.overruled), _of(told.decisions)
    weakest = "" if told.weakest is None or told.weakest.p_value is None else f"; the weakest that was kept has {_p(told.weakest.p_value)}"
    overruled = f"{count:,}{of} {_were(count)} overruled{_weight(found)}{weakest}." if count else ""
    if told.undecided:
        considered = f"{told.decisions - told.undecided:,}{of} decisions" if told.decisions else "some decisions"
        open_ = f"the other {told.undecided:,}" if told.undecided > 1 else "the other one"
        result = f"{count:,} of these {_were(count)} overruled{_weight(found)}" if count else "none of these was overruled"
        choice = f"{_when(found)}, {considered} had been considered, strongest first: {result}{weakest}. Graphs may contradict {open_}."
    elif not told.proved:
        choice = f"{f'Strongest first, {overruled} ' if count else ''}There was no time to prove that this is final."
    else:
        choice = f"Strongest first, {overruled}" if count else ""
    kept = "what was kept" if told.undecided or not count else "the rest"
    return f"{_contradiction(found)}{choice} {_list(found, n, f'agree with {kept}', f'agrees with {kept}')}".strip()


def _optimal(found: Discovery) -> str:
    """Decisions were weighed against each other, all at once."""
    told, n = found.resolution, len(found.pags)
    of = f" of {format_weight(told.total)}" if told.total else ""
    if told.proved:
        choice = f"No graph gives up decisions of less weight than {format_weight(told.given_up)}{of}."
    else:
        least = f"no graph gives up less than {format_weight(told.bound)}" if told.bound else "how much less would do is not known"
        gap = f", so that the gap is {format_weight(told.gap)}" if told.bound else ""
        best = f"the best graph that had been found gives up decisions of weight {format_weight(told.given_up)}{of}"
        choice = f"{_when(found)}, {best}; {least}{gap}."
    counts = sorted({len(found.contradicted(number)) for number in range(n)})
    each = ""
    if counts[-1]:
        number = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        each = f"; {'it' if n == 1 else 'each'} contradicts {number}{_of(told.decisions)}{'' if told.decisions else ' decisions'}"
    return f"{_contradiction(found)}{choice} {_list(found, n, 'give up no more', 'gives up no more', each)}"


def _list(found: Discovery, n: int, do: str, does: str, more: str = "") -> str:
    """How many graphs there are that agree so far, as far as that is known."""
    if found.complete:
        return f"{'Exactly one graph' if n == 1 else counted(n, 'graph')} {does if n == 1 else do}{more}."
    if ended(found) is Ended.LIMIT:
        return f"{_first(n, f' that {do}')} listed, which is the limit{more}; there may be more."
    return f"{counted(n, 'graph')} that {does if n == 1 else do} {'is' if n == 1 else 'are'} listed{more}; there may be more."


def _first(n: int, which: str = "") -> str:
    return f"One of the graphs{which} is" if n == 1 else f"The first {n:,} graphs{which} are"


def _when(found: Discovery) -> str:
    """When the search ended, at the beginning of a sentence."""
    if found.stopped:
        seconds = found.timings.get("graphs")
        return "When the search was stopped" + ("" if seconds is None else f", after {seconds:.1f} s")
    limit = found.settings.get("time_limit")
    return "When time ran out" if limit is None else f"When the time limit of {limit:g} s was reached"


def _missing(found: Discovery) -> str:
    """How much of what the search needs was not there."""
    count = found.missing.height
    if not count:
        return ""
    return f" {counted(count, 'question')} that this needs {_were(count)} never asked: unknown, not independent."


def _weight(found: Discovery) -> str:
    told = found.resolution
    return f" (weight {format_weight(told.given_up)}{f' of {format_weight(told.total)}' if told.total else ''})"


def _of(decisions: int) -> str:
    return f" of {decisions:,}" if decisions else ""


def _p(p: float) -> str:
    shown = format_p(p)
    return f"p {shown}" if shown[0] in "<>" else f"p = {shown}"


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
