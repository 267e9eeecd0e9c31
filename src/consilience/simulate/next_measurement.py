"""Which further variable at which site would settle most: the disagreements of a list against what a site could measure.

The graphs of a list agree with everything that the data sets say, and any of them may be the truth. Suppose that one of them is, and that a
site measures one variable more, with as many rows as it takes: of the list remain the graphs that say the same about the independences
among the variables of each data set, the larger one included. At how many ends of edges these still differ is what would stay open. No
truth is preferred: the answer is the average over all of them.

Two graphs say the same about some variables iff their MAGs over these, with all others latent, are Markov equivalent, that is, have one
PAG. So the list falls into parts, those with the same PAGs, and no graph need be sought again: a complete list has every graph that a new
search could find, since what the data sets said before they say with one variable more, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from consilience.errors import OptionError
from consilience.frames import pl
from consilience.graph import PAG, MarkSets, latent_projection_marks, mag_to_pag_marks
from consilience.graph.errors import UnknownNodeError
from consilience.graph.marks import MarkMatrix
from consilience.graph.members import member_marks
from consilience.iod import Discovery
from consilience.parallel import Jobs, spread
from consilience.settings import LOCAL
from consilience.wording import counted

__all__ = ["NextMeasurement", "next_measurement", "open_marks"]

COLUMNS = {
    "site": str,
    "variable": str,
    "open": float,
    "settled": float,
    "most": int,
    "graphs": float,
}
Parts = list[list[int]]


@dataclass(frozen=True, slots=True, eq=False)
class NextMeasurement:
    """What one further variable at one site would settle, the best first.

    Attributes
    ----------
    table : polars.DataFrame
        A row for every site and every variable that it does not measure: ``open``, the ends of edges that would stay open, and
        ``settled``, those that would not, on average over the graphs that may be the truth; ``most``, those that would stay open in the
        worst case; ``graphs``, how many graphs would be left on average.
    open : int
        Ends of edges at which the graphs differ now, or whose edge some of them lack.
    rows_alone : float
        Those that would stay open, on average, with more rows of the same variables alone: fewer only where graphs of the list
        contradict each other's independences, as where decisions were overruled.
    graphs : int
        How many graphs there are now.
    complete : bool
        False if the list was cut short: then all numbers are of the graphs in it, and the true ones may be larger.

    Examples
    --------
    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    >>> print(next_measurement(found))
    3 marks are open in 2 graphs; with one more variable there would stay open, on average:
    A at B, C, D: 0.0 (3.0 settled)
    D at A, B, C: 0.0 (3.0 settled)
    """

    table: pl.DataFrame
    open: int
    rows_alone: float
    graphs: int
    complete: bool

    def _repr_html_(self) -> str:
        """Shown in notebooks: a sentence and a table."""
        from consilience.simulate.showing import show_next  # noqa: PLC0415  only who looks pays for it

        return show_next(self)

    def __str__(self) -> str:
        now = f"{counted(self.open, 'mark')} {'is' if self.open == 1 else 'are'} open in {counted(self.graphs, 'graph')}"
        if not self.complete:
            now += ", and there are more graphs than these"
        if not self.open:
            return now
        if self.table.is_empty():
            return f"{now}; every site measures every variable"
        rows = self.table.iter_rows(named=True)
        lines = (f"{row['variable']} at {row['site']}: {row['open']:.1f} ({row['settled']:.1f} settled)" for row in rows)
        return "\n".join((f"{now}; with one more variable there would stay open, on average:", *lines))


def next_measurement(
    found: Discovery | Sequence[PAG],
    sites: Mapping[str, Iterable[str]] | None = None,
    *,
    variables: Iterable[str] | None = None,
    jobs: Jobs = LOCAL.jobs,
    progress: Callable[[int, int], None] | None = None,
) -> NextMeasurement:
    """Which further variable at which site would settle most of what the graphs of a list disagree about.

    Parameters
    ----------
    found : Discovery or sequence of PAG
        What :func:`consilience.discover` found, or a list of graphs, each of which may be the truth. For the design of a study that has no
        data yet: ``discover(Oracle(truth, datasets))``.
    sites : mapping of str to iterable of str, optional
        The variables that each site measures, by its name. The data sets of the discovery by default, named by their variables; of sites
        with the same variables any can be the one.
    variables : iterable of str, optional
        Those that sites could measure. All that they lack, by default.
    jobs : int or str, default 1
        Processes to use, or the address of a Dask scheduler.
    progress : callable, optional
        Told (done, all) after each site and variable; an exception that it raises cancels the work.

    Returns
    -------
    NextMeasurement

    Raises
    ------
    OptionError
        If there is no graph, or a list of graphs comes without its sites.
    UnknownNodeError
        If the graphs do not have a variable.

    Examples
    --------
    >>> import consilience as cs
    >>> truth = cs.PAG.parse("A o-> C, B o-> C, C --> D, D --> E")
    >>> sites = {"north": "ABC", "south": "BCD", "west": "CDE"}
    >>> found = cs.discover(cs.Oracle(truth, sites.values()))
    >>> next_measurement(found, sites).table.select("variable", "site", "open").row(0)
    ('A', 'west', 3.0)
    """
    pags = tuple(found.pags if isinstance(found, Discovery) else found)
    held = _held(found, sites)
    if not pags:
        raise OptionError("What to measure next is told by the graphs that may be the truth; there is none in this list.")
    names = tuple(sorted(pags[0].labels))
    wanted = names if variables is None else tuple(dict.fromkeys(variables))
    for name in chain(wanted, *held.values()):
        if name not in names:
            raise UnknownNodeError(f"Sites measure variables of the graphs, {', '.join(names)}; got {name!r}.")
    marks = [pag.reordered(names).working() for pag in pags]
    matrices = np.array([mark.to_matrix() for mark in marks])
    members = [member_marks(mark) for mark in marks]
    now = _split([range(len(pags))], members, [[names.index(v) for v in variables_] for variables_ in set(held.values())])
    asked = [(site, name) for site, has in held.items() for name in wanted if name not in has]
    # Sites with the same variables, and one variable from either side, make the same larger data set: each is looked at once.
    larger = {(site, name): frozenset({*held[site], name}) for site, name in asked}
    distinct = list(dict.fromkeys(larger.values()))
    tell = progress or (lambda _done, _all: None)
    parts: dict[frozenset[str], Parts] = {}
    tasks = [(now, members, [[names.index(v) for v in sorted(one)]]) for one in distinct]
    for place, split in spread(_split, tasks, jobs):
        parts[distinct[place]] = split
        tell(len(parts), len(distinct))
    unsettled = open_marks(matrices)
    rows = [{"site": site, "variable": name, **_told(parts[one], matrices, unsettled)} for (site, name), one in larger.items()]
    table = pl.DataFrame(rows, schema=COLUMNS).sort("open", "most", "graphs", "variable", "site")
    rows_alone = _told(now, matrices, unsettled)["open"]
    return NextMeasurement(table, unsettled, rows_alone, len(pags), found.complete if isinstance(found, Discovery) else True)


def open_marks(matrices: MarkMatrix) -> int:
    """At how many ends of edges graphs differ, one that has no edge there from one that has included; an array with a matrix for each.

    >>> open_marks(np.array([PAG.parse("A o-> B, C").marks, PAG.parse("A --> B, C").marks, PAG.parse("A o-> B, B o-o C").marks]))
    3
    """
    return int((matrices.min(axis=0) != matrices.max(axis=0)).sum())


def _held(found: Discovery | Sequence[PAG], sites: Mapping[str, Iterable[str]] | None) -> dict[str, tuple[str, ...]]:
    if sites is not None:
        return {name: tuple(sorted(dict.fromkeys(variables))) for name, variables in sites.items()}
    if isinstance(found, Discovery):
        return {", ".join(variables): variables for variables in found.datasets}
    raise OptionError("A list of graphs does not say who measures what; give sites={name: variables}.")


def _split(parts: Iterable[Iterable[int]], members: Sequence[MarkSets], datasets: Iterable[list[int]]) -> Parts:
    """The parts of a list, split further by what the graphs say about the variables of each data set."""
    found = [list(part) for part in parts]
    for held in datasets:
        finer: Parts = []
        for part in found:
            alike: dict[bytes, list[int]] = {}
            for k in part:
                alike.setdefault(_local(members[k], held), []).append(k)
            finer += alike.values()
        found = finer
    return found


def _local(mag: MarkSets, held: list[int]) -> bytes:
    """The PAG of a graph over some of its variables: all that data on these can say."""
    return mag_to_pag_marks(latent_projection_marks(mag, held)).to_matrix().tobytes()


def _told(parts: Parts, matrices: MarkMatrix, unsettled: int) -> dict[str, float]:
    """On average over the graphs, and at worst, what stays open in the part that each is in."""
    total = len(matrices)
    left = [(len(part), open_marks(matrices[part])) for part in parts]
    mean = sum(size * open_ for size, open_ in left) / total
    return {
        "open": mean,
        "settled": unsettled - mean,
        "most": max(open_ for _, open_ in left),
        "graphs": sum(size * size for size, _ in left) / total,
    }
