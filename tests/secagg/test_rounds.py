from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.secagg import RoundBook
from consilience.secagg.errors import KeyFormatError, RepeatedRoundError, RoundNumberError

RUN = b"run"


@given(st.lists(st.one_of(st.integers(0, 20), st.integers(0, 2**64 - 1)), max_size=50))
@settings(deadline=None)
def test_only_ids_above_all_before_are_claimed(ids: list[int]) -> None:
    book, claimed = RoundBook(RUN), []
    for round_id in ids:
        if all(round_id > c for c in claimed):
            assert book.claim(round_id) == round_id
            claimed.append(round_id)
        else:
            with pytest.raises(RepeatedRoundError, match=f"got {round_id}"):
                book.claim(round_id)
    assert book.last == (max(claimed) if claimed else None)


def test_a_repeated_round_is_refused_and_changes_nothing() -> None:
    book = RoundBook(RUN)
    book.claim(3)
    for round_id in (3, 2, 0):
        with pytest.raises(RepeatedRoundError, match="after round 3"):
            book.claim(round_id)
    assert book.claim(4) == 4


def test_zero_can_be_the_first_round_once() -> None:
    book = RoundBook(RUN)
    assert book.claim(0) == 0
    with pytest.raises(RepeatedRoundError):
        book.claim(0)


def test_the_last_id_ends_the_run() -> None:
    book = RoundBook(RUN)
    book.claim(2**64 - 1)
    with pytest.raises(RoundNumberError):
        book.claim(2**64)


@pytest.mark.parametrize("round_id", [-1, 2**64, True, 1.0, "1", None])
def test_other_ids_are_refused_and_leave_no_trace(round_id: int) -> None:
    book = RoundBook(RUN)
    with pytest.raises(RoundNumberError):
        book.claim(round_id)
    assert book.last is None


def test_a_kept_book_goes_on() -> None:
    book = RoundBook(RUN, last=7)
    with pytest.raises(RepeatedRoundError):
        book.claim(7)
    assert book.claim(8) == 8
    assert repr(book) == "RoundBook(b'run', last=8)"


def test_malformed() -> None:
    with pytest.raises(KeyFormatError):
        RoundBook(b"")
    with pytest.raises(RoundNumberError):
        RoundBook(RUN, last=-1)


def test_threads_cannot_claim_one_round_twice() -> None:
    book = RoundBook(RUN)

    def claims(_: int) -> list[int]:
        won = []
        for round_id in range(200):
            try:
                won.append(book.claim(round_id))
            except RepeatedRoundError:
                continue
        return won

    with ThreadPoolExecutor(4) as pool:
        won = [round_id for ids in pool.map(claims, range(4)) for round_id in ids]
    assert len(won) == len(set(won))
    assert book.last == 199
