"""A graph as a line of text: ``A o-> B, B <-> C, D``.

An edge is its left mark, a dash and its right mark: ``<``, ``o`` or ``-`` on the left, ``>``, ``o`` or ``-`` on the right. A node without
edges stands alone. A label with blanks, commas or quotation marks, or one that reads like an edge, is quoted as in JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

import numpy as np

from consilience.graph.errors import GraphTextError
from consilience.graph.marks import ARROW, CIRCLE, TAIL, MarkMatrix

__all__ = ["edge_marks", "edge_symbol", "marks_from_edges", "ordered_pairs", "quoted", "read_text", "write_text"]

_LEFT = {CIRCLE: "o", ARROW: "<", TAIL: "-"}
_RIGHT = {CIRCLE: "o", ARROW: ">", TAIL: "-"}
_SYMBOLS = {f"{left}-{right}": (a, b) for a, left in _LEFT.items() for b, right in _RIGHT.items()}
_SHORT = {"->": (TAIL, ARROW), "<-": (ARROW, TAIL), "--": (TAIL, TAIL), "-o": (TAIL, CIRCLE), "o-": (CIRCLE, TAIL)}
_COMMA = ","
_PLAIN = re.compile(r'[^\s,"]+')
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|,|[^\s,"]+|"')


def edge_symbol(at_left: int, at_right: int) -> str:
    """The edge with these marks at its ends.

    >>> edge_symbol(CIRCLE, ARROW), edge_symbol(TAIL, TAIL)
    ('o->', '---')
    """
    return f"{_LEFT[at_left]}-{_RIGHT[at_right]}"


def edge_marks(symbol: str) -> tuple[int, int] | None:
    """The marks at the ends of an edge, or None if ``symbol`` is none; ``->``, ``<-``, ``--``, ``-o`` and ``o-`` are short forms.

    >>> edge_marks("o->"), edge_marks("->") == edge_marks("-->")
    ((1, 2), True)
    """
    return _SYMBOLS.get(symbol) or _SHORT.get(symbol)


def quoted(label: str) -> str:
    """A label as it stands in the text.

    >>> quoted("A"), quoted("blood pressure")
    ('A', '"blood pressure"')
    """
    plain = _PLAIN.fullmatch(label) and edge_marks(label) is None
    return label if plain else json.dumps(label, ensure_ascii=False)


def ordered_pairs(labels: Sequence[str], marks: MarkMatrix) -> Iterator[tuple[int, int]]:
    """The edges by the sorted labels of their ends, each turned so that a single arrowhead points to the right."""
    order = sorted(range(len(labels)), key=labels.__getitem__)
    rows = marks.tolist()
    for position, i in enumerate(order):
        for j in order[position + 1 :]:
            if rows[i][j]:
                backwards = rows[j][i] == ARROW != rows[i][j] or (rows[j][i] == CIRCLE and rows[i][j] == TAIL)
                yield (j, i) if backwards else (i, j)


def write_text(labels: Sequence[str], marks: MarkMatrix) -> str:
    """Edges, then nodes without edges, in an order that depends on the labels only.

    >>> write_text("BAC", np.array([[0, 1, 0], [2, 0, 0], [0, 0, 0]]))
    'A o-> B, C'
    """
    rows, names = marks.tolist(), [quoted(label) for label in labels]
    edges = [f"{names[i]} {edge_symbol(rows[j][i], rows[i][j])} {names[j]}" for i, j in ordered_pairs(labels, marks)]
    alone = sorted(label for label, row in zip(labels, rows, strict=True) if not any(row))
    return ", ".join([*edges, *map(quoted, alone)])


def read_text(text: str) -> tuple[list[str], MarkMatrix]:
    """Labels, sorted, and marks of a line of text. Commas and line ends may both separate edges.

    >>> read_text("A o-> B, C")
    (['A', 'B', 'C'], array([[0, 2, 0],
           [1, 0, 0],
           [0, 0, 0]], dtype=int8))
    """
    nodes: dict[str, None] = {}
    edges: list[tuple[str, str, str]] = []
    for piece in _pieces(text):
        symbols = [edge_marks(token) is not None for token in piece]
        if symbols not in ([False], [False, True, False]):
            raise GraphTextError(
                f"An edge reads like 'A o-> B', with one of {', '.join(_SYMBOLS)} in the middle; got {' '.join(piece)!r}. "
                f"Separate edges by commas and quote labels that have blanks or commas in them."
            )
        ends = [_label(piece[0]), _label(piece[-1])]
        nodes.update(dict.fromkeys(ends))
        if len(piece) == 3:
            edges.append((ends[0], piece[1], ends[1]))
    labels = sorted(nodes)
    return labels, marks_from_edges(labels, edges)


def marks_from_edges(labels: Sequence[str], edges: Sequence[tuple[str, str, str]]) -> MarkMatrix:
    """Marks from (label, edge, label) triples; an edge given twice with different marks is an error.

    >>> marks_from_edges("AB", [("A", "-->", "B")]).tolist()
    [[0, 2], [3, 0]]
    """
    index = {label: i for i, label in enumerate(labels)}
    marks = np.zeros((len(labels), len(labels)), dtype=np.int8)
    for a, symbol, b in edges:
        pair = edge_marks(symbol)
        if pair is None:
            raise GraphTextError(f"An edge is one of {', '.join(_SYMBOLS)}; got {symbol!r} between {a!r} and {b!r}.")
        for label in (a, b):
            if label not in index:
                raise GraphTextError(f"The edge {a} {symbol} {b} names {label!r}, which is not among the nodes: {', '.join(labels)}.")
        i, j = index[a], index[b]
        if i == j:
            raise GraphTextError(f"A node has no edge to itself; got {a} {symbol} {b}.")
        # the same edge twice is no error, as nothing is contradicted
        if marks[i, j] and (marks[j, i], marks[i, j]) != pair:
            raise GraphTextError(f"Two nodes have one edge at most; got two with different marks between {a!r} and {b!r}.")
        marks[j, i], marks[i, j] = pair
    return marks


def _pieces(text: str) -> Iterator[list[str]]:
    for line in text.split("\n"):
        piece: list[str] = []
        for token in _TOKEN.findall(line):
            if token != _COMMA:
                piece.append(token)
            elif piece:
                yield piece
                piece = []
        if piece:
            yield piece


def _label(token: str) -> str:
    if not token.startswith('"'):
        return token
    try:
        label = json.loads(token)
    except json.JSONDecodeError:
        raise GraphTextError(f"A quoted label reads like a JSON string; got {token}.") from None
    return str(label)
