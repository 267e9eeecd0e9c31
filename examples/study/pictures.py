"""What pictures share: colours that colour-blind readers tell apart, a white ground, and the same file from the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["BLUE", "GREY", "ORANGE", "PALE", "SKY", "pyplot", "save"]

BLUE, SKY, ORANGE, GREY, PALE = "#0072b2", "#9ecae9", "#d55e00", "#8c959f", "#e4e7eb"


def pyplot(salt: str) -> Any:
    """Matplotlib's, set to write the same file again; only who writes a page needs it."""
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = salt
    mpl.rcParams["font.size"] = 9
    from matplotlib import pyplot as plt  # noqa: PLC0415

    return plt


def save(figure: Any, path: Path) -> None:
    """Write and forget a figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None}, facecolor="white")
    pyplot(path.stem).close(figure)
