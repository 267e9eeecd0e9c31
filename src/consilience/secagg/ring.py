"""Numbers that can be masked: Q64.64 fixed point in Z/2¹²⁸.

A number x is the integer x·2⁶⁴ modulo 2¹²⁸, in two unsigned 64-bit limbs: ``high`` is ⌊x⌋ modulo 2⁶⁴ and ``low``·2⁻⁶⁴ the
fraction; negative numbers are two's complements. Sums carry from the low limb to the high one and wrap around, so they do not
depend on the order of their terms, and a mask that was added and subtracted is gone without a trace.

=========  ===========================================================================================================
encode     exact if the float64 has no bits below 2⁻⁶⁴, which holds from |x| = 2⁻¹² up; else the nearest multiple of 2⁻⁶⁴
           (ties to even), so the error is at most 2⁻⁶⁵; -x becomes minus what x becomes
refused    NaN, infinite, or beyond ±2⁶²; beyond ±2⁶² / K if the number is one of K terms, whose sum then cannot wrap
decode     the nearest float64 (ties to even) of the number between -2⁶³ and 2⁶³
bytes      16 per number, least significant first
=========  ===========================================================================================================

Limbs alternate in memory, low before high, which is the order of the bytes on the wire and of the mask streams: neither
needs to be rearranged.

What else was considered:

- *Masks on floating-point numbers.* A sum of floats depends on its order, so masks would not cancel exactly, and a float masked with noise
  of finite size is not uniform: it says something about what it hides. In a ring the masked number is uniform whatever it was.
- *64 bits.* Log-likelihoods, scores and cross-products in one vector span more than the 19 digits there are; with one scale per entry the
  scales would have to be agreed, and would tell sizes. 128 bits hold 2⁶² before the point and twenty decimals after it.
- *Integers modulo a prime.* Secret sharing needs a field; additive masks do not. Modulo 2¹²⁸ a reduction is what the processor does anyway.
- *Python's integers.* Exact as well, and seventy times slower on vectors of 20,000 numbers.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from consilience.secagg.errors import RingRangeError, RingShapeError

__all__ = ["Accumulator", "RingVector", "Words", "decode", "encode", "total"]

Words = npt.NDArray[np.uint64]  #: (n, 2): low and high limbs
Floats = npt.NDArray[np.float64]

LIMB: Final = np.dtype("<u8")
"""Least significant byte first on every machine: bytes are the same on the wire, and masks agree."""
WORD_BYTES: Final = 16
LIMIT: Final = 2.0**62
"""The largest magnitude of a sum. The ring ends at 2⁶³; a bit is left for what rounding of the terms adds."""
CHUNK: Final = 8192
"""Numbers worked on at a time: 128 KiB of limbs, which with a few temporaries stay in a core's second-level cache."""
_ONES: Final = np.uint64(2**64 - 1)
_MAX_CARRIES: Final = 127  # what an int8 holds in either direction


class RingVector:
    """A vector of ring numbers; it cannot be changed.

    Parameters
    ----------
    words : ndarray of uint64, shape (n, 2)
        Low and high limbs, taken over without a copy.

    Raises
    ------
    RingShapeError
        If ``words`` has another shape or type.

    Examples
    --------
    >>> a, b = encode([1.5, -2.0]), encode([0.25, 7.0])
    >>> decode(a + b), decode(a - b), len(a)
    (array([1.75, 5.  ]), array([ 1.25, -9.  ]), 2)
    >>> RingVector.from_bytes(a.to_bytes()) == a
    True
    """

    __slots__ = ("words",)
    __hash__ = None  # type: ignore[assignment]  # equal by content, as arrays are

    words: Words

    def __init__(self, words: Words) -> None:
        if words.ndim != 2 or words.shape[1] != 2 or words.dtype != LIMB:
            raise RingShapeError(f"Ring numbers must be an (n, 2) array of unsigned 64-bit limbs; got {words.shape} of {words.dtype}.")
        # a view, so that the caller's own array stays writable
        self.words = words.view()
        self.words.flags.writeable = False

    @classmethod
    def zeros(cls, n: int) -> RingVector:
        """``n`` zeros: what a site sends that has nothing to contribute.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        RingVector
        """
        return cls(np.zeros((n, 2), LIMB))

    @classmethod
    def from_bytes(cls, data: bytes) -> RingVector:
        """The vector in ``data``. Every 16 bytes are some number.

        Parameters
        ----------
        data : bytes
            16 bytes per number, least significant first.

        Returns
        -------
        RingVector

        Raises
        ------
        RingShapeError
            If the length is no multiple of 16.
        """
        if len(data) % WORD_BYTES:
            raise RingShapeError(f"Ring numbers take {WORD_BYTES} bytes each; got {len(data)} bytes, which is no multiple of it.")
        # bytes() copies only what could still be changed, such as a bytearray
        return cls(np.frombuffer(bytes(data), LIMB).reshape(-1, 2))

    @classmethod
    def random(cls, where: npt.NDArray[np.bool_]) -> RingVector:
        """Random numbers of the whole ring, each as likely as every other: what they are added to says nothing any more.

        Parameters
        ----------
        where : ndarray of bool
            True for a random number, False for zero.

        Returns
        -------
        RingVector
        """
        words = np.zeros((len(where), 2), LIMB)
        words[where] = np.frombuffer(secrets.token_bytes(WORD_BYTES * int(where.sum())), LIMB).reshape(-1, 2)
        return cls(words)

    def to_bytes(self) -> bytes:
        """The vector as it travels.

        Returns
        -------
        bytes
            16 per number, least significant first.
        """
        return self.words.tobytes()

    def __add__(self, other: RingVector) -> RingVector:
        words = self.words.copy()
        Accumulator(words).add(other.words).settle()
        return RingVector(words)

    def __sub__(self, other: RingVector) -> RingVector:
        words = self.words.copy()
        Accumulator(words).subtract(other.words).settle()
        return RingVector(words)

    def __neg__(self) -> RingVector:
        return RingVector.zeros(len(self)) - self

    def __eq__(self, other: object) -> bool:
        return np.array_equal(self.words, other.words) if isinstance(other, RingVector) else NotImplemented

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"RingVector({len(self)} numbers)"


class Accumulator:
    """A running sum, in place of the words it starts with. They hold it after :meth:`settle`, not before.

    Carries are counted aside, one byte per number, and settled into the high limbs now and then. That takes a third off what
    carrying at every term costs: limbs are added as one flat array, and counts are bytes.

    >>> words = encode([1.0]).words.copy()
    >>> Accumulator(words).add(encode([-0.5]).words).subtract(encode([3.0]).words).settle()
    >>> decode(RingVector(words))
    array([-2.5])
    """

    __slots__ = ("_carried", "_carries", "_flag", "_high", "_low", "_pending", "_words")

    def __init__(self, words: Words) -> None:
        self._words = words
        self._low, self._high = words[:, 0], words[:, 1]
        # comparisons write booleans; the same bytes read as int8 are the carries 0 and 1, without a conversion
        self._flag = np.empty(len(words), np.bool_)
        self._carried = self._flag.view(np.int8)
        self._carries = np.zeros(len(words), np.int8)
        self._pending = 0

    def add(self, words: Words) -> Accumulator:
        """Add one vector's limbs."""
        self._before(words)
        np.add(self._words, words, out=self._words)
        np.less(self._low, words[:, 0], out=self._flag)  # a sum that is less than a term has wrapped
        np.add(self._carries, self._carried, out=self._carries)
        return self

    def subtract(self, words: Words) -> Accumulator:
        """Subtract one vector's limbs."""
        self._before(words)
        np.less(self._low, words[:, 0], out=self._flag)  # before the difference, which would hide it: a borrow is due where less is left
        np.subtract(self._words, words, out=self._words)
        np.subtract(self._carries, self._carried, out=self._carries)
        return self

    def settle(self) -> None:
        """Bring all carries into the high limbs. The accumulator may go on afterwards."""
        # through int64: a count of -1 must become 2⁶⁴ - 1, not 255
        np.add(self._high, self._carries.astype(np.int64).view(np.uint64), out=self._high)
        self._carries.fill(0)
        self._pending = 0

    def _before(self, words: Words) -> None:
        if words.shape != self._words.shape:  # numpy would broadcast a single number
            raise RingShapeError(f"Vectors of one sum must be equally long; got {len(self._words)} and {len(words)} numbers.")
        if self._pending == _MAX_CARRIES:
            self.settle()
        self._pending += 1


def total(vectors: Iterable[RingVector]) -> RingVector:
    """The sum of one vector or more, the same in whatever order they come.

    Parameters
    ----------
    vectors : iterable of RingVector
        One at least, all of one length.

    Returns
    -------
    RingVector

    Raises
    ------
    RingShapeError
        If there is none, or their lengths differ.

    Examples
    --------
    >>> decode(total(encode([x]) for x in (1e15, 2.0**-60, -1e15))) == 2.0**-60
    array([ True])
    """
    rest = iter(vectors)
    first = next(rest, None)
    if first is None:
        raise RingShapeError("A sum needs at least one vector, to know its length; got none.")
    words = first.words.copy()
    running = Accumulator(words)
    for vector in rest:
        running.add(vector.words)
    running.settle()
    return RingVector(words)


def encode(values: npt.ArrayLike, terms: int = 1) -> RingVector:
    """Fixed point of a one-dimensional float64 array that will be one of ``terms`` summands.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        The numbers.
    terms : int, default 1
        How many vectors will be added. Each may use its share of the range, so that the sum cannot wrap.

    Returns
    -------
    RingVector

    Raises
    ------
    RingRangeError
        Names the first number that is NaN, infinite or beyond ±2⁶² / ``terms``.
    RingShapeError
        If ``values`` is not one-dimensional.

    Examples
    --------
    >>> encode([1.5, -2.0**-64]).words.tolist() == [[2**63, 1], [2**64 - 1, 2**64 - 1]]
    True
    """
    x = np.asarray(values, dtype=np.float64)
    if x.ndim != 1:
        raise RingShapeError(f"Numbers to encode must be a one-dimensional array; got {x.ndim} dimensions. Use ravel() first.")
    _check_range(x, terms)  # all of it before any of it: a vector leaves the site as a whole or not at all
    words = np.empty((len(x), 2), LIMB)
    for part in chunks(len(x)):
        _encode_chunk(x[part], words[part])
    return RingVector(words)


def decode(vector: RingVector) -> Floats:
    """The nearest float64 of every number.

    Parameters
    ----------
    vector : RingVector
        As a rule a :func:`total`; a vector that is still masked decodes to noise.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> decode(encode([0.1, -3e-4, 2.0**62])) == [0.1, -3e-4, 2.0**62]
    array([ True,  True,  True])
    """
    x = np.empty(len(vector))
    for part in chunks(len(vector)):
        x[part] = _decode_chunk(vector.words[part])
    return x


def chunks(n: int) -> Iterator[slice]:
    """Slices of ``n`` numbers whose limbs, with a few temporaries, stay in a core's cache: that halves the time of long vectors."""
    return (slice(start, min(start + CHUNK, n)) for start in range(0, n, CHUNK))


def _encode_chunk(x: Floats, words: Words) -> None:
    # magnitude first, sign afterwards: ⌊x⌋ and x - ⌊x⌋ of a small negative x would round its fraction to 1, and -x would not become minus x
    magnitude = np.abs(x)
    whole = np.floor(magnitude)
    words[:, 0] = np.rint((magnitude - whole) * 2.0**64)  # below 2⁶⁴: a fraction is at most 1 - 2⁻⁵³
    words[:, 1] = whole
    _negate(words, x < 0)


def _decode_chunk(words: Words) -> Floats:
    words = words.astype(np.uint64)
    negative = words[:, 1] >> np.uint64(63) != 0
    _negate(words, negative)
    low, high = words[:, 0], words[:, 1]
    # The leading 64 bits: shift the leading zeros of the high limb out; a shift by 64 leaves zero. (Rounded up to a power of two, a
    # limb seems one bit longer: 63 are as good.) One bit stands for all that are cut off, far enough below the 53 that are kept
    # for the conversion to round as it would with them.
    shift = 64 - np.frexp(high.astype(np.float64))[1].astype(np.uint64)
    leading = (high << shift) | (low >> (64 - shift)) | (low << shift != 0)
    magnitude: Floats = np.ldexp(leading.astype(np.float64), -shift.astype(np.int32))
    return np.where(negative, -magnitude, magnitude)


def _check_range(x: Floats, terms: int) -> None:
    if terms < 1:
        raise RingRangeError(f"A sum has at least 1 term; got {terms}.")
    # by the number of terms, and not 2⁶² for each: K terms of 2⁶² wrap around unnoticed, and a wrapped sum is a wrong result, not an error
    limit = LIMIT / terms
    fits = np.abs(x) <= limit  # False for NaN
    if not fits.all():
        index = int(fits.argmin())
        bound = "±2^62" if terms == 1 else f"±2^62 / {terms}, being one of {terms} terms"
        raise RingRangeError(
            f"A number must lie within {bound}; got {x[index]} at index {index}. "
            f"Rescale the variable it comes from, or look for a fit that diverged."
        )


def _negate(words: Words, where: npt.NDArray[np.bool_]) -> None:
    """Two's complement in place: flip all bits, then add one."""
    # without a branch per number: x ^ 0 + 0 leaves the others as they are
    low, high = words[:, 0], words[:, 1]
    flip = where * _ONES
    low ^= flip
    high ^= flip
    low += where
    high += where & (low == 0)
