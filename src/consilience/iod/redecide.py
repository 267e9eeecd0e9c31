"""Another level, other knowledge, another way out of contradictions, from tests that were made before: nobody is asked again.

What a discovery needs of its tests are p-values, and these do not depend on α. So the search is run once more on the answers that are
there. It may take another way and need tests that were not made: these are *unknown*, never independence, and the result names them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from types import EllipsisType
from typing import Any, Self

from consilience.citest.effect import Estimate
from consilience.citest.interface import CITest, Progress
from consilience.citest.question import Question
from consilience.citest.result import CIResult, to_frame
from consilience.errors import OptionError
from consilience.frames import pl
from consilience.iod.discover import Stage, discover
from consilience.iod.discovery import Discovery, question_schema
from consilience.iod.effects import Effects
from consilience.iod.knowledge import Knowledge
from consilience.settings import DEFAULTS, Part, names_of

__all__ = ["NOT_ASKED", "Record", "RecordedTest", "redecide"]

NOT_ASKED = "nobody has asked this"
"""The reason of an answer that is not there."""

_Key = tuple[frozenset[str], frozenset[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """What is left of a discovery that it takes to decide again: its tests, who measures what, and how it was done."""

    tests: pl.DataFrame
    datasets: tuple[tuple[str, ...], ...]
    settings: Mapping[str, Any]
    knowledge: Knowledge | None = None
    disclosed: pl.DataFrame | None = None
    effects: tuple[Effects, ...] = ()

    @property
    def estimates(self) -> tuple[Estimate, ...]:
        """All that sites were asked for, used or not."""
        return tuple(estimate for one in self.effects for estimate in (*one.estimates, *one.others))

    @classmethod
    def of(cls, found: Discovery) -> Self:
        """The record of a discovery in this program."""
        return cls(found.tests, found.datasets, found.settings, found.knowledge, found.disclosed, found.effects)

    @classmethod
    def from_dict(cls, told: Mapping[str, Any]) -> Self:
        """The record of a result that was written as JSON, by :meth:`Discovery.to_dict` or by a study server."""
        try:
            datasets = tuple(tuple(local["variables"]) for local in told["local_pags"])
            tests = pl.DataFrame(told["tests"], schema=to_frame([]).schema)
            known = None if told["knowledge"] is None else Knowledge.from_dict(told["knowledge"])
            left = None if told["disclosed"] is None else pl.DataFrame(told["disclosed"])
            kept = (*signature(discover).parameters, "withheld")
            settings = {name: told[name] for name in kept if name in told and name not in ("knowledge", "effects")}
            effects = tuple(Effects.from_dict(one) for one in told.get("effects", ()))
            return cls(tests, datasets, settings, known, left, effects)
        except (KeyError, TypeError, pl.exceptions.PolarsError) as error:
            raise OptionError(
                f"A result is the file result.json that `consilience discover --out` writes or a study server offers; this one cannot be "
                f"read ({type(error).__name__}: {error})."
            ) from error

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """The record in a file ``result.json``."""
        try:
            told = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise OptionError(f"A result is a file that exists and holds JSON; got {path} ({error}).") from error
        if not isinstance(told, dict):
            raise OptionError(
                f"A result is a JSON object, as `consilience discover --out` writes it; {path} holds a {type(told).__name__}."
            )
        return cls.from_dict(told)


class RecordedTest(CITest):
    """A CI test that answers from a record. What was not asked then is unknown, and noted; or asked now, if there is a test to ask.

    Parameters
    ----------
    record : Record
        The answers.
    ask : CITest, optional
        Whom to ask what is not there.

    Attributes
    ----------
    missing : dict of Question to None
        What was asked and is not there, in the order in which it was asked.
    added : list of CIResult
        What was asked now.
    """

    def __init__(self, record: Record, ask: CITest | None = None) -> None:
        self.variables = tuple(sorted({name for held in record.datasets for name in held}))
        self.datasets = tuple(frozenset(held) for held in record.datasets)
        self.missing: dict[Question, None] = {}
        self.added: list[CIResult] = []
        self._disclosed, self._ask = record.disclosed, ask
        self._estimates = {Question(one.x, one.y, one.given): one for one in record.estimates}
        self._withheld = tuple(record.settings.get("withheld", ()))
        names = ("x", "y", "given", "p_value", "n", "contributors", "rounds", "informative", "reason", "converged")
        self._rows = record.tests.select(names)
        asked = self._rows.select("x", "y", "given").iter_rows()
        self._place: dict[_Key, int] = {(frozenset((x, y)), frozenset(given)): place for place, (x, y, given) in enumerate(asked)}

    def answer(self, questions: Sequence[Question], progress: Progress | None = None) -> list[CIResult]:
        """Answer from the record, then from whom to ask; what nobody answers is not informative."""
        places = [self._place.get((frozenset((q.x, q.y)), frozenset(q.given))) for q in questions]
        absent = [question for question, place in zip(questions, places, strict=True) if place is None]
        asked: dict[Question, CIResult] = {}
        if absent and self._ask is not None:
            asked = dict(zip(absent, self._ask.test_many(absent, progress), strict=True))
            self.added += asked.values()
        else:
            self.missing |= dict.fromkeys(absent)
        found = []
        for question, place in zip(questions, places, strict=True):
            if place is not None:
                found.append(self._stored(question, place))
            else:
                found.append(asked[question] if question in asked else question.result(1.0, contributors=0, reason=NOT_ASKED))
        return found

    def _stored(self, question: Question, place: int) -> CIResult:
        """The answer in a row. The two directions behind the p-value stay in the table: nothing here needs them."""
        _, _, _, p, n, contributors, rounds, informative, reason, converged = self._rows.row(place)
        return CIResult(question.x, question.y, question.given, p, n, contributors, rounds, informative, reason, converged)

    def effects(self, questions: Sequence[Question]) -> list[Estimate]:
        """Estimates from the record, then from whom to ask, if they can tell; what nobody tells has that for a reason."""
        absent = [question for question in questions if question not in self._estimates]
        estimator = getattr(self._ask, "effects", None)
        asked = dict(zip(absent, estimator(absent), strict=True)) if absent and estimator is not None else {}
        return [self._estimates.get(q) or asked.get(q) or Estimate(q.x, q.y, q.given, 0, 0, reason=NOT_ASKED) for q in questions]

    def disclosed(self) -> pl.DataFrame | None:
        """What left each site: as before, or what the ledgers of those say who were asked now."""
        return self._ask.disclosed() if self.added and self._ask is not None else self._disclosed

    def withheld(self) -> tuple[str, ...]:
        """What rules on disclosure kept out of the sums then."""
        return self._withheld


def redecide(
    record: Record,
    *,
    alpha: float | None = None,
    knowledge: Knowledge | EllipsisType | None = ...,
    resolve: str | None = None,
    ask: CITest | None = None,
    progress: Stage | None = None,
    stop: Callable[[], bool] | None = None,
    **others: Any,
) -> Discovery:
    """Graphs from the tests of a record; :meth:`Discovery.redecide` says what the arguments mean."""
    options = {name: record.settings[name] for name in signature(discover).parameters if name in record.settings}
    options["effects"] = [(one.x, one.y) for one in record.effects]
    options |= {name: getattr(DEFAULTS, name) for name in names_of(Part.STABILITY)}  # replicates are other data, which nobody has kept
    strange = [name for name in others if name not in signature(discover).parameters or name in ("test", *names_of(Part.STABILITY))]
    if strange:
        raise OptionError(f"redecide takes the settings of discover; there is no {strange[0]!r} among them.")
    options |= {name: value for name, value in (("alpha", alpha), ("resolve", resolve)) if value is not None} | others
    options["knowledge"] = record.knowledge if isinstance(knowledge, EllipsisType) else knowledge
    test = RecordedTest(record, ask)
    found = discover(test, **options, progress=progress, stop=stop)
    rows = [{"x": question.x, "y": question.y, "given": list(question.given)} for question in test.missing]
    # all tests that are there, used this time or not: whoever decides once more may need them
    tests = pl.concat([record.tests, to_frame(test.added)]) if test.added else record.tests
    return replace(found, tests=tests, missing=pl.DataFrame(rows, schema=question_schema()))
