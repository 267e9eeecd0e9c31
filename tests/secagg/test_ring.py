from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from consilience.secagg import RingVector, decode, encode, total
from consilience.secagg.errors import RingRangeError, RingShapeError
from consilience.secagg.ring import CHUNK, Accumulator

from .helpers import MODULUS, integers_of, signed, vector_of

LIMIT = 2.0**62
UNIT = Fraction(1, 2**64)

anything = st.floats(width=64)
in_range = st.floats(-LIMIT, LIMIT)
ring_numbers = st.integers(0, MODULUS - 1)
# Half of all values with a carry or a borrow over the limb's edge, which uniform integers nearly never have.
edges = st.sampled_from([0, 1, 2**64 - 1, 2**64, 2**64 + 1, 2**127 - 1, 2**127, 2**127 + 1, 2**128 - 2**64, 2**128 - 1])
ring_numbers_and_edges = st.one_of(ring_numbers, edges)


def is_exact(x: float) -> bool:
    return (Fraction(x) / UNIT).denominator == 1


class TestEncode:
    @pytest.mark.slow
    @given(anything)
    @example(5e-324)
    @example(-5e-324)
    @example(-0.0)
    @example(LIMIT)
    @example(-LIMIT)
    @example(math.nextafter(LIMIT, math.inf))
    @example(math.nextafter(-LIMIT, -math.inf))
    @example(math.inf)
    @example(math.nan)
    @example(2.0**-65)
    @example(3 * 2.0**-65)
    @example(-(2.0**-65))
    @example(math.nextafter(1.0, 0.0))
    @example(-math.nextafter(1.0, 0.0))
    @settings(max_examples=500, deadline=None)
    def test_is_the_nearest_ring_number_or_a_typed_error(self, x: float) -> None:
        if not abs(x) <= LIMIT:
            with pytest.raises(RingRangeError):
                encode([x])
            return
        (integer,) = integers_of(encode([x]))
        assert signed(integer) == round(Fraction(x) / UNIT)

    @given(st.lists(in_range, max_size=20))
    @settings(deadline=None)
    def test_of_the_negative_is_the_negative(self, x: list[float]) -> None:
        assert encode([-v for v in x]) == -encode(x)

    @given(st.lists(in_range, max_size=20))
    @settings(deadline=None)
    def test_of_a_vector_is_that_of_its_numbers(self, x: list[float]) -> None:
        assert integers_of(encode(x)) == [integers_of(encode([v]))[0] for v in x]

    def test_limbs_are_the_floor_and_the_fraction(self) -> None:
        words = encode([2.75, -2.75]).words
        assert words[0].tolist() == [3 * 2**62, 2]
        assert words[1].tolist() == [2**62, 2**64 - 3]

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 2.0**63, -1e300])
    def test_error_names_the_first_bad_number_and_its_place(self, bad: float) -> None:
        x = np.zeros(10_000)
        x[[9_000, 9_500]] = bad, math.nan
        with pytest.raises(RingRangeError, match=rf"within ±2\^62; got {bad} at index 9000\.".replace("+", r"\+")):
            encode(x)

    def test_limit_shrinks_with_the_number_of_terms(self) -> None:
        largest = LIMIT / 19
        assert decode(total([encode([largest], terms=19)] * 19)) == pytest.approx(LIMIT, rel=1e-15)
        with pytest.raises(RingRangeError, match="one of 19 terms"):
            encode([math.nextafter(largest, math.inf)], terms=19)
        with pytest.raises(RingRangeError, match="at least 1"):
            encode([1.0], terms=0)

    @pytest.mark.parametrize("shape", [(), (2, 2)])
    def test_takes_one_dimension(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(RingShapeError, match="one-dimensional"):
            encode(np.zeros(shape))

    def test_takes_strided_arrays_and_leaves_them_alone(self) -> None:
        x = np.arange(-10.0, 10.0)
        assert np.array_equal(decode(encode(x[::-3])), x[::-3])
        assert np.array_equal(x, np.arange(-10.0, 10.0))


class TestDecode:
    @pytest.mark.slow
    @given(in_range)
    @example(2.0**-12)
    @example(-(2.0**-12))
    @example(math.nextafter(2.0**-12, 0.0))
    @settings(max_examples=500, deadline=None)
    def test_of_encode_is_exact_to_two_to_the_minus_64(self, x: float) -> None:
        (back,) = decode(encode([x]))
        assert abs(Fraction(back) - Fraction(x)) <= UNIT / 2
        if is_exact(x) or abs(x) >= 2.0**-12:
            assert back == x

    def test_of_encode_for_all_53_bits_at_every_exponent(self) -> None:
        rng, n = np.random.default_rng(3), 60_000
        x = np.ldexp(rng.choice([-1.0, 1.0], n) * (1 + rng.integers(0, 2**52, n) / 2**52), rng.integers(-68, 62, n))
        expected = [round(Fraction(v) / UNIT) for v in x.tolist()]
        assert [signed(i) for i in integers_of(encode(x))] == expected
        assert decode(encode(x)).tolist() == [e / 2**64 for e in expected]

    @given(ring_numbers_and_edges)
    @settings(max_examples=300, deadline=None)
    def test_is_the_nearest_float(self, integer: int) -> None:
        assert decode(vector_of([integer]))[0] == signed(integer) / 2**64  # Python divides integers with correct rounding

    @pytest.mark.slow
    @given(
        mantissa=st.integers(2**52, 2**53 - 1),
        shift=st.integers(1, 74),
        around=st.sampled_from([-1, 0, 1]),
        sign=st.sampled_from([-1, 1]),
    )
    @settings(max_examples=300, deadline=None)
    def test_rounds_correctly_around_ties(self, mantissa: int, shift: int, around: int, sign: int) -> None:
        integer = sign * ((mantissa << shift) + (1 << (shift - 1)) + around)
        assert decode(vector_of([integer]))[0] == integer / 2**64

    def test_every_bit_length(self) -> None:
        integers = [s * (2**k + d) for k in range(2, 127) for d in (-1, 0, 1) for s in (1, -1)]
        assert decode(vector_of(integers)).tolist() == [i / 2**64 for i in integers]

    def test_ends_of_the_ring(self) -> None:
        assert decode(vector_of([2**127, 2**127 - 1, 0])).tolist() == [-(2.0**63), 2.0**63, 0.0]

    @pytest.mark.parametrize("n", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
    def test_long_vectors_are_like_short_ones(self, n: int) -> None:
        x = np.random.default_rng(n).normal(size=n) * 1e6
        assert np.array_equal(decode(encode(x)), x)


class TestSums:
    @pytest.mark.slow
    @given(st.lists(st.tuples(ring_numbers_and_edges, ring_numbers_and_edges), max_size=20))
    @settings(max_examples=200, deadline=None)
    def test_add_and_subtract_wrap_as_integers_do(self, pairs: list[tuple[int, int]]) -> None:
        a, b = vector_of([p for p, _ in pairs]), vector_of([q for _, q in pairs])
        assert integers_of(a + b) == [(p + q) % MODULUS for p, q in pairs]
        assert integers_of(a - b) == [(p - q) % MODULUS for p, q in pairs]
        assert integers_of(-a) == [-p % MODULUS for p, _ in pairs]
        assert (a + b) - b == a

    @pytest.mark.slow
    @given(st.lists(st.lists(ring_numbers_and_edges, min_size=3, max_size=3), min_size=1, max_size=40), st.randoms())
    @settings(deadline=None)
    def test_total_is_the_sum_in_any_order(self, rows: list[list[int]], random: Random) -> None:
        expected = [sum(column) % MODULUS for column in zip(*rows, strict=True)]
        random.shuffle(rows)
        assert integers_of(total(map(vector_of, rows))) == expected

    @pytest.mark.parametrize("n", [126, 127, 128, 129, 254, 255, 256, 257, 1000])
    def test_more_carries_than_a_byte_counts(self, n: int) -> None:
        full = vector_of([2**64 - 1, MODULUS - 1])
        assert integers_of(total([full] * n)) == [n * (2**64 - 1), -n % MODULUS]
        words = np.zeros((2, 2), np.uint64)
        running = Accumulator(words)
        for _ in range(n):
            running.subtract(full.words)
        running.settle()
        assert integers_of(RingVector(words)) == [-n * (2**64 - 1) % MODULUS, n]

    @given(st.lists(st.tuples(st.booleans(), ring_numbers_and_edges), max_size=300))
    @settings(deadline=None)
    def test_accumulator_takes_additions_and_subtractions_in_any_mix(self, terms: list[tuple[bool, int]]) -> None:
        words = np.zeros((1, 2), np.uint64)
        running = Accumulator(words)
        for adds, integer in terms:
            (running.add if adds else running.subtract)(vector_of([integer]).words)
        running.settle()
        assert integers_of(RingVector(words)) == [sum(i if adds else -i for adds, i in terms) % MODULUS]

    def test_of_decoded_numbers_is_exact_where_floats_are_not(self) -> None:
        terms = [1e15, 1.0 / 3.0, -1e15]
        assert terms[0] + terms[1] + terms[2] != 1.0 / 3.0  # sum() makes up for it, from Python 3.12 on
        assert decode(total(encode([x]) for x in terms)).tolist() == [1.0 / 3.0]

    def test_unequal_lengths_are_refused(self) -> None:
        for other in (RingVector.zeros(1), RingVector.zeros(0), RingVector.zeros(4)):
            with pytest.raises(RingShapeError, match="equally long; got 3 and"):
                RingVector.zeros(3) + other
            with pytest.raises(RingShapeError, match="equally long"):
                total([RingVector.zeros(3), other])

    def test_of_nothing_is_refused(self) -> None:
        with pytest.raises(RingShapeError, match="at least one"):
            total([])

    def test_terms_stay_as_they_were(self) -> None:
        a, b = encode([1.0]), encode([2.0])
        total([a, b, a])
        assert (decode(a), decode(b)) == ([1.0], [2.0])


class TestVector:
    @given(st.lists(ring_numbers, max_size=20))
    @settings(deadline=None)
    def test_bytes_are_little_endian_and_come_back(self, integers: list[int]) -> None:
        vector = vector_of(integers)
        assert vector.to_bytes() == b"".join(i.to_bytes(16, "little") for i in integers)
        assert RingVector.from_bytes(vector.to_bytes()) == vector

    @pytest.mark.parametrize("n", [1, 15, 17, 24])
    def test_broken_bytes_are_refused(self, n: int) -> None:
        with pytest.raises(RingShapeError, match=f"got {n} bytes"):
            RingVector.from_bytes(bytes(n))

    def test_does_not_follow_a_buffer_that_changes(self) -> None:
        buffer = bytearray(16)
        vector = RingVector.from_bytes(buffer)  # type: ignore[arg-type]
        buffer[0] = 1
        assert vector == RingVector.zeros(1)

    @pytest.mark.parametrize("words", [np.zeros(4, np.uint64), np.zeros((2, 3), np.uint64), np.zeros((2, 2)), np.zeros((2, 2), np.int64)])
    def test_other_arrays_are_refused(self, words: np.ndarray) -> None:
        with pytest.raises(RingShapeError, match="unsigned 64-bit"):
            RingVector(words)

    def test_cannot_be_changed(self) -> None:
        with pytest.raises(ValueError, match="read-only"):
            encode([1.0]).words[0, 0] = 1

    def test_equality(self) -> None:
        assert encode([1.0]) != encode([1.0, 1.0])
        assert encode([1.0]) != "1.0"
        assert repr(encode([1.0])) == "RingVector(1 numbers)"
