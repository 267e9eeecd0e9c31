"""Synthetic sites: for demonstrations, tests, planning, and the studies of ``reproduction``. Seeds give the same data on every machine.

=================================  =============================================================================
modules                            what they do
=================================  =============================================================================
``randomness``, ``graphs``         random numbers; random MAGs and PAGs by density and criteria
``scm``, ``partition``, ``sites``  mixed-kind models with site effects; who holds what; data of several sites
``mixed``, ``example``, ``files``  sites of one fixed structure; the paper's first figure; a simulation as files
``power``                          how many sites with how many rows an effect needs
``graph_power``                    how often studies of a design find each edge and each mark of a graph
``next_measurement``               which further variable at which site would settle most of what graphs disagree about
``violations``, ``real_life``      situations in which a linear model is wrong, and X ⫫ Y | Z holds; whole studies of that sort
``methods``, ``plotting``          the five methods that are compared; what figures have in common
``shares``                         shares of replications with their intervals
``showing``                        what plans and simulated sites show in a notebook
=================================  =============================================================================
"""

from consilience.simulate.example import introductory_example
from consilience.simulate.files import write_files
from consilience.simulate.graph_power import GraphPower, graph_power
from consilience.simulate.graphs import count_tails, has_ordered_collider, random_mag, random_pag, random_pags
from consilience.simulate.mixed import mixed_sites
from consilience.simulate.next_measurement import NextMeasurement, next_measurement
from consilience.simulate.partition import split_rows, split_variables
from consilience.simulate.power import Power, power
from consilience.simulate.real_life import RealLife, real_life
from consilience.simulate.scm import Model, random_kinds, random_model
from consilience.simulate.sites import Simulation, from_graph
from consilience.simulate.violations import Drawn, Situation, situation

__all__ = [
    "Drawn",
    "GraphPower",
    "Model",
    "NextMeasurement",
    "Power",
    "RealLife",
    "Simulation",
    "Situation",
    "count_tails",
    "from_graph",
    "graph_power",
    "has_ordered_collider",
    "introductory_example",
    "mixed_sites",
    "next_measurement",
    "power",
    "random_kinds",
    "random_mag",
    "random_model",
    "random_pag",
    "random_pags",
    "real_life",
    "situation",
    "split_rows",
    "split_variables",
    "write_files",
]
