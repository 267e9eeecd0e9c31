"""Graphs in Graphviz' DOT language.

Every edge is written with ``dir=both`` and the shape at each of its ends: ``odot`` for a circle, ``normal`` for an arrowhead, ``none``
for a tail. The reader takes what the writer gives and what other programs write: edges in chains, ``dir=forward|back|both|none``,
defaults set by ``edge [...]``, comments, unquoted names. Subgraphs and ports are not read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from consilience.graph.errors import GraphTextError
from consilience.graph.marks import ARROW, CIRCLE, TAIL, MarkMatrix
from consilience.graph.text import edge_symbol, marks_from_edges, ordered_pairs
from consilience.graph.views import register_encoding

__all__ = ["read_dot", "write_dot"]

_SHAPES = {CIRCLE: "odot", ARROW: "normal", TAIL: "none"}
_MARKS = {shape: mark for mark, shape in _SHAPES.items()} | {"vee": ARROW, "open": ARROW, "dot": CIRCLE}
# Read by hand: pydot would be one more package, and gives names that keep their quotes.
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+ | //[^\n]* | /\*.*?\*/ | ^\#[^\n]*)
  | (?P<quoted>"(?:[^"\\]|\\.)*")
  | (?P<sign>->|--|[\[\]{};,=])
  | (?P<name>-?(?:\.\d+|\d+(?:\.\d*)?)|\w+)
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def write_dot(labels: Sequence[str], marks: MarkMatrix) -> str:
    """A digraph in DOT.

    >>> print(write_dot("AB", marks_from_edges("AB", [("A", "o->", "B")])))
    digraph {
      "A";
      "B";
      "A" -> "B" [dir=both, arrowtail=odot, arrowhead=normal];
    }
    <BLANKLINE>
    """
    names = [_quote(label) for label in labels]
    rows = marks.tolist()
    edges = [
        f"  {names[i]} -> {names[j]} [dir=both, arrowtail={_SHAPES[rows[j][i]]}, arrowhead={_SHAPES[rows[i][j]]}];"
        for i, j in ordered_pairs(labels, marks)
    ]
    return "\n".join(["digraph {", *(f"  {name};" for name in names), *edges, "}", ""])


def read_dot(text: str) -> tuple[list[str], MarkMatrix]:
    """Labels, in the order in which they are named, and marks.

    >>> read_dot('digraph g { edge [dir=both]; a -> b [arrowtail=odot]; c }')
    (['a', 'b', 'c'], array([[0, 2, 0],
           [1, 0, 0],
           [0, 0, 0]], dtype=int8))
    """
    return _Reader(text).read()


def _quote(label: str) -> str:
    return '"' + label.replace("\\", "\\\\").replace('"', '\\"') + '"'


class _Reader:
    """One pass over the tokens; ``<graph> ::= [strict] (graph|digraph) [name] { statements }``."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.position = 0
        self.defaults: dict[str, str] = {}
        self.nodes: dict[str, None] = {}
        self.edges: list[tuple[str, str, str]] = []

    def read(self) -> tuple[list[str], MarkMatrix]:
        if self.peek().lower() == "strict":
            self.next()
        kind = self.next().lower()
        if kind not in {"graph", "digraph"}:
            raise GraphTextError(f"DOT begins with 'graph' or 'digraph'; got {kind!r}.")
        self.arrow = "->" if kind == "digraph" else "--"
        if self.peek() != "{":
            self.next()
        self.expect("{")
        while self.peek() != "}":
            self.statement()
        labels = list(self.nodes)
        return labels, marks_from_edges(labels, self.edges)

    def peek(self) -> str:
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def next(self) -> str:
        token = self.peek()
        if not token:
            raise GraphTextError("The DOT text ends before its closing brace.")
        self.position += 1
        return token

    def expect(self, token: str) -> None:
        if (got := self.next()) != token:
            raise GraphTextError(f"Expected {token!r} in the DOT text; got {got!r}. Subgraphs and ports cannot be read.")

    def statement(self) -> None:
        if self.peek() in {";", ","}:
            self.next()
            return
        first = self.next()
        if first.lower() in {"node", "graph", "edge"} and self.peek() == "[":
            attributes = self.attributes()
            if first.lower() == "edge":
                self.defaults |= attributes
        elif self.peek() == "=":
            self.next()
            self.next()
        else:
            self.chain(first)

    def chain(self, first: str) -> None:
        names = [self.name(first)]
        while self.peek() in {"->", "--"}:
            self.expect(self.arrow)
            names.append(self.name(self.next()))
        attributes = self.defaults | self.attributes()
        self.nodes.update(dict.fromkeys(names))
        for a, b in pairwise(names):
            self.edges.append((a, self.symbol(attributes), b))

    def name(self, token: str) -> str:
        if token in {"[", "]", "{", "}", "=", "->", "--", "subgraph"}:
            raise GraphTextError(f"Expected the name of a node in the DOT text; got {token!r}. Subgraphs and ports cannot be read.")
        return _unquote(token)

    def attributes(self) -> dict[str, str]:
        found: dict[str, str] = {}
        while self.peek() == "[":
            self.next()
            while self.peek() != "]":
                if self.peek() in {";", ","}:
                    self.next()
                    continue
                key = _unquote(self.next())
                self.expect("=")
                found[key] = _unquote(self.next())
            self.next()
        return found

    def symbol(self, attributes: dict[str, str]) -> str:
        direction = attributes.get("dir", "forward" if self.arrow == "->" else "none")
        tail = attributes.get("arrowtail", "normal") if direction in {"back", "both"} else "none"
        head = attributes.get("arrowhead", "normal") if direction in {"forward", "both"} else "none"
        for shape in (tail, head):
            if shape not in _MARKS:
                raise GraphTextError(f"The end of an edge in DOT is one of {', '.join(_MARKS)}; got {shape!r}.")
        return edge_symbol(_MARKS[tail], _MARKS[head])


def _tokens(text: str) -> list[str]:
    tokens: list[str] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise GraphTextError(
                f"Cannot read the DOT text from {text[position : position + 20]!r} on. Quote names that are not plain words."
            )
        if match.lastgroup != "skip":
            tokens.append(match[0])
        position = match.end()
    return tokens


def _unquote(token: str) -> str:
    if not token.startswith('"'):
        return token
    return re.sub(r"\\([\"\\])", r"\1", token[1:-1])


register_encoding("dot", write_dot, read_dot)
