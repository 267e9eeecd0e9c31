"""The five methods of the study, on the tables of one simulation.

The federated ones run the same batches as :class:`consilience.Server`, over the same the sites' desks, but without keys, masks and ledgers:
masking changes sums by less than 2⁻⁶⁰, and a study of thousands of runs must not pay for it. Tables are encoded once for all methods. What
comes out is equal to the server's (tested).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from consilience.citest.combine import chi2_log_sf
from consilience.citest.question import Question
from consilience.citest.result import CIResult
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.census import Census, apply
from consilience.disclosure.shield import shield
from consilience.federation.exchange.batch import batch, drive
from consilience.federation.exchange.fisher import fisher_batch
from consilience.federation.exchange.sums import FitOptions, Sums
from consilience.federation.federated import FederatedTest
from consilience.federation.pooled import Pooled
from consilience.federation.site.own_tests import desk_for
from consilience.federation.transport.base import Stated, Transport
from consilience.frames import pl
from consilience.glm.kernel import Floats
from consilience.glm.layout import SiteEffects
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.messages import Announced
from consilience.settings.checks import settings_of
from consilience.settings.disclosure import Disclosure
from consilience.settings.terms import Terms, terms_of

__all__ = ["ComparedMethod", "Outcome", "ask_sites", "federated", "run_methods"]


class ComparedMethod(StrEnum):
    """What is compared: fedCI with the default site effects, as printed, and its coordinate variant; Fisher's method; all rows together."""

    FEDCI = "fedci"
    JOINT = "joint"
    COORDINATE = "coordinate"
    FISHER = "fisher"
    POOLED = "pooled"

    @property
    def label(self) -> str:
        """The name in tables and figures."""
        return LABELS[self]

    @property
    def federated(self) -> bool:
        """True for the variants of fedCI."""
        return self in EFFECTS


LABELS = {
    ComparedMethod.FEDCI: "fedCI",
    ComparedMethod.JOINT: "fedCI (joint)",
    ComparedMethod.COORDINATE: "fedCI-CA",
    ComparedMethod.FISHER: "Fisher",
    ComparedMethod.POOLED: "Pooled",
}
EFFECTS = {
    ComparedMethod.FEDCI: SiteEffects.PROFILED,
    ComparedMethod.JOINT: SiteEffects.JOINT,
    ComparedMethod.COORDINATE: SiteEffects.COORDINATE,
}


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """What one method said: log p per question (NaN where it could not answer), tests that did not converge, processor seconds."""

    log_p: tuple[float, ...]
    not_converged: int
    seconds: float


def run_methods(
    frames: Mapping[str, pl.DataFrame],
    schema: Schema,
    questions: Sequence[Question],
    methods: Sequence[ComparedMethod] = tuple(ComparedMethod),
) -> dict[ComparedMethod, Outcome]:
    """Every method's answers to ``questions``, on the frames of several sites.

    >>> from consilience.simulate.sites import from_graph
    >>> made = from_graph("A --> B, B --> C", n=300, sites=3, seed=1)
    >>> found = run_methods(made.frames, made.schema, [Question("A", "C"), Question("A", "C", ("B",))])
    >>> [abs(found[ComparedMethod.FEDCI].log_p[i] - found[ComparedMethod.POOLED].log_p[i]) < 1e-6 for i in (0, 1)]
    [True, True]
    """
    tables = {name: Table(frame, schema, name) for name, frame in frames.items()}
    outcomes = {}
    for method in methods:
        start = time.process_time()
        if method is ComparedMethod.POOLED:
            results = Pooled(dict(frames), schema, small_sample=False).answer(questions)
            log_p, not_converged = [result.log_p for result in results], _failures(results)
        else:
            log_p, not_converged = _federated(method, list(tables.values()), schema, questions)
        outcomes[method] = Outcome(tuple(log_p), not_converged, time.process_time() - start)
    return outcomes


def _federated(method: ComparedMethod, tables: list[Table], schema: Schema, questions: Sequence[Question]) -> tuple[list[float], int]:
    # the paper's plain χ²: what is compared here are ways to federate one test, and what is reproduced is its study
    # in full precision: rounding of what one site alone can test is a matter of disclosure, which is none here
    limits = Disclosure(min_contributors=1)
    options = FitOptions(EFFECTS.get(method, SiteEffects.PROFILED), n_sites=len(tables), disclosure=limits, small_sample=False)
    sums = Sums(schema, options)
    if method is ComparedMethod.FISHER:
        results = drive(fisher_batch(questions, sums), _summed(tables))
        return [_log_combined(result, sums) for result in results], _failures(results)
    results = drive(batch(questions, sums), _summed(tables))
    return [result.log_p for result in results], _failures(results)


def ask_sites(frames: Mapping[str, pl.DataFrame], schema: Schema, questions: Sequence[Question], **settings: Any) -> list[CIResult]:
    """What a server with these settings answers, without keys, masks and ledgers.

    >>> from consilience.simulate.violations import situation
    >>> drawn = situation("square", n=400, seed=1)
    >>> schema = Schema({name: "continuous" for name in "XYZ"})
    >>> ask = [Question("X", "Y", ("Z",))]
    >>> ask_sites(drawn.frames, schema, ask)[0].p_value < 1e-6, ask_sites(drawn.frames, schema, ask, method="residual")[0].p_value > 0.01
    (True, True)
    """
    return federated(frames, schema, **settings).answer(questions)


def federated(frames: Mapping[str, pl.DataFrame], schema: Schema, **settings: Any) -> FederatedTest:
    """The test that a server with these settings makes, without keys, masks and ledgers.

    >>> from consilience.simulate.sites import from_graph
    >>> made = from_graph("A --> B, B --> C", n=300, sites=3, seed=1)
    >>> federated(made.frames, made.schema).test("A", "B").contributors
    3
    """
    terms = terms_of(settings_of(**settings), masking=False)
    cluster = {"cluster": settings["cluster"]} if settings.get("cluster") else {}
    tables = [Table(frame, schema, name, **cluster) for name, frame in frames.items()]
    datasets = [frozenset(table.names) for table in tables]
    return FederatedTest(schema, terms, datasets, _Summed(tables, schema, terms))


class _Summed(Transport):
    """Every desk's answer, added up, from tables that are shielded as the terms say."""

    def __init__(self, tables: Sequence[Table], schema: Schema, terms: Terms) -> None:
        self._stated: tuple[Stated, ...] = ()
        if terms.shielded:
            made = {i.to_bytes(32, "big"): shield(table, terms, terms.min_cell) for i, table in enumerate(tables)}
            census = Census({site: found.statement for site, found in made.items()}, terms, schema)
            self._stated = tuple(Stated(str(i), site, found.statement.encoded()) for i, (site, found) in enumerate(made.items()))
            tables = [apply(found, census, site) for site, found in made.items()]
        self._ask = _summed(tables, rounds_own=terms.disclosure.rounds_alone, fewest=terms.min_cell)
        self._sites = len(tables)

    def statements(self) -> tuple[Stated, ...]:
        return self._stated

    def ask(self, request: AnyRequest, announced: Sequence[Announced]) -> Floats:
        self.rounds += 1
        return self._ask(request)

    def drop(self, client: str) -> None:
        raise NotImplementedError

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(str(i) for i in range(self._sites))


def _summed(tables: Sequence[Table], *, rounds_own: bool = False, fewest: int = 1) -> Callable[[AnyRequest], Floats]:
    """A round: every site's answer, added up."""
    desks = [desk_for(table, rounds_own=rounds_own, fewest=fewest) for table in tables]

    def ask(request: AnyRequest) -> Floats:
        total: Floats = np.sum([desk.answer(request, site) for site, desk in enumerate(desks)], axis=0)
        return total

    return ask


def _log_combined(result: CIResult, sums: Sums) -> float:
    """Fisher's log p from the sum of -2 log p: p itself may be too small for a float."""
    statistic = sums.combined.get(Question(result.x, result.y, result.given))
    return math.nan if statistic is None else chi2_log_sf(statistic, 2 * result.contributors)


def _failures(results: Sequence[CIResult]) -> int:
    return sum(not result.converged for result in results)
