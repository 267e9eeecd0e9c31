from __future__ import annotations

import dataclasses
import hashlib
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.secagg import Roster
from consilience.secagg.errors import KeyFormatError, NotInRosterError, RepeatedSiteError, SmallRosterError

from .helpers import fingerprints

RUN = b"run"


@given(st.integers(2, 20), st.randoms())
@settings(deadline=None)
def test_order_does_not_matter(n: int, random: Random) -> None:
    sites = fingerprints(n)
    roster = Roster(RUN, sites)
    random.shuffle(sites)
    assert Roster(RUN, sites) == roster
    assert list(roster) == sorted(sites)
    assert len(roster) == n
    assert all(site in roster for site in sites)
    assert hash(roster) == hash(Roster(RUN, sites))


def test_digest_depends_on_run_and_members() -> None:
    sites = fingerprints(4)
    rosters = [Roster(RUN, sites), Roster(b"run 2", sites), Roster(RUN, sites[:3]), Roster(RUN, sites[1:])]
    assert len({r.digest for r in rosters}) == 4
    assert {len(r.digest) for r in rosters} == {32}


def test_digest_by_hand() -> None:
    low, high = bytes([1]) * 32, bytes([2]) * 32
    label = b"consilience/secagg/1/roster"
    packed = b"\0\0\0\x1b" + label + b"\0\0\0\x03run" + b"\0\0\0\x04\0\0\0\x02" + b"\0\0\0\x20" + low + b"\0\0\0\x20" + high
    assert Roster(RUN, [high, low]).digest == hashlib.sha256(packed).digest()


@pytest.mark.parametrize("n", [0, 1])
def test_at_least_two(n: int) -> None:
    with pytest.raises(SmallRosterError, match=f"at least 2 sites; got {n}"):
        Roster(RUN, fingerprints(n))


def test_nobody_twice() -> None:
    a, b = fingerprints(2)
    with pytest.raises(RepeatedSiteError, match="more than once"):
        Roster(RUN, [a, b, a])
    with pytest.raises(RepeatedSiteError):
        Roster(RUN, [a, a])


def test_without() -> None:
    sites = fingerprints(3)
    roster = Roster(RUN, sites)
    assert roster.without(sites[1]) == Roster(RUN, [sites[0], sites[2]])
    assert sites[1] in roster
    with pytest.raises(SmallRosterError):
        roster.without(sites[0]).without(sites[1])
    with pytest.raises(NotInRosterError, match="one of the 2 in the roster"):
        roster.without(sites[0]).without(sites[0])


def test_malformed() -> None:
    with pytest.raises(KeyFormatError, match="fingerprint must be 32 bytes; got 31"):
        Roster(RUN, [bytes(31), bytes(32)])
    with pytest.raises(KeyFormatError, match="run id"):
        Roster(b"", fingerprints(2))


def test_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Roster(RUN, fingerprints(2)).run_id = b"other"  # type: ignore[misc]
