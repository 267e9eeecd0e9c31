"""Passwords: argon2id, a few at a time."""

from __future__ import annotations

from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from consilience.errors import OptionError

__all__ = ["Passwords"]

LEAST, MOST = 12, 1024
"""Characters. Length instead of rules on digits and signs, which people meet with "Password1!" (NIST SP 800-63B says so, too); and a bound
that nobody reaches by typing, since a hash reads all of it."""
AT_ONCE = 2
"""A hash takes 64 MiB and some milliseconds of a processor: attempts wait for each other rather than for memory."""


class Passwords:
    """Hashes and checks passwords (argon2id with the parameters of RFC 9106 for little memory, unless a hasher is given).

    >>> passwords = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    >>> kept = passwords.hash("correct horse battery")
    >>> passwords.fits(kept, "correct horse battery"), passwords.fits(kept, "wrong"), passwords.fits("", "any")
    (True, False, False)
    """

    def __init__(self, hasher: PasswordHasher | None = None) -> None:
        self._hasher = hasher or PasswordHasher()
        self._turns = BoundedSemaphore(AT_ONCE)
        # made with the same parameters, so that checking it takes the same time as checking somebody's
        self._nobody = self._hasher.hash("a password that nobody has")

    @staticmethod
    def check(password: str) -> None:
        """``OptionError`` unless it may be a new password."""
        if not LEAST <= len(password) <= MOST:
            raise OptionError(f"A password has {LEAST} to {MOST} characters; got {len(password)}.")

    def hash(self, password: str) -> str:
        """The hash of a new password."""
        self.check(password)
        with self._turns:
            return self._hasher.hash(password)

    def fits(self, kept: str, password: str) -> bool:
        """True if ``kept`` is the hash of ``password``. Without a hash, as much work is done, so that names cannot be tried by time."""
        with self._turns:
            try:
                self._hasher.verify(kept or self._nobody, password[:MOST])
            except (VerificationError, InvalidHashError, UnicodeEncodeError):
                return False
        return bool(kept)
