"""From a CI test over overlapping data sets to the complete list of PAGs."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from inspect import signature
from typing import Any, cast

import msgspec

from consilience.citest.interface import CITest
from consilience.errors import OptionError
from consilience.federation import Client, Server
from consilience.graph.graphs import PAG
from consilience.graph.marksets import mask_of
from consilience.iod.answers import Answers
from consilience.iod.clock import Clock
from consilience.iod.discovery import Discovery
from consilience.iod.estimating import estimate_effects, pairs_of
from consilience.iod.evidence import Decision, Source, rulings
from consilience.iod.headline import conditioned
from consilience.iod.knowledge import Knowledge
from consilience.iod.local import read_local
from consilience.iod.resolution import Resolution
from consilience.iod.search_problem import Rule, SearchProblem
from consilience.iod.skeleton import LocalSearch, search
from consilience.iod.solution import Ranked, solve_exact, solve_published
from consilience.iod.stability import Plan, Stability, assess, source_of
from consilience.iod.weighing import MOST_TESTS, to_weigh
from consilience.parallel import Jobs, check_jobs
from consilience.settings import DEFAULTS, LOCAL, Engine, Part, Resolve, Settings, names_of, settings_of
from consilience.settings.effects import effect_texts

__all__ = ["MOST_TESTS", "TESTING", "Engine", "Resolve", "Stage", "ask_tests", "discover", "discover_arguments", "knowledge_of", "plan_of"]

Stage = Callable[[str], None]
"""Told, in words, what is being done; an exception that it raises cancels the discovery."""

TESTING = "testing"
"""How the words begin while tests are made, of which nothing can be shown yet."""


def discover(
    test: CITest | Sequence[Client],
    *,
    alpha: float = DEFAULTS.alpha,
    engine: str = DEFAULTS.engine.value,
    resolve: str = DEFAULTS.resolve.value,
    knowledge: Knowledge | None = None,
    max_given: int | None = DEFAULTS.max_given,
    selection_bias: bool = DEFAULTS.selection_bias,
    limit: int | None = DEFAULTS.limit,
    time_limit: float | None = DEFAULTS.time_limit,
    variant: str = DEFAULTS.variant.value,
    effects: Sequence[str | Sequence[str]] = DEFAULTS.effects,
    bootstrap: int = DEFAULTS.bootstrap,
    leave_one_out: bool = DEFAULTS.leave_one_out,
    jobs: Jobs = LOCAL.jobs,
    progress: Stage | None = None,
    stop: Callable[[], bool] | None = None,
) -> Discovery:
    """Every PAG that agrees with the CI decisions of ``test`` on each of its data sets.

    Parameters
    ----------
    test : CITest or sequence of Client
        What answers the questions: a :class:`~consilience.Server`, ``fisher(clients)``, ``pooled(frames)``, an
        :class:`~consilience.Oracle`, a test of your own. Clients stand for ``Server(clients)``.
    alpha : float
        Significance level of the CI decisions, between 0 and 1.
    engine : {"exact", "iod"}
        A constraint solver, or the published algorithm.
    resolve : {"auto", "strict", "strongest", "optimal"}
        Where decisions contradict each other: no graph (strict), those that agree with the strongest evidence first (strongest), or those
        that contradict the least evidence in all (optimal). ``"auto"`` is strict where the decisions agree, and strongest where they do
        not. ``found.headline`` says what was done, and ``found.resolution`` has it in numbers.
    knowledge : Knowledge, optional
        What is known before the data.
    max_given : int, optional
        Largest conditioning set. Pairs that no set so small separates count as inseparable, as in FCI with a bound on its depth: what is
        listed then assumes that no larger set separates them, and a graph may have edges that larger sets would have taken away.
    selection_bias : bool
        Allow for selection bias: undirected edges.
    limit : int, optional
        Most graphs to list. The summary covers graphs that are not listed, too.
    time_limit : float, optional
        Most seconds to spend on graphs after the tests, a minute unless you say otherwise; with knowledge, at most as many again on the
        marks that follow from it. What was found until then is returned, and ``found.headline`` says so. None for no limit.
    variant : {"original", "colliders", "triples"}
        With ``engine="iod"``: which local marks guide the search. The list is the same.
    effects : sequence of str or pairs
        Effects to estimate over the graphs that are found, such as ``["smoking -> cancer"]`` or ``[("smoking", "cancer")]``; ``*`` is every
        variable. ``found.effects`` has them; ``found.effect(x, y)`` asks for any other.
    bootstrap : int
        Repeat the search in so many resampled copies of the data, all in the same rounds: ``found.stability`` then says how sure each edge,
        mark and decision is. A hundred is a good number; 0 for none. Needs sites that can resample: a :class:`~consilience.Server`.
    leave_one_out : bool
        Repeat the search without each of the sites: ``found.stability`` then says which edges hang on one site, and which site disagrees
        with the others. Subtracted from the sums over all sites, those without one are that site's: not with ``isolation="strict"``.
    jobs : int or str
        With ``engine="iod"``: processes that validate candidates, or the address of a Dask scheduler whose workers do.
    progress : callable, optional
        Told, in words, what is being done. An exception that it raises cancels the discovery.
    stop : callable, optional
        Asked now and then, while graphs are sought, whether to stop: True ends the search as if time were up, and keeps what was found.

    Returns
    -------
    Discovery
        The graphs, best first, what they have in common, and what it takes to do it again.

    Raises
    ------
    OptionError
        An option has a value that does not exist, is out of its range or does not go with another; or ``test`` is no test.
    KnowledgeError
        What is known contradicts itself, or names strange variables.
    StudyError, RefusalError
        Whatever the test raises when it cannot go on.

    Examples
    --------
    >>> from consilience.graph import Oracle
    >>> oracle = Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=[["A", "B", "C"], ["B", "C", "D"]])
    >>> found = discover(oracle)
    >>> for pag in found.pags:
    ...     print(pag)
    A o-> C, B o-> C, C --> D
    A <-> C, A <-> D, B o-> C, C --> D
    """
    test, jobs = _as_test(test), check_jobs(jobs)
    chosen = settings_of(
        alpha=alpha,
        engine=engine,
        resolve=resolve,
        max_given=max_given,
        selection_bias=selection_bias,
        limit=limit,
        time_limit=time_limit,
        variant=variant,
        bootstrap=bootstrap,
        leave_one_out=leave_one_out,
        effects=effect_texts(effects),
    )
    resampled = source_of(test) if chosen.bootstrap or chosen.leave_one_out else None
    say = progress or (lambda _: None)
    if isinstance(test, CITest):  # a test of one's own may be any object that answers, and knows of no data
        test.check_use()
    names = tuple(sorted(test.variables))
    pairs = pairs_of(chosen.effects, names)
    rules = [] if knowledge is None else _rules(knowledge, names)
    datasets = tuple(tuple(sorted(held)) for held in test.datasets)
    start = time.perf_counter()
    answers, searches = ask_tests(test, chosen.alpha, max_given, say)
    locals_ = [read_local(found, selection_bias=selection_bias) for found in searches]
    findings = rulings(locals_, answers)
    tested = time.perf_counter()
    clock = Clock(time_limit, say, stop)
    problem = SearchProblem(len(names), locals_, findings, (), rules, selection_bias)
    if chosen.engine is Engine.IOD:
        solution = solve_published(problem, names, clock, limit, chosen.variant, jobs)
    else:
        solution = solve_exact(problem, names, clock, limit, chosen.resolve, lambda: to_weigh(answers, findings, searches, max_given))
    ranked = solution.ranked(answers)
    summary = solution.summary(clock)
    resolution = solution.resolution
    weighed = solution.problem.weighed
    considered = findings if resolution.how is Resolve.STRICT else weighed
    local_pags = (PAG.from_working(local.marks, names) for local in locals_)
    graphed = time.perf_counter()
    stability: Stability | None = None
    if resampled is not None:
        plan, pags = plan_of(chosen, names, datasets, rules), [one.pag for one in ranked]
        stability = assess(resampled, plan, answers, pags, bootstrap, say, stop, leave_one_out=leave_one_out)
    found = Discovery(
        pags=tuple(one.pag for one in ranked),
        scores=tuple(one.score for one in ranked),
        complete=solution.listing.complete,
        summary=summary,
        conflicts=solution.conflicts,
        overruled=tuple(dict.fromkeys((*resolution.overruled, *_contradicted_by_some(ranked, resolution)))),
        local_pags=tuple(_restricted(pag, held) for pag, held in zip(local_pags, datasets, strict=True)),
        datasets=datasets,
        tests=answers.frame(),
        candidates=solution.candidates,
        timings={"tests": tested - start, "graphs": graphed - tested, **_resampling(stability, graphed)},
        settings={**_told(chosen), "weighed": len(weighed), **_withheld(test)},
        versions=dict(_versions()),
        knowledge=knowledge,
        disclosed=test.disclosed(),
        resolution=resolution.among(ruling.decision for ruling in considered),
        stopped=stop is not None and stop(),
        stability=stability,
        _contradicted=tuple(one.contradicted for one in ranked),
        _test=test,
    )
    if pairs:
        say("estimating effects")
        found = replace(found, effects=estimate_effects(found, pairs, test, max_given))
    return conditioned(found)


def plan_of(
    settings: Settings,
    names: Sequence[str],
    datasets: Sequence[Sequence[str]],
    rules: Sequence[Rule] = (),
    *,
    digits: int | None = None,
) -> Plan:
    """How the replicates of a study with these settings are searched: as the study is, and their graphs by the exact engine.

    >>> plan_of(Settings(alpha=0.01), "AB", ["AB"]).alpha
    0.01
    """
    # the published algorithm has no way out of contradictions
    way = Resolve.STRICT if settings.engine is Engine.IOD else settings.resolve
    held = tuple(tuple(sorted(own)) for own in datasets)
    return Plan(tuple(names), held, settings.alpha, settings.max_given, settings.selection_bias, way, rules, digits=digits)


def _resampling(stability: Stability | None, start: float) -> dict[str, float]:
    """Seconds that replicates took, if there are any."""
    return {} if stability is None else {"stability": time.perf_counter() - start}


def ask_tests(
    test: CITest, alpha: float = DEFAULTS.alpha, max_given: int | None = DEFAULTS.max_given, progress: Stage | None = None
) -> tuple[Answers, list[LocalSearch]]:
    """The first half of a discovery: ask all that the local graphs rest on. Graphs over all variables may be sought elsewhere and later.

    >>> from consilience.graph import Oracle
    >>> answers, _ = ask_tests(Oracle(PAG.parse("A o-> C, B o-> C, C --> D"), datasets=[["A", "B", "C"], ["B", "C", "D"]]))
    >>> len(answers.results)
    10
    """
    say = progress or (lambda _: None)
    names = tuple(sorted(test.variables))
    index = {name: i for i, name in enumerate(names)}
    answers = Answers(test, names, alpha)
    held = [mask_of(index[name] for name in names_) for names_ in test.datasets]

    def told(what: str, level: int, done: int) -> None:
        say(f"{TESTING}, {what} {level} ({done} tests so far)")

    return answers, search(len(names), held, answers, max_given, told)


def _contradicted_by_some(ranked: Sequence[Ranked], resolution: Resolution) -> Iterator[Decision]:
    """Where graphs tie, what at least one of them gives up; of decisions that were not considered nobody says that they are overruled."""
    return (decision for one in ranked for decision in one.contradicted if not resolution.undecided)


def _withheld(test: CITest) -> dict[str, Any]:
    """What rules on disclosure kept out of the tests, if anything: part of what it takes to do it again."""
    words = test.withheld() if isinstance(test, CITest) else ()
    return {"withheld": list(words)} if words else {}


def _as_test(test: object) -> CITest:
    """``test`` itself, or a server over clients; any object that answers like a CI test will do."""
    if isinstance(test, CITest) or all(hasattr(test, name) for name in ("variables", "datasets", "answer")):
        return cast(CITest, test)
    if isinstance(test, Sequence) and any(isinstance(one, Client) for one in test):
        return Server(test)
    raise OptionError(
        f"discover takes a CI test, such as Server(clients), pooled(frames) or an Oracle, or a list of clients; got {type(test).__name__}. "
        f"Wrap each site's data with consilience.Client(name, data)."
    )


def _told(settings: Settings) -> dict[str, Any]:
    """The settings of the search as plain types, in the order of the signature; which effects were asked for, the effects say."""
    plain = msgspec.to_builtins(settings)
    return {name: plain[name] for name in signature(discover).parameters if name in plain and name != "effects"}


def knowledge_of(settings: Settings) -> Knowledge | None:
    """What settings say is known before the data; ``KnowledgeError`` if it contradicts itself.

    >>> knowledge_of(DEFAULTS) is None
    True
    """
    told = {name: getattr(settings, name) for name in names_of(Part.KNOWLEDGE)}
    return Knowledge(**told) if any(told.values()) else None


def discover_arguments(settings: Settings) -> dict[str, Any]:
    """Settings as the arguments of :func:`discover`.

    >>> discover_arguments(Settings(alpha=0.01, max_given=1))["max_given"]
    1
    """
    parts = names_of(Part.GRAPHS, Part.EFFECTS, Part.STABILITY)
    return {name: getattr(settings, name) for name in parts} | {"knowledge": knowledge_of(settings)}


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
