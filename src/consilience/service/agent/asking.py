"""Who says yes to a contract: a person who is shown it, a policy, or whoever has named exactly this one by its digest."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from consilience.service.agent.earlier.subtracting import Subtraction
from consilience.service.agent.policy import NO_POLICY, Policy, read_policy, violations
from consilience.service.config import AgentConfig
from consilience.service.contract import Contract
from consilience.service.errors import ConfigurationError

__all__ = ["NOT_AGREED", "Asked", "Decide", "Decision", "by_digest", "by_policy", "check_digest", "unattended"]

NOT_AGREED = "You have not agreed. Nothing has left this site."
NOTHING_LEFT = "Nothing has left this site."
SUBTRACTED = (
    "The consent by digest does not cover what this study tells together with an earlier one: {words} "
    "If that is agreed to as well, say --allow-subtraction. " + NOTHING_LEFT
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A contract that is proposed to a site: in words, with warnings, and with what earlier studies and it tell together.

    What is in ``subtractions`` is among the warnings as well, so that whoever is shown these has been shown everything.
    """

    contract: Contract
    site: str
    lines: list[str]
    warnings: list[str]
    subtractions: tuple[Subtraction, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """Yes or no; by whose word, if yes, and why not, if no."""

    yes: bool
    by: str = ""
    why: str = NOT_AGREED


Decide = Callable[[Asked], Decision]
"""Whether a contract is agreed to."""


def by_policy(policy: Policy) -> Decide:
    """Agree to a contract if, and only if, it breaks nothing in a policy; all that it breaks is said.

    >>> from consilience.settings import NetworkSettings
    >>> contract = Contract("00112233aabbccdd", "trial", (), (), NetworkSettings(), ())
    >>> by_policy(Policy(digest="ab12"))(Asked(contract, "muenster", [], [])).by
    'policy ab12'
    """

    def decide(asked: Asked) -> Decision:
        found = violations(policy, asked.contract, asked.site, [one.words for one in asked.subtractions])
        if found:
            return _against_policy(found)
        return Decision(True, f"policy {policy.digest}")

    return decide


def _against_policy(broken: list[str]) -> Decision:
    """A no, with all that a contract breaks."""
    return Decision(False, why=f"This site's policy does not agree to the contract. {' '.join(broken)} {NOTHING_LEFT}")


def check_digest(text: str) -> str:
    """A contract's digest as it is typed: all 64 hexadecimal digits, since fewer are another's to choose.

    >>> check_digest("AB" * 32) == "ab" * 32
    True
    """
    found = "".join(text.split()).lower()
    if not re.fullmatch(r"[0-9a-f]{64}", found):
        raise ConfigurationError(
            f"--consent takes the whole digest of a contract, 64 hexadecimal digits, as --dry-run prints it; got {text[:80]!r}."
        )
    return found


def by_digest(digest: str, policy: Policy | None = None, *, allow_subtraction: bool = False) -> Decide:
    """Agree to the contract with this digest, and to no other; a policy, where there is one, holds besides."""
    wanted = check_digest(digest)

    def decide(asked: Asked) -> Decision:
        found = asked.contract.digest.hex()
        if found != wanted:
            why = (
                f"The contract has the digest {found}; agreed was to {wanted}. It has been changed since, by settings, variables or sites: "
                f"look at it again with --dry-run. {NOTHING_LEFT}"
            )
            return Decision(False, why=why)
        if asked.subtractions and not allow_subtraction:
            return Decision(False, why=SUBTRACTED.format(words=" ".join(one.words for one in asked.subtractions)))
        # that the two tell something together was agreed to with the digest: the policy is not asked again for it
        broken = [] if policy is None else violations(policy, asked.contract, asked.site)
        if broken:
            return _against_policy(broken)
        return Decision(True, f"digest {wanted}")

    return decide


def unattended(settings: AgentConfig) -> Decide | None:
    """Who agrees without being asked, by a site's settings; None if nobody does, and a person is asked.

    >>> unattended(AgentConfig()) is None, unattended(AgentConfig(consent="ab" * 32)) is None
    (True, False)
    """
    found = read_policy(settings.policy) if settings.policy else None
    if settings.consent:
        return by_digest(settings.consent, found, allow_subtraction=settings.allow_subtraction)
    if settings.yes and found is None:
        raise ConfigurationError(NO_POLICY)
    return by_policy(found) if settings.yes and found is not None else None
