"""A graph as a picture: SVG with the three marks at the ends of its edges.

A circle is hollow and touches the box of its node, an arrowhead is filled and its tip touches it, a tail is the bare end of the line.
Edges <-> are dashed and blue as well, since latent common causes are what readers look for first. Colours are from the palette of
Okabe & Ito (2008); the picture has no background and follows the reader's light or dark scheme.

An edge is a quadratic Bézier curve between points inside its two boxes, straight unless it would run into a third box or another
edge's mark. What can be seen of it lies between the borders, which :meth:`_Box.distance` knows.

The text of labels is the user's: it goes into the picture through :func:`_escaped` only. Nothing has an id, and rules of style apply to
the class ``consilience-graph`` only, so that several pictures can stand on one page.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from consilience.errors import OptionError
from consilience.graph.layout import CLEARANCE, place, separate
from consilience.graph.marks import ARROW, CIRCLE, TAIL

if TYPE_CHECKING:  # a MixedGraph may draw itself with this module
    from consilience.graph.mixed import Edge, MixedGraph

__all__ = ["positions_of", "to_svg"]

Floats: TypeAlias = NDArray[np.float64]

FONT, LINE = 14.0, 17.0
"""Height of letters and of lines."""
WIDEST, MOST_LINES = 150.0, 5
"""Longer labels are broken into lines, and cut off after the last."""
PADDING = (10.0, 6.5)
"""Between text and border."""
CORNER = 15.0
STROKE = 1.5
RADIUS = 4.4
"""Of a circle mark, to the middle of its line."""
HEAD = (11.5, 4.8)
"""Length of an arrowhead, and half its width."""
FRAME = 8.0

_NAMES = {CIRCLE: "circle", ARROW: "arrow", TAIL: "tail"}
_INK, _BLUE = "#24292f", "#0072b2"
_BIDIRECTED = '.edge[data-mark-from="arrow"][data-mark-to="arrow"]'
_STYLE = (
    "svg.consilience-graph:root{color-scheme:light dark}"
    "@media (prefers-color-scheme:dark){"
    ".consilience-graph .edge{stroke:#d0d7de}"
    ".consilience-graph .edge .arrow{fill:#d0d7de}"
    f".consilience-graph {_BIDIRECTED}{{stroke:#56b4e9}}"
    f".consilience-graph {_BIDIRECTED} .arrow{{fill:#56b4e9}}"
    ".consilience-graph .node rect{fill:#161b22;stroke:#8b949e}"
    ".consilience-graph .node text{fill:#f0f6fc}"
    "}"
)


def to_svg(
    graph: MixedGraph, *, width: float | None = None, positions: Mapping[str, tuple[float, float]] | None = None, title: str | None = None
) -> str:
    """The graph as a self-contained SVG picture.

    ``width`` is the width of the picture on the page in pixels; by default letters are 14 pixels high. ``positions`` are the centres of
    the nodes in pixels, y down; they are enlarged as a whole, then pushed apart, as far as labels and marks need it. Those of
    :func:`positions_of` stay as they are, so that several graphs can be drawn alike. ``title`` is what the picture is called where it
    cannot be seen.

    >>> from consilience.graph import PAG
    >>> picture = to_svg(PAG.parse("A o-> B"))
    >>> picture[:4], 'data-mark-from="circle" data-mark-to="arrow"' in picture
    ('<svg', True)
    """
    if width is not None and not (np.isfinite(width) and width > 0):
        raise OptionError(f"The width of a picture is a positive number of pixels; got {width!r}.")
    labels = sorted(graph.labels)
    texts = [_lines(label) for label in labels]
    adjacent, forward = _joined([graph], labels)
    half = _half_sizes(texts, adjacent)
    centres = place(adjacent, half, forward) if positions is None else _checked(positions, labels)
    centres = separate(centres, adjacent, half)
    corners = [high if len(lines) == 1 else CORNER for high, lines in zip(half[:, 1].tolist(), texts, strict=True)]
    boxes = [_Box(*row) for row in np.column_stack([centres, half, corners]).tolist()]
    ends = [(labels.index(edge.a), labels.index(edge.b)) for edge in graph.edges]
    curves = _routes(boxes, ends)
    shapes = [_edge_shape(edge, curve, boxes[a], boxes[b]) for edge, curve, (a, b) in zip(graph.edges, curves, ends, strict=True)]
    shapes += [_node_shape(label, lines, box) for label, lines, box in zip(labels, texts, boxes, strict=True)]
    return _picture(graph, shapes, _extent(boxes, curves), width, title)


def positions_of(*graphs: MixedGraph) -> dict[str, tuple[float, float]]:
    """Centres of the nodes, good for all of these graphs at once: as for a graph with the edges of them all.

    >>> from consilience.graph import PAG
    >>> positions_of(PAG.parse("A --> B"))
    {'A': (0.0, 0.0), 'B': (110.0, 0.0)}
    """
    labels = sorted({label for graph in graphs for label in graph.labels})
    adjacent, forward = _joined(graphs, labels)
    centres = place(adjacent, _half_sizes([_lines(label) for label in labels], adjacent), forward)
    return {label: (x, y) for label, (x, y) in zip(labels, centres.tolist(), strict=True)}


def _joined(graphs: Sequence[MixedGraph], labels: Sequence[str]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether some graph has an edge i–j, and whether some has an arrowhead at j and none at i."""
    index = {label: i for i, label in enumerate(labels)}
    adjacent, forward = np.zeros((2, len(labels), len(labels)), dtype=bool)
    for graph in graphs:
        for edge in graph.edges:
            i, j = index[edge.a], index[edge.b]
            adjacent[i, j] = adjacent[j, i] = True
            forward[i, j] |= edge.at_b == ARROW != edge.at_a
    return adjacent, forward


def _checked(positions: Mapping[str, tuple[float, float]], labels: Sequence[str]) -> Floats:
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


# Labels

_WIDTHS = {
    letter: share
    for letters, share in (
        ("'ijl|", 0.24), (" !,./:;I[\\]ft", 0.28), ('"()-`r*^', 0.36), ("Jcksvxyz", 0.5), ("+<=>~FTZ", 0.61), ("&ABEKPSVXY", 0.67),
        ("CDHNRUw", 0.73), ("GOQ", 0.78), ("Mm%", 0.86), ("W@", 1.0),
    )
    for letter in letters
}  # fmt: skip
"""Widths of letters in Arial and the fonts made to replace it, in heights of a letter; 0.56 for those not listed."""
_LONGEST = 500  # letters of a label that are looked at; fewer than that fill its lines
_WORDS = re.compile(r"\s+|[^\s_\-/.,;:]+[_\-/.,;:]*|[_\-/.,;:]+")
"""Pieces of a label between which a line may end."""


def _lines(label: str) -> list[str]:
    """A label in lines of about the same length, broken between words if possible."""
    shown = _legible(" ".join(label.split()) or "␣")[:_LONGEST]
    total = _width(shown)
    widest = max(WIDEST, min(1.7 * WIDEST, total / (MOST_LINES - 1)))
    lines = _broken(shown, widest)
    longest = max(_width(word) for word in _WORDS.findall(shown))
    for share in np.linspace(1.0 / len(lines), 1.0, 9):
        tighter = _broken(shown, min(max(share * total, longest, 40.0), widest))
        if len(tighter) <= len(lines):
            lines = tighter
            break
    return lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + "…"]


def _broken(text: str, widest: float) -> list[str]:
    lines = [""]
    for word in _WORDS.findall(text):
        if _width(lines[-1] + word.rstrip()) > widest and lines[-1].strip():
            lines.append("")
        for cluster in _clusters(word) if _width(word) > widest else [word]:
            if lines[-1] and _width(lines[-1] + cluster.rstrip()) > widest:
                lines.append("")
            lines[-1] = (lines[-1] + cluster).lstrip()
    return [line.rstrip() for line in lines if line.strip()]


def _clusters(text: str) -> Iterator[str]:
    """Characters that are seen as one, such as a letter with its accents or a compound emoji."""
    cluster = ""
    for letter in text:
        joins = unicodedata.category(letter) in {"Mn", "Mc", "Me", "Cf", "Sk"} and ord(letter) > 127
        flag = _is_regional(letter) and len(cluster) == 1 and _is_regional(cluster)
        if cluster and not joins and not flag and not cluster.endswith("\u200d"):
            yield cluster
            cluster = ""
        cluster += letter
    if cluster:
        yield cluster


def _is_regional(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _width(text: str) -> float:
    return 1.05 * FONT * sum(max(map(_share, cluster)) for cluster in _clusters(text))


def _share(letter: str) -> float:
    if letter < "\x7f":
        return _WIDTHS.get(letter, 0.56)
    if unicodedata.east_asian_width(letter) in {"W", "F"} or letter == "\ufe0f":
        return 1.35 if letter >= "\U0001f000" or letter == "\ufe0f" else 1.0
    return 0.72 if unicodedata.category(letter) in {"Lu", "So", "Sm"} else 0.6


def _half_sizes(texts: Sequence[Sequence[str]], adjacent: NDArray[np.bool_]) -> Floats:
    """Half the width and height of boxes around texts: at least as wide as high, and with room for the marks of all edges."""
    high = np.array([0.5 * LINE * len(lines) + PADDING[1] for lines in texts])
    wide = np.maximum([0.5 * max(map(_width, lines)) + PADDING[0] for lines in texts], high)
    more = np.maximum(np.minimum(3.2 * adjacent.sum(axis=1), 32.0) - 0.5 * (wide + high), 0.0)
    return np.round(np.stack([wide + more, high + more], axis=1), 1)


def _legible(text: str) -> str:
    """Text without the characters that XML cannot hold: control characters become their pictures."""
    shown = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", lambda found: chr(0x2400 + ord(found[0])), text)
    return re.sub("[\ud800-\udfff\ufffe\uffff]", "\ufffd", shown)


def _escaped(text: str) -> str:
    return escape(_legible(text), {'"': "&quot;", "'": "&#39;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"})


# Edges


class _Box(NamedTuple):
    """A box around a node: its centre, half its width and height, and the radius of its corners."""

    x: float
    y: float
    wide: float
    high: float
    corner: float

    def distance(self, points: Floats) -> Floats:
        """Distances of points from the border, negative inside."""
        beyond = np.abs(points - (self.x, self.y)) - (self.wide - self.corner, self.high - self.corner)
        outside = np.maximum(beyond, 0.0)
        return np.asarray(np.hypot(outside[..., 0], outside[..., 1]) + np.minimum(beyond.max(axis=-1), 0.0) - self.corner)

    def towards(self, other: _Box) -> Floats:
        """Where a straight edge to another box starts: its centre, moved a bit if the box is long."""
        room = np.array([self.wide - self.corner, self.high - self.corner])
        return np.array([self.x, self.y]) + 0.5 * np.clip([other.x - self.x, other.y - self.y], -room, room)


_STEPS = np.linspace(0.0, 1.0, 41)
_WEIGHTS = np.stack([(1.0 - _STEPS) ** 2, 2.0 * _STEPS * (1.0 - _STEPS), _STEPS**2], axis=1)
_STRAIGHT = [(0.0, 0.5)]
_BENDS = [(sign * bend, skew) for bend in (0.07, 0.13, 0.22, 0.34, 0.5) for skew in (0.5, 0.3, 0.7) for sign in (1, -1)]
"""Candidates: how far the middle of a curve is off the straight line, as a share of its length, and where along it."""
_ROOM = 10.0  # between the centre of a mark and another edge
_EFFORT = 1000  # curves against which bent ones are compared, in all


class _Curves(NamedTuple):
    """Curves in the first dimension: their control points, points on what can be seen, the middles of their marks, how bent they are."""

    control: Floats
    points: Floats
    marks: Floats
    bent: Floats

    def take(self, rows: list[int]) -> _Curves:
        """Some of the curves."""
        return _Curves(*(part[rows] for part in self))


def _routes(boxes: Sequence[_Box], ends: Sequence[tuple[int, int]]) -> Floats:
    """Control points of every edge. Edges start straight; those that run into something take the best curve, given the others.

    The worst come first. When there are so many edges that this takes too long, the rest only keep clear of boxes.
    """
    if not ends:
        return np.zeros((0, 3, 2))
    drawn = _Curves(*map(np.concatenate, zip(*(_curves(boxes[a], boxes[b], _STRAIGHT) for a, b in ends), strict=True)))
    others = [[f for f in range(len(ends)) if f != e] for e in range(len(ends))]
    trouble = []
    for e, pair in enumerate(ends):
        straight = drawn.take([e])
        trouble.append(float(_near_boxes(straight, boxes, pair)[0] + _near_marks(straight, drawn.take(others[e]))[0]))
    worst = sorted((e for e in range(len(ends)) if trouble[e] > 0.1), key=lambda e: (-round(trouble[e], 6), e))
    for turn, e in enumerate(worst * 2):
        hurried = turn * len(ends) > _EFFORT
        if hurried and turn >= len(worst):
            break
        best = _best_curve(boxes, ends[e], None if hurried else drawn.take(others[e]))
        for part, chosen in zip(drawn, best, strict=True):
            part[e] = chosen[0]
    return drawn.control


def _best_curve(boxes: Sequence[_Box], ends: tuple[int, int], others: _Curves | None) -> _Curves:
    tried = _curves(boxes[ends[0]], boxes[ends[1]], _STRAIGHT + _BENDS)
    cost = _near_boxes(tried, boxes, ends) + tried.bent
    if others is not None:
        cost += 2.0 * _near_marks(tried, others)
        promising = np.argsort(np.round(cost, 6), kind="stable")[:12].tolist()  # crossings are slow to count
        tried, cost = tried.take(promising), cost[promising]
        cost += 0.7 * _crossings(tried, others)
    return tried.take([int(np.argmin(np.round(cost, 6)))])


def _curves(a: _Box, b: _Box, bends: Sequence[tuple[float, float]]) -> _Curves:
    tail, head = a.towards(b), b.towards(a)
    along = head - tail
    normal = np.array([-along[1], along[0]])
    control = np.array([[tail, tail + skew * along + 2.0 * bend * normal, head] for bend, skew in bends])
    all_points = _WEIGHTS @ control
    start, end = _exits(a.distance(all_points)), 1.0 - _exits(b.distance(all_points)[:, ::-1])
    points = _along(control, start[:, None] + (end - start)[:, None] * _STEPS)
    mark = 0.5 * HEAD[0] * (end - start) / np.hypot(*np.moveaxis(np.diff(points, axis=1), -1, 0)).sum(axis=1)
    marks = _along(control, np.stack([start + mark, end - mark], axis=1))
    bent = np.array([2.4 * abs(bend) + 0.1 * abs(skew - 0.5) for bend, skew in bends])
    return _Curves(control, points, marks, bent)


def _exits(distances: Floats) -> Floats:
    """Where curves that start in a box leave it, from the distances of their points (second dimension) from its border."""
    rows = np.arange(len(distances))
    last = len(_STEPS) - 2 - np.argmax(distances[:, -2::-1] <= 0, axis=1)
    inside, outside = distances[rows, last], distances[rows, last + 1]
    return np.asarray((last + inside / (inside - outside)) * _STEPS[1])


def _near_boxes(curves: _Curves, boxes: Sequence[_Box], ends: tuple[int, int]) -> Floats:
    """How much each curve is in the way of boxes that are not its own."""
    cost = np.zeros(len(curves.control))
    for node, box in enumerate(boxes):
        if node not in ends:
            space = box.distance(curves.points).min(axis=1)
            cost += 2.0 * np.clip(1.0 - space / CLEARANCE, 0.0, 2.0) ** 2 + 3.0 * (space < 5.0)
    return cost


def _near_marks(curves: _Curves, others: _Curves) -> Floats:
    """How much each curve is in the way of the marks of others, and they in the way of its marks."""
    to_theirs = _gaps(curves, others.marks.reshape(-1, 2))
    to_ours = _gaps(others, curves.marks.reshape(-1, 2))
    lacking = [np.maximum(1.0 - gaps / _ROOM, 0.0) ** 2 for gaps in (to_theirs, to_ours)]
    return np.asarray(lacking[0].sum(axis=1) + lacking[1].sum(axis=0).reshape(-1, 2).sum(axis=1))


def _gaps(curves: _Curves, spots: Floats) -> Floats:
    """The distance of every curve from every spot."""
    x, y = np.moveaxis(curves.points[:, ::2, None], -1, 0)
    dx, dy = np.diff(x, axis=1), np.diff(y, axis=1)
    wx, wy = spots[:, 0] - x[:, :-1], spots[:, 1] - y[:, :-1]
    nearest = np.clip((wx * dx + wy * dy) / (dx**2 + dy**2), 0.0, 1.0)
    return np.asarray(np.sqrt(((wx - nearest * dx) ** 2 + (wy - nearest * dy) ** 2).min(axis=1)))


def _crossings(curves: _Curves, others: _Curves) -> Floats:
    """How many of the others each curve crosses where both can be seen."""
    ours, theirs = (np.moveaxis(one.points[:, ::5], -1, 0) for one in (curves, others))
    (ux, uy), (vx, vy) = np.diff(ours, axis=2)[..., None, None], np.diff(theirs, axis=2)[:, None, None]
    wx, wy = theirs[:, None, None, :, :-1] - ours[:, :, :-1, None, None]
    turn = ux * vy - uy * vx
    with np.errstate(divide="ignore", invalid="ignore"):  # pieces that are parallel
        along, across = (wx * vy - wy * vx) / turn, (wx * uy - wy * ux) / turn
    crossed = (along > 0) & (along < 1) & (across > 0) & (across < 1)
    return np.asarray(crossed.any(axis=(1, 3)).sum(axis=1), dtype=np.float64)


def _along(control: Floats, t: Floats) -> Floats:
    """Points of curves (first dimension) at parameters (second dimension)."""
    left, right = 1.0 - t[..., None], t[..., None]
    a, b, c = np.moveaxis(control, 1, 0)[:, :, None]
    return np.asarray(left**2 * a + 2.0 * left * right * b + right**2 * c)


def _at(curve: Floats, t: float) -> Floats:
    """The point of one curve at one parameter."""
    return np.asarray(_along(curve[None], np.array([[t]]))[0, 0])


def _last(curve: Floats, start: float, inside: Callable[[Floats], NDArray[np.bool_]]) -> float:
    """The last parameter from ``start`` on at which the curve is inside, to a ten-millionth of its length."""
    low, high = start, 1.0
    for _ in range(5):
        steps = np.linspace(low, high, 33)
        last = int(np.flatnonzero(inside(_along(curve[None], steps[None])[0]))[-1])
        low, high = float(steps[last]), float(steps[min(last + 1, 32)])
    return low


def _leaving_box(curve: Floats, box: _Box, distance: float) -> float:
    """Where a curve that starts in the box is at this distance from its border."""
    return _last(curve, 0.0, lambda points: box.distance(points) <= distance)


def _leaving_point(curve: Floats, t: float, distance: float) -> float:
    """Where the curve is at this distance from its point at t."""
    x, y = _at(curve, t)
    return _last(curve, t, lambda points: np.asarray(np.hypot(points[:, 0] - x, points[:, 1] - y) <= distance))


# Shapes


def _edge_shape(edge: Edge, curve: Floats, box_a: _Box, box_b: _Box) -> str:
    bidirected = edge.at_a == edge.at_b == ARROW
    colour = _BLUE if bidirected else _INK
    start, mark_a = _mark(edge.at_a, curve, box_a, colour)
    back, mark_b = _mark(edge.at_b, curve[::-1], box_b, colour)
    end = 1.0 - back
    a, b = _at(curve, start), _at(curve, end)
    bend = (1.0 - start) * (1.0 - end) * curve[0] + ((1.0 - start) * end + start * (1.0 - end)) * curve[1] + start * end * curve[2]
    straight = abs(float(np.linalg.det(np.stack([b - a, bend - a])))) < 1e-6
    line = f"M{_xy(a)} L{_xy(b)}" if straight else f"M{_xy(a)} Q{_xy(bend)} {_xy(b)}"
    dashes = _dashes(np.stack([a, bend, b])) if bidirected else ""
    return (
        f'<g class="edge" data-from="{_escaped(edge.a)}" data-to="{_escaped(edge.b)}"'
        f' data-mark-from="{_NAMES[edge.at_a]}" data-mark-to="{_NAMES[edge.at_b]}" stroke="{colour}" stroke-width="{STROKE}" fill="none">'
        f"<title>{_escaped(str(edge))}</title>"
        f'<path class="line" d="{line}"{dashes}/>{mark_a}{mark_b}</g>'
    )


def _mark(mark: int, curve: Floats, box: _Box, colour: str) -> tuple[float, str]:
    """The mark at the box in which the curve starts, and the parameter at which its line starts."""
    if mark == CIRCLE:
        centre = _leaving_box(curve, box, RADIUS + STROKE)
        x, y = _at(curve, centre)
        return _leaving_point(curve, centre, RADIUS), f'<circle class="mark circle" cx="{x:.2f}" cy="{y:.2f}" r="{RADIUS}"/>'
    tip = _leaving_box(curve, box, 0.0)
    if mark == TAIL:
        return tip, ""
    length, wide = HEAD
    point, back = _at(curve, tip), _at(curve, _leaving_point(curve, tip, length))
    across = wide * (back - point)[::-1] * (1.0, -1.0) / length
    head = f"M{_xy(point)} L{_xy(back + across)} L{_xy(back - across)} Z"
    return _leaving_point(curve, tip, length - 1.0), f'<path class="mark arrow" d="{head}" fill="{colour}" stroke="none"/>'


def _dashes(curve: Floats) -> str:
    """Dashes that begin and end with a whole one, so that no arrowhead stands off its line."""
    length = float(np.hypot(*np.diff(_WEIGHTS @ curve, axis=0).T).sum())
    unit = length / (10.0 * max(round((length + 4.0) / 10.0), 1) - 4.0)
    return f' stroke-dasharray="{6.0 * unit:.3f} {4.0 * unit:.3f}"'


def _node_shape(label: str, lines: Sequence[str], box: _Box) -> str:
    first = box.y - 0.5 * LINE * (len(lines) - 1) + 0.35 * FONT
    rows = "".join(f'<tspan x="{box.x:.2f}" y="{first + LINE * k:.2f}">{_escaped(line)}</tspan>' for k, line in enumerate(lines))
    return (
        f'<g class="node" data-label="{_escaped(label)}"><title>{_escaped(label)}</title>'
        f'<rect x="{box.x - box.wide:.2f}" y="{box.y - box.high:.2f}" width="{2 * box.wide:.2f}" height="{2 * box.high:.2f}"'
        f' rx="{box.corner:.2f}" fill="#f6f8fa" stroke="#57606a" stroke-width="1.2"/>'
        f'<text fill="#1f2328" text-anchor="middle">{rows}</text></g>'
    )


def _xy(point: Floats) -> str:
    return f"{point[0]:.2f} {point[1]:.2f}"


def _extent(boxes: Sequence[_Box], curves: Floats) -> Floats:
    """Left, top, width and height of all that is drawn, with a frame."""
    corners = [np.array([[b.x - b.wide, b.y - b.high], [b.x + b.wide, b.y + b.high]]) for b in boxes]
    points = np.concatenate([np.zeros((0, 2)), *corners, *(_WEIGHTS @ curves)])
    low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else np.zeros((2, 2))
    return np.concatenate([low - FRAME, high - low + 2 * FRAME])


def _picture(graph: MixedGraph, shapes: Sequence[str], extent: Floats, width: float | None, title: str | None) -> str:
    left, top, wide, high = extent.tolist()
    scale = 1.0 if width is None else width / wide
    name = title or f"{type(graph).__name__} with {_counted(len(graph), 'node')} and {_counted(len(graph.edges), 'edge')}"
    words = "; ".join(f"{edge.a} ({_NAMES[edge.at_a]}) – {edge.b} ({_NAMES[edge.at_b]})" for edge in graph.edges) or "No edges"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="consilience-graph" role="img" aria-label="{_escaped(f"{name}: {graph}")}"'
        f' viewBox="{left:.2f} {top:.2f} {wide:.2f} {high:.2f}" width="{scale * wide:.2f}" height="{scale * high:.2f}"'
        f' font-family="Arial, Helvetica, \'Liberation Sans\', sans-serif" font-size="{FONT:g}" style="max-width:100%;height:auto">'
        f"<title>{_escaped(name)}</title><desc>{_escaped(words)}.</desc><style>{_STYLE}</style>{''.join(shapes)}</svg>\n"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
