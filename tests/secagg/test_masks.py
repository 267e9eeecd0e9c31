from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.secagg import RingVector, Roster, decode, encode, mask, total
from consilience.secagg.errors import KeyFormatError, NotInRosterError, PairSecretsError, RoundNumberError
from consilience.secagg.masks import pair_stream, stream_key
from consilience.secagg.ring import CHUNK

from .helpers import fingerprints, integers_of, mask_all, secret, secrets_of, vector_of

A, B, C = sorted(fingerprints(3))
ROSTER = Roster(b"run", [A, B, C])


def random_vectors(sites: int, n: int, seed: int) -> list[RingVector]:
    """Over the whole range of the ring's floats, so that sums wrap."""
    rng = np.random.default_rng(seed)
    return [encode(rng.uniform(-1, 1, n) * 2.0 ** rng.integers(-80, 63, n)) for _ in range(sites)]


class TestCancelling:
    @given(
        sites=st.integers(2, 12),
        n=st.integers(0, 20),
        seed=st.integers(0, 2**32),
        round_id=st.integers(0, 2**64 - 1),
        random=st.randoms(),
    )
    @settings(max_examples=60, deadline=None)
    def test_sum_of_masked_is_the_sum_bit_by_bit_in_any_order(self, sites: int, n: int, seed: int, round_id: int, random: Random) -> None:
        vectors = random_vectors(sites, n, seed)
        masked = mask_all(vectors, fingerprints(sites), round_id)
        random.shuffle(masked)
        assert total(masked).to_bytes() == total(vectors).to_bytes()

    @given(st.lists(st.lists(st.floats(-(2.0**62), 2.0**62), min_size=4, max_size=4), min_size=2, max_size=6))
    @settings(max_examples=60, deadline=None)
    def test_any_floats(self, rows: list[list[float]]) -> None:
        vectors = [encode(row) for row in rows]
        assert total(mask_all(vectors, fingerprints(len(rows)))) == total(vectors)

    def test_numbers_that_wrap_around_the_ring(self) -> None:
        vectors = [vector_of([2**128 - 1, 2**127, 2**64 - 1])] * 7
        assert total(mask_all(vectors, fingerprints(7))) == total(vectors)

    @pytest.mark.slow
    def test_three_hundred_sites_in_one_roster(self) -> None:
        vectors = random_vectors(300, 2, 5)
        assert total(mask_all(vectors, fingerprints(300))) == total(vectors)

    @pytest.mark.slow
    def test_a_thousand_sites_in_fifty_rosters(self) -> None:
        vectors, sites = random_vectors(1000, 5, 6), fingerprints(1000)
        masked = [m for i in range(0, 1000, 20) for m in mask_all(vectors[i : i + 20], sites[i : i + 20], round_id=i)]
        order = np.random.default_rng(7).permutation(1000)
        assert total(masked[i] for i in order) == total(vectors)

    @pytest.mark.parametrize("n", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK + 3])
    def test_around_the_chunks(self, n: int) -> None:
        vectors = random_vectors(3, n, n)
        assert total(mask_all(vectors, [A, B, C])) == total(vectors)

    def test_one_site_missing_leaves_noise(self) -> None:
        vectors = [encode(np.ones(100))] * 3
        rest = decode(total(mask_all(vectors, [A, B, C])[:2]))
        assert np.abs(rest).min() > 2.0**50

    def test_disagreement_on_the_round_or_the_roster_leaves_noise(self) -> None:
        zero = RingVector.zeros(100)
        pair, other_run = Roster(b"run", [A, B]), Roster(b"run 2", [A, B])
        one = mask(zero, A, secrets_of(A, pair), 1, pair)
        for theirs in (mask(zero, B, secrets_of(B, pair), 2, pair), mask(zero, B, secrets_of(B, other_run), 1, other_run)):
            assert np.abs(decode(one + theirs)).min() > 2.0**50


class TestStreams:
    def test_lower_fingerprint_adds_and_higher_subtracts(self) -> None:
        vector = encode([1.0, -2.0, math.pi])
        streams = {pair: pair_stream(secret(*pair), 4, ROSTER, 3) for pair in [(A, B), (A, C), (B, C)]}
        masked = [mask(vector, own, secrets_of(own, ROSTER), 4, ROSTER) for own in (A, B, C)]
        assert masked[0] == vector + streams[A, B] + streams[A, C]
        assert masked[1] == vector - streams[A, B] + streams[B, C]
        assert masked[2] == vector - streams[A, C] - streams[B, C]

    def test_chunks_continue_one_stream(self) -> None:
        n = 2 * CHUNK + 3
        pair = Roster(b"run", [A, B])
        assert mask(RingVector.zeros(n), A, {B: secret(A, B)}, 0, pair) == pair_stream(secret(A, B), 0, pair, n)

    def test_keys_differ_by_secret_round_and_roster(self) -> None:
        smaller = ROSTER.without(C)
        keys = {stream_key(s, r, roster) for s in (secret(A, B), secret(A, C)) for r in (0, 1, 2**64 - 1) for roster in (ROSTER, smaller)}
        assert len(keys) == 12

    def test_vector_is_not_changed_and_the_order_of_secrets_does_not_matter(self) -> None:
        vector = encode([1.0])
        secrets = secrets_of(B, ROSTER)
        one = mask(vector, B, secrets, 0, ROSTER)
        assert one == mask(vector, B, dict(reversed(secrets.items())), 0, ROSTER)
        assert integers_of(vector) == [2**64]


class TestRefusals:
    def test_outside_the_roster(self) -> None:
        stranger = bytes(32)
        with pytest.raises(NotInRosterError):
            mask(RingVector.zeros(1), stranger, {}, 0, ROSTER)

    def test_missing_secret(self) -> None:
        with pytest.raises(PairSecretsError, match="has none"):
            mask(RingVector.zeros(1), A, {B: bytes(32)}, 0, ROSTER)

    @pytest.mark.parametrize("excess", [A, bytes(32)])
    def test_secret_with_oneself_or_with_a_site_outside(self, excess: bytes) -> None:
        with pytest.raises(PairSecretsError, match="as well"):
            mask(RingVector.zeros(1), A, {**secrets_of(A, ROSTER), excess: bytes(32)}, 0, ROSTER)

    def test_short_secret_is_refused_and_not_shown(self) -> None:
        with pytest.raises(KeyFormatError, match="must be 32 bytes; got 31") as caught:
            mask(RingVector.zeros(1), A, {B: b"s" * 31, C: b"s" * 32}, 0, ROSTER)
        assert "sss" not in str(caught.value)

    @pytest.mark.parametrize("round_id", [-1, 2**64, True, 1.0, None])
    def test_round_ids(self, round_id: int) -> None:
        with pytest.raises(RoundNumberError, match="whole number from 0"):
            mask(RingVector.zeros(1), A, secrets_of(A, ROSTER), round_id, ROSTER)
