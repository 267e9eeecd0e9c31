"""What a site's owner consents to: the study, its variables, its settings and who takes part. Its digest is what is signed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from consilience.data.schema import Schema
from consilience.disclosure.words import contract_lines
from consilience.errors import ConsilienceError, OptionError, StudyError
from consilience.federation.site.ledger import printable
from consilience.protocol.errors import MessageSizeError
from consilience.protocol.framing import decode
from consilience.protocol.version import VERSION
from consilience.secagg import fingerprint_of, fingerprint_text, read_fingerprint
from consilience.secagg.context import pack, sha256
from consilience.service.settings import JOINT_WARNING, MOST_DATASETS, VariableSpec, checked, schema_of, spec_from
from consilience.settings import Batching, Dropout, Method, NetworkSettings, Resolve, SiteEffects, Terms, terms_of
from consilience.settings.declaration import MOST_SITES, MOST_VARIABLES
from consilience.typed import from_plain, msgpack_decoder

__all__ = [
    "COPIES_WARNING",
    "LEFT_OUT_WARNING",
    "PAIR_WARNING",
    "QUERIED_WARNING",
    "RESTART_WARNING",
    "Contract",
    "Member",
    "bounded",
    "contract_shown",
    "decode_contract",
    "warnings_of",
]

_LABEL, _DECLARATION = b"consilience/contract/1", b"consilience/declaration/1"
_Names = Annotated[tuple[str, ...], msgspec.Meta(max_length=MOST_VARIABLES)]
MOST_BYTES = 4 << 20
"""Of a contract: four times what a study may be declared with. A server that sends more wants a site's memory, not its consent."""
RESOLVED = {
    Resolve.AUTO: "the strongest come first",
    Resolve.STRONGEST: "the strongest come first",
    Resolve.OPTIMAL: "those are given up that weigh the least in all",
    Resolve.STRICT: "there is no graph",
}
"""What becomes of contradictions, for the owner of a site."""
RESTART_WARNING = (
    "If a site vanishes, sums are made again without it, and the difference of the two sums is that site's part: "
    "its counts and cross-products, or its own p-value."
)
COPIES_WARNING = (
    "All sums are made of resampled copies of each site's rows as well. Each copy is as much work for a site as the study itself; all of "
    "them together take at most about twice as many rounds. Which rows stand in a copy, only the site knows."
)
LEFT_OUT_WARNING = (
    "Sums are made without each of the sites as well, and the difference of the two sums is that site's part: its counts and "
    "cross-products, and how well models fit its rows."
)
QUERIED_WARNING = "The variables were asked from the sites: each has told, in the open, names, kinds and levels of those that it measures."
PAIR_WARNING = "With two sites, each can compute the other's part of every sum by subtracting its own."
"""What an owner should know: of a site before agreeing, of a study before asking for it."""


class Member(msgspec.Struct, frozen=True, array_like=True):
    """A site of a study: its name and its public identity."""

    name: str
    identity: bytes

    @property
    def fingerprint(self) -> bytes:
        """What people compare."""
        return fingerprint_of(self.identity)


class Contract(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that all sites of a study have in common. It does not change once the study runs.

    ``queried`` says that the variables were asked from the sites and not declared in advance.
    """

    study: str
    name: str
    variables: Annotated[tuple[VariableSpec, ...], msgspec.Meta(max_length=MOST_VARIABLES)]
    datasets: Annotated[tuple[_Names, ...], msgspec.Meta(max_length=MOST_DATASETS)]
    settings: NetworkSettings
    members: Annotated[tuple[Member, ...], msgspec.Meta(max_length=MOST_SITES)]
    queried: bool = False
    version: int = VERSION

    def encoded(self) -> bytes:
        """As it travels and is stored."""
        plain = {name: getattr(self, name) for name in self.__struct_fields__}
        return msgspec.msgpack.encode(plain | {"variables": [spec.plain() for spec in self.variables]})

    @property
    def digest(self) -> bytes:
        """SHA-256 over a label and the encoded contract."""
        return sha256(pack(_LABEL, self.encoded()))

    @property
    def declaration(self) -> bytes:
        """SHA-256 over all of it but the sites: whether a table fits depends on this, and on nobody who takes part."""
        return sha256(pack(_DECLARATION, msgspec.structs.replace(self, members=()).encoded()))

    def without(self, site: str) -> Contract:
        """The same with one site fewer. Where the variables were asked from the sites, :func:`narrowed` leaves out its own as well.

        >>> both = Contract("00112233aabbccdd", "trial", (), (), NetworkSettings(), (Member("a", bytes(32)), Member("b", bytes(32))))
        >>> [member.name for member in both.without("a").members]
        ['b']
        """
        return msgspec.structs.replace(self, members=tuple(member for member in self.members if member.name != site))

    def narrows(self, other: Contract) -> bool:
        """Whether it is another with fewer sites and nothing else: at most without variables and variable sets that only these had.

        A table that fits the other fits this one, whatever the values are: to answer it tells nothing of them.
        """
        same = msgspec.structs.replace(other, variables=self.variables, datasets=self.datasets, members=self.members)
        parts = ((self.members, other.members), (self.variables, other.variables), (self.datasets, other.datasets))
        return same == self and self.members != other.members and all(set(fewer) <= set(more) for fewer, more in parts)

    @property
    def schema(self) -> Schema:
        """The variables, as the library has them."""
        return schema_of(self.variables)

    @property
    def terms(self) -> Terms:
        """What requests are held against."""
        return terms_of(self.settings)

    @property
    def fingerprints(self) -> dict[str, bytes]:
        """Name and fingerprint of every site."""
        return {member.name: member.fingerprint for member in self.members}

    def lines(self) -> list[str]:
        """The contract in words, for the owner of a site; what is not printable in it is escaped."""
        from consilience.iod.discover import knowledge_of  # noqa: PLC0415  engines and reports: not before somebody reads a contract

        s, known = self.settings, knowledge_of(self.settings)
        kinds = (f"{v.name} ({_said(v)})" for v in self.variables)
        most = "of any size" if s.max_given is None else f"of at most {s.max_given}"
        lines = [
            f"study {self.name!r} ({self.study})",
            f"variables: {'; '.join(kinds)}",
            f"variable sets: {' | '.join(', '.join(names) for names in self.datasets)}",
            f"method {s.method.value}, site effects {s.site_effects.value}, ordinal responses {s.ordinal.value}, alpha {s.alpha:g}",
            *_residual_lines(s),
            *(("whether linear models hold is looked at, in one more round",) if self.terms.diagnosed else ()),
            f"conditioning sets {most}; tests go out {'level by level' if s.batching is Batching.LEVELS else 'all together'}",
            *_replicate_lines(s),
            f"where decisions contradict each other: {RESOLVED[s.resolve]}",
            *(() if known is None else known.lines()),
            *self.limits(),
            *(f"site {m.name!r}: {fingerprint_text(m.fingerprint)}" for m in self.members),
        ]
        return [printable(line) for line in lines]

    def limits(self) -> list[str]:
        """What of it limits what can be worked out, in words."""
        return [printable(line) for line in contract_lines(self.terms)]


def _said(spec: VariableSpec) -> str:
    """Kind, levels, unit and range of a variable, in words."""
    measured = spec.variable().measured if spec.measured else ""
    return f"{spec.kind.value}{': ' + ', '.join(spec.levels) if spec.levels else ''}{' ' + measured if measured else ''}"


def _residual_lines(s: NetworkSettings) -> tuple[str, ...]:
    """What there is to say of tests of residuals, where they are agreed on."""
    if s.method not in (Method.RESIDUAL, Method.AUTO):
        return ()
    slopes = "slopes of every site's own" if s.site_slopes else "the same slopes at all sites"
    by = "" if s.cluster is None else f"; rows with the same {s.cluster!r} belong together, a column that never leaves a site"
    return (f"products of residuals of smooth models, with {slopes}; alternatives {s.alternatives.value}{by}",)


def _replicate_lines(s: NetworkSettings) -> tuple[str, ...]:
    """What is asked for to say how sure the result is, and in how many rounds."""
    lines: tuple[str, ...] = ()
    if s.bootstrap:
        lines += (f"all tests are repeated in {s.bootstrap} resampled copies of each site's rows, in at most about twice as many rounds",)
    if s.leave_one_out:
        lines += ("all tests are repeated without each of the sites, in about as many rounds",)
    return lines


def warnings_of(contract: Contract) -> list[str]:
    """What the owner of a site should know before agreeing; empty if there is nothing beyond the ordinary.

    >>> base = Contract("00112233aabbccdd", "trial", (), (), NetworkSettings(), ())
    >>> warnings_of(base)
    []
    >>> len(warnings_of(msgspec.structs.replace(base, queried=True, settings=NetworkSettings(on_dropout=Dropout.RESTART))))
    2
    """
    s, found = contract.settings, []
    if s.site_effects is SiteEffects.JOINT and s.method in (Method.FEDCI, Method.AUTO):
        found.append(JOINT_WARNING)
    if s.on_dropout is Dropout.RESTART:
        found.append(RESTART_WARNING)
    if s.leave_one_out:
        found.append(LEFT_OUT_WARNING)
    if contract.queried:
        found.append(QUERIED_WARNING)
    if len(contract.members) == 2:
        found.append(PAIR_WARNING)
    return found


def bounded(contract: Contract) -> Contract:
    """Return the contract if sites read it: they refuse one that names more than a study may before they have read it."""
    for named, most, what in (
        (contract.variables, MOST_VARIABLES, "variables"),
        (contract.datasets, MOST_DATASETS, "variable sets"),
        (contract.members, MOST_SITES, "sites"),
    ):
        if len(named) > most:
            raise OptionError(f"A study over a network has up to {most} {what}; this one would have {len(named)}.")
    size = len(contract.encoded())
    if size > MOST_BYTES:
        raise OptionError(f"A contract has up to {MOST_BYTES:,} bytes; this one would have {size:,}. Shorten names and levels.")
    return contract


def contract_shown(study: Mapping[str, Any]) -> Contract:
    """The contract that a study would have, or has, by what the server's REST interface shows of it.

    A site that is to agree to a digest makes the contract itself, of what its owner was shown: a digest that the server told beside it
    could be that of another. Whatever is read here is checked, since it comes from outside.

    Raises
    ------
    StudyError
        If the study has no variables yet, or is shown in a way that cannot be read.
    """
    if study.get("variables") is None or study.get("datasets") is None:
        raise StudyError("The study has no schema yet: the server asks the sites which variables they measure.")
    try:
        members = tuple(_member(site) for site in _few(study["sites"], MOST_SITES, "sites"))
        return Contract(
            str(study["id"]),
            str(study["name"]),
            tuple(spec_from(v) for v in _few(study["variables"], MOST_VARIABLES, "variables")),
            tuple(tuple(map(str, names)) for names in _few(study["datasets"], MOST_DATASETS, "variable sets")),
            checked(from_plain(study["settings"], NetworkSettings)),
            members,
            bool(study.get("queried", False)),
        )
    except (KeyError, TypeError, ValueError, msgspec.ValidationError) as error:
        if isinstance(error, ConsilienceError):
            raise
        raise StudyError(f"The server describes the study in a way that cannot be read: {error}. Update the older side.") from None


def _few(told: list[Any], most: int, what: str) -> list[Any]:
    if len(told) > most:
        raise StudyError(f"A study has up to {most} {what}; the server shows {len(told)}. Ask the study's owner.")
    return told


def _member(site: Mapping[str, Any]) -> Member:
    member = Member(str(site["name"]), bytes.fromhex(site["identity"]))
    if member.fingerprint != read_fingerprint(str(site["fingerprint"])):
        raise StudyError(f"The server shows {member.name!r} with a fingerprint that is not that of its key. Ask the study's owner.")
    return member


_decoder = msgpack_decoder(Contract)


def decode_contract(data: bytes) -> Contract:
    """A contract from bytes; :class:`MessageFormatError` if it is not one, or names more than a study may."""
    if len(data) > MOST_BYTES:
        raise MessageSizeError(f"A contract has up to {MOST_BYTES:,} bytes; got {len(data):,}.")
    found: Contract = decode(data, _decoder)
    return found
