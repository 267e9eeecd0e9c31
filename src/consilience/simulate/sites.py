"""From a graph to the data of several sites, with the truth they were made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.errors import GraphError, OptionError
from consilience.federation.site.client import Client
from consilience.frames import pl
from consilience.graph import DAG, MAG, PAG, Mark, MixedGraph, Oracle, is_valid_pag, latent_projection, mag_to_pag, pag_to_mag
from consilience.simulate.partition import split_rows, split_variables
from consilience.simulate.randomness import Seed, generator
from consilience.simulate.scm import Model, random_model

__all__ = ["Simulation", "as_mag", "from_graph"]


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Synthetic sites, with the truth they were made from.

    Attributes
    ----------
    frames : dict of str to polars.DataFrame
        The data of each site.
    schema : Schema
        Of the study.
    model : Model
        What the data were drawn from.
    mag : MAG
        The graph over all observed variables.
    pag : PAG
        Its equivalence class: the most that tests can find.

    Examples
    --------
    >>> made = from_graph("A --> B, C --> B", n=60, sites=3, seed=1)
    >>> made.pag, made.datasets[0]
    (PAG.parse('A o-> B, C o-> B'), ('A', 'B', 'C'))
    """

    frames: dict[str, pl.DataFrame]
    schema: Schema
    model: Model
    mag: MAG
    pag: PAG

    @property
    def datasets(self) -> tuple[tuple[str, ...], ...]:
        """The variables of each site."""
        return tuple(tuple(frame.columns) for frame in self.frames.values())

    def clients(self) -> list[Client]:
        """The sites, with kinds and levels declared.

        Returns
        -------
        list of Client
        """
        return [
            Client(
                name,
                frame,
                kinds={v: self.schema[v].kind for v in frame.columns},
                levels={v: self.schema[v].levels for v in frame.columns if self.schema[v].levels},
            )
            for name, frame in self.frames.items()
        ]

    def oracle(self) -> Oracle:
        """What infinitely many rows at each site would say.

        Returns
        -------
        Oracle
            Over the data sets of the sites.
        """
        return Oracle(self.mag, self.datasets)

    def _repr_html_(self) -> str:
        """Shown in notebooks: the graph, and who measures what."""
        from consilience.simulate.showing import show_simulation  # noqa: PLC0415  only who looks pays for it

        return show_simulation(self)


def from_graph(
    graph: MixedGraph | str,
    *,
    n: int,
    sites: int,
    seed: Seed,
    kinds: Mapping[str, str | Kind] | None = None,
    exclusive: Iterable[str] = (),
) -> Simulation:
    """Data of several sites, from a random model on a graph.

    Parameters
    ----------
    graph : PAG, MAG, DAG or str
        A graph, or text such as ``"A o-> C, B o-> C, C --> D"``; of a PAG the member without needless latent variables is taken.
    n : int
        Rows of all sites together.
    sites : int
        How many sites.
    seed : int, sequence of int, SeedSequence or Generator
        The same seed gives the same data on every machine.
    kinds : mapping of str to str or Kind, optional
        Kinds of some or all variables; the others are random, drawn with at least two continuous ones among all.
    exclusive : iterable of str, optional
        Variables that are measured by every second (third, …) site only.

    Returns
    -------
    Simulation

    Raises
    ------
    OptionError
        If the graph is none of these, or the rest does not fit together.

    Examples
    --------
    >>> made = from_graph("A o-> C, B o-> C, C --> D", n=400, sites=2, seed=1, exclusive="AD")
    >>> {name: (frame.height, "".join(frame.columns)) for name, frame in made.frames.items()}
    {'site1': (200, 'ABC'), 'site2': (200, 'BCD')}
    >>> made.clients()[0].declarations["B"].variable == made.schema["B"]
    True
    """
    mag = as_mag(graph)
    rng = generator(seed)
    rows, held = split_rows(n, sites), split_variables(mag.labels, exclusive, sites)
    model = random_model(mag, sites, rng, kinds=kinds)
    complete = model.sample(rows, rng)
    width = len(str(sites))
    frames = {f"site{k:0{width}d}": frame.select(names) for k, (frame, names) in enumerate(zip(complete, held, strict=True), start=1)}
    return Simulation(frames, model.schema, model, mag, mag_to_pag(mag))


def as_mag(graph: MixedGraph | str) -> MAG:
    """The MAG that a graph, or its text, stands for.

    >>> as_mag("A o-> C, B o-> C")
    MAG.parse('A --> C, B --> C')
    """
    read = MixedGraph.parse(graph) if isinstance(graph, str) else graph
    if isinstance(read, MAG):
        return read
    if isinstance(read, DAG):
        return latent_projection(read, read.labels)
    try:
        if not (read.marks == Mark.CIRCLE).any():
            return MAG(read.marks, read.labels)
        pag = PAG(read.marks, read.labels)
        if is_valid_pag(pag):
            return pag_to_mag(pag)
        reason = "its marks belong to no Markov equivalence class"
    except GraphError as error:
        reason = str(error)
    raise OptionError(f"A graph to simulate from is a PAG, a MAG or a DAG; {str(read)!r} is none of them: {reason}")
