"""Adjustment sets: what to hold fixed so that an association is the effect of x on y in every graph of a class.

The generalised adjustment criterion (Perković, Textor, Kalisch & Maathuis, Complete graphical characterization and construction of
adjustment sets in Markov equivalence classes of ancestral graphs, JMLR 18, 2018; after Maathuis & Colombo, Annals of Statistics 43, 2015):
in a DAG, MAG or PAG a set Z adjusts for the total effect of x on y, whatever the distribution, iff

1. *amenability*: every possibly directed path from x to y begins with a visible edge x --> c;
2. *forbidden set*: Z has no possible descendant of a node other than x on such a path;
3. *blocking*: Z blocks every definite-status path from x to y that is not directed.

None of the three needs a list of paths. The first two are about reachability (``possible_paths``). For the third, where the first two hold,
take any MAG of the class without the edges that begin the possibly directed paths: Z blocks iff it m-separates x and y there. So sets that
block are separators, and are found as such (``separators``).

The criterion allows for hidden common causes and for none of the ways in which selection makes variables dependent: a graph with an
edge --- or --o, which only selection explains, has no answer here. Where no set adjusts, other ways may still identify an effect (the front
door, for one); they are not looked for.

A PAG may have marks that come from knowledge and not from its class. Its paths are then read off these marks: what is possible, what is
visible and what is forbidden holds for every MAG that has them. That blocking is the same in all of these MAGs is a theorem for whole
classes only; for parts of them it is held against all members of small classes (``tests/graph/test_adjustment_knowledge.py``), and some
sets that work in all of them may be missed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise
from typing import NamedTuple

from consilience.citest.errors import ConditioningError, SameVariableError
from consilience.errors import GraphError, OptionError
from consilience.graph.ancestry import possible_descendants
from consilience.graph.graphs import DAG, MAG, PAG
from consilience.graph.identification import Adjustment, Identification
from consilience.graph.marksets import MarkSets, bits, mask_of
from consilience.graph.members import member_marks
from consilience.graph.mixed import Edge, MixedGraph
from consilience.graph.possible_paths import first_steps, is_visible, on_the_way, possible_path
from consilience.graph.separation import Separation
from consilience.graph.separators import minimal_separators, open_path, separators, widest_separator
from consilience.graph.text import edge_symbol, quoted

__all__ = ["adjustment_sets", "is_adjustment_set"]


def is_adjustment_set(graph: PAG | MAG | DAG, x: str, y: str, z: str | Iterable[str] = ()) -> bool:
    """True if adjusting for a set gives the total effect of x on y in every graph of the class: the generalised adjustment criterion.

    Where x is no possible cause of y, such a set is one that separates the two.

    Parameters
    ----------
    graph : PAG, MAG or DAG
    x, y : str
        The cause and the outcome.
    z : str or iterable of str, default ()
        The set.

    Returns
    -------
    bool
        False for every set if the graph has edges that only selection explains.

    Raises
    ------
    SameVariableError, ConditioningError
        If x and y are one node, or in the set.
    UnknownNodeError
        If the graph has no such node.
    InvalidPAGError
        If the PAG stands for no class.

    See Also
    --------
    adjustment_sets : all such sets, or why there are none

    Examples
    --------
    >>> pag = PAG.parse("A o-> X, B o-> X, X --> Y")
    >>> is_adjustment_set(pag, "X", "Y"), is_adjustment_set(pag, "A", "Y")
    (True, False)
    """
    i, j = _pair(graph, x, y)
    given = _mask(graph, (z,) if isinstance(z, str) else z)
    if given >> i & 1 or given >> j & 1:
        raise ConditioningError(f"The effect of {x!r} on {y!r} is not adjusted for one of the two; take them out of the set.")
    theory = _theory(graph)
    if theory is None or _hidden(theory, i, j) is not None or given & _forbidden(theory, i, j):
        return False
    return Separation(_without_effect(theory, i, j)).separated(i, j, given)


def adjustment_sets(
    graph: PAG | MAG | DAG,
    x: str,
    y: str,
    *,
    among: Iterable[str] | None = None,
    datasets: Iterable[Iterable[str]] | None = None,
    minimal: bool = True,
    most: int = 100,
) -> Adjustment:
    """The sets that adjust for the total effect of x on y in every graph of the class, or why there is none.

    Parameters
    ----------
    graph : PAG, MAG or DAG
    x, y : str
        The cause and the outcome.
    among : iterable of str, optional
        The variables that were measured together, x and y among them: those of one data set. All of the graph, by default.
    datasets : iterable of iterable of str, optional
        In place of ``among``: the variables of each data set. Found are the sets that at least one of them has together with x and y.
    minimal : bool, default True
        Only sets of which no proper subset adjusts.
    most : int, default 100
        So many sets at most; ``complete`` says whether there are more.

    Returns
    -------
    Adjustment
        The sets; or zero, where x is a possible cause of y in no graph of the class; or what stands in the way, with its words.

    Raises
    ------
    SameVariableError
        If x and y are one node.
    UnknownNodeError
        If the graph has no such node.
    InvalidPAGError
        If the PAG stands for no class.
    OptionError
        If ``most`` is below 1, or both ``among`` and ``datasets`` are given.

    See Also
    --------
    is_adjustment_set : whether one set is

    Examples
    --------
    >>> pag = PAG.parse("A o-> X, B o-> X, B --> Y, X --> Y")
    >>> adjustment_sets(pag, "X", "Y").sets
    (('B',),)
    >>> print(adjustment_sets(pag, "Y", "X").in_words())
    Y is no possible cause of X: the effect is zero.
    >>> print(adjustment_sets(pag, "X", "Y", among=["A", "X", "Y"]).in_words())
    The effect of X on Y is not identifiable by adjustment: no data set measures X and Y together with B, for which to adjust.
    >>> adjustment_sets(pag, "B", "Y").identification, str(adjustment_sets(pag, "B", "Y").edge)
    (<Identification.HIDDEN_CAUSE: 'hidden cause'>, 'B --> Y')
    """
    if most < 1:
        raise OptionError(f"most must be at least 1; got {most!r}.")
    i, j = _pair(graph, x, y)
    held = _held(graph, among, datasets)
    theory = _theory(graph)
    if theory is None:
        return Adjustment(x, y, Identification.SELECTION, edge=_selection_edge(graph))
    if not first_steps(theory.marks, i, j):
        return Adjustment(x, y, Identification.ZERO)
    hidden = _hidden(theory, i, j)
    if hidden is not None:
        path = _text(graph, possible_path(theory.marks, i, hidden, j))
        return Adjustment(x, y, Identification.HIDDEN_CAUSE, edge=_edge(graph, i, hidden), path=path)

    forbidden = _forbidden(theory, i, j)
    marks, both = _without_effect(theory, i, j), 1 << i | 1 << j
    allowed = (1 << len(graph)) - 1 & ~forbidden & ~both
    separation = Separation(marks)
    widest = separation.ancestors_of(both) & allowed
    if widest_separator(separation, i, j, allowed) is None:
        blocked = open_path(marks, i, j, widest)
        assert blocked is not None
        return Adjustment(x, y, Identification.OPEN_PATH, forbidden=_labels(graph, forbidden), path=_text(graph, blocked))

    def found_in(masks: Iterable[int], *, minimal: bool) -> tuple[tuple[tuple[str, ...], ...], bool]:
        search = minimal_separators if minimal else separators
        distinct = _distinct(separator for mask in masks for separator in search(marks, i, j, allowed & mask))
        found = [_labels(graph, separator) for separator in islice(distinct, most + 1)]
        return tuple(sorted(found[:most], key=lambda names: (len(names), names))), len(found) <= most

    together = [mask for mask in held if not both & ~mask]
    sets, complete = found_in(together, minimal=minimal)
    wanted: tuple[tuple[str, ...], ...] = ()
    if not sets and together:
        wanted, complete = found_in([allowed], minimal=True)
    return Adjustment(
        x,
        y,
        Identification.ADJUSTED if sets else Identification.NOT_TOGETHER,
        sets=sets,
        complete=complete,
        canonical=_labels(graph, theory.possible_ancestors(both) & allowed),
        forbidden=_labels(graph, forbidden),
        wanted=wanted,
    )


class _Theory(NamedTuple):
    """What questions about one graph have in common."""

    marks: MarkSets
    member: MarkSets
    """A MAG of the class, or the DAG itself."""
    all_visible: bool
    descendants: list[int]

    def possible_ancestors(self, nodes: int) -> int:
        """The possible ancestors of a set of nodes, the set itself among them."""
        return nodes | mask_of(v for v, below in enumerate(self.descendants) if below & nodes)


def _theory(graph: MixedGraph) -> _Theory | None:
    """Made at the first question about a graph and kept with it; None if the graph has edges that only selection explains."""
    if "adjustment" not in graph._memo:
        graph._memo["adjustment"] = None if _selection_edge(graph) else _made(graph)
    kept: _Theory | None = graph._memo["adjustment"]
    return kept


def _made(graph: MixedGraph) -> _Theory:
    if not isinstance(graph, PAG | MAG | DAG):
        raise GraphError(
            f"The adjustment criterion is about DAGs, MAGs and PAGs; got {graph!r}. "
            f"Make it one, which checks it: MAG.from_matrix(graph.to_matrix(), graph.labels)."
        )
    marks = graph.working()
    member = member_marks(marks) if isinstance(graph, PAG) else marks
    return _Theory(marks, member, isinstance(graph, DAG), possible_descendants(marks))


def _selection_edge(graph: MixedGraph) -> Edge | None:
    """An edge a --- b or a --o b: a is then an ancestor of a selection variable, or b is."""
    marks = graph.working()
    for v in range(marks.n):
        for u in bits(marks.tail[v] & ~marks.far_arrow[v]):
            return _edge(graph, v, u)
    return None


def _hidden(theory: _Theory, x: int, y: int) -> int | None:
    """A node next to x on a possibly directed path to y whose edge with x is not visible; None if the graph is amenable."""
    # y first, if it is one: then there is nothing to tell but one edge
    doubtful = [c for c in bits(first_steps(theory.marks, x, y)) if not _sure(theory, x, c)]
    return y if y in doubtful else doubtful[0] if doubtful else None


def _sure(theory: _Theory, a: int, b: int) -> bool:
    return theory.all_visible or is_visible(theory.marks, a, b)


def _forbidden(theory: _Theory, x: int, y: int) -> int:
    """The possible descendants of nodes on possibly directed paths from x to y, x not counted; empty if there is no such path."""
    found = on_the_way(theory.marks, x, y)
    for v in bits(found):
        found |= theory.descendants[v]
    return found


def _without_effect(theory: _Theory, x: int, y: int) -> MarkSets:
    """The member without the edges out of x that begin its effect on y: what joins the two in it is no effect."""
    marks = theory.member.copy()
    for c in bits(first_steps(theory.marks, x, y)):
        marks.remove_edge(x, c)
    return marks


def _distinct(found: Iterable[int]) -> Iterator[int]:
    """Each once and as soon as it is found: there may be more than anybody asks for."""
    seen = set()
    for mask in found:
        if mask not in seen:
            seen.add(mask)
            yield mask


def _pair(graph: MixedGraph, x: str, y: str) -> tuple[int, int]:
    i, j = graph.index(x), graph.index(y)
    if i == j:
        raise SameVariableError(f"The cause and the outcome are two variables; both are {x!r}.")
    return i, j


def _held(graph: MixedGraph, among: Iterable[str] | None, datasets: Iterable[Iterable[str]] | None) -> list[int]:
    """The nodes of each data set; of those that are part of another one only the other."""
    if among is not None and datasets is not None:
        raise OptionError("among and datasets say the same of one data set and of several; give one of the two.")
    if datasets is None:
        return [(1 << len(graph)) - 1 if among is None else _mask(graph, among)]
    masks = {_mask(graph, names) for names in datasets}
    return sorted(mask for mask in masks if not any(mask != other and not mask & ~other for other in masks))


def _mask(graph: MixedGraph, names: Iterable[str]) -> int:
    return mask_of(graph.index(name) for name in names)


def _labels(graph: MixedGraph, mask: int) -> tuple[str, ...]:
    return tuple(sorted(graph.labels[v] for v in bits(mask)))


def _edge(graph: MixedGraph, a: int, b: int) -> Edge:
    one, other = graph.labels[a], graph.labels[b]
    return Edge(one, other, graph.mark(other, one), graph.mark(one, other))


def _text(graph: MixedGraph, path: Iterable[int]) -> str:
    """A path with the marks of its edges: ``A <-> B --> C``."""
    names = [graph.labels[v] for v in path]
    text = quoted(names[0])
    for a, b in pairwise(names):
        text += f" {edge_symbol(graph.mark(b, a), graph.mark(a, b))} {quoted(b)}"
    return text
