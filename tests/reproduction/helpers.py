"""Records made up by hand, for tests of what is computed from records."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from consilience.reproduction.design import study_graphs
from consilience.reproduction.experiment import Results
from consilience.reproduction.runs import Record, RunOutcome
from consilience.reproduction.sizes import Plan
from consilience.reproduction.variants import VariantCase
from consilience.simulate.methods import ComparedMethod

PERFECT = tuple(math.log(0.5) if independent else math.log(1e-6) for independent in study_graphs(1)[0].truth())
"""Log p of a test that is always right, on the first graph of the study."""


def found(log_p: Sequence[float | None] = PERFECT, shd: float | None = 0.1, seconds: float = 0.1) -> RunOutcome:
    return RunOutcome(tuple(log_p), 0, 0 if shd is None else 1, shd, seconds)


def record(n: int = 500, sites: int = 4, replication: int = 0, seconds: float = 1.0, **methods: RunOutcome) -> Record:
    outcomes: Mapping[ComparedMethod, RunOutcome] = {m: methods.get(m.value, methods.get("rest", found())) for m in ComparedMethod}
    return Record(0, n, sites, replication, {}, dict(outcomes), seconds)


def results(records: Sequence[Record], cases: Sequence[VariantCase] = ()) -> Results:
    samples, partitions = sorted({r.n for r in records}), sorted({r.sites for r in records})
    return Results(Plan(1, 1, tuple(samples), tuple(partitions), len(cases)), tuple(records), tuple(cases))


def case(original: int = 30, colliders: int = 20, triples: int = 10, *, agree: bool = True) -> VariantCase:
    return VariantCase("A o-o B", (("A", "B"),), {"original": original, "colliders": colliders, "triples": triples}, 1, agree)
