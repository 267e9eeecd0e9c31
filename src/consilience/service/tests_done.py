"""All tests of a study are made: what its result says of that, beside the tests themselves."""

from __future__ import annotations

import msgspec

from consilience.citest.effect import Estimate
from consilience.frames import pl
from consilience.secagg.ring import WORD_BYTES

__all__ = ["TestsDone"]


_Kept = bytes  # a field of the class has that name


class TestsDone(msgspec.Struct, frozen=True):
    """How the tests of a study were made. With the stored results, graphs can be sought at any time, and nobody is asked again.

    Attributes
    ----------
    sites : tuple of str
        Sites that took part to the end.
    rounds, bytes : int
        What it took.
    messages, numbers : int
        What left each site: sums, and numbers in all of them.
    withheld : tuple of str
        What the study's rules kept out of its sums.
    seconds : float
        From the first question to the last answer.
    origin : str
        The study whose tests these are, if it is another one.
    replicates : tuple of bytes
        Answers over resampled rows and without sites, where the study asks for them (:mod:`consilience.iod.stability.kept`).
    replicate_rounds : int
        How many of the rounds these took.
    estimates : tuple of Estimate
        Of effects that the study asks for, those that sites were asked for so far.
    """

    __test__ = False  # no tests, for pytest

    sites: tuple[str, ...]
    rounds: int
    bytes: int
    messages: int
    numbers: int
    withheld: tuple[str, ...] = ()
    seconds: float = 0.0
    origin: str = ""
    replicates: tuple[_Kept, ...] = ()
    replicate_rounds: int = 0
    estimates: tuple[Estimate, ...] = ()

    def left(self) -> pl.DataFrame:
        """What left each site, as the server counts it; a site's own ledger says it in words.

        >>> TestsDone(("a",), rounds=3, bytes=100, messages=2, numbers=5).left().row(0)
        ('a', 2, 5, 80, 0)
        """
        counts = {"messages": self.messages, "numbers": self.numbers, "bytes": WORD_BYTES * self.numbers, "refused": 0}
        return pl.DataFrame([{"site": name, **counts} for name in self.sites])
