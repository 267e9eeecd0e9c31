"""The study's figures as SVG, drawn with matplotlib (the extra ``plots``)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from consilience.reproduction.experiment import Results
from consilience.reproduction.paper import paper
from consilience.reproduction.summary import Cell, Which, cells_of, reductions
from consilience.reproduction.tables import COMPARISONS
from consilience.simulate.methods import ComparedMethod
from consilience.simulate.plotting import COLOURS, LINES, save_svg

__all__ = ["draw_figures"]

WIDTHS = {
    ComparedMethod.POOLED: 1.8,
    ComparedMethod.FISHER: 1.5,
    ComparedMethod.FEDCI: 5.0,
    ComparedMethod.JOINT: 3.0,
    ComparedMethod.COORDINATE: 2.4,
}
"""Curves lie on top of each other where methods agree: the ones below are wider."""
CURVES = (ComparedMethod.FEDCI, ComparedMethod.COORDINATE, ComparedMethod.FISHER, ComparedMethod.POOLED)


def draw_figures(results: Results, folder: Path) -> list[Path]:
    """All figures, each in a file of its own."""
    cells = cells_of(results)
    columns = len({cell.sites for cell in cells})
    samples = len({cell.n for cell in cells})
    jobs: list[tuple[str, Callable[[Any], None], float, float]] = [
        ("accuracy", lambda f: _accuracy(f, cells), 3.0 * columns + 0.6, 7.4),
        ("log-ratios", lambda f: _log_ratios(f, cells), 9.6, 2.7 * ((samples + 1) // 2) + 0.5),
        ("shd", lambda f: _distances(f, cells), 3.0 * columns + 0.6, 5.6),
    ]
    if results.cases:
        jobs.append(("candidates", lambda f: _candidates(f, results), 9.6, 3.1))
    paths = []
    for name, draw, width, height in jobs:
        paths.append(folder / f"{name}.svg")
        save_svg(draw, paths[-1], width, height)
    return paths


def _by_partitions(cells: Sequence[Cell]) -> dict[int, list[Cell]]:
    grouped: dict[int, list[Cell]] = {}
    for cell in sorted(cells, key=lambda c: (c.sites, c.n)):
        grouped.setdefault(cell.sites, []).append(cell)
    return grouped


def _sample_axis(axes: Any, row: Sequence[Cell]) -> None:
    axes.set_xscale("log")
    axes.set_xticks([cell.n for cell in row], [f"{cell.n:,}" for cell in row])
    axes.minorticks_off()
    axes.margins(x=0.06)


def _curve(axes: Any, row: Sequence[Cell], method: ComparedMethod, values: Sequence[float]) -> None:
    axes.plot(
        [cell.n for cell in row],
        values,
        color=COLOURS[method],
        alpha=0.45 if method is ComparedMethod.FEDCI else 1.0,
        linestyle=LINES[method],
        linewidth=WIDTHS[method],
        marker="o" if method is ComparedMethod.FISHER else "",
        markersize=3.5,
        label=method.label,
        solid_capstyle="round",
    )


def _band(axes: Any, row: Sequence[Cell], method: ComparedMethod) -> None:
    """Two standard errors of the mean distance to both sides."""
    means = np.array([cell.mean_shd(method) for cell in row])
    errors = [
        np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else 0.0 for values in (c.shd[method][c.common] for c in row)
    ]
    half = 2.0 * np.array(errors)
    axes.fill_between([cell.n for cell in row], means - half, means + half, color=COLOURS[method], alpha=0.08, linewidth=0)


def _accuracy(figure: Any, cells: Sequence[Cell]) -> None:
    grouped = _by_partitions(cells)
    panels = figure.subplots(3, len(grouped), sharex=True, sharey="row", squeeze=False)
    titles = {Which.ALL: "all tests", Which.DEPENDENT: "dependent", Which.INDEPENDENT: "independent"}
    for i, which in enumerate(Which):
        for j, (sites, row) in enumerate(grouped.items()):
            axes = panels[i, j]
            for method in CURVES:
                _curve(axes, row, method, [cell.accuracy(method, which) for cell in row])
            _sample_axis(axes, row)
            if i == 0:
                axes.set_title(f"{sites} partitions")
            if i == 2:
                axes.set_xlabel("samples in all")
            if j == 0:
                axes.set_ylabel(f"accuracy, {titles[which]}")
    low, _ = panels[2, 0].get_ylim()
    panels[2, 0].set_ylim(min(0.85, low), 1.005)  # near the level's complement for all: a close look would show noise
    _legend(figure, panels[0, 0])


def _legend(figure: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)


def _log_ratios(figure: Any, cells: Sequence[Cell]) -> None:
    methods = (ComparedMethod.FEDCI, ComparedMethod.JOINT, ComparedMethod.COORDINATE, ComparedMethod.FISHER)
    samples = sorted({cell.n for cell in cells})
    partitions = sorted({cell.sites for cell in cells})
    panels = figure.subplots((len(samples) + 1) // 2, 2, squeeze=False).ravel()
    for spare in panels[len(samples) :]:
        spare.set_visible(False)
    handles: list[Any] = []
    for axes, n in zip(panels, samples, strict=False):
        handles = []
        for m, method in enumerate(methods):
            data = [next(c for c in cells if (c.n, c.sites) == (n, k)).log_ratios(method) for k in partitions]
            colour = COLOURS[method]
            box = axes.boxplot(
                data,
                positions=[k + 0.2 * (m - 1.5) for k in range(len(partitions))],
                widths=0.16,
                patch_artist=True,
                whis=(5, 95),
                showfliers=False,
                medianprops={"color": colour, "linewidth": 2.2},
                boxprops={"facecolor": f"{colour}55", "edgecolor": colour},
                whiskerprops={"color": colour},
                capprops={"color": colour},
            )
            handles.append(box["boxes"][0])
        axes.axhline(0.0, color="#888888", linewidth=0.8, zorder=1)
        for edge in range(1, len(partitions)):
            axes.axvline(edge - 0.5, color="#e6e6e6", linewidth=0.7)
        axes.set_xticks(range(len(partitions)), [f"{k} partitions" for k in partitions])
        axes.set_xlim(-0.5, len(partitions) - 0.5)
        axes.tick_params(axis="x", length=0)
        axes.grid(visible=False, axis="x")
        axes.set_title(f"{n:,} samples", loc="left")
    for axes in panels[::2]:
        axes.set_ylabel("log(p / p pooled)")
    labels = [method.label for method in methods]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False)


def _distances(figure: Any, cells: Sequence[Cell]) -> None:
    grouped = _by_partitions(cells)
    panels = figure.subplots(2, len(grouped), sharex=True, sharey="row", squeeze=False)
    printed = paper()
    for j, (sites, row) in enumerate(grouped.items()):
        above, below = panels[0, j], panels[1, j]
        for method in (ComparedMethod.POOLED, ComparedMethod.FISHER):
            _band(above, row, method)
        for method in CURVES:
            _curve(above, row, method, [cell.mean_shd(method) for cell in row])
            _curve(below, row, method, [cell.without_pag(method) for cell in row])
        for method in (ComparedMethod.FISHER, ComparedMethod.POOLED):
            there = [(cell.n, value) for cell in row if (value := printed.cell("shd", method, cell.n, sites)) is not None]
            above.plot(
                [n for n, _ in there],
                [value for _, value in there],
                linestyle="",
                marker="D",
                markersize=4.5,
                markerfacecolor="none",
                markeredgecolor=COLOURS[method],
                label=f"{method.label}, paper",
            )
        above.set_title(f"{sites} partitions")
        below.set_xlabel("samples in all")
        _sample_axis(below, row)
        if j == 0:
            above.set_ylabel("best normalised SHD")
            below.set_ylabel("runs without any PAG")
    for row_of_panels in panels:  # one scale for a row, from zero to the highest of all its panels
        highest = max(axes.dataLim.ymax for axes in row_of_panels)
        row_of_panels[0].set_ylim(0.0, 1.05 * highest if highest > 0.0 else 1.0)
    _legend(figure, panels[0, 0])


def _candidates(figure: Any, results: Results) -> None:
    panels = figure.subplots(1, len(COMPARISONS), sharey=True)
    for axes, (smaller, larger, title) in zip(panels, COMPARISONS, strict=True):
        bins = _bins(reductions(results, smaller, larger))
        axes.bar(range(len(bins)), [count for _, count in bins], width=0.8, color=COLOURS[ComparedMethod.FEDCI])
        axes.bar_label(axes.containers[0], fontsize=7.5, padding=1)
        axes.set_xticks(range(len(bins)), [name for name, _ in bins], rotation=40, ha="right", rotation_mode="anchor")
        axes.grid(visible=False, axis="x")
        axes.set_title(title)
        axes.set_xlabel("fewer candidates")
    panels[0].set_ylabel("cases")


def _bins(values: Sequence[int]) -> list[tuple[str, int]]:
    """Counts of reductions: none, then intervals that double or so."""
    edges = [(0, 0), (1, 10), (11, 20), (21, 50), (51, 100), (101, 200), (201, 500), (501, 1000)]
    most = max(values, default=0)
    used = [edge for edge in edges if edge[0] <= most]
    if most > edges[-1][1]:
        used.append((edges[-1][1] + 1, int(np.ceil(most))))
    return [(f"{low}" if low == high else f"{low}–{high}", sum(low <= value <= high for value in values)) for low, high in used]
