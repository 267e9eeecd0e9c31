"""Graphs as Tetrad's text, with ``Graph Nodes:`` and ``Graph Edges:``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from consilience.graph.errors import GraphTextError
from consilience.graph.marks import MarkMatrix
from consilience.graph.text import edge_symbol, marks_from_edges, ordered_pairs
from consilience.graph.views import register_encoding

__all__ = ["read_tetrad", "write_tetrad"]

_EDGE_PROPERTIES = {"dd", "pd", "nl", "pl"}
"""What Tetrad may write behind an edge: definitely or possibly direct, no or possibly a latent confounder."""


def write_tetrad(labels: Sequence[str], marks: MarkMatrix) -> str:
    r"""Tetrad's text of a graph.

    >>> print(write_tetrad(*read_tetrad("Graph Nodes:\nA;B;C\n\nGraph Edges:\n1. A o-> B")))
    Graph Nodes:
    A;B;C
    <BLANKLINE>
    Graph Edges:
    1. A o-> B
    <BLANKLINE>
    """
    for label in labels:
        if re.search(r"[\s;,]", label):
            raise GraphTextError(
                f"Tetrad's names have no blanks, commas or semicolons; got {label!r}. Rename it, for example with underscores."
            )
    rows = marks.tolist()
    pairs = enumerate(ordered_pairs(labels, marks), start=1)
    edges = [f"{number}. {labels[i]} {edge_symbol(rows[j][i], rows[i][j])} {labels[j]}" for number, (i, j) in pairs]
    return "\n".join(["Graph Nodes:", ";".join(labels), "", "Graph Edges:", *edges, ""])


def read_tetrad(text: str) -> tuple[list[str], MarkMatrix]:
    r"""Labels and marks from Tetrad's text; names may be separated by semicolons or, as in old versions, by commas.

    >>> read_tetrad("Graph Nodes:\nA,B\n\nGraph Edges:\n1. A --> B dd nl\n")
    (['A', 'B'], array([[0, 2],
           [3, 0]], dtype=int8))
    """
    sections = _tetrad_sections(text)
    if "nodes" not in sections or "edges" not in sections:
        raise GraphTextError("Tetrad's text has the lines 'Graph Nodes:' and 'Graph Edges:'; at least one of them is missing.")
    labels = [name.strip() for name in re.split(r"[;,]", ";".join(sections["nodes"])) if name.strip()]
    edges = []
    for line in sections["edges"]:
        match = re.fullmatch(r"(?:\d+\.\s+)?(\S+)\s+(\S+)\s+(\S+)((?:\s+\S+)*)", line)
        if not match or not set(match[4].split()) <= _EDGE_PROPERTIES:
            raise GraphTextError(f"An edge in Tetrad's text reads like '1. A o-> B'; got {line!r}.")
        edges.append((match[1], match[2], match[3]))
    if len(set(labels)) != len(labels):
        raise GraphTextError(f"Tetrad's nodes have different names; got {', '.join(labels)}.")
    return labels, marks_from_edges(labels, edges)


def _tetrad_sections(text: str) -> dict[str, list[str]]:
    sections: dict[str, list[str]] = {}
    current: list[str] = []
    for raw in text.splitlines():
        line = raw.strip()
        if heading := re.fullmatch(r"Graph (.+):", line):
            current = sections.setdefault(heading[1].lower(), [])
        elif line:
            current.append(line)
    return sections


register_encoding("tetrad", write_tetrad, read_tetrad)
