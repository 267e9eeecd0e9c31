"""Every round id once: two answers under one mask would differ by what they hide.

Round ids must strictly increase within a run, so one number remembers them all. An id that was skipped is refused later as
well: nothing is lost by it, since the server counts up, and a memory that grows and must be searched is not needed.
"""

from __future__ import annotations

from threading import Lock

from consilience.secagg.context import check_round_id, check_run_id
from consilience.secagg.errors import RepeatedRoundError

__all__ = ["RoundBook"]


class RoundBook:
    """The rounds that one site has answered in one run. Claim a round *before* anything is masked for it.

    A site that starts again makes a new run key, and with it new secrets and a new book; one that keeps its run key must keep
    :attr:`last` as well, and pass it in. Threads may share a book.

    Parameters
    ----------
    run_id : bytes
        The run, 1 to 255 bytes.
    last : int, optional
        The highest id that was claimed before; None at the start.

    Examples
    --------
    >>> book = RoundBook(b"run 7")
    >>> book.claim(0), book.claim(5), book.last
    (0, 5, 5)
    >>> book.claim(5)
    Traceback (most recent call last):
    consilience.secagg.errors.RepeatedRoundError: A round of the run b'run 7' must come after round 5; got 5. Announce a new id.
    """

    __slots__ = ("_last", "_lock", "run_id")

    def __init__(self, run_id: bytes, last: int | None = None) -> None:
        self.run_id = check_run_id(run_id)
        self._last = None if last is None else check_round_id(last)
        self._lock = Lock()

    @property
    def last(self) -> int | None:
        """The highest round id claimed so far."""
        return self._last

    def claim(self, round_id: int) -> int:
        """Return ``round_id``, used from now on.

        Parameters
        ----------
        round_id : int
            From 0 to 2⁶⁴ - 1, higher than all before.

        Returns
        -------
        int

        Raises
        ------
        RepeatedRoundError
            If it, or a later one, was claimed before.
        """
        check_round_id(round_id)
        # compared and kept under one lock: two threads with the same id must not both find it new
        with self._lock:
            if self._last is not None and round_id <= self._last:
                raise RepeatedRoundError(
                    f"A round of the run {self.run_id!r} must come after round {self._last}; got {round_id}. Announce a new id."
                )
            self._last = round_id
        return round_id

    def __repr__(self) -> str:
        return f"RoundBook({self.run_id!r}, last={self._last})"
