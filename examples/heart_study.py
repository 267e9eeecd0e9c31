"""The heart study, run: all that its page tells. `heart.py` reads the files, `heart_page.py` writes the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
from heart import HOSPITALS, NAMES, hospital, measured, read
from study.decisions import Answers, ask, neutral_questions
from study.words import Steps

import consilience as cs

__all__ = ["FISHER", "SELECTION", "Study", "run"]

FISHER = "Fisher's method"
SELECTION = "selection allowed for (`selection_bias=True`)"
ONE_INTERCEPT, ZEROS = "*one intercept for all hospitals*", "*zeros of cholesterol are values*"
"""Ways that are worse, and are gone to see what they do."""


@dataclass
class Study:
    """All that the page tells.

    Attributes
    ----------
    frames : dict of str to polars.DataFrame
        The files, by hospital.
    server, found : Server, Discovery
        The hospitals together, and what they find.
    questions, together, one_intercept, pooled, others : list, Answers
        Every pair given every two others, and the answers: of the federated test, with one intercept for all hospitals, of pooled rows; of
        Fisher's method and of each hospital alone.
    graphs, variants : dict of str to Discovery
        Graphs of Fisher's method and of each hospital alone; of all hospitals, done otherwise.
    zeros, doubts : dict of str to CIResult, list of str
        Cholesterol and disease where zeros are values or not, and what the program says of zeros.
    seed : int
        Of resampled copies.
    """

    frames: dict[str, pl.DataFrame]
    server: cs.Server
    found: cs.Discovery
    questions: list[cs.Question]
    together: Answers
    one_intercept: Answers
    pooled: Answers
    others: list[Answers]
    graphs: dict[str, cs.Discovery]
    zeros: dict[str, cs.CIResult]
    doubts: list[str]
    seed: int
    variants: dict[str, cs.Discovery] = field(default_factory=dict)

    @property
    def as_good(self) -> dict[str, cs.Discovery]:
        """Ways to do it otherwise that are no worse."""
        return {name: found for name, found in self.variants.items() if name not in (ONE_INTERCEPT, ZEROS)}

    @property
    def is_resampled(self) -> bool:
        """False where no copies were asked for."""
        return self.found.stability is not None and self.found.stability.done > 0

    def at_one_alone(self) -> list[tuple[str, str]]:
        """Pairs of variables that one hospital alone measures together."""
        return [pair for pair in combinations(sorted(NAMES.values()), 2) if self.sites_with(pair) == 1]

    def sites_with(self, names: tuple[str, ...]) -> int:
        """How many hospitals measure these variables."""
        return sum(set(names) <= set(measured(frame)) for frame in self.frames.values())


def run(folder: Path, known: cs.Knowledge, *, alpha: float, bootstrap: int, seed: int, steps: Steps, variants: bool = True) -> Study:
    """All of it. Without resampled copies and ``variants`` it takes half a minute."""
    paths = {name: folder / f"{stem}.csv" for stem, name in HOSPITALS.items()}
    clients = [hospital(path, seed=seed) for path in paths.values()]
    server = cs.Server(clients)
    options: dict[str, Any] = {"alpha": alpha, "knowledge": known}
    steps.step("the hospitals together")
    found = cs.discover(server, **options, effects=["* -> *"], bootstrap=bootstrap, leave_one_out=bootstrap > 0, progress=steps)
    alone = {client.name: cs.pooled([client], diagnostics=False) for client in clients}
    tests: dict[str, cs.CITest] = {
        "together": cs.Server(clients, diagnostics=False),
        "one intercept": cs.Server(clients, diagnostics=False, site_effects="none"),
        "pooled": cs.pooled(clients, diagnostics=False),
        FISHER: cs.fisher(clients),
        **alone,
    }
    questions = neutral_questions(server.variables)
    answers, graphs = {}, {}
    for name, test in tests.items():
        steps.step(f"{len(questions):,} questions: {name}")
        answers[name] = ask(name, test, questions, alpha)
    for name in (FISHER, *alone):
        steps.step(f"graphs: {name}")
        graphs[name] = cs.discover(tests[name], **options)
    zeros, doubts = _zeros(server, [hospital(path, zeros=True) for path in paths.values()])
    return Study(
        frames={name: read(path) for name, path in paths.items()},
        server=server,
        found=found,
        questions=questions,
        together=answers["together"],
        one_intercept=answers["one intercept"],
        pooled=answers["pooled"],
        others=[answers[FISHER], *(answers[name].called(f"{name} alone") for name in alone)],
        graphs=graphs,
        zeros=zeros,
        doubts=doubts,
        seed=seed,
        variants=_otherwise(found, paths.values(), options, steps) if variants else {},
    )


def _zeros(server: cs.Server, kept: list[cs.Client]) -> tuple[dict[str, cs.CIResult], list[str]]:
    """What zeros of cholesterol would do if they were values, and what the program says of them."""
    doubtful = cs.Server(kept)
    pair = ("cholesterol", "disease")
    zeros = {
        "as missing": server.test(*pair),
        "as values": doubtful.test(*pair),
        "as values, and one intercept for all hospitals": cs.Server(kept, site_effects="none").test(*pair),
    }
    return zeros, [finding.said() for finding in doubtful.findings if "cholesterol" in finding.columns]


def _otherwise(found: cs.Discovery, paths: Iterable[Path], options: dict[str, Any], steps: Steps) -> dict[str, cs.Discovery]:
    """The same study, with one thing changed."""
    clients, kept, fewer = ([hospital(path, **how) for path in paths] for how in ({}, {"zeros": True}, {"without": ["thallium scan"]}))
    more_known = cs.Knowledge(exogenous=["age", "sex"], forbidden=['"max heart rate" => disease'])

    def another(sites: list[cs.Client], **how: Any) -> cs.Discovery:
        chosen = {name: how.pop(name) for name in ("alpha", "knowledge") if name in how}
        return cs.discover(cs.Server(sites, **how), **(options | chosen))

    ways: dict[str, Callable[[], cs.Discovery]] = {
        'residuals where linear models do not hold (`method="auto"`)': lambda: another(clients, method="auto"),
        'residuals everywhere (`method="residual"`)': lambda: another(clients, method="residual"),
        "α = 0.05": lambda: another(clients, alpha=0.05),
        "age and sex are variables like others": lambda: another(clients, knowledge=None),
        "max heart rate is no cause of disease": lambda: another(clients, knowledge=more_known),
        SELECTION: lambda: found.redecide(selection_bias=True),
        "without the thallium scan": lambda: another(fewer),
        "rules on disclosure as over a network (`min_cell=5`)": lambda: another(clients, min_cell=5),
        ONE_INTERCEPT: lambda: another(clients, site_effects="none"),
        ZEROS: lambda: another(kept),
    }
    done = {}
    for name, way in ways.items():
        steps.step(f"otherwise: {name}")
        done[name] = way()
    return done
