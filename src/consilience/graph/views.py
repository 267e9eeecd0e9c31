"""How graphs look from outside: pictures and the encodings of other software, registered by name.

A graph draws itself and writes itself as DOT, yet theory must not know drawings: a rule or a separation is then read, changed and tested
without them. So the arrow is turned round. ``drawing/`` and ``formats/`` register here when ``consilience.graph`` is imported, and
:class:`Viewed`, from which all graphs descend, looks them up by name. An import inside each method was the other way; it hides the arrow
and does not turn it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, TypeAlias, cast

from consilience.graph.marks import MarkMatrix

if TYPE_CHECKING:  # a MixedGraph descends from what is here
    from consilience.graph.mixed import MixedGraph

__all__ = ["Encoding", "Painter", "Positions", "Viewed", "encoding", "painter", "register_encoding", "register_painter"]

Positions: TypeAlias = Mapping[str, tuple[float, float]]
"""The centres of nodes by their labels, in pixels, y down."""


class Encoding(NamedTuple):
    """A writer and a reader between (labels, marks) and a foreign form."""

    write: Callable[[Sequence[str], MarkMatrix], Any]
    read: Callable[[Any], tuple[list[str], MarkMatrix]]


class Painter(Protocol):
    """Draws a graph; the options are those of :meth:`Viewed.to_svg`."""

    def __call__(
        self, graph: MixedGraph, *, width: float | None = None, positions: Positions | None = None, title: str | None = None
    ) -> str:
        """The picture as text."""


_ENCODINGS: dict[str, Encoding] = {}
_PAINTERS: dict[str, Painter] = {}


def register_encoding(
    name: str, write: Callable[[Sequence[str], MarkMatrix], Any], read: Callable[[Any], tuple[list[str], MarkMatrix]]
) -> None:
    """Make an encoding known under a name."""
    _ENCODINGS[name] = Encoding(write, read)


def encoding(name: str) -> Encoding:
    r"""The encoding of this name.

    >>> encoding("tetrad").read("Graph Nodes:\nA;B\n\nGraph Edges:\n1. A --> B")[0]
    ['A', 'B']
    """
    return _ENCODINGS[name]


def register_painter(name: str, paint: Painter) -> None:
    """Make a kind of picture known under a name."""
    _PAINTERS[name] = paint


def painter(name: str) -> Painter:
    """Who draws this kind of picture."""
    return _PAINTERS[name]


class Viewed:
    """What graphs can do for other software and for eyes; a graph gives its labels and marks, and is made from them."""

    __slots__ = ()

    def _parts(self) -> tuple[tuple[str, ...], MarkMatrix]:
        raise NotImplementedError

    @classmethod
    def _from_parts(cls, parts: tuple[list[str], MarkMatrix]) -> Self:
        raise NotImplementedError

    def to_svg(self, *, width: float | None = None, positions: Positions | None = None, title: str | None = None) -> str:
        """The graph as a picture: circles, arrowheads and tails at the ends of its edges; light and dark.

        Parameters
        ----------
        width : float, optional
            Of the picture on the page, in pixels. By default letters are 14 pixels high.
        positions : mapping of str to (float, float), optional
            The centres of the nodes in pixels, y down, such as ``positions_of`` in ``graph/drawing`` finds for several graphs at once.
            They are enlarged as a whole, then pushed apart, as far as labels and marks need it.
        title : str, optional
            What the picture is called where it cannot be seen.

        Returns
        -------
        str
            SVG that needs nothing else. A notebook shows it by itself.

        Raises
        ------
        OptionError
            If the width is no positive number or a node has no position.

        Examples
        --------
        >>> from consilience.graph import MixedGraph
        >>> MixedGraph.parse("A o-> B").to_svg(positions={"A": (0, 0), "B": (0, 100)})[:4]
        '<svg'
        """
        return painter("svg")(cast("MixedGraph", self), width=width, positions=positions, title=title)

    def _repr_svg_(self) -> str:
        """Drawn in notebooks."""
        return self.to_svg()

    def _written(self, form: str) -> Any:
        return encoding(form).write(*self._parts())

    @classmethod
    def _read(cls, form: str, foreign: Any) -> Self:
        return cls._from_parts(encoding(form).read(foreign))

    def to_dot(self) -> str:
        """The graph in Graphviz' language; circles are ``odot``, arrowheads ``normal``, tails ``none``.

        Returns
        -------
        str
            A ``digraph`` whose edges say ``dir=both``.

        Examples
        --------
        >>> from consilience.graph import MixedGraph
        >>> print(MixedGraph.parse("A o-> B").to_dot().splitlines()[3])
          "A" -> "B" [dir=both, arrowtail=odot, arrowhead=normal];
        """
        return str(self._written("dot"))

    @classmethod
    def from_dot(cls, text: str) -> Self:
        """A graph from Graphviz' language.

        Parameters
        ----------
        text : str
            A graph or digraph, without subgraphs and ports.

        Returns
        -------
        MixedGraph
            Of the class on which this is called.

        Raises
        ------
        GraphTextError
            If the text cannot be read.

        Examples
        --------
        >>> from consilience.graph import MixedGraph
        >>> MixedGraph.from_dot("digraph { a -> b; b -> c [dir=both] }")
        MixedGraph.parse('a --> b, b <-> c')
        """
        return cls._read("dot", text)

    def to_tetrad(self) -> str:
        """The graph as Tetrad's text: ``Graph Nodes:`` and ``Graph Edges:``.

        Returns
        -------
        str

        Raises
        ------
        GraphTextError
            If a label has blanks, commas or semicolons in it, which Tetrad's names have not.
        """
        return str(self._written("tetrad"))

    @classmethod
    def from_tetrad(cls, text: str) -> Self:
        """A graph from Tetrad's text.

        Parameters
        ----------
        text : str
            With the lines ``Graph Nodes:`` and ``Graph Edges:``.

        Returns
        -------
        MixedGraph
            Of the class on which this is called.

        Raises
        ------
        GraphTextError
            If the text cannot be read.
        """
        return cls._read("tetrad", text)

    def to_networkx(self) -> Any:
        """The graph in networkx.

        Returns
        -------
        networkx.Graph
            Undirected; its edges carry ``marks``, for each end ``"circle"``, ``"arrow"`` or ``"tail"``.

        Raises
        ------
        MissingPackageError
            If networkx is not installed.
        """
        return self._written("networkx")

    @classmethod
    def from_networkx(cls, graph: Any) -> Self:
        """A graph from networkx.

        Parameters
        ----------
        graph : networkx.Graph or networkx.DiGraph
            Edges have ``marks`` as :meth:`to_networkx` writes them; those of a directed graph may do without and are a --> b.

        Returns
        -------
        MixedGraph
            Of the class on which this is called.

        Raises
        ------
        GraphTextError
            If an edge has no marks, or others.
        LabelError
            If a node is no text.
        MissingPackageError
            If networkx is not installed.
        """
        return cls._read("networkx", graph)

    def to_causallearn(self) -> Any:
        """The graph in causal-learn.

        Returns
        -------
        causallearn.graph.GeneralGraph.GeneralGraph

        Raises
        ------
        MissingPackageError
            If causal-learn is not installed.
        """
        return self._written("causallearn")

    @classmethod
    def from_causallearn(cls, graph: Any) -> Self:
        """A graph from causal-learn.

        Parameters
        ----------
        graph : GeneralGraph
            Or a result that has one as ``G``, as ``pc`` gives it.

        Returns
        -------
        MixedGraph
            Of the class on which this is called.

        Raises
        ------
        GraphTextError
            If an end of an edge is neither a circle nor an arrowhead nor a tail.
        """
        return cls._read("causallearn", graph)
