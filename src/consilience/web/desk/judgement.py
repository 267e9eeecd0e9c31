"""What there is to know of a contract beyond its words: its digest, what earlier studies and it tell together, what the policy says."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from consilience.errors import ConsilienceError
from consilience.secagg import fingerprint_text
from consilience.service.agent.disclosing import disclosed
from consilience.service.agent.earlier.recalling import recall
from consilience.service.agent.earlier.subtracting import Subtraction
from consilience.service.agent.policy import read_policy, violations
from consilience.service.contract import Contract, contract_shown
from consilience.web.desk.words import page_words

if TYPE_CHECKING:  # the desk asks
    from consilience.web.desk.sitedesk import SiteDesk

__all__ = ["Judgement", "contract_of", "judge"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One contract at one site.

    ``policy`` is the digest of the site's policy, empty if it has none; ``broken`` is what the contract breaks of it, and ``trouble`` why
    it cannot be read. ``identities`` names sites that had another fingerprint in an earlier study. ``proposed`` says that the contract is
    there, and not only what it would be.
    """

    digest: str
    subtractions: tuple[Subtraction, ...] = ()
    identities: tuple[str, ...] = ()
    policy: str = ""
    broken: tuple[str, ...] = ()
    trouble: str = ""
    proposed: bool = False

    @property
    def names(self) -> frozenset[str]:
        """What a consent must name."""
        return frozenset(one.key for one in self.subtractions)

    @property
    def read_aloud(self) -> str:
        """The digest in groups, as fingerprints are."""
        return fingerprint_text(bytes.fromhex(self.digest))

    @property
    def mark(self) -> str:
        """Stands for what a consent must name: a tick under other words is none to these.

        >>> Judgement("ab").mark, len(Judgement("ab", (Subtraction("…", ("cd",), ("ef",)),)).mark)
        ('', 16)
        """
        return hashlib.sha256("\n".join(sorted(self.names)).encode()).hexdigest()[:16] if self.subtractions else ""


def contract_of(desk: SiteDesk) -> Contract | None:
    """The contract that is asked about, was agreed to, or would be proposed as the study stands; None if there is none to be seen."""
    pending = desk.session.pending if desk.session is not None else None
    if pending is not None:
        return pending.contract
    if desk.study is not None and desk.study.contract is not None:
        return desk.study.contract
    try:
        return contract_shown(desk.shown) if desk.shown else None
    except ConsilienceError:  # it has no schema yet, or an older server does not show the sites' keys
        return None


def judge(desk: SiteDesk) -> Judgement | None:
    """What is known of the contract, as this site's table and home are now; None if there is no contract to be seen."""
    contract = contract_of(desk)
    if contract is None or desk.study is None or desk.table is None or not desk.fits():
        return None
    client = desk.client()
    recalled = recall(desk.study, contract, client, disclosed(client, contract).shielded)
    words = [one.words for one in recalled.subtractions]
    digest, broken, trouble = "", tuple[str, ...](), ""
    try:
        policy = read_policy(desk.config.policy) if desk.config.policy else None
        if policy is not None:
            digest, broken = policy.digest, tuple(violations(policy, contract, desk.site, words))
    except ConsilienceError as error:
        trouble = page_words(error)
    there = desk.study.contract is not None or (desk.session is not None and desk.session.pending is not None)
    return Judgement(contract.digest.hex(), recalled.subtractions, recalled.identities, digest, broken, trouble, there)
