"""A result that was written as JSON, read back: what pages show long after the search is over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from consilience.errors import ConsilienceError, OptionError
from consilience.frames import pl
from consilience.graph.graphs import PAG
from consilience.iod.discovery import Discovery, question_schema
from consilience.iod.effects import Effects
from consilience.iod.evidence import Decision, Source
from consilience.iod.headline import conditioned
from consilience.iod.redecide import Record
from consilience.iod.resolution import Resolution
from consilience.iod.stability.result import Stability
from consilience.iod.summary import Summary
from consilience.settings.choices import Resolve

__all__ = ["discovery_of"]


def discovery_of(told: Mapping[str, Any]) -> Discovery:
    """The discovery that :meth:`Discovery.to_dict` wrote, here or on a study server; what else a server wrote beside it is left.

    Results of before say nothing of what each graph contradicts; they are read as if none contradicted anything, and
    as if no effects had been asked for.

    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    >>> discovery_of(found.to_dict())
    Discovery(10 tests in 2 data sets. All 6 decisions agree: 2 graphs.)
    """
    record = Record.from_dict(told)
    try:
        pags = tuple(_graph(one) for one in told["pags"])
        complete = bool(told["complete"])
        labels = sorted({name for held in record.datasets for name in held})
        overruled = [_decision(one) for one in told["overruled"]]
        given_up = told.get("contradicted", {"decisions": [], "by": []})
        decisions = [_decision(one) for one in given_up["decisions"]]
        found = Discovery(
            pags=pags,
            scores=tuple(float(one["score"]) for one in told["pags"]),
            complete=complete,
            summary=Summary.from_rows(labels, told["summary"], count=len(pags) if complete else None),
            conflicts=tuple(_decision(one) for one in told["conflicts"]),
            overruled=tuple(overruled),
            local_pags=tuple(_graph(one) for one in told["local_pags"]),
            datasets=record.datasets,
            tests=record.tests,
            candidates=int(told["candidates"]),
            timings=dict(told["timings"]),
            settings=dict(record.settings) | {name: told[name] for name in ("weighed", "withheld") if name in told},
            versions=dict(told["versions"]),
            knowledge=record.knowledge,
            disclosed=record.disclosed,
            resolution=_resolution(told["resolution"]),
            stopped=bool(told["stopped"]),
            stability=Stability.from_dict(told["stability"]) if told.get("stability") is not None else None,
            missing=pl.DataFrame(told["missing"], schema=question_schema()),
            effects=tuple(Effects.from_dict(one) for one in told.get("effects", ())),
            _contradicted=tuple(tuple(decisions[place] for place in places) for places in given_up["by"]),
        )
        return conditioned(found)
    except (KeyError, TypeError, ValueError, IndexError, pl.exceptions.PolarsError, ConsilienceError) as error:
        raise OptionError(
            f"A result is the file result.json that `consilience discover --out` writes or a study server offers; this one cannot be "
            f"read ({type(error).__name__}: {error})."
        ) from error


def _graph(told: Mapping[str, Any]) -> PAG:
    return PAG.from_matrix(told["matrix"], told["labels"]) if told["labels"] else PAG.parse("")


def _decision(told: Mapping[str, Any]) -> Decision:
    given = tuple(map(str, told["given"]))
    return Decision(Source(told["kind"]), told["text"], told["x"], told["y"], given, told["p_value"], told["weight"])


def _resolution(told: Mapping[str, Any]) -> Resolution:
    return Resolution(
        how=Resolve(told["how"]),
        overruled=_decisions(told["overruled"]),
        given_up=told["given_up"],
        bound=told["bound"],
        proved=told["proved"],
        undecided=told["undecided"],
        weakest=None if told["weakest"] is None else _decision(told["weakest"]),
        reasons={_decision(one["overruled"]): _decisions(one["stronger"]) for one in told["reasons"]},
        decisions=told["decisions"],
        total=told["total"],
    )


def _decisions(told: Sequence[Mapping[str, Any]]) -> tuple[Decision, ...]:
    return tuple(_decision(one) for one in told)
