"""What replicates say of a discovery: how sure each edge, mark and decision is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consilience.frames import pl
from consilience.graph.graphs import PAG
from consilience.iod.stability.counting import edge_schema, edges_without_schema, test_schema
from consilience.iod.stability.influence import site_schema, suspect, without_schema
from consilience.iod.stability.words import said

__all__ = ["Stability"]


_BY_SITE = {"sites": site_schema, "without": without_schema, "edges_without": edges_without_schema}


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """How sure a discovery is: the same search in resampled data, many times, and without each of the sites.

    What ``found.stability`` is where ``discover(..., bootstrap=B)`` or ``leave_one_out=True`` was asked for.

    Attributes
    ----------
    asked, done : int
        Replicates that were asked for, and those that are finished: fewer if somebody stopped it.
    empty, cut : int
        Replicates whose list has no graph (they count nowhere below), and whose list was cut short by its limits.
    edges : polars.DataFrame
        One row per pair of variables. ``share``: how sure the edge is, the share of graphs that have it within the list of a replicate,
        averaged over replicates. ``x_arrow``, ``x_tail``, ``x_circle``, ``y_arrow``, …: the same for the edge with this mark at this end,
        so that the three of an end add up to ``share``. ``plain``: the share of the edge in the list that was found in the data themselves.
    tests : polars.DataFrame
        One row per test of the discovery: ``p_value`` and whether it says ``dependent``; in how many replicates it was ``answered``;
        ``p_low``, ``p_median``, ``p_high`` are the 5 %, 50 % and 95 % quantiles of its p-values there, ``significant`` the share at or
        below α, ``same`` the share that decides as the test itself did.
    consensus : PAG
        The graph of the majority: edges with a share above one half, and at each end the mark that more than half of that has, a circle
        where none has. It need not be the PAG of any causal model.
    alpha : float
        The significance level of the decisions.
    sites : polars.DataFrame or None
        With ``leave_one_out``, one row per site: its ``influence``, one number that is about 1 where sites are alike and larger the more
        this one disagrees with the others (:mod:`consilience.iod.stability.influence`), by how many ``compared`` tests; without it, how
        many ``decisions`` are others, how many edges are ``lost`` or ``gained`` (more than half of the list, with and without), and how
        many ``graphs`` the list has.
    without : polars.DataFrame or None
        One row per site and test: ``p_value`` without the site and ``plain`` with it, the ``change`` of its size in units of what leaving
        out so many rows changes by chance, and whether the decision is ``changed``.
    edges_without : polars.DataFrame or None
        One row per site and pair of variables: ``share`` of the edge in the list without the site, ``plain`` in the list with it.
    suspect : str or None
        The site that stands out by its influence, if there is one.
    rounds : int
        Rounds that the replicates took, all of them together.
    stopped : bool
        True if not all replicates were finished.

    Examples
    --------
    >>> import consilience as cs
    >>> sites = cs.simulate.mixed_sites(n=300, sites=2, seed=1)
    >>> clients = [cs.Client(name, frame.select("A", "B", "C"), seed=1) for name, frame in sites.items()]
    >>> found = cs.discover(clients, bootstrap=10)
    >>> found.stability
    Stability(10 replicates; consensus: A o-o B, B o-o C)
    >>> found.stability.edges.select("x", "y", "share").rows()
    [('A', 'B', 1.0), ('A', 'C', 0.0), ('B', 'C', 1.0)]
    """

    asked: int
    done: int
    edges: pl.DataFrame
    tests: pl.DataFrame
    consensus: PAG
    alpha: float
    empty: int = 0
    cut: int = 0
    rounds: int = 0
    sites: pl.DataFrame | None = None
    without: pl.DataFrame | None = None
    edges_without: pl.DataFrame | None = None

    @property
    def suspect(self) -> str | None:
        """The site that stands out by its influence: it says something else than the others do. None if none does."""
        if self.sites is None:
            return None
        return suspect({site: mean for site, mean in self.sites.select("site", "influence").iter_rows() if mean is not None})

    def hanging(self) -> dict[str, list[tuple[str, str]]]:
        """Which edges hang on one site: those that more than half of the list has, and not without it.

        Returns
        -------
        dict of str to list of pairs
            By site; sites on which nothing hangs are not in it.
        """
        if self.edges_without is None:
            return {}
        silent = [] if self.sites is None else self.sites.filter(pl.col("graphs") == 0)["site"].to_list()  # of no graph nothing is said
        rows = self.edges_without.filter((pl.col("plain") > 0.5) & (pl.col("share") <= 0.5) & ~pl.col("site").is_in(silent))
        found: dict[str, list[tuple[str, str]]] = {}
        for site, x, y in rows.select("site", "x", "y").iter_rows():
            found.setdefault(site, []).append((x, y))
        return found

    @property
    def stopped(self) -> bool:
        """True if not all replicates were finished."""
        return self.done < self.asked

    def share(self, x: str, y: str) -> float:
        """How sure an edge is.

        Parameters
        ----------
        x, y : str
            Two variables, in any order.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        KeyError
            If there is no such pair of variables.
        """
        first, second = sorted((x, y))
        rows = self.edges.filter((pl.col("x") == first) & (pl.col("y") == second))["share"]
        if not len(rows):
            raise KeyError(f"{x!r} and {y!r} are not two variables of this discovery")
        return float(rows[0])

    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables there are, by the names of the files that they are written to as CSV.

        Returns
        -------
        dict of str to polars.DataFrame
            ``sure`` (edges) and ``copies`` (tests) where copies were finished; ``sites`` and ``without`` (edges) where sites were left out.
        """
        over_copies = {"sure": self.edges, "copies": self.tests} if self.done else {}
        by_site = {"sites": self.sites, "without": self.edges_without}
        return over_copies | {name: frame for name, frame in by_site.items() if frame is not None and frame.height}

    def in_words(self) -> list[str]:
        """What it says, in sentences: for the summary of a result and for its report.

        Returns
        -------
        list of str
        """
        return said(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain types, for JSON.

        Returns
        -------
        dict
            What :meth:`from_dict` reads.
        """
        return {
            "asked": self.asked,
            "done": self.done,
            "empty": self.empty,
            "cut": self.cut,
            "rounds": self.rounds,
            "alpha": self.alpha,
            "edges": self.edges.to_dicts(),
            "tests": self.tests.to_dicts(),
            **{name: None if (frame := getattr(self, name)) is None else frame.to_dicts() for name in _BY_SITE},
            "consensus": {"labels": list(self.consensus.labels), "matrix": self.consensus.to_matrix().tolist()},
        }

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Stability:
        """What :meth:`to_dict` wrote.

        Parameters
        ----------
        told : mapping
            What the JSON says.

        Returns
        -------
        Stability
        """
        graph = told["consensus"]
        return cls(
            asked=int(told["asked"]),
            done=int(told["done"]),
            edges=pl.DataFrame(told["edges"], schema=edge_schema()),
            tests=pl.DataFrame(told["tests"], schema=test_schema()),
            consensus=PAG.from_matrix(graph["matrix"], graph["labels"]) if graph["labels"] else PAG.parse(""),
            empty=int(told["empty"]),
            cut=int(told["cut"]),
            rounds=int(told["rounds"]),
            **{name: None if told.get(name) is None else pl.DataFrame(told[name], schema=schema()) for name, schema in _BY_SITE.items()},
            alpha=float(told["alpha"]),
        )

    def _repr_html_(self) -> str:
        """Shown in notebooks: the sentences, the consensus graph, and what there is of each pair and site."""
        from consilience.iod.report.resampled import show_stability  # noqa: PLC0415  only who looks pays for it

        return show_stability(self)

    def __repr__(self) -> str:
        done = f"{self.done} of {self.asked} replicates" if self.stopped else f"{self.done} replicates"
        said = [f"{done}; consensus: {self.consensus or 'no edge'}"] if self.asked else []
        said += [f"without each of {self.sites.height} sites; suspect: {self.suspect or 'none'}"] if self.sites is not None else []
        return f"Stability({'; '.join(said)})"
