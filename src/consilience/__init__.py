# The rooms of the package, from the ground up; imports go down this list only (docs/architecture.md follows a test, a discovery and a
# study through them):
#
#   errors, options   the causes that users catch; checks of single options; words, tables; parallel: computations here or on a cluster
#   data/             what one site holds: kinds and levels, reading files, schema, complete rows, design matrices
#   glm/              response models of one site, and the solver that turns sums of their output into estimates
#   secagg/           keys, fixed-point ring, masks
#   settings/         every setting once: type, default, range, a line of documentation; the study file; terms
#   disclosure/       what leaves a site at all: its shielded table, what it states of itself, what all statements of a run decide
#   citest/           the CITest interface, questions and results
#   protocol/         every request as one module with both its halves; messages, the states of a site, refusals
#   federation/       the server's half of a test (exchange/), the site's (site/), transports; Client, Server, pooled
#   graph/            PAG, MAG, DAG: marks, m-separation, orientation rules, equivalence, distance; drawing/, formats/; the oracle test
#   iod/              from CI decisions over overlapping data sets to the complete list of PAGs
#   simulate/         random graphs and models, synthetic sites, power
#   reproduction/     the paper's simulation study and its page
#   service/          the study server and the site agent; needs the extra consilience[service]
#   flare/            the same studies on the network of NVIDIA FLARE; needs the extra consilience[nvflare]
#   web/              the pages of the study server and the site's app; needs the extra consilience[web]
#   cli/              the command line; the only place that prints
"""Causal discovery across data sets that may not leave their sites.

>>> import consilience as cs
>>> sites = cs.simulate.mixed_sites(n=600, sites=3, seed=1)
>>> clients = [cs.Client(name, frame) for name, frame in sites.items()]
>>> server = cs.Server(clients)
>>> server.test("A", "B").p_value < 0.05
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consilience import errors, simulate
    from consilience.citest import CIResult, CITest, Contrast, Direction, Estimate, Question, Size
    from consilience.data import Kind, Schema, Variable
    from consilience.errors import DoubtfulDataWarning
    from consilience.federation import Client, Server, fisher, pooled
    from consilience.graph import DAG, MAG, PAG, Oracle, normalised_shd, shd
    from consilience.iod import Check, Decision, Discovery, Effects, Knowledge, Summary, check, discover

__version__ = "0.1.0"

__all__ = [
    "DAG",
    "MAG",
    "PAG",
    "CIResult",
    "CITest",
    "Check",
    "Client",
    "Contrast",
    "Decision",
    "Direction",
    "Discovery",
    "DoubtfulDataWarning",
    "Effects",
    "Estimate",
    "Kind",
    "Knowledge",
    "Oracle",
    "Question",
    "Schema",
    "Server",
    "Size",
    "Summary",
    "Variable",
    "__version__",
    "check",
    "discover",
    "errors",
    "fisher",
    "normalised_shd",
    "pooled",
    "shd",
    "simulate",
]

# Rooms are loaded when a name of theirs is first used: a page or a command that needs little of the package does not wait for all of it.
_ROOMS = {
    "citest": ("CIResult", "CITest", "Contrast", "Direction", "Estimate", "Question", "Size"),
    "data": ("Kind", "Schema", "Variable"),
    "errors": ("DoubtfulDataWarning",),
    "federation": ("Client", "Server", "fisher", "pooled"),
    "graph": ("DAG", "MAG", "PAG", "Oracle", "normalised_shd", "shd"),
    "iod": ("Check", "Decision", "Discovery", "Effects", "Knowledge", "Summary", "check", "discover"),
}
_ROOM_OF = {name: room for room, names in _ROOMS.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in ("errors", "simulate"):
        return import_module(f"consilience.{name}")
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'consilience' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"consilience.{_ROOM_OF[name]}"), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
