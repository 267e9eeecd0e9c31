"""The result in sentences. What holds in all graphs is said only where there is one, and "none" only where nothing is unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from unicodedata import bidirectional

from consilience.graph.marks import ARROW, CIRCLE, TAIL
from consilience.graph.mixed import Edge
from consilience.graph.text import edge_symbol, quoted
from consilience.iod.report.html import Html, join, label
from consilience.iod.summary import SummaryEdge
from consilience.iod.wording import counted

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["certain", "edge_sentence", "edges_in_words", "isolated", "left_open", "shared_edges", "title"]


def title(found: Discovery) -> str:
    """What the page is called."""
    n = len(found.pags)
    if n:
        graphs = counted(n, "graph") if found.complete else f"{n:,} graphs or more" if n > 1 else "1 graph or more"
    else:
        graphs = "no graph" if found.complete else "no graph in the time"
    return f"Causal discovery: {graphs} from {counted(len(found.datasets), 'data set')}"


def edges_in_words(found: Discovery) -> str:
    """How many edges are in all, some or none of the graphs, as far as that is known."""
    n = len(found.pags)
    if n == 0:
        return "So nothing can be said about the edges between the variables."
    statuses = found.summary.frame["edge"].to_list()
    every, some, never, unknown = (statuses.count(status) for status in ("all", "some", "none", "unknown"))
    if n == 1 and found.complete:
        return f"It has {counted(every, 'edge')}; the other {counted(never, 'pair')} of variables {_are(never)} not joined."
    where = f"in every one of the {n:,} graphs" if found.complete else "in every graph, listed or not"
    parts = []
    if every or not unknown:  # "no edge" is a finding only where every pair is known
        parts.append(f"{counted(every, 'edge') if every else 'No edge'} {'holds' if every < 2 else 'hold'} {where}")
    if some:
        parts.append(f"{some:,} {_are(some)} in some of them" if parts else f"{counted(some, 'edge')} {_are(some)} in some graphs")
        parts[-1] += " and not in others"
    if unknown:
        parts.append(f"of {counted(unknown, 'pair')} of variables it is not known whether graphs join {'it' if unknown == 1 else 'them'}")
    rest = f"; {counted(never, 'pair')} of variables {_are(never)} joined in none" if never else ""
    said = f"{', '.join(parts)}{rest}."
    return said[0].upper() + said[1:]


def shared_edges(found: Discovery) -> str:
    """The edges that all graphs have, with the marks that they share ("?" where they differ or it is not known), as text.

    >>> import consilience as cs
    >>> shared_edges(cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"])))
    'A ?-> C, B o-> C, C --> D'
    """
    edges = [edge for edge in found.summary.edges() if edge.status == "all"]
    if edges:
        return ", ".join(map(_drawn, edges))
    return "no edge that is known" if "unknown" in found.summary.frame["edge"] else "no edge"


def _drawn(edge: SummaryEdge) -> str:
    left = "?" if edge.at_a is None else edge_symbol(edge.at_a, TAIL)[0]
    right = "?" if edge.at_b is None else edge_symbol(TAIL, edge.at_b)[-1]
    return f"{quoted(edge.a)} {left}-{right} {quoted(edge.b)}"


def certain(found: Discovery) -> list[Html]:
    """What every graph says about causes, a sentence for each edge that all of them have: causes first, then what is no cause."""
    if not found.pags:
        return []
    rows = found.summary.frame.iter_rows(named=True)
    sentences = [
        _sentence(row, selection=found.selection_bias) for row in rows if row["edge"] == "all" and not left_open(found, row["x"], row["y"])
    ]
    return [sentence for _, sentence in sorted((one for one in sentences if one is not None), key=lambda one: one[0])]


def left_open(found: Discovery, x: str, y: str) -> bool:
    """True of two exogenous variables: why these are associated was declared to be nobody's question here."""
    return found.knowledge is not None and {x, y} <= set(found.knowledge.exogenous)


def isolated(name: str) -> str:
    """A name in a plain sentence; one that runs from right to left is set apart, lest it turn the words around it.

    >>> isolated("Age"), len(isolated("\u05d2\u05d9\u05dc"))
    ('Age', 5)
    """
    turned = any(bidirectional(letter) in ("R", "AL", "RLE", "RLO", "RLI") for letter in name)
    return f"\u2068{name}\u2069" if turned else name


def edge_sentence(edge: Edge, *, selection: bool = False) -> str:
    """What an edge of a PAG says.

    >>> from consilience.graph import PAG
    >>> edge_sentence(PAG.parse("A --> B").edges[0])
    'A is a cause of B, directly or through others.'
    """
    a, b, ends = isolated(edge.a), isolated(edge.b), (edge.at_a, edge.at_b)
    if ARROW in ends and TAIL in ends:
        near, far = (a, b) if edge.at_a == TAIL else (b, a)
        return f"{near} is a cause of {far}, directly or through others{' (or of who is in the data)' * selection}."
    if ends == (ARROW, ARROW):
        return "Neither causes the other: something that nobody measured causes both."
    if ends == (TAIL, TAIL):
        return "Both influence who is in the data."
    if ends == (CIRCLE, CIRCLE):
        return "They are connected; the tests leave open which way."
    if ARROW in ends:
        near, far = (a, b) if edge.at_a == CIRCLE else (b, a)
        return f"{far} is not a cause of {near}. {near} may be a cause of {far}, the two may have a common cause, or both at once."
    near, far = (a, b) if edge.at_a == TAIL else (b, a)
    return f"{near} is a cause of {far} or of who is in the data; the rest is left open."


def _sentence(row: Mapping[str, Any], *, selection: bool) -> tuple[int, Html] | None:
    """What the marks at both ends say, and its place in the order."""
    x, y = label(row["x"]), label(row["y"])
    arrows, tails = (tuple(row[f"{mark}_at_{end}"] == "all" for end in "xy") for mark in ("arrow", "tail"))
    if all(arrows):
        return 1, join([x, " and ", y, " do not cause each other: something that nobody measured causes both."])
    if all(tails):
        return 2, join([x, " and ", y, " both influence who is in the data."])
    if any(tails):
        near, far = (x, y) if tails[0] else (y, x)
        return 0, join([near, " is a cause of ", far, ", directly or through others", " (or of who is in the data)" * selection, "."])
    if any(arrows):
        near, far = (x, y) if arrows[0] else (y, x)
        return 3, join([near, " is not a cause of ", far, "."])
    return None


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
