# The rooms of the package, from the ground up; imports go down this list only:
#
#   errors        every exception, one tree
#   data/         what one site holds: kinds and levels, reading files, schema, complete rows, design matrices
#   glm/          response models of one site, and the solver that turns sums of their output into estimates
#   secagg/       keys, fixed-point ring, masks
#   settings/     how a study is done: every setting declared once; terms, disclosure limits, study files
#   citest/       the CITest interface, likelihood-ratio logic, batches of tests as exchanges of requests and sums
#   federation/   Client, Server, transports
#   graph/        PAG, MAG, DAG: marks, m-separation, orientation rules, equivalence, distance, export, drawing; the oracle test
#   iod/          from CI decisions over overlapping data sets to the complete list of PAGs
#   simulate/     random graphs and models, synthetic sites, power, the paper's simulation study
#   service/      the study server and the site agent; needs the extra consilience[service]
#   cli/          the command line; the only place that prints
"""Causal discovery across data sets that may not leave their sites.

>>> import consilience as cs
>>> sites = cs.simulate.mixed_sites(n=600, sites=3, seed=1)
>>> clients = [cs.Client(name, frame) for name, frame in sites.items()]
>>> server = cs.Server(clients)
>>> server.test("A", "B").p_value < 0.05
True
"""

from consilience import errors, simulate
from consilience.citest import CIResult, CITest, Direction, Question
from consilience.data import Kind, Schema, Variable
from consilience.federation import Client, Server, fisher, pooled
from consilience.graph import DAG, MAG, PAG, Oracle, normalised_shd, shd
from consilience.iod import Decision, Discovery, Knowledge, Summary, discover

__version__ = "0.1.0"

__all__ = [
    "DAG",
    "MAG",
    "PAG",
    "CIResult",
    "CITest",
    "Client",
    "Decision",
    "Direction",
    "Discovery",
    "Kind",
    "Knowledge",
    "Oracle",
    "Question",
    "Schema",
    "Server",
    "Summary",
    "Variable",
    "__version__",
    "discover",
    "errors",
    "fisher",
    "normalised_shd",
    "pooled",
    "shd",
    "simulate",
]
