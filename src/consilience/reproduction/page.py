"""The page that puts a run's numbers beside the paper's. Every number, and every statement about numbers, is computed from the run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from consilience.reproduction.checks import Check, check_results
from consilience.reproduction.design import ALPHA, SEED
from consilience.reproduction.experiment import Results
from consilience.reproduction.paper import Paper, paper
from consilience.reproduction.sentences import (
    Value,
    about_accuracy,
    about_differences,
    about_effects,
    about_empty_lists,
    about_own_runs,
    about_ratios,
    about_shd,
    about_time,
    effect_of,
    pairs_of,
)
from consilience.reproduction.sizes import SIZES, Size
from consilience.reproduction.summary import Cell, cells_of, changed, reductions
from consilience.reproduction.tables import COMPARISONS, METHODS, StudyTable, grid, tables_of
from consilience.simulate.methods import ComparedMethod
from consilience.wording import with_contents

__all__ = ["page", "write_page"]


def write_page(results: Results, path: Path, figures: str, command: str) -> None:
    """Write the page; ``figures`` is the folder of the drawings as seen from it, ``command`` what made it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(results, figures, command), encoding="utf-8")


def page(results: Results, figures: str, command: str) -> str:
    """The page as Markdown."""
    cells, printed = cells_of(results), paper()
    tables = {table.name: table for table in tables_of(results)}
    shd, effect = pairs_of(cells, printed, "shd", Cell.mean_shd), pairs_of(cells, printed, "d", effect_of)
    parts = [
        "# The paper's simulation study, repeated",
        _introduction(results, command),
        "## What it must show",
        _checks(check_results(results)),
        "## Scenario 1: decisions",
        about_accuracy(cells),
        f"![Accuracy of CI decisions]({figures}/accuracy.svg)",
        *_with_titles(tables, ("accuracy-all", "accuracy-dependent", "accuracy-independent")),
        "The paper shows these numbers as curves only, so there is nothing to put beside them cell by cell.",
        "## Scenario 2: p-values against the pooled test",
        about_ratios(cells),
        f"![Log-ratios of p-values]({figures}/log-ratios.svg)",
        *_with_titles(tables, ("log-ratio-median", "log-ratio-iqr")),
        "## Scenario 3: graphs",
        about_shd(shd, cells),
        f"![Best normalised SHD]({figures}/shd.svg)",
        "Bands are two standard errors to both sides, diamonds the paper's numbers.",
        "**Best normalised SHD: ours / the paper's (difference)**",
        _beside("shd", cells, METHODS, printed, Cell.mean_shd),
        about_effects(effect),
        "**Cohen's d of the differences to pooled: ours / the paper's (difference)**",
        _beside("d", cells, METHODS[1:], printed, effect_of),
        about_empty_lists(cells),
        *_with_titles(tables, ("no-pag",)),
        about_own_runs(shd, pairs_of(cells, printed, "shd", Cell.own_mean_shd), cells),
        "**Best normalised SHD over the runs in which the method itself found a PAG: ours / the paper's (difference)**",
        _beside("shd", cells, METHODS, printed, Cell.own_mean_shd),
        "## Candidates of IOD (appendix D)",
        *_candidates(results, printed, figures),
        "## What differs from the paper, and why",
        about_differences(shd, effect, cells),
        "## Time",
        about_time(results),
        tables["seconds"].to_markdown(),
    ]
    return with_contents("\n\n".join(part for part in parts if part) + "\n")


def _introduction(results: Results, command: str) -> str:
    plan, runs = results.plan, len(results.records)
    return f"""This page is written by `{command}`: every number on it, and every statement about numbers, is computed from that run.

The study is that of the paper's section IV. {plan.graphs} graphs over five variables have a collider of order one or more, whose
discriminating path some site sees as a whole, and at least three tails; the first is that of the paper's introduction, the others are
random. The data are of mixed kinds, with an effect of the site on every variable: {_list(plan.samples)} rows over {_list(plan.partitions)}
sites; three variables are shared by all sites, two are exclusive to every second one. Each run asks the 42 questions that some
site can answer, at level {ALPHA:g}, with five methods, and takes their decisions to graphs (`discover` with its defaults). With
{plan.replications} for each graph, sample size and number of sites there are {runs:,} runs and {42 * runs:,} tests per method; the paper
has {len(SIZES[Size.PAPER].runs()):,} runs (`--size paper`). The seed is {SEED}.

| here | in the paper |
|---|---|
| fedCI: each site keeps its own intercepts (profiled), the default | – |
| fedCI (joint): the site is a predictor whose coefficients the server sees | fedCI |
| fedCI-CA: intercepts and slopes in turn (coordinate) | fedCI-CA |
| Fisher: each site tests alone, p-values are combined | Fisher |
| Pooled: all rows in one place, the site as a factor | Pooled |"""


def _list(numbers: Sequence[int]) -> str:
    words = [f"{number:,}" for number in numbers]
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]


def _checks(checks: Sequence[Check]) -> str:
    failed = [check for check in checks if not check.holds]
    verdict = "All of them hold." if not failed else f"**{len(failed)} of {len(checks)} do not hold.**"
    rows = tuple((check.claim, "yes" if check.holds else "**no**", check.detail) for check in checks)
    table = StudyTable("checks", "", ("claim", "holds", "numbers"), rows, left=3)
    return f"{verdict}\n\n{table.to_markdown()}"


def _with_titles(tables: dict[str, StudyTable], names: Sequence[str]) -> list[str]:
    return [f"**{tables[name].title}**\n\n{tables[name].to_markdown()}" for name in names]


def _beside(name: str, cells: Sequence[Cell], methods: Sequence[ComparedMethod], printed: Paper, value: Value) -> str:
    """Ours / the paper's (difference), cell by cell. The default fedCI stands beside the paper's, too."""

    def entry(cell: Cell, method: ComparedMethod) -> str:
        ours, theirs = value(cell, method), printed.cell(name, method, cell.n, cell.sites)
        if math.isnan(ours):
            return "–" if theirs is None else f"– / {theirs:.3f}"
        return f"{ours:.3f}" if theirs is None else f"{ours:.3f} / {theirs:.3f} ({ours - theirs:+.3f})"

    return grid(name, "", cells, methods, entry).to_markdown()


def _candidates(results: Results, printed: Paper, figures: str) -> list[str]:
    if not results.cases:
        return ["Not run."]
    rows = []
    for smaller, larger, title in COMPARISONS:
        values = reductions(results, smaller, larger)
        unchanged, least, greatest = changed(values)
        theirs = printed.reduction(smaller, larger)
        rows.append(
            (title, f"{unchanged} of {len(values)}", f"{theirs[0]} of 100", f"{least:,} to {greatest:,}", f"{theirs[1]:,} to {theirs[2]:,}")
        )
    head = ("", "unchanged", "in the paper", "reduction of the others", "in the paper")
    means = {variant: np.mean([case.candidates[variant] for case in results.cases]) for variant in results.cases[0].candidates}
    return [
        f"{len(results.cases)} random graphs with a collider of order one or more, each seen through two data sets of four variables, "
        f"with a perfect test. Mean candidates per case: {', '.join(f'{variant} {mean:.1f}' for variant, mean in means.items())}. This "
        "implementation drops what cannot become a solution before it counts as a candidate, so its counts and reductions are smaller "
        "than those of one that lists first and validates afterwards. [Variants of IOD](iod-variants.md) says more, on graphs that "
        "are drawn in another way.",
        f"![Reductions of candidates]({figures}/candidates.svg)",
        StudyTable("candidates", "", head, tuple(rows)).to_markdown(),
    ]
