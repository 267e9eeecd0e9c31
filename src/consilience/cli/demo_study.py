"""The study of the demonstration, and what it finds on other seeds.

``benchmarks/demo_seeds.py`` does it on the first hundred seeds and writes ``demo_seeds.json`` beside this file. Whatever the demonstration
says about how often which answer comes is counted from there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from consilience.federation import Client, Server, pooled
from consilience.graph import DAG, PAG, latent_projection, mag_to_pag
from consilience.iod import Discovery, discover
from consilience.settings import DEFAULTS
from consilience.simulate import mixed_sites

__all__ = [
    "ALPHA",
    "FIRST",
    "KINDS",
    "ROWS",
    "TRUTH",
    "Answer",
    "Series",
    "answer",
    "kept",
    "kind_of",
    "kinds_of_answers",
    "sites",
    "written",
]

ALPHA = DEFAULTS.alpha
ROWS = 1800
FIRST = 1
"""The first seed there is."""
ABSENT = {0: ["E"], 2: ["D"]}
STRUCTURE = DAG.parse("A --> B, B --> C, A --> D, C --> D, B --> E")
"""What :func:`~consilience.simulate.mixed_sites` makes data from."""
TRUTH: PAG = mag_to_pag(latent_projection(STRUCTURE, STRUCTURE.labels))
"""What all tests of unlimited rows lead to: one site measures all variables."""
FILE = Path(__file__).with_name("demo_seeds.json")

KINDS = ALONE, AMONG, EDGES, OTHER = "the true graph alone", "the true graph among others", "the true edges, other marks", "other edges"


class Answer(NamedTuple):
    """What the study finds on one seed: its graphs as text, how many decisions were overruled, and whether pooled rows lead to the same."""

    seed: int
    graphs: tuple[str, ...]
    overruled: int
    as_pooled: bool


class Series(NamedTuple):
    """Answers for a number of rows."""

    rows: int
    answers: tuple[Answer, ...]


def kind_of(graphs: Iterable[str]) -> str:
    """How near the truth a list of graphs is: one of four kinds.

    >>> kind_of(["A o-o B, A --> D, B o-o C, B o-o E, C --> D"])
    'the true graph alone'
    >>> kind_of(["A o-o B, A o-o D, B --> C, B o-o E, D --> C"])
    'the true edges, other marks'
    """
    listed = [PAG.parse(text, labels=TRUTH.labels) for text in graphs]
    if TRUTH in listed:
        return ALONE if len(listed) == 1 else AMONG
    return EDGES if listed and all(_pairs(graph) == _pairs(TRUTH) for graph in listed) else OTHER


def _pairs(graph: PAG) -> set[frozenset[str]]:
    return {frozenset((edge.a, edge.b)) for edge in graph.edges}


def sites(n: int, seed: int) -> list[Client]:
    """Three synthetic sites; the first does not measure E, the third does not measure D."""
    frames = mixed_sites(n=n, sites=3, seed=seed, shift=1.0, missing=0.02, absent=ABSENT)
    return [Client(name, frame) for name, frame in frames.items()]


def answer(n: int, seed: int) -> Answer:
    """Do the study on one seed, federated and pooled.

    Parameters
    ----------
    n : int
        Rows of all sites together.
    seed : int
        The seed of the data.

    Returns
    -------
    Answer
    """
    clients = sites(n, seed)
    federated, together = (discover(test, alpha=ALPHA) for test in (Server(clients), pooled(clients)))
    return Answer(seed, _texts(federated), len(federated.overruled), _texts(federated) == _texts(together))


def _texts(found: Discovery) -> tuple[str, ...]:
    return tuple(map(str, found.pags))


def kept(file: Path = FILE) -> tuple[Series, ...]:
    """What ``benchmarks/demo_seeds.py`` has found and written down.

    >>> [(one.rows, len(one.answers)) for one in kept()]
    [(1800, 100), (18000, 100)]
    """
    read: Any = json.loads(file.read_text(encoding="utf-8"))
    return tuple(
        Series(one["rows"], tuple(Answer(seed, tuple(graphs), overruled, same) for seed, graphs, overruled, same in one["answers"]))
        for one in read
    )


def written(series: Iterable[Series]) -> str:
    """The text of the file: a line for each seed."""
    blocks = []
    for one in series:
        lines = ",\n".join(f"  {json.dumps(found)}" for found in one.answers)
        blocks.append(f'{{"rows": {one.rows}, "answers": [\n{lines}\n]}}')
    return f"[{', '.join(blocks)}]\n"


def kinds_of_answers(answers: Sequence[Answer]) -> dict[str, int]:
    """How many answers are how near the truth; kinds that do not occur are left out.

    >>> kinds_of_answers([Answer(1, ("A o-o B, A --> D, B o-o C, B o-o E, C --> D",), 0, True)])
    {'the true graph alone': 1}
    """
    counted = Counter(kind_of(found.graphs) for found in answers)
    return {kind: counted[kind] for kind in KINDS if counted[kind]}
