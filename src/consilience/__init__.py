# The rooms of the package, from the ground up; imports go down this list only:
#
#   errors        every exception, one tree
#   data/         what one site holds: kinds and levels, reading files, schema, complete rows, design matrices
#   glm/          response models of one site, and the solver that turns sums of their output into estimates
#   citest/       the CITest interface, likelihood-ratio logic, batches of tests as exchanges of requests and sums
#   federation/   Client, Server, transports
#   simulate/     synthetic sites
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
from consilience.citest import CIResult, CITest, Direction
from consilience.data import Kind, Schema, Variable
from consilience.federation import Client, Server, fisher, pooled

__version__ = "0.1.0"

__all__ = [
    "CIResult",
    "CITest",
    "Client",
    "Direction",
    "Kind",
    "Schema",
    "Server",
    "Variable",
    "__version__",
    "errors",
    "fisher",
    "pooled",
    "simulate",
]
