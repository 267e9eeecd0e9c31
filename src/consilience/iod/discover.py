"""From a CI test over overlapping data sets to the complete list of PAGs."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from importlib.metadata import version
from itertools import chain
from typing import Any

from consilience.citest.interface import CITest
from consilience.citest.result import to_frame
from consilience.errors import OptionError
from consilience.graph.graphs import PAG
from consilience.graph.marksets import mask_of
from consilience.iod.answers import Answers, Key
from consilience.iod.clock import Clock
from consilience.iod.discovery import Discovery
from consilience.iod.evidence import Decision, Ruling, Source, rulings, verdicts
from consilience.iod.knowledge import Knowledge
from consilience.iod.local import read_local
from consilience.iod.published.union import Variant
from consilience.iod.search_problem import Rule, SearchProblem
from consilience.iod.skeleton import LocalSearch, search
from consilience.iod.solution import solve_exact, solve_published
from consilience.options import check_number, check_option, check_whole

__all__ = ["Engine", "Resolve", "Stage", "discover"]

Stage = Callable[[str], None]
"""Told, in words, what is being done; an exception that it raises cancels the discovery."""


MOST_TESTS = 100
"""With ``resolve="optimal"``, all tests of all data sets are asked and weighed if they are no more than these (five variables have 80);
otherwise the findings of the local searches, of which there are few, and the tests without conditioning."""


class Engine(StrEnum):
    """How graphs are found."""

    EXACT = "exact"
    IOD = "iod"


class Resolve(StrEnum):
    """What to do about decisions that contradict each other."""

    STRICT = "strict"
    OPTIMAL = "optimal"


def discover(
    test: CITest,
    *,
    alpha: float = 0.05,
    engine: str = "exact",
    resolve: str = "strict",
    knowledge: Knowledge | None = None,
    max_given: int | None = None,
    selection_bias: bool = False,
    limit: int | None = 10_000,
    time_limit: float | None = None,
    variant: str = "triples",
    jobs: int = 1,
    progress: Stage | None = None,
) -> Discovery:
    """Every PAG that agrees with the CI decisions of ``test`` on each of its data sets.

    Where decisions contradict each other, ``resolve="strict"`` returns no graph, and ``"optimal"`` those that contradict the least
    evidence; ``found.conflicts`` names decisions that cannot hold together in either case. ``knowledge`` is what is known beforehand.
    ``max_given`` bounds conditioning sets; pairs that are not tested to the end are then neither separable nor inseparable.
    ``selection_bias=True`` allows for undirected edges. At most ``limit`` graphs are listed, and ``time_limit`` seconds spent looking for
    graphs after the tests (with knowledge, at most as many again on the marks that follow from it); the summary covers graphs that are
    not listed, too.

    ``engine="exact"`` asks a constraint solver; ``"iod"`` is the published algorithm, where ``variant`` says which local marks guide the
    search (``"original"``, ``"colliders"``, ``"triples"``; the list is the same) and ``jobs`` processes validate candidates.

    >>> from consilience.graph import Oracle
    >>> oracle = Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=[["A", "B", "C"], ["B", "C", "D"]])
    >>> found = discover(oracle)
    >>> for pag in found.pags:
    ...     print(pag)
    A o-> C, B o-> C, C --> D
    A <-> C, A <-> D, B o-> C, C --> D
    """
    settings = _checked(
        {
            "alpha": alpha,
            "engine": engine,
            "resolve": resolve,
            "max_given": max_given,
            "selection_bias": selection_bias,
            "limit": limit,
            "time_limit": time_limit,
            "variant": variant,
        }
    )
    say = progress or (lambda _: None)
    names = tuple(sorted(test.variables))
    index = {name: i for i, name in enumerate(names)}
    rules = [] if knowledge is None else _rules(knowledge, names)
    datasets = tuple(tuple(sorted(held)) for held in test.datasets)
    decisions = Answers(test, names, float(alpha))
    start = time.perf_counter()
    searches = search(
        len(names),
        [mask_of(index[name] for name in held) for held in datasets],
        decisions,
        max_given,
        lambda what, level, done: say(f"testing, {what} {level} ({done} tests so far)"),
    )
    locals_ = [read_local(found, selection_bias=selection_bias) for found in searches]
    findings = rulings(locals_, decisions)
    optimal = resolve == Resolve.OPTIMAL
    weighed = _weighed(decisions, findings, searches, max_given) if optimal else []
    tested = time.perf_counter()
    clock = Clock(time_limit, say)
    problem = SearchProblem(len(names), locals_, findings, weighed, rules, selection_bias)
    if engine == Engine.IOD:
        solution = solve_published(problem, names, clock, limit, Variant(variant), jobs)
    else:
        solution = solve_exact(problem, names, clock, limit, optimal=optimal)
    ranked = solution.ranked(decisions)
    summary = solution.summary(clock)
    local_pags = (PAG.from_working(local.marks, names) for local in locals_)
    return Discovery(
        pags=tuple(one.pag for one in ranked),
        scores=tuple(one.score for one in ranked),
        complete=solution.listing.complete,
        summary=summary,
        conflicts=solution.conflicts,
        overruled=tuple(dict.fromkeys(decision for one in ranked for decision in one.contradicted)),
        local_pags=tuple(_restricted(pag, held) for pag, held in zip(local_pags, datasets, strict=True)),
        datasets=datasets,
        tests=to_frame(list(decisions.results.values())),
        candidates=solution.candidates,
        timings={"tests": tested - start, "graphs": time.perf_counter() - tested},
        settings={**settings, "weighed": len(weighed)},
        versions=dict(_versions()),
        knowledge=knowledge,
        disclosed=test.disclosed(),
        _contradicted=tuple(one.contradicted for one in ranked),
    )


def _checked(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings, if they are in order and go together."""
    alpha = settings["alpha"]
    if not isinstance(alpha, float | int) or not 0.0 < alpha < 1.0:
        raise OptionError(f"alpha must lie between 0 and 1; got {alpha!r}.")
    check_option("engine", settings["engine"], tuple(Engine))
    check_option("resolve", settings["resolve"], tuple(Resolve))
    check_option("variant", settings["variant"], tuple(Variant))
    for name, least in (("max_given", 0), ("limit", 1)):
        if settings[name] is not None:
            check_whole(name, settings[name], least=least)
    if settings["time_limit"] is not None:
        check_number("time_limit", settings["time_limit"], least=0.0)
    if settings["engine"] == Engine.IOD:
        if settings["resolve"] != Resolve.STRICT:
            raise OptionError("The published algorithm has no way out of contradictions: resolve='optimal' needs engine='exact'.")
        if settings["selection_bias"]:
            raise OptionError("The published algorithm knows no selection bias: selection_bias=True needs engine='exact'.")
    return {name: value.value if isinstance(value, StrEnum) else value for name, value in settings.items()}


def _weighed(decisions: Answers, findings: list[Ruling], searches: Sequence[LocalSearch], max_given: int | None) -> list[Ruling]:
    """What is weighed against each other: every test of every data set, or, where these are too many, the findings and what else was
    found without conditioning. (An adjacency given up for its weakest test does not take the strong dependences of the pair with it.)
    """
    keys: dict[Key, None] = {}
    for key in chain.from_iterable(local.all_tests(max_given) for local in searches):
        keys[key] = None
        if len(keys) > MOST_TESTS:  # of twenty variables there are fifty million
            break
    else:
        decisions.ask(keys)
        return verdicts(decisions)
    said = {(ruling.decision.x, ruling.decision.y, ruling.decision.given) for ruling in findings}
    return findings + [
        ruling for ruling in verdicts(decisions, max_given=0) if (ruling.decision.x, ruling.decision.y, ruling.decision.given) not in said
    ]


def _rules(knowledge: Knowledge, names: Sequence[str]) -> list[Rule]:
    """Background knowledge over numbered nodes."""
    index = {name: i for i, name in enumerate(names)}
    return [
        Rule(
            Decision(Source.KNOWLEDGE, item.text),
            tuple(tuple((fact.kind, index[fact.x], index[fact.y], fact.holds) for fact in clause) for clause in item.clauses),
        )
        for item in knowledge.items(names)
    ]


@cache
def _versions() -> tuple[tuple[str, str], ...]:
    packages = ("consilience", "clingo", "numpy", "polars", "scipy")
    return (("python", platform.python_version()), *((name, version(name)) for name in packages))


def _restricted(pag: PAG, held: tuple[str, ...]) -> PAG:
    """A local PAG over its own variables only."""
    keep = [pag.index(name) for name in held]
    return PAG.from_matrix(pag.to_matrix()[keep][:, keep], held)
