"""Edges: who has which, and in how many graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import polars as pl
from study.words import counted, listed, table

import consilience as cs
from consilience.citest.diagnostics import doubtful
from consilience.graph.marks import Mark
from consilience.iod.summary import SummaryEdge, percent
from consilience.iod.summary_drawing import draw_summary

__all__ = [
    "diagnosis_sentence",
    "edge_share",
    "edge_text",
    "edges_between",
    "edges_of",
    "edges_table",
    "graph_picture",
    "pair_text",
    "share_word",
    "shares_of",
    "variants_table",
]

SIGNS = {Mark.ARROW: ("<", ">"), Mark.TAIL: ("-", "-"), Mark.CIRCLE: ("o", "o"), None: ("?", "?")}


def edge_share(found: cs.Discovery, x: str, y: str) -> float | None:
    """How many of the graphs have the edge; None if the analysis does not know both variables, or nothing is known of the edge."""
    rows = found.summary.frame.filter(pl.col("x").is_in([x, y]) & pl.col("y").is_in([x, y]))
    if not rows.height:
        return None
    row = rows.row(0, named=True)
    return {"all": 1.0, "none": 0.0}.get(row["edge"], row["edge_share"])


def edge_text(edge: SummaryEdge) -> str:
    """An edge of a summary with its marks; "?" where graphs differ."""
    return f"{edge.a} {SIGNS[edge.at_a][0]}-{SIGNS[edge.at_b][1]} {edge.b}"


def pair_text(ends: Iterable[str]) -> str:
    """Two variables whose edge is spoken of.

    >>> pair_text({"sex", "age"})
    'age – sex'
    """
    return " – ".join(sorted(ends))


def edges_of(found: cs.Discovery) -> dict[frozenset[str], str]:
    """Edges that more than half of the graphs have, as text."""
    drawn = {frozenset((edge.a, edge.b)): edge_text(edge) for edge in found.summary.edges()}
    return {ends: text for ends, text in drawn.items() if (edge_share(found, *ends) or 0.0) > 0.5}


def edges_between(ours: cs.Discovery, other: cs.Discovery) -> tuple[list[str], list[str]]:
    """Which edges of ours the other analysis has lost, and which it has gained; where it lacks a variable, its edges count for neither."""
    both = set(ours.summary.labels) & set(other.summary.labels)
    mine, theirs = ({ends for ends in edges_of(found) if ends <= both} for found in (ours, other))
    return sorted(map(pair_text, mine - theirs)), sorted(map(pair_text, theirs - mine))


def edges_table(together: cs.Discovery, others: Mapping[str, cs.Discovery]) -> str:
    """Every edge that some analysis has in more than half of its graphs, or that stands in a graph of all together; and who has it."""
    named = {frozenset((edge.a, edge.b)): edge for edge in together.summary.edges()}
    ends_of_all = {ends for found in (together, *others.values()) for ends in edges_of(found)} | set(named)
    rows = []
    for ends in sorted(ends_of_all, key=lambda ends: (-(edge_share(together, *ends) or 0.0), pair_text(ends))):
        text = f"`{edge_text(named[ends])}`" if ends in named else pair_text(ends)
        rows.append([text, *(share_word(edge_share(found, *ends)) for found in (together, *others.values()))])
    return table(("edge", "together", *others), rows)


def share_word(share: float | None) -> str:
    """A share of graphs for people; None where nobody knows.

    >>> share_word(1.0), share_word(0.25), share_word(0.0), share_word(None)
    ('yes', '25%', '–', 'not measured')
    """
    return "not measured" if share is None else "–" if share == 0.0 else "yes" if share == 1.0 else percent(share)


def variants_table(together: cs.Discovery, variants: Mapping[str, cs.Discovery]) -> str:
    """Which edges come and go when the analysis is done otherwise."""
    rows = [["**as above**", f"{together.tests.height:,}", _overruled(together), f"{len(together.pags):,}", "", ""]]
    for name, found in variants.items():
        lost, gained = (", ".join(words) or "–" for words in edges_between(together, found))
        graphs = f"{len(found.pags):,}{'' if found.complete else ' or more'}"
        rows.append([name, f"{found.tests.height:,}", _overruled(found), graphs, lost, gained])
    return table(("done otherwise", "tests", "overruled", "graphs", "edges lost", "edges gained"), rows)


def _overruled(found: cs.Discovery) -> str:
    return f"{len(found.resolution.overruled)} of {found.resolution.decisions}" if found.resolution.overruled else "none"


def graph_picture(found: cs.Discovery, path: Path, title: str) -> None:
    """What the graphs have in common; thick lines are found again in resampled data."""
    shares = {} if found.stability is None or not found.stability.done else shares_of(found.stability)
    picture = draw_summary(found.summary, title=title, embedded=True, shares=shares)
    path.parent.mkdir(parents=True, exist_ok=True)
    # on a page of either scheme: a file beside it does not know which one its reader has chosen
    path.write_text(picture.replace("<svg ", '<svg style="background:#ffffff" ', 1), encoding="utf-8")


def shares_of(stability: cs.Stability) -> dict[frozenset[str], float]:
    """The share of every pair's edge over resampled copies."""
    return {frozenset((x, y)): share for x, y, share in stability.edges.select("x", "y", "share").iter_rows()}


def diagnosis_sentence(found: cs.Discovery, sites: str) -> str:
    """In how many tests linear models do not hold, and which of the three checks says so."""
    told = found.diagnosis
    if not told.made:
        return "Whether linear models hold was not looked at."
    if not told.doubtful:
        return f"Nothing speaks against the linear models behind {counted(told.made, 'test')}."
    checks = {"curvature_p": "a curve", "variance_p": "unequal variances", "slopes_p": f"slopes that differ between {sites}"}
    each = {words: sum(doubtful(found.tests[column].to_list())) for column, words in checks.items()}
    what = listed([f"{words} in {n}" for words, n in each.items() if n])
    return f"In {told.doubtful} of {told.made} tests the linear models behind them do not hold (each check by itself: {what})."
