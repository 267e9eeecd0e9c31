"""What the replicates of a discovery say, all of them together; what is finished stays if somebody stops it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from consilience.frames import pl
from consilience.graph.graphs import PAG
from consilience.iod.answers import Answers
from consilience.iod.stability.asking import Source
from consilience.iod.stability.counting import Shares, consensus, edge_frame, edges_without_schema, mean_shares, test_frame
from consilience.iod.stability.influence import compared, site_schema, without_schema
from consilience.iod.stability.replicate import Graphs, Lists, Plan, first_questions
from consilience.iod.stability.result import Stability

__all__ = ["assess"]


class _Stopped(Exception):  # noqa: N818  not an error: what is finished is kept
    """Somebody wants what there is."""


@dataclass(slots=True, eq=False)
class _Finished:
    """What is known of the replicates that are finished."""

    drawn: dict[int, tuple[Answers, Graphs]] = field(default_factory=dict)
    left_out: dict[str, tuple[Answers, Graphs]] = field(default_factory=dict)


def assess(
    source: Source,
    plan: Plan,
    plain: Answers,
    pags: Sequence[PAG],
    bootstrap: int,
    say: Callable[[str], None],
    stop: Callable[[], bool] | None = None,
    *,
    leave_one_out: bool = False,
) -> Stability:
    """Search ``bootstrap`` resampled copies of the data, and the data without each site, as the data themselves were searched; ``plain``
    and ``pags`` are what was found in these.
    """
    before, finished, talk = source.rounds, _Finished(), _Talk(say, stop or (lambda: False))
    with suppress(_Stopped):
        first, lists = first_questions(plan, plain.results), Lists(plan)
        for name, asked in source.replicates(plan, first, bootstrap, talk, leave_one_out=leave_one_out):
            if isinstance(name, str):
                talk(f"leaving out {name}: graphs")
                finished.left_out[name] = asked.every, lists.of(asked)
            else:
                talk(f"resampling: graphs of copy {len(finished.drawn) + 1} of {bootstrap}")
                finished.drawn[name] = asked.every, lists.of(asked)
    drawn = [finished.drawn[draw] for draw in sorted(finished.drawn)]
    answered, graphs = [answers for answers, _ in drawn], [own for _, own in drawn]
    shares, listed = mean_shares(graphs, len(plan.names)), _plain_shares(pags, len(plan.names))
    return Stability(
        asked=bootstrap,
        done=len(drawn),
        edges=edge_frame(shares, listed, plan.names),
        tests=test_frame(plain, answered),
        consensus=consensus(shares, plan.names),
        alpha=plan.alpha,
        empty=sum(one.count == 0 for one in graphs),
        cut=sum(not one.complete for one in graphs),
        rounds=source.rounds - before,
        **(_by_site(plan, plain, listed, finished.left_out) if leave_one_out else {}),
    )


@dataclass(frozen=True, slots=True)
class _Talk:
    """Whom to tell what is being done, and whom to ask whether to stop."""

    say: Callable[[str], None]
    stops: Callable[[], bool]

    def __call__(self, words: str) -> None:
        if self.stops():
            raise _Stopped
        self.say(words)


def _plain_shares(pags: Sequence[PAG], n: int) -> Shares:
    marks = np.zeros((n, n, 4))
    here = np.arange(n)
    for pag in pags:
        marks[here[:, None], here[None, :], pag.to_matrix()] += 1
    return marks / max(len(pags), 1)


def _by_site(plan: Plan, plain: Answers, listed: Shares, found: Mapping[str, tuple[Answers, Graphs]]) -> dict[str, pl.DataFrame]:
    """The tables on what is left without each site."""
    names = plan.names
    sites, tests, edges = list[dict[str, Any]](), list[dict[str, Any]](), list[dict[str, Any]]()
    for site, (answers, graphs) in found.items():
        rows = compared(site, plain, answers)
        changes = [row["change"] ** 2 for row in rows if row["change"] is not None]
        shares = graphs.shares
        own: list[dict[str, Any]] = [
            {"site": site, "x": names[i], "y": names[j], "share": float(shares[i, j, 1:].sum()), "plain": float(listed[i, j, 1:].sum())}
            for i, j in combinations(range(len(names)), 2)
        ]
        sites.append(
            {
                "site": site,
                "influence": float(np.mean(changes)) if changes else None,
                "compared": len(changes),
                "decisions": sum(row["changed"] for row in rows),
                "lost": sum(row["plain"] > 0.5 >= row["share"] for row in own),
                "gained": sum(row["share"] > 0.5 >= row["plain"] for row in own),
                "graphs": graphs.count,
            }
        )
        tests += rows
        edges += own
    return {
        "sites": pl.DataFrame(sites, schema=site_schema()),
        "without": pl.DataFrame(tests, schema=without_schema()),
        "edges_without": pl.DataFrame(edges, schema=edges_without_schema()),
    }
