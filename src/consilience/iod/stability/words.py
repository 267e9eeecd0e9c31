"""What replicates say, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

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
