"""Edges and nodes as elements of SVG, and their colours.

A circle is hollow and touches the box of its node, an arrowhead is filled and its tip touches it, a tail is the bare end of the line.
The open mark, a hollow grey diamond, stands where several graphs that are drawn as one differ. Edges <-> are blue as well, since latent
common causes are what readers look for first. Colours are from the palette of Okabe & Ito (2008).

Rules of style apply to the class ``consilience-graph`` only, so that several pictures can stand on one page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from consilience.graph.drawing.lettering import FONT, LINE, escaped
from consilience.graph.drawing.routing import MARK, Box, leaving_boxes, leaving_points, points_at, points_of
from consilience.graph.marks import ARROW, CIRCLE, TAIL

__all__ = [
    "DASHED",
    "DOTTED",
    "OPEN",
    "SOLID",
    "STROKE",
    "STYLE",
    "Line",
    "edge_shape",
    "edge_shapes",
    "mark_name",
    "node_shape",
    "note_shape",
    "text_shape",
]

Floats: TypeAlias = NDArray[np.float64]

STROKE = 1.5
RADIUS = 4.4
"""Of a circle mark, to the middle of its line."""
HALF_HEAD = 4.8
"""Half the width of an arrowhead."""
DIAMOND = (12.0, 4.6)
"""Length of an open mark, and half its width."""

OPEN = 4
"""The mark at an end at which graphs that are drawn as one differ."""
SOLID, DASHED, DOTTED = "solid", "dashed", "dotted"

_NAMES = {CIRCLE: "circle", ARROW: "arrow", TAIL: "tail", OPEN: "open"}
_INK, _BLUE, _GREY = "#24292f", "#0072b2", "#57606a"
_BIDIRECTED = '.edge[data-mark-from="arrow"][data-mark-to="arrow"]'
STYLE = (
    "svg.consilience-graph{max-width:100%;height:auto;overflow:visible}"
    "@media screen and (prefers-color-scheme:dark){"
    ".consilience-graph .edge{stroke:#d0d7de}"
    ".consilience-graph .edge .arrow{fill:#d0d7de}"
    f".consilience-graph {_BIDIRECTED}{{stroke:#56b4e9}}"
    f".consilience-graph {_BIDIRECTED} .arrow{{fill:#56b4e9}}"
    ".consilience-graph .edge .open{stroke:#8b949e}"
    ".consilience-graph .node rect{fill:#161b22;stroke:#8b949e}"
    ".consilience-graph .node text{fill:#f0f6fc}"
    ".consilience-graph .words{fill:#d0d7de}"
    "}"
)
"""Rules for all pictures of a page, dark ones too."""


class Line(NamedTuple):
    """An edge as it is drawn: its ends, their marks, what is said of it, how its line looks, a note beside it, and the width of the line.

    >>> Line("A", "B", CIRCLE, ARROW, "A o-> B").pattern
    'solid'
    """

    a: str
    b: str
    at_a: int
    at_b: int
    words: str
    pattern: str = SOLID
    note: str = ""
    stroke: float = STROKE


def mark_name(mark: int) -> str:
    """What a mark is called.

    >>> mark_name(ARROW), mark_name(OPEN)
    ('arrow', 'open')
    """
    return _NAMES[mark]


def edge_shape(line: Line, curve: Floats, box_a: Box, box_b: Box) -> str:
    """An edge along a curve between two boxes.

    >>> boxes = [Box(x, 0.0, 15.0, 15.0, 15.0) for x in (0.0, 100.0)]
    >>> shape = edge_shape(Line("A", "B", TAIL, ARROW, "A --> B"), np.array([[0.0, 0.0], [50.0, 0.0], [100.0, 0.0]]), *boxes)
    >>> '<path class="line" d="M15.00 0.00 L74.50 0.00"/>' in shape
    True
    """
    return edge_shapes([line], curve[None], [(box_a, box_b)])[0]


def edge_shapes(lines: Sequence[Line], curves: Floats, boxes: Sequence[tuple[Box, Box]]) -> list[str]:
    """Edges along their curves, each between its two boxes. All at once: where their marks end is sought for all of them together.

    >>> edge_shapes([], np.zeros((0, 3, 2)), [])
    []
    """
    if not lines:
        return []
    colours = [_BLUE if line.at_a == line.at_b == ARROW else _INK for line in lines]
    start, marks_a = _marks([line.at_a for line in lines], curves, [a for a, _ in boxes], colours)
    back, marks_b = _marks([line.at_b for line in lines], curves[:, ::-1], [b for _, b in boxes], colours)
    end = 1.0 - back
    # What lies between two parameters of a quadratic curve is one, too; ``bend`` is its control point. To hide the rest under boxes and
    # hollow marks instead would need a background colour, which the picture does not have.
    a, b = points_at(curves, start), points_at(curves, end)
    s, e = start[:, None], end[:, None]
    bend = (1.0 - s) * (1.0 - e) * curves[:, 0] + ((1.0 - s) * e + s * (1.0 - e)) * curves[:, 1] + s * e * curves[:, 2]
    seen = np.stack([a, bend, b], axis=1)
    return [_edge(*row) for row in zip(lines, colours, seen, marks_a, marks_b, strict=True)]


def _edge(line: Line, colour: str, curve: Floats, mark_a: str, mark_b: str) -> str:
    """An edge, of which this part of its curve can be seen."""
    (ax, ay), (bx, by), (cx, cy) = curve.tolist()
    straight = abs((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) < 1e-6
    path = f"M{ax:.2f} {ay:.2f} " + (f"L{cx:.2f} {cy:.2f}" if straight else f"Q{bx:.2f} {by:.2f} {cx:.2f} {cy:.2f}")
    return (
        f'<g class="edge" data-from="{escaped(line.a)}" data-to="{escaped(line.b)}" data-mark-from="{_NAMES[line.at_a]}"'
        f' data-mark-to="{_NAMES[line.at_b]}" stroke="{colour}" stroke-width="{line.stroke}" fill="none">'
        f"<title>{escaped(line.words)}</title>"
        f'<path class="line" d="{path}"{_dashes(line.pattern, curve)}/>{mark_a}{mark_b}</g>'
    )


_GAP = {CIRCLE: RADIUS + STROKE, OPEN: STROKE, ARROW: 0.0, TAIL: 0.0}
_LENGTH = {CIRCLE: RADIUS, OPEN: DIAMOND[0], ARROW: MARK, TAIL: 0.0}
"""Between a box and its mark, or the centre of a circle; and from there to where the mark ends."""


def _marks(marks: Sequence[int], curves: Floats, boxes: Sequence[Box], colours: Sequence[str]) -> tuple[Floats, list[str]]:
    """The marks at the boxes in which the curves start, and the parameters at which their lines start."""
    length = np.array([_LENGTH[mark] for mark in marks])
    tip = leaving_boxes(curves, boxes, np.array([_GAP[mark] for mark in marks]))
    rear = leaving_points(curves, tip, length)
    arrow, tail = (np.array([mark == kind for mark in marks]) for kind in (ARROW, TAIL))
    # the line goes a bit into an arrowhead, lest there be a gap between them
    start = np.where(arrow, leaving_points(curves, tip, np.maximum(length - 1.0, 0.0)), np.where(tail, tip, rear))
    points, backs = points_at(curves, tip), points_at(curves, rear)
    return start, [_mark(*row) for row in zip(marks, points, backs, colours, strict=True)]


def _mark(mark: int, point: Floats, back: Floats, colour: str) -> str:
    """A mark from its tip, or its centre, to its end."""
    if mark == TAIL:
        return ""
    if mark == CIRCLE:
        return f'<circle class="mark circle" cx="{point[0]:.2f}" cy="{point[1]:.2f}" r="{RADIUS}"/>'
    length, wide = DIAMOND if mark == OPEN else (MARK, HALF_HEAD)
    across = wide * (back - point)[::-1] * (1.0, -1.0) / length
    if mark == OPEN:
        middle = 0.5 * (point + back)
        diamond = f"M{_xy(point)} L{_xy(middle + across)} L{_xy(back)} L{_xy(middle - across)} Z"
        return f'<path class="mark open" d="{diamond}" stroke="{_GREY}"/>'
    head = f"M{_xy(point)} L{_xy(back + across)} L{_xy(back - across)} Z"
    return f'<path class="mark arrow" d="{head}" fill="{colour}" stroke="none"/>'


def _dashes(pattern: str, curve: Floats) -> str:
    """Dashes that begin and end with a whole one, so that no arrowhead stands off its line."""
    if pattern == SOLID:
        return ""
    dash, gap = (6.0, 4.0) if pattern == DASHED else (2.0, 3.5)
    length = float(np.hypot(*np.diff(points_of(curve), axis=0).T).sum())
    unit = length / ((dash + gap) * max(round((length + gap) / (dash + gap)), 1) - gap)
    return f' stroke-dasharray="{dash * unit:.3f} {gap * unit:.3f}"'


def node_shape(label: str, lines: Sequence[str], box: Box) -> str:
    """A node: its label, in lines, in its box.

    >>> node_shape("A", ["A"], Box(0.0, 0.0, 15.0, 15.0, 15.0)).startswith('<g class="node" data-label="A"><title>A</title><rect')
    True
    """
    first = box.y - 0.5 * LINE * (len(lines) - 1) + 0.35 * FONT
    rows = "".join(f'<tspan x="{box.x:.2f}" y="{first + LINE * k:.2f}">{escaped(line)}</tspan>' for k, line in enumerate(lines))
    return (
        f'<g class="node" data-label="{escaped(label)}"><title>{escaped(label)}</title>'
        f'<rect x="{box.x - box.wide:.2f}" y="{box.y - box.high:.2f}" width="{2 * box.wide:.2f}" height="{2 * box.high:.2f}"'
        f' rx="{box.corner:.2f}" fill="#f6f8fa" stroke="{_GREY}" stroke-width="1.2"/>'
        f'<text fill="#1f2328" text-anchor="middle">{rows}</text></g>'
    )


def text_shape(words: str, x: float, y: float, size: float, *, anchor: str = "start") -> str:
    """Words whose middle is at height y.

    >>> text_shape("62%", 10.0, 20.0, 12.0)
    '<text class="words" x="10.00" y="24.20" font-size="12" fill="#24292f" text-anchor="start">62%</text>'
    """
    return (
        f'<text class="words" x="{x:.2f}" y="{y + 0.35 * size:.2f}" font-size="{size:g}" fill="{_INK}" text-anchor="{anchor}">'
        f"{escaped(words)}</text>"
    )


def note_shape(line: Line, box: Box, size: float) -> str:
    """The note of an edge in its box, which says whose it is.

    >>> note_shape(Line("A", "B", TAIL, TAIL, "", note="62%"), Box(0.0, 0.0, 9.0, 6.0, 0.0), 12.0)[:47]
    '<text data-from="A" data-to="B" class="words" x'
    """
    words = text_shape(line.note, box.x, box.y, size, anchor="middle")
    return words.replace("<text", f'<text data-from="{escaped(line.a)}" data-to="{escaped(line.b)}"', 1)


def _xy(point: Floats) -> str:
    return f"{point[0]:.2f} {point[1]:.2f}"
