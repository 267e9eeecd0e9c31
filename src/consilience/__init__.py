# The rooms of the package, from the ground up; imports go down this list only (docs/architecture.md follows a test, a discovery and a
# study through them):
#
#   errors, options   the causes that users catch; checks of single options; wording
#   data/             what one site holds: kinds and levels, reading files, schema, complete rows, design matrices
#   glm/              response models of one site, and the solver that turns sums of their output into estimates
#   secagg/           keys, fixed-point ring, masks
#   settings/         every setting once: type, default, range, a line of documentation; the study file; terms
#   citest/           the CITest interface, questions and results
#   protocol/         every request as one module with both its halves; messages, the states of a site, refusals
#   federation/       the server's half of a test (exchange/), the site's (site/), transports; Client, Server, pooled
#   graph/            PAG, MAG, DAG: marks, m-separation, orientation rules, equivalence, distance; drawing/, formats/; the oracle test
#   iod/              from CI decisions over overlapping data sets to the complete list of PAGs
#   simulate/         random graphs and models, synthetic sites, power
#   reproduction/     the paper's simulation study and its page
#   service/          the study server and the site agent; needs the extra consilience[service]
#   cli/              the command line; the only place that prints
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
