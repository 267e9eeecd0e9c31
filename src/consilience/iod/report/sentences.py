"""The result in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from consilience.iod.report.html import Html, join, label

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["certain", "counted", "edges_in_words", "format_p", "headline"]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "graph"), counted(1200, "graph"), counted(0, "entry", "entries")
    ('1 graph', '1,200 graphs', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def format_p(p: float) -> str:
    """A p-value for people.

    >>> format_p(0.03379), format_p(0.000012), format_p(1e-30), format_p(1.0)
    ('0.034', '1.2 × 10⁻⁵', '< 10⁻¹⁵', '1')
    """
    if p < 1e-15:
        return "< 10⁻¹⁵"
    if p >= 0.9995:
        return "1" if p == 1.0 else "> 0.999"
    if p >= 0.00095:
        return f"{p:.3f}"
    digits, power = f"{p:.1e}".split("e-")
    return f"{digits} × 10⁻{''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(d)] for d in power.lstrip('0'))}"


def headline(found: Discovery) -> str:
    """How many graphs there are."""
    n = len(found.pags)
    if not found.complete and not n:
        return "The search was stopped before it found a graph."
    if not found.complete:
        return f"The search was stopped after {counted(n, 'graph')}; there may be more."
    if found.overruled and n:
        counts = sorted({len(found.contradicted(number)) for number in range(n)})
        least = counted(counts[0], "decision") if len(counts) == 1 else f"{counts[0]} to {counted(counts[-1], 'decision')}"
        best = "One contradicts the least evidence: it" if n == 1 else f"{n:,} contradict the least evidence: each"
        return f"No graph agrees with all that was weighed. {best} overrules {least}."
    if n == 0:
        return "No graph agrees with all decisions: some of them contradict each other."
    return "Exactly one graph agrees with every data set." if n == 1 else f"{n:,} graphs agree with every data set."


def edges_in_words(found: Discovery) -> str:
    """How many edges are in all, some or none of the graphs."""
    n = len(found.pags)
    if found.complete and n == 0:
        return "So nothing can be said about the edges between the variables."
    statuses = found.summary.frame["edge"].to_list()
    every, some, never, unknown = (statuses.count(status) for status in ("all", "some", "none", "unknown"))
    if n == 1 and found.complete:
        return f"It has {counted(every, 'edge')}; the other {counted(never, 'pair')} of variables {_are(never)} not joined."
    where = f"in every one of the {n:,} graphs" if found.complete else "in every graph that agrees with the data"
    parts = [f"{counted(every, 'edge') if every else 'No edge'} {'holds' if every < 2 else 'hold'} {where}"]
    parts += [f"{some:,} {'is' if some == 1 else 'are'} in some of them and not in others"] if some else []
    parts += [f"of {counted(unknown, 'pair')} it is not known"] if unknown else []
    rest = f"; {counted(never, 'pair')} of variables {_are(never)} joined in none" if never else ""
    return f"{', '.join(parts)}{rest}."


def certain(found: Discovery) -> list[Html]:
    """What every graph says about causes, a sentence for each edge that all of them have: causes first, then what is no cause."""
    if not len(found.pags) and found.complete:
        return []
    rows = found.summary.frame.iter_rows(named=True)
    sentences = [_sentence(row, selection=found.selection_bias) for row in rows if row["edge"] == "all" and not _left_open(found, row)]
    return [sentence for _, sentence in sorted((one for one in sentences if one is not None), key=lambda one: one[0])]


def _left_open(found: Discovery, row: Mapping[str, Any]) -> bool:
    """True of an edge between two exogenous variables: why these are associated was declared to be nobody's question here."""
    return found.knowledge is not None and {row["x"], row["y"]} <= set(found.knowledge.exogenous)


def _sentence(row: Mapping[str, Any], *, selection: bool) -> tuple[int, Html] | None:
    """What the marks at both ends say, and its place in the order."""
    x, y = label(row["x"]), label(row["y"])
    arrows, tails = (tuple(row[f"{mark}_at_{end}"] == "all" for end in "xy") for mark in ("arrow", "tail"))
    if all(arrows):
        return 1, join([x, " and ", y, " do not cause each other: something that nobody measured causes both."])
    if all(tails):
        return 2, join([x, " and ", y, " both influence who is in the data."])
    if any(tails):
        near, far = (x, y) if tails[0] else (y, x)
        return 0, join([near, " is a cause of ", far, ", directly or through others", " (or of who is in the data)" * selection, "."])
    if any(arrows):
        near, far = (x, y) if arrows[0] else (y, x)
        return 3, join([near, " is not a cause of ", far, "."])
    return None


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
