"""What the listed graphs say, each for itself, of the effect of one variable on another.

A list of graphs has a set of answers: in some graphs the effect is identified by an adjustment set, in some it is zero, and in some an
association may be due to a common cause that nobody measured, so that there is no telling. Nothing is averaged over graphs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from consilience.citest.effect import Change, Contrast, Estimate, contrast_schema
from consilience.frames import pl
from consilience.graph.identification import Identification

__all__ = ["Effects", "GraphEffect", "Range", "Say"]


@dataclass(frozen=True, slots=True)
class GraphEffect:
    """What one graph says.

    Attributes
    ----------
    identification : str
        A value of :class:`consilience.graph.Identification`: ``"adjusted"``, ``"zero"``, or what stands in the way.
    sets : tuple of tuple of str
        The minimal adjustment sets that some data set measures.
    used : tuple of str or None
        The one whose estimate is told; None where there is none.
    words : str
        The same as a sentence.
    """

    identification: str
    sets: tuple[tuple[str, ...], ...] = ()
    used: tuple[str, ...] | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Say:
    """What several graphs say alike.

    Attributes
    ----------
    graphs : tuple of int
        Which: their positions in ``found.pags``.
    share : float
        How many of the listed graphs these are.
    identification : str
        As in :class:`GraphEffect`.
    estimate : Estimate or None
        The estimate behind it, of which the numbers may be missing for a reason; None where the effect is zero, or not identified.
    words : str
        What the graph says, as a sentence.
    """

    graphs: tuple[int, ...]
    share: float
    identification: str
    estimate: Estimate | None
    words: str

    @property
    def known(self) -> bool:
        """True if there is a number, or the effect is zero."""
        return self.identification == Identification.ZERO or (self.estimate is not None and self.estimate.known)


@dataclass(frozen=True, slots=True)
class Range:
    """Between which numbers one contrast lies over the graphs that say: where it is zero in some of them, that is among them.

    Attributes
    ----------
    measure, level, reference, outcome : str
        As in :class:`consilience.Contrast`.
    least, most : float
        The smallest and the largest estimate.
    low, high : float or None
        Where the lowest interval begins and the highest ends.
    """

    measure: str
    level: str
    reference: str
    outcome: str
    least: float
    most: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Effects:
    """The effect of x on y over a list of graphs: what :meth:`Discovery.effect` returns.

    Attributes
    ----------
    x, y : str
        What is set, and what is looked at.
    graphs : tuple of GraphEffect
        What each listed graph says, in their order.
    estimates : tuple of Estimate
        One for each adjustment set that is used, that of most graphs first.
    others : tuple of Estimate
        Of sets that would do as well, and are not used: over fewer rows, or less precise.
    complete : bool
        False if the list of graphs is cut short, so that graphs that are not on it may say something else.
    listed : int
        How many graphs the list has; of a very long one only the first are looked at.
    says : tuple of Say
        The same by what is said: estimates first, then zero, then what stands in the way, each with the share of graphs.
    ranges : tuple of Range
        Between which numbers each contrast lies over all graphs that say.
    known : bool
        True if some graph says a number, or zero.

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABCD"]))
    >>> effects = found.effect("D", "C")
    >>> effects.says[0].identification, effects.says[0].share
    ('zero', 1.0)
    >>> print(found.effect("A", "C").in_words()[:91])
    No effect of A on C can be told. In the only graph it is not identifiable: the edge A o-> C
    """

    x: str
    y: str
    graphs: tuple[GraphEffect, ...]
    estimates: tuple[Estimate, ...] = ()
    others: tuple[Estimate, ...] = ()
    complete: bool = True
    listed: int = 0

    @property
    def says(self) -> tuple[Say, ...]:
        """What is said, with the share of graphs behind each: estimates first, then zero, then what stands in the way."""
        by = {estimate.given: estimate for estimate in self.estimates}
        alike: dict[tuple[str, str, tuple[str, ...] | None], list[int]] = {}
        for place, graph in enumerate(self.graphs):
            alike.setdefault((graph.identification, "" if graph.used is not None else graph.words, graph.used), []).append(place)
        found = [
            Say(tuple(places), len(places) / len(self.graphs), kind, None if used is None else by[used], self.graphs[places[0]].words)
            for (kind, _, used), places in alike.items()
        ]
        return tuple(sorted(found, key=lambda say: (not say.known, say.estimate is None, -say.share)))

    @property
    def known(self) -> bool:
        """True if some graph says a number, or zero."""
        return any(say.known for say in self.says)

    @property
    def ranges(self) -> tuple[Range, ...]:
        """Between which numbers each contrast lies over all graphs that say."""
        found: dict[tuple[str, str, str, str], list[Contrast]] = {}
        for estimate in self.estimates:
            for one in estimate.contrasts:
                found.setdefault((one.measure, one.level, one.reference, one.outcome), []).append(one)
        zero = any(graph.identification == Identification.ZERO for graph in self.graphs)
        return tuple(_range(key, contrasts, zero=zero) for key, contrasts in found.items())

    def frame(self) -> pl.DataFrame:
        """One row a contrast and a way in which graphs identify the effect, and one a reason why others do not.

        Returns
        -------
        polars.DataFrame
            ``share`` of graphs, their number, ``identification``, the columns of :meth:`Estimate.frame`, and ``reason``.

        Examples
        --------
        >>> import consilience as cs
        >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABCD"]))
        >>> found.effect("D", "C").frame().select("x", "y", "share", "identification").rows()
        [('D', 'C', 1.0, 'zero')]
        """
        return pl.DataFrame(list(self._rows()), schema=_schema())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for say in self.says:
            estimate = say.estimate
            row = {"share": say.share, "graphs": len(say.graphs), "identification": say.identification, "x": self.x, "y": self.y}
            if estimate is None or not estimate.known:
                yield row | {"reason": say.words if estimate is None else estimate.reason, "given": estimate and list(estimate.given)}
                continue
            yield from (row | contrast | {"reason": ""} for contrast in estimate.frame().to_dicts())

    def in_words(self) -> str:
        """All of it in sentences, for a reader who knows no graph theory.

        Returns
        -------
        str

        Examples
        --------
        >>> Effects("dose", "cure", (GraphEffect("zero", words="dose is no possible cause of cure: the effect is zero."),)).in_words()
        'The effect of dose on cure: in the only graph it is zero, since dose is no possible cause of cure.'
        """
        from consilience.iod.effects_words import effects_in_words  # noqa: PLC0415  words are made of these types

        return effects_in_words(self)

    def __str__(self) -> str:
        return self.in_words()

    def _repr_html_(self) -> str:
        """Shown in notebooks: the sentences, and a table."""
        from consilience.iod.report.effects import effects_table  # noqa: PLC0415  only who looks pays for it

        return effects_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON; graphs that say the same are written once.

        Returns
        -------
        dict
            :meth:`from_dict` is its inverse.

        Examples
        --------
        >>> told = Effects("X", "Y", (GraphEffect("zero"), GraphEffect("zero")))
        >>> told.to_dict()["by"], Effects.from_dict(told.to_dict()) == told
        ([0, 0], True)
        """
        places = {graph: place for place, graph in enumerate(dict.fromkeys(self.graphs))}
        return {
            "x": self.x,
            "y": self.y,
            "words": self.in_words(),
            "said": [_plain(graph) for graph in places],
            "by": [places[graph] for graph in self.graphs],
            "estimates": [estimate.to_dict() for estimate in self.estimates],
            "others": [estimate.to_dict() for estimate in self.others],
            "ranges": [asdict(one) for one in self.ranges],
            "complete": self.complete,
            "listed": self.listed,
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Effects:
        """Effects that were stored.

        Parameters
        ----------
        told : mapping
            What :meth:`to_dict` made.

        Returns
        -------
        Effects
        """
        said = [_graph(one) for one in told["said"]]
        return cls(
            told["x"],
            told["y"],
            tuple(said[place] for place in told["by"]),
            tuple(Estimate.from_dict(one) for one in told["estimates"]),
            tuple(Estimate.from_dict(one) for one in told["others"]),
            bool(told["complete"]),
            int(told["listed"]),
        )


def _schema() -> dict[str, Any]:
    own = {"share": pl.Float64, "graphs": pl.Int64, "identification": pl.String}
    return {"x": pl.String, "y": pl.String} | own | contrast_schema() | {"reason": pl.String}


def _plain(graph: GraphEffect) -> dict[str, Any]:
    used = None if graph.used is None else list(graph.used)
    return {"identification": graph.identification, "sets": [list(one) for one in graph.sets], "used": used, "words": graph.words}


def _graph(told: Mapping[str, Any]) -> GraphEffect:
    used = None if told["used"] is None else tuple(told["used"])
    return GraphEffect(told["identification"], tuple(tuple(one) for one in told["sets"]), used, told["words"])


def _range(key: tuple[str, str, str, str], contrasts: list[Contrast], *, zero: bool) -> Range:
    none = [Change(key[0]).none] if zero else []
    estimates = [one.estimate for one in contrasts] + none
    lows, highs = [one.low for one in contrasts], [one.high for one in contrasts]
    known = [end for end in (*lows, *highs) if end is not None]
    ends = (min(*known, *none), max(*known, *none)) if len(known) == 2 * len(contrasts) else (None, None)
    return Range(*key, min(estimates), max(estimates), *ends)
