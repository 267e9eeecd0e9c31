"""What a hostile server may ask of replicates: what was agreed, and each of them within its own limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from consilience.protocol.errors import DisclosureError, FalseCountsError, OutsideSchemaError, RepeatedQuestionError, WrongTermsError
from consilience.protocol.evaluate import MOST_STEPS
from consilience.protocol.history import History, Points, Record, Replicated, Units
from consilience.protocol.messages import Announced
from consilience.protocol.replicates import SHARED_BYTES, Replicate
from consilience.protocol.resampled import Part, Resampled
from consilience.protocol.survey import Survey
from consilience.settings.choices import Isolation
from tests.federation.helpers import LOGIT, Wire, mixed_clients, point, refused

COUNT = Survey((("A", "C"),))


def of(*replicates: Replicate, **part: Any) -> Resampled:
    return Resampled(tuple(Part(one, part.get("body", COUNT), part.get("announced", ())) for one in replicates))


def wire(**terms: Any) -> Wire:
    return Wire.open(mixed_clients(3, columns="AC"), network=True, **terms)


def test_no_more_copies_than_agreed() -> None:
    asked = wire(bootstrap=3)
    assert asked.total(of(*(Replicate(k) for k in (1, 2, 3)))).shape == (6,)
    with refused(asked.clients[0], WrongTermsError) as caught:
        asked.send(of(Replicate(4)))
    assert "3 resampled copies" in str(caught.value)
    assert "for 1 resampled copy of its rows" in asked.clients[0].record.entries[-1].what


def test_none_where_none_was_agreed_on() -> None:
    asked = wire()
    with refused(asked.clients[0], WrongTermsError):
        asked.send(of(Replicate(1)))
    with refused(asked.clients[0], WrongTermsError):
        asked.send(of(Replicate(without=asked.members[1])))


def test_no_site_is_left_out_unless_agreed_and_never_under_strict_isolation() -> None:
    asked = wire(leave_one_out=True)
    found = asked.total(of(Replicate(without=asked.members[1])))
    assert found.tolist() == [2.0, 80.0]
    with refused(asked.clients[0], OutsideSchemaError):
        asked.send(of(Replicate(without=b"nobody")))
    with refused(asked.clients[0], OutsideSchemaError):
        asked.send(of(Replicate(2, asked.members[1])))
    strict = wire(leave_one_out=True, isolation=Isolation.STRICT)
    with refused(strict.clients[0], DisclosureError):
        strict.send(of(Replicate(without=strict.members[1])))


@pytest.mark.parametrize("number", [0, -1, -(2**40)])
def test_copies_are_numbered_from_one(number: int) -> None:
    asked = wire(bootstrap=3)
    with refused(asked.clients[0], OutsideSchemaError):
        asked.send(of(Replicate(number)))


def test_each_once_in_a_request() -> None:
    asked = wire(bootstrap=3)
    with refused(asked.clients[0], OutsideSchemaError):
        asked.send(of(Replicate(1), Replicate(1)))


def test_a_part_needs_counts_of_its_own_replicate() -> None:
    """What was announced for the rows themselves, or for another copy, allows nothing here."""
    asked = wire(bootstrap=3, min_rows=1)
    body = asked.evaluate(LOGIT)
    asked.send(body, [asked.everywhere("A", "C")])
    with refused(asked.clients[0], DisclosureError) as caught:
        asked.send(of(Replicate(1), body=body))
    assert "announced first" in str(caught.value)


def test_false_counts_of_a_copy_close_the_study() -> None:
    asked = wire(bootstrap=3)
    with refused(asked.clients[0], FalseCountsError):
        asked.send(of(Replicate(1), announced=(Announced(("A", "C"), 3, 5),)))
    assert asked.participants[0].closed


def test_points_are_counted_in_each_replicate() -> None:
    asked = wire(bootstrap=2, min_rows=1)
    counts = {k: np.rint(asked.total(of(Replicate(k)))) for k in (1, 2)}

    def step(k: int, at: float) -> None:
        said = Announced(("A", "C"), int(counts[k][0]), int(counts[k][1]))
        model = type(LOGIT)(LOGIT.response, LOGIT.predictors, LOGIT.sample, LOGIT.keep, LOGIT.levels, point(at))
        asked.send(of(Replicate(k), body=asked.evaluate(model), announced=(said,)))

    for number in range(MOST_STEPS):
        step(1, 0.001 * number)
    with refused(asked.clients[0], RepeatedQuestionError):
        step(1, 1.0)
    step(2, 1.0)


def test_a_history_on_disk_knows_which_replicate_a_record_is_of() -> None:
    class Kept(History):
        def __init__(self) -> None:
            super().__init__()
            self.records: list[Record] = []

        def keep(self, record: Record) -> None:
            self.records.append(record)

    before = Kept()
    before.of(2, b"").take(Units({"A": 8}))
    before.of(0, b"site").take(Points((b"p",), (b"a", b"b"), (b"m",)))
    before.take(Units({"A": 0}))
    assert [type(record) for record in before.records] == [Replicated, Replicated, Units]
    after = History()
    for record in before.records:
        after.recall(record)
    assert (after.of(2, b"").exponents, after.exponents, after.of(1, b"").exponents) == ({"A": 8}, {"A": 0}, None)
    assert after.of(0, b"site").answered == {b"p": frozenset({b"a", b"b"})}
    assert after.answered == {}


def test_what_a_site_has_room_for_is_divided_among_the_copies_that_it_is_asked_for() -> None:
    asked = wire(bootstrap=20)
    asked.total(of(*(Replicate(k) for k in range(1, 21))))
    desk = asked.participants[0]._desk
    assert desk is not None
    assert desk.copies is not None
    assert {desk.copies.desk(Replicate(k)).cache_bytes for k in range(1, 21)} == {SHARED_BYTES // 20}
