"""The mechanism of the paper's introduction, on synthetic data: one decision that lacks power leaves no graph at all.

Two sites, as in its first figure: one measures A, B, C, E, the other A, C, D, E. The seed was found by search, the only one of 250. The
dependence of A and C given E is weak: two p-values combined do not reject (p = 0.09), one model over all rows does (p = 0.01). Fisher's
method takes A and C to be separated by E, which contradicts its other decisions: no PAG agrees with all of them. The federated test leads
to the generating one. Both are strict: unless one insists, the weakest decisions give way, and there are graphs in either case.
"""

from __future__ import annotations

from consilience.graph import PAG
from consilience.simulate.sites import Simulation, from_graph

__all__ = ["DECISIVE", "EXAMPLE_PAG", "introductory_example"]

EXAMPLE_PAG = PAG.parse("B o-> C, C --> E, C --> D, A <-> C, A <-> D, D --> E")
"""The paper's first figure, which is one of its thirty graphs, too."""

DECISIVE = ("A", "C", ("E",))
"""The question on which the methods part."""


def introductory_example() -> Simulation:
    """The data of both sites of the paper's first figure, on which Fisher's method finds no graph and fedCI the true one.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> made = introductory_example()
    >>> {name: (frame.height, "".join(frame.columns)) for name, frame in made.frames.items()}
    {'site1': (2000, 'ABCE'), 'site2': (2000, 'ACDE')}
    """
    return from_graph(EXAMPLE_PAG, n=4000, sites=2, seed=85, exclusive=("B", "D"))
