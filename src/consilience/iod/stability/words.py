"""What replicates say, in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from consilience.frames import pl
from consilience.iod.summary import percent
from consilience.wording import counted

if TYPE_CHECKING:  # it says its own words
    from consilience.iod.stability.result import Stability

__all__ = ["SURE", "said"]

SURE = 0.9
"""From this share on an edge is called stable: among simulated studies such edges were true in nine of ten and more (docs/stability.md)."""

MOST_NAMED = 15
"""Edges that a sentence names; the table of edges has all."""


def said(found: Stability) -> list[str]:
    """What is stable, what is not, and how much of what was asked for is finished."""
    sentences = _copies(found) if found.asked else []
    if found.done > found.empty:
        sentences += _edges(found.edges)
    return sentences + ([] if found.sites is None else _sites(found, found.sites))


def _sites(found: Stability, sites: pl.DataFrame) -> list[str]:
    """Who disagrees with the others, and what hangs on whom."""
    if not sites.height:
        return ["The search without each of the sites was stopped before one was finished: what hangs on one site is not known."]
    without = sites["site"][0] if sites.height == 1 else f"each of {counted(sites.height, 'site')}"
    sentences = [f"The search was repeated without {without}."]
    if found.suspect is not None:
        row = sites.filter(pl.col("site") == found.suspect).row(0, named=True)
        sentences.append(
            f"{found.suspect} says something else than the others: leaving it out changes sizes {math.sqrt(row['influence']):.1f} times as "
            f"much as leaving out so many rows does by chance. Look at its units, codes and columns."
        )
    hanging = found.hanging()
    for site, edges in hanging.items():
        sentences.append(f"Without {site} {' and '.join(f'{x} – {y}' for x, y in edges)} would not be there.")
    silent = sites.filter(pl.col("graphs") == 0)["site"].to_list()
    if silent:
        sentences.append(f"Without {' or '.join(silent)} no graph was found that agrees with the decisions: of edges nothing is said.")
    alone = _unanswered(found)
    for site, tests in alone.items():
        sentences.append(f"Without {site} {counted(tests, 'test')} cannot be answered: what they say hangs on it alone.")
    if not hanging and not alone and len(silent) < sites.height:
        sentences.append("No edge hangs on one site alone." if not silent else "No edge hangs on one of the other sites alone.")
    return sentences


def _unanswered(found: Stability) -> dict[str, int]:
    """How many tests nobody but a site can answer, by site."""
    if found.without is None:
        return {}
    lost = found.without.filter(pl.col("plain").is_not_null() & pl.col("p_value").is_null())
    return dict(lost.group_by("site", maintain_order=True).len().iter_rows())


def _copies(found: Stability) -> list[str]:
    """How many copies there are, and what of them counts."""
    if not found.done:
        none = f"Of {found.asked} resampled copies of the data none was finished before the search was stopped"
        return [f"{none}: how sure edges are is not known."]
    done = f"{found.done} of {found.asked}" if found.stopped else f"{found.done}"
    copies = "copy" if found.asked == 1 else "copies"
    sentences = [f"The search was repeated in {done} resampled {copies} of the data{', and was stopped then' if found.stopped else ''}."]
    # a list may be empty because nothing agrees, or because the time was over: neither is said of the other
    if found.empty == found.done:
        sentences.append("In none of them a graph was found that agrees with the decisions: how sure edges are cannot be told.")
    elif found.empty:
        sentences.append(f"In {found.empty} of them no graph was found that agrees with the decisions; they count nowhere below.")
    if found.cut and found.empty < found.done:
        sentences.append(f"In {found.cut} of them the list of graphs was cut short; shares are of the graphs that are listed.")
    return sentences


def _edges(edges: pl.DataFrame) -> list[str]:
    edges = edges.with_columns(share=pl.col("share").round(9))  # a mean of nine tenths is nine tenths
    stable = edges.filter(pl.col("share") >= SURE).sort("share", "x", "y", descending=[True, False, False])
    shown = edges.filter((pl.col("share") < SURE) & ((pl.col("share") >= 1 - SURE) | (pl.col("plain") >= 0.5)))
    shown = shown.sort("share", "x", "y", descending=[True, False, False])
    sentences = []
    if stable.height:
        sentences.append(f"Found again in nine of ten or more: {_named(stable)}.")
    if shown.height:
        sentences.append(f"Found in some and not in others: {_named(shown)}.")
    return sentences


def _named(edges: pl.DataFrame) -> str:
    told = [f"{x} – {y} ({percent(share)})" for x, y, share in edges.head(MOST_NAMED).select("x", "y", "share").iter_rows()]
    more = edges.height - MOST_NAMED
    return ", ".join(told) + (f", and {more:,} more" if more > 0 else "")
