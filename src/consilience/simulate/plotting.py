"""What all plots have in common: matplotlib (the extra ``plots``), colours and line styles.

Colours are Okabe and Ito's, which people with colour-blindness can tell apart; line styles are the paper's: fedCI solid, pooled dotted,
Fisher dashed. The same numbers give the same file.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from consilience.errors import MissingPackageError
from consilience.simulate.methods import ComparedMethod

__all__ = ["COLOURS", "LINES", "need_matplotlib", "save_svg"]

COLOURS = {
    ComparedMethod.POOLED: "#000000",
    ComparedMethod.FISHER: "#D55E00",
    ComparedMethod.FEDCI: "#0072B2",
    ComparedMethod.JOINT: "#56B4E9",
    ComparedMethod.COORDINATE: "#009E73",
}
LINES: dict[ComparedMethod, Any] = {
    ComparedMethod.POOLED: (0, (1, 1.6)),
    ComparedMethod.FISHER: (0, (5, 2)),
    ComparedMethod.FEDCI: "-",
    ComparedMethod.JOINT: "-",
    ComparedMethod.COORDINATE: (0, (4, 1.5, 1, 1.5)),
}
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "svg.hashsalt": "consilience",
    "svg.fonttype": "none",
    "figure.dpi": 100,
}


def need_matplotlib() -> tuple[Any, Any]:
    """Matplotlib's module and its ``Figure``; ``MissingPackageError`` with the way out if it is not installed."""
    try:
        return importlib.import_module("matplotlib"), importlib.import_module("matplotlib.figure").Figure
    except ImportError:
        raise MissingPackageError("Figures need matplotlib, which is not installed: pip install 'consilience[plots]'.") from None


def save_svg(draw: Callable[[Any], None], path: Path, width: float, height: float) -> None:
    """Let ``draw`` fill a figure of so many inches, and write it."""
    matplotlib, figure_class = need_matplotlib()
    with matplotlib.rc_context(STYLE):
        figure = figure_class(figsize=(width, height), layout="constrained")
        figure.get_layout_engine().set(wspace=0.05, hspace=0.05)
        draw(figure)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
