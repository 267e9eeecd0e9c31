"""A graph as a picture: SVG with the three marks at the ends of its edges.

The steps, each a module: ``lettering`` breaks and measures labels, ``layout`` places nodes where ``crowding`` is least, ``routing``
bends edges around what is in their way, ``annotations`` finds room beside them, ``shapes`` draws, ``legend`` explains. Here they come
together.

The picture has no background and follows the reader's light or dark scheme. Labels go into it through :func:`lettering.escaped` only.
Nothing has an id, so that several pictures can stand on one page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from consilience.errors import OptionError
from consilience.graph.drawing.annotations import place_notes
from consilience.graph.drawing.layout import place, separate
from consilience.graph.drawing.legend import draw_legend
from consilience.graph.drawing.lettering import FONT, escaped, half_sizes, lines_of, text_width
from consilience.graph.drawing.routing import Box, points_of, routes
from consilience.graph.drawing.shapes import STYLE, Line, edge_shapes, mark_name, node_shape, note_shape
from consilience.graph.marks import ARROW
from consilience.graph.mixed import MixedGraph
from consilience.graph.views import Positions, register_painter

__all__ = ["Positions", "draw", "positions_of", "to_svg"]

Floats: TypeAlias = NDArray[np.float64]

CORNER = 15.0
FRAME = 8.0
NOTE = 12.0
"""Height of the letters of a note."""
MOST_NOTES, MOST_NOTED = 80, 120
"""More notes than these, or beside more edges, would cover each other and take seconds to place; the title of each edge says the same."""
LEGEND = (14.0, 360.0)
"""Space above a legend, and the width that it has at least."""
_ALONE = "svg.consilience-graph:root{color-scheme:light dark}"  # in a file of its own, the browser's page has a scheme too


def to_svg(
    graph: MixedGraph,
    *,
    width: float | None = None,
    positions: Positions | None = None,
    title: str | None = None,
    embedded: bool = False,
) -> str:
    """The graph as a self-contained SVG picture.

    ``width`` is the width of the picture on the page in pixels; by default letters are 14 pixels high. ``positions`` are the centres of
    the nodes in pixels, y down; they are enlarged as a whole, then pushed apart, as far as labels and marks need it. Those of
    :func:`positions_of` stay as they are, so that several graphs can be drawn alike. ``title`` is what the picture is called where it
    cannot be seen. ``embedded`` leaves out the rules of style, for a page that has :data:`shapes.STYLE` once for all its pictures.

    >>> from consilience.graph import PAG
    >>> picture = to_svg(PAG.parse("A o-> B"))
    >>> picture[:4], 'data-mark-from="circle" data-mark-to="arrow"' in picture
    ('<svg', True)
    """
    lines = [Line(edge.a, edge.b, edge.at_a, edge.at_b, str(edge)) for edge in graph.edges]
    name = title or f"{type(graph).__name__} with {_counted(len(graph), 'node')} and {_counted(len(lines), 'edge')}"
    words = "; ".join(f"{line.a} ({mark_name(line.at_a)}) – {line.b} ({mark_name(line.at_b)})" for line in lines) or "No edges"
    said = (name, f"{name}: {graph}", f"{words}.")
    return draw(graph.labels, lines, said, width=width, positions=positions, embedded=embedded)


def draw(
    labels: Sequence[str],
    lines: Sequence[Line],
    said: tuple[str, str, str],
    *,
    width: float | None = None,
    positions: Positions | None = None,
    legend: Sequence[Line | str] = (),
    embedded: bool = False,
    enlarge: bool = True,
) -> str:
    """Nodes and edges as an SVG picture; ``said`` are its title, its label and its description where it cannot be seen.

    Without ``enlarge``, positions at which boxes are too close are not made larger as a whole: only those boxes are pushed apart.

    >>> draw(["A"], [], ("one node", "one node: A", "No edges."), legend=["nothing else"]).count("<text")
    2
    """
    if width is not None and not (np.isfinite(width) and width > 0):
        raise OptionError(f"The width of a picture is a positive number of pixels; got {width!r}.")
    labels = sorted(labels)  # graphs that are equal are drawn alike, in whatever order their labels are
    index = {label: i for i, label in enumerate(labels)}
    ends = [(index[line.a], index[line.b]) for line in lines]
    texts = [lines_of(label) for label in labels]
    adjacent, forward = _joined([lines], index)
    half = half_sizes(texts, adjacent)
    centres = place(adjacent, half, forward) if positions is None else _checked(positions, labels)
    centres = separate(centres, adjacent, half, enlarge=enlarge)
    corners = [high if len(rows) == 1 else CORNER for high, rows in zip(half[:, 1].tolist(), texts, strict=True)]
    boxes = [Box(*row) for row in np.column_stack([centres, half, corners]).tolist()]
    curves = routes(boxes, ends)
    sizes = {e: (0.5 * text_width(line.note) * NOTE / FONT, 0.45 * NOTE) for e, line in enumerate(lines) if line.note}
    notes = place_notes(boxes, ends, curves, sizes if len(sizes) <= MOST_NOTES and len(lines) <= MOST_NOTED else {})
    shapes = edge_shapes(lines, curves, [(boxes[a], boxes[b]) for a, b in ends])
    shapes += [node_shape(label, rows, box) for label, rows, box in zip(labels, texts, boxes, strict=True)]
    shapes += [note_shape(lines[e], note, NOTE) for e, note in notes.items()]
    low, high = _extent([*boxes, *notes.values()], curves)
    if legend:
        shape, box = draw_legend(legend, low[0], high[1] + LEGEND[0], max(high[0] - low[0], LEGEND[1]))
        shapes.append(shape)
        corner = np.array([[box.x - box.wide, box.y - box.high], [box.x + box.wide, box.y + box.high]])
        low, high = np.minimum(low, corner[0]), np.maximum(high, corner[1])
    return _picture(shapes, low - FRAME, high - low + 2 * FRAME, width, said, embedded=embedded)


def positions_of(*graphs: MixedGraph) -> dict[str, tuple[float, float]]:
    """Centres of the nodes, good for all of these graphs at once: as for a graph with the edges of them all.

    >>> from consilience.graph import PAG
    >>> positions_of(PAG.parse("A --> B"))
    {'A': (0.0, 0.0), 'B': (110.0, 0.0)}
    """
    labels = sorted({label for graph in graphs for label in graph.labels})
    lines = [[Line(edge.a, edge.b, edge.at_a, edge.at_b, "") for edge in graph.edges] for graph in graphs]
    adjacent, forward = _joined(lines, {label: i for i, label in enumerate(labels)})
    centres = place(adjacent, half_sizes([lines_of(label) for label in labels], adjacent), forward)
    return {label: (x, y) for label, (x, y) in zip(labels, centres.tolist(), strict=True)}


def _joined(graphs: Sequence[Sequence[Line]], index: Mapping[str, int]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether some graph has an edge i–j, and whether some has an arrowhead at j and none at i."""
    adjacent, forward = np.zeros((2, len(index), len(index)), dtype=bool)
    for lines in graphs:
        for line in lines:
            i, j = index[line.a], index[line.b]
            adjacent[i, j] = adjacent[j, i] = True
            forward[i, j] |= line.at_b == ARROW != line.at_a
            forward[j, i] |= line.at_a == ARROW != line.at_b
    return adjacent, forward


def _checked(positions: Positions, labels: Sequence[str]) -> Floats:
    missing = [label for label in labels if label not in positions]
    if missing:
        raise OptionError(
            f"Positions are needed for every node; none for {', '.join(map(repr, missing))}. Leave out all to have them chosen."
        )
    try:
        centres = np.array([positions[label] for label in labels], dtype=np.float64).reshape(len(labels), 2)
    except (TypeError, ValueError):
        centres = np.full((1, 2), np.nan)
    if not np.isfinite(centres).all():
        raise OptionError(f"A position is a pair of finite numbers; got {dict(positions)!r}.")
    return centres


def _extent(boxes: Sequence[Box], curves: Floats) -> tuple[Floats, Floats]:
    """The upper left and the lower right corner of all that is drawn."""
    corners = [np.array([[b.x - b.wide, b.y - b.high], [b.x + b.wide, b.y + b.high]]) for b in boxes]
    points = np.concatenate([np.zeros((0, 2)), *corners, *points_of(curves)])
    return (points.min(axis=0), points.max(axis=0)) if len(points) else (np.zeros(2), np.zeros(2))


def _picture(
    shapes: Sequence[str], corner: Floats, size: Floats, width: float | None, said: tuple[str, str, str], *, embedded: bool
) -> str:
    (left, top), (wide, high) = corner.tolist(), size.tolist()
    scale = 1.0 if width is None else width / wide
    title, label, words = map(escaped, said)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="consilience-graph" role="img" aria-label="{label}"'
        f' viewBox="{left:.2f} {top:.2f} {wide:.2f} {high:.2f}" width="{scale * wide:.2f}" height="{scale * high:.2f}"'
        f' font-family="Arial, Helvetica, \'Liberation Sans\', sans-serif" font-size="{FONT:g}">'
        f"<title>{title}</title><desc>{words}</desc>{'' if embedded else f'<style>{_ALONE}{STYLE}</style>'}{''.join(shapes)}</svg>\n"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


register_painter("svg", to_svg)
