"""The legend below a drawing: samples of lines, each with what it says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from consilience.graph.drawing.lettering import FONT, text_width
from consilience.graph.drawing.routing import Box
from consilience.graph.drawing.shapes import Line, edge_shape, text_shape

__all__ = ["draw_legend", "sample_picture"]

SIZE, ROW = 12.0, 20.0
SAMPLE, GAP, BETWEEN = 40.0, 8.0, 26.0
"""Width of a sample, space between it and its words, and between columns."""


def draw_legend(entries: Sequence[Line | str], left: float, top: float, wide: float) -> tuple[str, Box]:
    """The entries in as many columns as fit into the width of the drawing above, and the box that they fill.

    An entry is a line, drawn as a sample beside its words, or words alone.

    >>> draw_legend(["nothing to show"], 0.0, 0.0, 100.0)[1].high
    10.0
    """
    column = max((_width(entry) for entry in entries), default=0.0)
    columns = max(min(int((wide + BETWEEN) / (column + BETWEEN)), len(entries)), 1)
    shapes = []
    for number, entry in enumerate(entries):
        x, y = left + (number % columns) * (column + BETWEEN), top + (number // columns + 0.5) * ROW
        if isinstance(entry, str):
            shapes.append(text_shape(entry, x, y, SIZE))
        else:
            shapes += [_sample(entry, x, y), text_shape(entry.words, x + SAMPLE + GAP, y, SIZE)]
    half_wide, half_high = 0.5 * (columns * (column + BETWEEN) - BETWEEN), 0.5 * ROW * -(-len(entries) // columns)
    return f'<g class="legend">{"".join(shapes)}</g>', Box(left + half_wide, top + half_high, half_wide, half_high, 0.0)


@lru_cache(maxsize=256)
def sample_picture(line: Line) -> str:
    """The sample of a line as a picture of its own, for a legend that is text. Where pictures are not seen, its words say it all.

    >>> sample_picture(Line("", "", 1, 2, "a mark"))[:62]
    '<svg class="consilience-graph sample" viewBox="-2 -8 44 16" wi'
    """
    wide = SAMPLE + 4.0
    head = f'<svg class="consilience-graph sample" viewBox="-2 -8 {wide:g} 16" width="{wide:g}" height="16" aria-hidden="true">'
    return f"{head}{_sample(line, 0.0, 0.0)}</svg>"


def _width(entry: Line | str) -> float:
    words, sample = (entry, 0.0) if isinstance(entry, str) else (entry.words, SAMPLE + GAP)
    return sample + text_width(words) * SIZE / FONT


def _sample(line: Line, x: float, y: float) -> str:
    ends = [Box(end, y, 0.0, 0.0, 0.0) for end in (x, x + SAMPLE)]
    return edge_shape(line, np.array([[x, y], [x + SAMPLE / 2.0, y], [x + SAMPLE, y]]), *ends)
