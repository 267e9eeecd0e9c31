"""Masked bytes look like noise to two simple statistics; what they hide does not. Fixed keys, so nothing here is left to chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from consilience.secagg import RingVector, Roster, encode, mask

from .helpers import fingerprints, secrets_of

N = 625_000  # numbers: 10 MB
SITES = sorted(fingerprints(3))
ROSTER = Roster(b"noise", SITES)


def looks_like_noise(vector: RingVector) -> bool:
    """Byte values uniform (χ² with 255 degrees of freedom) and neighbours uncorrelated, here and 16 bytes apart, at p > 0.001 each."""
    data = np.frombuffer(vector.to_bytes(), np.uint8)
    p_values = [stats.chisquare(np.bincount(data, minlength=256)).pvalue]
    centred = data - 127.5
    spread = float(np.dot(centred, centred)) or 1.0
    for lag in (1, 16):
        correlation = float(np.dot(centred[:-lag], centred[lag:])) / spread
        p_values.append(2 * stats.norm.sf(abs(correlation) * np.sqrt(data.size)))
    return min(p_values) > 0.001


def data_vector() -> RingVector:
    """Like score vectors: centred, of moderate size."""
    return encode(np.random.default_rng(1).normal(scale=100.0, size=N))


@pytest.mark.slow
@pytest.mark.parametrize("own", SITES, ids=["adds", "both", "subtracts"])
def test_masked_zeros(own: bytes) -> None:
    assert looks_like_noise(mask(RingVector.zeros(N), own, secrets_of(own, ROSTER), 0, ROSTER))


@pytest.mark.slow
def test_masked_data() -> None:
    assert looks_like_noise(mask(data_vector(), SITES[1], secrets_of(SITES[1], ROSTER), 1, ROSTER))


@pytest.mark.slow
def test_unmasked_numbers_fail() -> None:
    assert not looks_like_noise(RingVector.zeros(N))
    assert not looks_like_noise(data_vector())


@pytest.mark.slow
def test_one_mask_used_twice_fails() -> None:
    """Why a round id is refused the second time: the difference of two answers is the difference of what they hide."""
    secrets = secrets_of(SITES[0], ROSTER)
    one, two = (mask(v, SITES[0], secrets, 2, ROSTER) for v in (data_vector(), RingVector.zeros(N)))
    assert not looks_like_noise(one - two)
    assert one - two == data_vector()
