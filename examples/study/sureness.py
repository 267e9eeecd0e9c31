"""How stable edges are: over resampled copies, without each site, and done otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from study.edges import edge_share, edge_text, edges_between, edges_of, pair_text, share_word, shares_of
from study.pictures import BLUE, GREY, SKY, pyplot, save
from study.words import counted, listed, table

import consilience as cs
from consilience.iod.stability.words import SURE
from consilience.iod.summary import percent

__all__ = ["found_again", "marks_sentence", "resampled", "sites_table", "stability_picture", "stability_table", "sure_edges"]

LEAST = 0.2
"""Edges with a smaller share of copies are not shown, unless the graphs of the data themselves have them."""
FEW_NAMED = 4
"""More sites than these are counted, not named."""


def resampled(found: cs.Discovery) -> cs.Stability:
    """What resampling says, of a search that was repeated."""
    assert found.stability is not None
    assert found.stability.done, "no resampled copy"
    return found.stability


def stability_table(found: cs.Discovery, sites: Sequence[str]) -> str:
    """Shares of edges and marks over resampled copies, and the sites without which an edge is gone."""
    stability = resampled(found)
    named = {frozenset((edge.a, edge.b)): edge_text(edge) for edge in found.summary.edges()}
    gone = _gone(stability, sites)
    rows = []
    for row in _by_share(stability).iter_rows(named=True):
        ends = frozenset((row["x"], row["y"]))
        text = f"`{named[ends]}`" if ends in named else pair_text(ends)
        marks = [" / ".join(f"{100 * row[f'{end}_{mark}']:.0f}" for mark in ("arrow", "tail", "circle")) for end in "xy"]
        first, second = (f"{row[end]}: {told}" for end, told in zip("xy", marks, strict=True))
        rows.append([text, share_word(row["plain"]), percent(row["share"]), first, second, gone.get(ends, "–")])
    return table(("edge", "in the graphs", "in copies", "arrow / tail / circle at", "and at", "gone without"), rows)


def _gone(stability: cs.Stability, sites: Sequence[str]) -> dict[frozenset[str], str]:
    """The sites without which an edge would not be there, in their order; or how many they are."""
    hanging = stability.hanging()
    found: dict[frozenset[str], list[str]] = {}
    for site in sites:
        for x, y in hanging.get(site, []):
            found.setdefault(frozenset((x, y)), []).append(site)
    return {ends: ", ".join(gone) if len(gone) <= FEW_NAMED else f"each of {len(gone)} sites" for ends, gone in found.items()}


def _by_share(stability: cs.Stability) -> pl.DataFrame:
    """Pairs whose edge a fifth of the copies or the graphs themselves have, the surest first."""
    shown = stability.edges.filter((pl.col("share") >= LEAST) | (pl.col("plain") > 0.0))
    return shown.sort(pl.col("share").round(9), "x", "y", descending=[True, False, False])


def stability_picture(found: cs.Discovery, path: Path) -> None:
    """Shares over copies as bars, with what the graphs of the data themselves say."""
    stability = resampled(found)
    plt = pyplot(path.stem)
    rows = _by_share(stability).to_dicts()
    figure, axes = plt.subplots(figsize=(7.0, 1.1 + 0.25 * len(rows)))
    axes.axvline(SURE, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), zorder=0)
    colours = [BLUE if row["share"] >= SURE - 1e-9 else SKY for row in rows]
    axes.barh([pair_text((row["x"], row["y"])) for row in rows], [row["share"] for row in rows], color=colours, height=0.7)
    for words, least, most, ink in (("in all", 1.0, 1.0, "black"), ("some", 1e-9, 1 - 1e-9, GREY), ("none", 0.0, 0.0, "white")):
        places = [y for y, row in enumerate(rows) if least <= row["plain"] <= most]
        style = {"marker": "o", "linestyle": "none", "markersize": 6, "markerfacecolor": ink, "markeredgecolor": "black"}
        axes.plot([1.05] * len(places), places, clip_on=False, label=words, **style)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set(xlim=(0, 1.0), xlabel=f"share of the edge over {counted(stability.done, 'copy', 'copies')}; dashed: nine of ten")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0, labelsize=8)
    axes.plot([], [], linestyle="none", label="of the graphs of the data themselves")
    figure.legend(loc="lower center", ncols=4, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.3 / figure.get_figheight(), 1, 1))
    save(figure, path)


def sites_table(stability: cs.Stability, sites: Sequence[str], called: str) -> str:
    """What leaving out each site changes."""
    assert stability.sites is not None
    by_name = {row["site"]: row for row in stability.sites.iter_rows(named=True)}
    rows = []
    for site in sites:
        row = by_name[site]
        influence = "–" if row["influence"] is None else f"{row['influence']:.1f}"
        changed = f"{row['decisions']} of {row['compared']}"
        rows.append([site, influence, changed, f"{row['lost']}", f"{row['gained']}", f"{row['graphs']:,}"])
    return table((f"without the {called}", "influence", "decisions that change", "edges lost", "edges gained", "graphs"), rows)


def found_again(found: cs.Discovery) -> tuple[int, int]:
    """Of the edges that most graphs have, how many are found again in nine of ten copies or more; and how many there are."""
    shares = shares_of(resampled(found))
    drawn = edges_of(found)
    return sum(shares[ends] >= SURE - 1e-9 for ends in drawn), len(drawn)


def sure_edges(found: cs.Discovery, variants: Mapping[str, cs.Discovery]) -> list[str]:
    """Edges in all graphs, found again in nine of ten copies, that hang on no site and are not lost however it is done."""
    stability = resampled(found)
    hanging = {frozenset(pair) for pairs in stability.hanging().values() for pair in pairs}
    shares, lost = shares_of(stability), {words for one in variants.values() for words in edges_between(found, one)[0]}
    return [
        pair_text(ends)
        for ends in sorted(edges_of(found), key=pair_text)
        if edge_share(found, *ends) == 1.0 and shares[ends] >= SURE - 1e-9 and ends not in hanging and pair_text(ends) not in lost
    ]


def marks_sentence(found: cs.Discovery) -> str:
    """Of directed edges in all graphs, how many have both marks in most copies."""
    shares = {frozenset((row["x"], row["y"])): row for row in resampled(found).edges.iter_rows(named=True)}
    directed, kept = 0, []
    for edge in found.summary.edges():
        if " --> " in edge_text(edge) and edge_share(found, edge.a, edge.b) == 1.0:
            row = shares[frozenset((edge.a, edge.b))]
            tail, head = ("x", "y") if row["x"] == edge.a else ("y", "x")
            directed += 1
            if min(row[f"{tail}_tail"], row[f"{head}_arrow"]) > 0.5:
                kept.append(f"`{edge_text(edge)}`")
    if not directed:
        return "No edge `A --> B` is in all graphs."
    have = f"{len(kept)} {'has its' if len(kept) == 1 else 'have their'} tail and arrowhead in more than half of the copies"
    others = "" if len(kept) == directed else " Other patients may turn the others."
    return f"Directions are less sure than edges: of {directed} edges `A --> B` in all graphs, {have} ({listed(kept)}).{others}"
