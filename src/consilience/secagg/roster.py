"""Who takes part in a round: fingerprints in one order, and a digest that every mask depends on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from consilience.secagg.context import FINGERPRINT_BYTES, ROSTER, check_length, check_run_id, pack, sha256
from consilience.secagg.errors import NotInRosterError, RepeatedSiteError, SmallRosterError
from consilience.secagg.identity import fingerprint_text

__all__ = ["Roster"]


@dataclass(frozen=True, slots=True, init=False)
class Roster:
    """The sites of a run's rounds, sorted by fingerprint, two at least, none twice.

    :attr:`digest` is SHA-256 over label, run id, count and fingerprints. Sites that were told different rosters derive
    different masks, and their sum is noise rather than somebody's numbers.

    Parameters
    ----------
    run_id : bytes
        The run, 1 to 255 bytes.
    fingerprints : iterable of bytes
        In any order.

    Attributes
    ----------
    run_id : bytes
    fingerprints : tuple of bytes
        Sorted.
    digest : bytes

    Raises
    ------
    SmallRosterError
        If there are fewer than two sites.
    RepeatedSiteError
        If one is there twice.

    Examples
    --------
    >>> roster = Roster(b"run 7", [bytes([2]) * 32, bytes([1]) * 32, bytes([3]) * 32])
    >>> [f[0] for f in roster], bytes([2]) * 32 in roster, len(roster.without(bytes([2]) * 32))
    ([1, 2, 3], True, 2)
    """

    run_id: bytes
    fingerprints: tuple[bytes, ...]
    digest: bytes = field(repr=False)

    def __init__(self, run_id: bytes, fingerprints: Iterable[bytes]) -> None:
        # sorted, so that the digest does not depend on the order in which a server lists the sites
        ordered = tuple(sorted(check_length("A fingerprint", f, FINGERPRINT_BYTES) for f in fingerprints))
        if len(ordered) < 2:
            raise SmallRosterError(f"A roster needs at least 2 sites; got {len(ordered)}. With one, the sum would be that site's numbers.")
        for one, next_one in pairwise(ordered):
            if one == next_one:
                raise RepeatedSiteError(f"A site may be in a roster once; got {fingerprint_text(one)} more than once.")
        object.__setattr__(self, "run_id", check_run_id(run_id))
        object.__setattr__(self, "fingerprints", ordered)
        # the count is in the digest although the lengths of the parts would tell: the derivation is written down that way, for others to
        # implement, and reads without knowing how parts are packed
        object.__setattr__(self, "digest", sha256(pack(ROSTER, run_id, len(ordered).to_bytes(4, "big"), *ordered)))

    def without(self, fingerprint: bytes) -> Roster:
        """The roster after a site has dropped out.

        Parameters
        ----------
        fingerprint : bytes
            The site.

        Returns
        -------
        Roster

        Raises
        ------
        SmallRosterError
            If one site would be left.
        NotInRosterError
            If it was not there.
        """
        self.require(fingerprint)
        return Roster(self.run_id, (f for f in self.fingerprints if f != fingerprint))

    def require(self, fingerprint: bytes) -> None:
        """Raise :class:`NotInRosterError` unless ``fingerprint`` is in the roster.

        Parameters
        ----------
        fingerprint : bytes
            The site.
        """
        if check_length("A fingerprint", fingerprint, FINGERPRINT_BYTES) not in self.fingerprints:
            raise NotInRosterError(f"The site must be one of the {len(self)} in the roster; got {fingerprint_text(fingerprint)}.")

    def __contains__(self, fingerprint: object) -> bool:
        return fingerprint in self.fingerprints

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.fingerprints)

    def __len__(self) -> int:
        return len(self.fingerprints)
