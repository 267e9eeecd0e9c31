"""What replicates say, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from consilience.wording import counted

if TYPE_CHECKING:  # it says its own words
    from consilience.iod.stability.result import Stability

__all__ = ["SURE", "said"]

SURE = 0.9
"""From this share on an edge is called stable: among simulated studies such edges were true in nine of ten and more (docs/stability.md)."""


def said(found: Stability) -> list[str]:
    """What is stable, what is not, and how much of what was asked for is finished."""
    sentences = []
    if found.asked:
        done = f"{found.done} of {found.asked}" if found.stopped else f"{found.done}"
        sentences.append(
            f"The search was repeated in {done} resampled {'copy' if found.done == 1 else 'copies'} of the data"
            f"{', and was stopped then' if found.stopped else ''}."
        )
    if found.empty:
        sentences.append(f"In {found.empty} of them no graph agrees with the decisions; they count nowhere below.")
    if found.done > found.empty:
        sentences += _edges(found.edges)
    return sentences + ([] if found.sites is None else _sites(found, found.sites))


def _sites(found: Stability, sites: pl.DataFrame) -> list[str]:
    """Who disagrees with the others, and what hangs on whom."""
    sentences = [f"The search was repeated without each of {counted(sites.height, 'site')}."]
    if found.suspect is not None:
        row = sites.filter(pl.col("site") == found.suspect).row(0, named=True)
        sentences.append(
            f"{found.suspect} says something else than the others: leaving it out changes sizes {row['influence']:.1f} times as much as "
            f"leaving out so many rows does by chance. Look at its units, codes and columns."
        )
    hanging = found.hanging()
    for site, edges in hanging.items():
        sentences.append(f"Without {site} {' and '.join(f'{x} – {y}' for x, y in edges)} would not be there.")
    if not hanging and sites.height:
        sentences.append("No edge hangs on one site alone.")
    return sentences


def _edges(edges: pl.DataFrame) -> list[str]:
    stable = edges.filter(pl.col("share") >= SURE).sort("share", "x", "y", descending=[True, False, False])
    shown = edges.filter((pl.col("share") < SURE) & ((pl.col("share") >= 1 - SURE) | (pl.col("plain") >= 0.5)))
    shown = shown.sort("share", "x", "y", descending=[True, False, False])
    sentences = []
    if stable.height:
        names = ", ".join(f"{x} – {y} ({share:.0%})" for x, y, share in stable.select("x", "y", "share").iter_rows())
        sentences.append(f"Found again in nine of ten or more: {names}.")
    if shown.height:
        names = ", ".join(f"{x} – {y} ({share:.0%})" for x, y, share in shown.select("x", "y", "share").iter_rows())
        sentences.append(f"Found in some and not in others: {names}.")
    return sentences
