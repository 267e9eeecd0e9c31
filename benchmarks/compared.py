"""The tests that calibration and power compare, each as a function from data to a p-value.

The federated ones run the same exchanges as :class:`consilience.Server`, over the same desks of sites, but without keys, masks and ledgers:
masking changes sums by less than 2⁻⁶⁰, and thousands of replications must not pay for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from consilience.citest.question import Question
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.settings.choices import Method, SiteEffects
from consilience.simulate.methods import ask_sites
from consilience.simulate.violations import Drawn

LARGEST, SHARE = 400, 10
MANY_LEVELS, MANY_SITES = 20, 20
"""Levels of a variable from which models with effects of all of them take seconds, and sites from which tests of each of them do."""


def federated(data: Drawn, **settings: Any) -> float:
    """The p-value of a federated test; 1 where it says that it cannot tell."""
    known = {kind.value for kind in Kind}
    kinds = {name: Kind(kind if kind in known else "continuous") for name, kind in data.kinds.items()}
    levels = {name: data.levels.get(name, range(2)) for name, kind in kinds.items() if kind.is_discrete}
    schema = Schema([Variable(name, kind, tuple(str(level) for level in levels.get(name, ()))) for name, kind in kinds.items()])
    # whether linear models hold is another question, which takes a third of the time and changes no p-value
    (found,) = ask_sites(data.frames, schema, [Question("X", "Y", data.given)], **{"diagnostics": False} | settings)
    return found.p_value if found.informative else 1.0


def residual(data: Drawn, **settings: Any) -> float:
    """The test of residuals, told of wards where there are any."""
    return federated(data, method="residual", **settings, **({"cluster": data.cluster} if data.cluster else {}))


def kci(data: Drawn) -> float:
    """The kernel test of causal-learn on the pooled rows, given Z and indicators of the sites."""
    from causallearn.utils.cit import CIT  # noqa: PLC0415 - it takes seconds to load, and only one method needs it

    site = np.repeat(np.arange(len(data.frames)), [frame.height for frame in data.frames.values()])
    pooled = [np.concatenate([frame[name].to_numpy() for frame in data.frames.values()]) for name in ("X", "Y", *data.given)]
    table = np.column_stack([*pooled, site[:, None] == np.arange(1, len(data.frames))]).astype(float)
    return float(CIT(table, "kci")(0, 1, list(range(2, table.shape[1]))))


METHODS: dict[str, Callable[[Drawn], float]] = {
    "fedci": federated,
    "residual": residual,
    "smooth": lambda data: residual(data, alternatives="smooth"),
    "random": lambda data: federated(data, site_effects="random"),
    "fisher": lambda data: federated(data, method="fisher"),
    "kci": kci,
}


def available() -> list[str]:
    """The methods that this version has."""
    has = {name: "residual" in tuple(Method) for name in ("residual", "smooth")} | {"random": "random" in tuple(SiteEffects)}
    return [name for name in METHODS if has.get(name, True)]


def replications(method: str, n: int, wanted: int, kinds: Iterable[str] = (), levels: int = 0, sites: int = 4) -> int:
    """How many replications a method does where X and Y are of these kinds, with so many levels and sites; slow ones do a tenth.

    There are no random effects in models of counts. Effects of many levels take seconds in many rows, random ones in fewer; so do
    iterated models of many sites, which are about sites with few rows.
    """
    many = levels >= MANY_LEVELS and n > {"random": LARGEST, "fedci": 2000, "fisher": 2000}.get(method, n)
    many |= sites >= MANY_SITES and n >= LARGEST and method in ("fedci", "random", "fisher")
    if method == "random" and "count" in kinds:
        return 0
    if method != "kci":
        return wanted // SHARE if many else wanted
    return wanted // SHARE if n <= LARGEST else 0
