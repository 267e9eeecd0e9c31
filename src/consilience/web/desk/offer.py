"""What a study asks a site to agree to: as the server shows it before the start, and as the contract says it at the start.

The two are compared whole. What the owner of a site has read and agreed to is an offer; the agent says yes to a contract if, and only if,
it makes the same offer.
"""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec

from consilience.data.schema import Schema
from consilience.errors import ConsilienceError, StudyError
from consilience.secagg import read_fingerprint
from consilience.service.contract import Contract, Member, warnings_of
from consilience.service.settings import VariableSpec, checked, schema_of, spec_from, specs_of
from consilience.settings import NetworkSettings
from consilience.typed import from_plain

__all__ = ["Offer", "differences"]


class _Seen(Member, frozen=True, array_like=True):
    """A site as the study's page shows it: by its fingerprint, which stands where a contract has the key itself."""

    @property
    def fingerprint(self) -> bytes:
        return self.identity


class Offer(msgspec.Struct, frozen=True):
    """Everything that a contract says, with fingerprints for keys: those of the sites, by name."""

    study: str
    name: str
    variables: tuple[VariableSpec, ...]
    datasets: tuple[tuple[str, ...], ...]
    settings: NetworkSettings
    sites: tuple[tuple[str, bytes], ...]
    queried: bool = False

    @classmethod
    def of_study(cls, study: dict[str, Any]) -> Offer:
        """From the study as the server's REST interface shows it. Whatever it says is checked: it comes from outside."""
        if study.get("variables") is None or study.get("datasets") is None:
            raise StudyError("The study has no schema yet: the server asks the sites which variables they measure.")
        try:
            variables = tuple(spec_from(v) for v in study["variables"])
            return cls(
                str(study["id"]),
                str(study["name"]),
                variables,
                tuple(tuple(sorted(names)) for names in study["datasets"]),
                checked(from_plain(study["settings"], NetworkSettings)),
                tuple(sorted((str(site["name"]), read_fingerprint(site["fingerprint"])) for site in study["sites"])),
            ).normal()
        except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
            if isinstance(error, ConsilienceError):
                raise
            raise StudyError(f"The server describes the study in a way that cannot be read: {error}. Update the older side.") from None

    @classmethod
    def of_contract(cls, contract: Contract) -> Offer:
        """From a contract that is proposed."""
        sites = tuple(sorted(contract.fingerprints.items()))
        return cls(
            contract.study, contract.name, contract.variables, contract.datasets, contract.settings, sites, contract.queried
        ).normal()

    def normal(self) -> Offer:
        """In one order, so that equal offers are equal."""
        variables = specs_of(self.schema)
        datasets = tuple(sorted(tuple(sorted(names)) for names in self.datasets))
        return msgspec.structs.replace(self, variables=variables, datasets=datasets)

    @property
    def schema(self) -> Schema:
        """The variables, as the library has them."""
        return schema_of(self.variables)

    @property
    def contract(self) -> Contract:
        """As a contract, for its words; it is not one, since it has no keys."""
        members = tuple(_Seen(name, fingerprint) for name, fingerprint in self.sites)
        return Contract(self.study, self.name, self.variables, self.datasets, self.settings, members, self.queried)

    def lines(self) -> list[str]:
        """What is agreed to, in words: those of the contract."""
        return self.contract.lines()

    def warnings(self) -> list[str]:
        """What to know before agreeing."""
        return warnings_of(self.contract)

    @property
    def reference(self) -> str:
        """Twelve characters that stand for all of it, to quote in a letter.

        >>> from consilience.data.kinds import Kind
        >>> base = Offer("00112233aabbccdd", "trial", (VariableSpec("A", Kind.CONTINUOUS),), (("A",),), NetworkSettings(), ())
        >>> len(base.reference), base.reference == msgspec.structs.replace(base, name="another").reference
        (14, False)
        """
        digest = hashlib.sha256(b"consilience/offer/1" + msgspec.msgpack.encode(self)).hexdigest().upper()
        return f"{digest[:4]}-{digest[4:8]}-{digest[8:12]}"


def differences(old: Offer, new: Offer) -> list[str]:
    """What has changed from one offer to another, in words.

    >>> from consilience.data.kinds import Kind
    >>> base = Offer("00112233aabbccdd", "trial", (VariableSpec("A", Kind.CONTINUOUS),), (("A",),), NetworkSettings(), (("a", b"1"),))
    >>> differences(base, msgspec.structs.replace(base, sites=(("a", b"1"), ("b", b"2"))))
    ['New site: b.']
    """
    before, after = dict(old.sites), dict(new.sites)
    found = [f"New site: {name}." for name in after if name not in before]
    found += [f"No longer a site: {name}." for name in before if name not in after]
    found += [f"Another identity: {name}. Ask its owner by telephone." for name in after if before.get(name, after[name]) != after[name]]
    if old.name != new.name:
        found.append("The study has another name.")
    if old.variables != new.variables:
        found.append("The variables, their kinds or their levels are others.")
    if old.datasets != new.datasets:
        found.append("The variable sets are others.")
    was, now = msgspec.to_builtins(old.settings), msgspec.to_builtins(new.settings)
    found += [f"The setting {name} was {was.get(name)} and is {now[name]}." for name in now if was.get(name) != now[name]]
    return found
