"""A graph with marks at the ends of its edges: what PAGs, MAGs and DAGs have in common.

A graph never changes. Its labels keep the order in which they were given, and so do the rows of its matrix; two graphs are equal
if they are of one class, have the same *set* of labels and the same marks between them. Text, edges and hashes follow the sorted
labels, so they do not depend on the order either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from consilience.graph.errors import CircleMarkError, HalfEdgeError, LabelError, UnknownNodeError
from consilience.graph.marks import Mark, MarkMatrix, check_marks
from consilience.graph.marksets import MarkSets
from consilience.graph.text import edge_symbol, ordered_pairs, quoted, read_text, write_text
from consilience.graph.views import Viewed

__all__ = ["Edge", "MixedGraph"]

_MARKS = tuple(Mark)
"""By number: to make one from its number takes ten times as long as to look it up."""


class Edge(NamedTuple):
    """An edge a–b with the mark at a and the mark at b.

    Attributes
    ----------
    a, b : str
        The nodes that it joins.
    at_a, at_b : Mark
        What stands at either end.

    Examples
    --------
    >>> str(Edge("A", "B", Mark.CIRCLE, Mark.ARROW))
    'A o-> B'
    """

    a: str
    b: str
    at_a: Mark
    at_b: Mark

    def __str__(self) -> str:
        return f"{quoted(self.a)} {edge_symbol(self.at_a, self.at_b)} {quoted(self.b)}"


class MixedGraph(Viewed):
    """Labels and one matrix of marks; any marks may stand at any end.

    Parameters
    ----------
    marks : array_like of int, shape (n, n)
        Entry (i, j) is the mark at j on the edge i–j: 0 no edge, 1 circle, 2 arrowhead, 3 tail (pcalg's coding).
    labels : iterable of str
        One name for every node, in the order of the matrix.

    Attributes
    ----------
    labels : tuple of str
        The nodes, in the order of the matrix.
    marks : numpy.ndarray of int8
        The matrix of marks, read-only.
    edges : tuple of Edge
        Every edge once, by sorted labels.

    Raises
    ------
    GraphError
        If the matrix or the labels are not those of a graph of this class; the detail says which.

    See Also
    --------
    parse : from text such as ``A o-> B``
    from_matrix, from_dot, from_tetrad, from_networkx, from_causallearn : from what other software has

    Examples
    --------
    >>> graph = MixedGraph.parse("A o-> B, B <-> C")
    >>> graph.mark("A", "B"), graph.mark("B", "A")
    (<Mark.ARROW: 2>, <Mark.CIRCLE: 1>)
    >>> graph.neighbours("B")
    ('A', 'C')
    >>> graph
    MixedGraph.parse('A o-> B, B <-> C')
    """

    __slots__ = ("_index", "_labels", "_marks", "_memo")

    _index: dict[str, int]
    _labels: tuple[str, ...]
    _marks: MarkMatrix
    _memo: dict[str, Any]

    def __init__(self, marks: ArrayLike, labels: Iterable[str]) -> None:
        names = _check_labels(labels)
        checked = check_marks(marks, names)
        if len(checked) != len(names):
            raise LabelError(f"Every node has one label; got {len(names)} labels for a matrix of {len(checked)} nodes.")
        self._set(checked, names)
        self._check()

    def _set(self, marks: MarkMatrix, labels: tuple[str, ...]) -> None:
        self._labels = labels
        self._index = {label: i for i, label in enumerate(labels)}
        self._marks = marks
        self._memo = {}

    def _check(self) -> None:
        """Raise if the marks are not those of a graph of this class."""

    @classmethod
    def _trusted(cls, marks: MarkSets, labels: tuple[str, ...]) -> Self:
        """A graph whose marks come from an algorithm that guarantees them: no checks.

        To check a MAG is to look for an inducing path between any two nodes without an edge, which can cost more than the algorithm did.
        """
        graph = cls.__new__(cls)
        matrix = marks.to_matrix()
        matrix.setflags(write=False)
        graph._set(matrix, labels)
        return graph

    def _parts(self) -> tuple[tuple[str, ...], MarkMatrix]:
        return self._labels, self._marks

    @classmethod
    def _from_parts(cls, parts: tuple[list[str], MarkMatrix]) -> Self:
        labels, marks = parts
        return cls(marks, labels)

    # Making graphs

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, labels: Iterable[str]) -> Self:
        """A graph from pcalg's matrix of marks: ``matrix[i][j]`` is the mark at j; 0 none, 1 circle, 2 arrowhead, 3 tail.

        Parameters
        ----------
        matrix : array_like of int, shape (n, n)
            The marks; pcalg's ``amat.pag`` as it is.
        labels : iterable of str
            One name for every row.

        Returns
        -------
        MixedGraph
            Of the class on which this is called.

        Raises
        ------
        MarkError
            If an entry is no mark, a node has an edge to itself, or an edge has a mark at one end only.
        LabelError
            If the labels are not distinct, non-empty text, one for every node.

        Examples
        --------
        >>> MixedGraph.from_matrix([[0, 2], [3, 0]], ["A", "B"])
        MixedGraph.parse('A --> B')
        """
        return cls(matrix, labels)

    @classmethod
    def from_working(cls, marks: MarkSets, labels: Iterable[str]) -> Self:
        """A graph from an algorithm's working copy.

        Parameters
        ----------
        marks : MarkSets
        labels : iterable of str
            One name for every node.

        Returns
        -------
        MixedGraph
            Of the class on which this is called, and checked.
        """
        return cls(marks.to_matrix(), labels)

    @classmethod
    def parse(cls, text: str, labels: Iterable[str] | None = None) -> Self:
        """A graph from text such as ``A o-> B, B <-> C, D``.

        Parameters
        ----------
        text : str
            Edges and nodes without edges, separated by commas or line ends. An edge is a left mark (``<``, ``o``, ``-``), a dash and a
            right mark (``>``, ``o``, ``-``), with blanks around it. Labels with blanks, commas or quotation marks are quoted as in JSON.
        labels : iterable of str, optional
            The order of the labels, and nodes beyond those of the text; sorted by default.

        Returns
        -------
        MixedGraph
            Of the class on which this is called.

        Raises
        ------
        GraphTextError
            If the text cannot be read.
        LabelError
            If ``labels`` lacks a node of the text.

        Examples
        --------
        >>> MixedGraph.parse("B --> A, C").labels
        ('A', 'B', 'C')
        """
        graph = cls._from_parts(read_text(text))
        return graph if labels is None else graph.reordered(labels)

    def reordered(self, labels: Iterable[str]) -> Self:
        """The same graph with its labels in another order.

        Parameters
        ----------
        labels : iterable of str
            All labels of the graph. Those that it does not have become nodes without edges.

        Returns
        -------
        MixedGraph
            Of the same class, equal to this one if no labels were added.

        Raises
        ------
        LabelError
            If a label of the graph is missing.

        Examples
        --------
        >>> MixedGraph.parse("A --> B").reordered(["B", "A"]).to_matrix().tolist()
        [[0, 3], [2, 0]]
        """
        names = _check_labels(labels)
        missing = [label for label in self._labels if label not in names]
        if missing:
            raise LabelError(f"An order names every label of the graph; {', '.join(map(repr, missing))} not in {list(names)}.")
        matrix = np.zeros((len(names), len(names)), dtype=np.int8)
        places = [names.index(label) for label in self._labels]
        matrix[np.ix_(places, places)] = self._marks
        matrix.setflags(write=False)
        graph = type(self).__new__(type(self))
        graph._set(matrix, names)
        return graph

    # Reading graphs

    @property
    def labels(self) -> tuple[str, ...]:
        """The nodes, in the order of the matrix."""
        return self._labels

    @property
    def marks(self) -> MarkMatrix:
        """The matrix of marks, read-only: entry (i, j) is the mark at j on the edge i–j."""
        return self._marks

    def to_matrix(self) -> MarkMatrix:
        """A copy of the matrix of marks in pcalg's coding.

        Returns
        -------
        numpy.ndarray of int8, shape (n, n)
            In the order of ``labels``; entry (i, j) is the mark at j on the edge i–j.
        """
        return self._marks.copy()

    def working(self) -> MarkSets:
        """A mutable copy of the marks for algorithms.

        Returns
        -------
        MarkSets
        """
        return MarkSets._from_rows(self._marks.tolist())

    def index(self, label: str) -> int:
        """The number of a node, in the order of ``labels``.

        Parameters
        ----------
        label : str

        Returns
        -------
        int

        Raises
        ------
        UnknownNodeError
            If the graph has no such node.
        """
        try:
            return self._index[label]
        except (KeyError, TypeError):
            raise UnknownNodeError(f"No node {label!r} in this graph. It has: {', '.join(sorted(self._labels))}.") from None

    def mark(self, a: str, b: str) -> Mark:
        """The mark at b on the edge a–b.

        Parameters
        ----------
        a, b : str
            Two nodes; the mark is that at the second.

        Returns
        -------
        Mark
            ``Mark.NONE`` if they are not adjacent.

        Raises
        ------
        UnknownNodeError
            If the graph has no such node.

        Examples
        --------
        >>> MixedGraph.parse("A o-> B").mark("A", "B")
        <Mark.ARROW: 2>
        """
        return Mark(int(self._marks[self.index(a), self.index(b)]))

    def adjacent(self, a: str, b: str) -> bool:
        """True if there is an edge between a and b.

        Parameters
        ----------
        a, b : str

        Returns
        -------
        bool
        """
        return self.mark(a, b) is not Mark.NONE

    def neighbours(self, a: str) -> tuple[str, ...]:
        """All nodes adjacent to a, whatever the marks, sorted.

        Parameters
        ----------
        a : str

        Returns
        -------
        tuple of str
        """
        return self._related(a, lambda near, far: bool(near and far))

    def parents(self, a: str) -> tuple[str, ...]:
        """The nodes b with b --> a, sorted.

        Parameters
        ----------
        a : str

        Returns
        -------
        tuple of str
        """
        return self._related(a, lambda near, far: (near, far) == (Mark.ARROW, Mark.TAIL))

    def children(self, a: str) -> tuple[str, ...]:
        """The nodes b with a --> b, sorted.

        Parameters
        ----------
        a : str

        Returns
        -------
        tuple of str
        """
        return self._related(a, lambda near, far: (near, far) == (Mark.TAIL, Mark.ARROW))

    def spouses(self, a: str) -> tuple[str, ...]:
        """The nodes b with a <-> b, sorted.

        Parameters
        ----------
        a : str

        Returns
        -------
        tuple of str
        """
        return self._related(a, lambda near, far: (near, far) == (Mark.ARROW, Mark.ARROW))

    def _related(self, a: str, wanted: Callable[[int, int], bool]) -> tuple[str, ...]:
        i = self.index(a)
        near, far = self._marks[:, i].tolist(), self._marks[i].tolist()
        return tuple(sorted(label for label, n, f in zip(self._labels, near, far, strict=True) if wanted(n, f)))

    @property
    def edges(self) -> tuple[Edge, ...]:
        """Every edge once, by sorted labels, turned so that a single arrowhead stands at ``b``."""
        rows = self._marks.tolist()
        return tuple(
            Edge(self._labels[i], self._labels[j], _MARKS[rows[j][i]], _MARKS[rows[i][j]])
            for i, j in ordered_pairs(self._labels, self._marks)
        )

    def with_mark(self, a: str, b: str, mark: Mark) -> Self:
        """The same graph with another mark at b on the edge a–b.

        Parameters
        ----------
        a, b : str
            Two adjacent nodes.
        mark : Mark
            What is to stand at b.

        Returns
        -------
        MixedGraph
            Of the same class, checked as a new one.

        Raises
        ------
        HalfEdgeError
            If the two are not adjacent, or ``mark`` is ``Mark.NONE``.

        Examples
        --------
        >>> MixedGraph.parse("A o-o B").with_mark("A", "B", Mark.ARROW)
        MixedGraph.parse('A o-> B')
        """
        if not self.adjacent(a, b) or mark == Mark.NONE:
            raise HalfEdgeError(f"A mark can change on an edge, and into a mark; got {mark!r} at {b!r} on {a!r}–{b!r}.")
        matrix = self.to_matrix()
        matrix[self.index(a), self.index(b)] = mark
        return type(self)(matrix, self._labels)

    def _check_no_circles(self, reason: str) -> None:
        for edge in self.edges if (self._marks == Mark.CIRCLE).any() else ():
            if Mark.CIRCLE in (edge.at_a, edge.at_b):
                raise CircleMarkError(f"{reason} Got {edge}. Take a member of the class first: pag_to_mag(pag).")

    # Equality, text

    def _key(self) -> tuple[tuple[str, ...], bytes]:
        key = self._memo.get("key")
        if key is None:
            order = sorted(range(len(self._labels)), key=self._labels.__getitem__)
            in_order = order == list(range(len(order)))  # as in most graphs, and then nothing need be moved
            marks = self._marks if in_order else self._marks[np.ix_(order, order)]
            key = (tuple(self._labels[i] for i in order), marks.tobytes())
            self._memo["key"] = key
        return key

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, MixedGraph)
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self), self._key()))

    def __len__(self) -> int:
        return len(self._labels)

    def __contains__(self, label: object) -> bool:
        return label in self._index

    def __reduce__(self) -> tuple[Any, ...]:
        # by the constructor: what was memorised stays behind, and a graph from another process is checked like any other
        return type(self), (self._marks, self._labels)

    def __str__(self) -> str:
        return write_text(self._labels, self._marks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}.parse({str(self)!r})"


def _check_labels(labels: Iterable[str]) -> tuple[str, ...]:
    names = tuple(labels)
    wrong = [name for name in names if not isinstance(name, str) or not name]
    if wrong:
        raise LabelError(f"A label is non-empty text; got {wrong[0]!r}.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise LabelError(f"Labels differ from each other; got {twice[0]!r} more than once. Rename one of the nodes.")
    return names
