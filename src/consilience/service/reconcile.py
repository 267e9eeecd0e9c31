"""What a site says it sent, against what the server says it received.

Both write down every answer on their own: the site before it leaves, in a ledger that is chained and signed; the server when it comes, by
its length and digest. Sites hand their ledgers to the study's owner as files, on a way of their own choice, and nothing is added to what
sites and server say to each other: a summary that went through the server would be one more message that the server could hold back, and
one more thing that leaves a site. The comparison needs no keys and no server that is up, but for its record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from consilience.federation.site.ledger import LedgerLine
from consilience.federation.transport.remote import Heard
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.secagg.ring import WORD_BYTES
from consilience.service.chain import Chain, read_chain
from consilience.service.errors import RecordsError
from consilience.wording import counted

__all__ = ["Comparison", "audited", "compare", "signer_of"]

SHOWN = 5
"""Messages that are named one by one where many differ."""


@dataclass(slots=True)
class Comparison:
    """One site, or one file that is no site's: what agrees, what differs, and what could not be compared, in words."""

    site: str
    agrees: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


def audited(study: str, told: Mapping[str, Any], ledgers: Mapping[str, bytes]) -> list[Comparison]:
    """All comparisons of a study: ``told`` is the server's record, as it came, ``ledgers`` the contents of files by name."""
    identities = {str(site["name"]): bytes.fromhex(site["identity"]) for site in told["sites"]}
    heard = [Heard(**{**one, "digest": bytes.fromhex(one["digest"])}) for one in told["heard"]]
    found, given = list[Comparison](), set[str]()
    for where, data in ledgers.items():
        try:
            site, chain = signer_of(data, where, identities)
        except RecordsError as error:
            found.append(Comparison(where, differs=[str(error)]))
            continue
        if site in given:
            found.append(Comparison(where, differs=[f"this is another ledger of {site}: a site has one"]))
            continue
        given.add(site)
        found.append(compare(study, site, identities[site], chain, [one for one in heard if one.site == site]))
    for site in sorted(identities.keys() - given):
        answers = sum(one.site == site and not one.refused for one in heard)
        found.append(Comparison(site, open=[f"no ledger was given; the server says that it received {counted(answers, 'answer')} of it"]))
    return found


def signer_of(data: bytes, where: str, identities: Mapping[str, bytes]) -> tuple[str, Chain]:
    """Which of the study's sites has signed a ledger, by name; every signature is looked at. A ledger has no name in it that could lie."""
    plain = read_chain(data, where)
    if not plain.first:
        raise RecordsError(f"{where!r} has no signed line, so nobody can tell whose it is. It is no evidence.")
    for name, identity in identities.items():
        try:
            read_chain(data, where, identity)  # the last signature says whose it is
        except RecordsError:
            continue
        return name, read_chain(data, where, identity, every=True)
    raise RecordsError(f"{where!r} must be signed by a site of this study; its last line is signed by none of {', '.join(identities)}.")


def compare(study: str, site: str, identity: bytes, chain: Chain, heard: Sequence[Heard]) -> Comparison:
    """A site's ledger with what the server heard from it."""
    found = Comparison(site)
    found.agrees.append(f"the ledger is signed by {fingerprint_text(fingerprint_of(identity))}: {chain.said}")
    foreign = {entry.study for entry in chain.entries} - {study}
    if foreign:
        found.differs.append(f"the ledger has lines of another study: {', '.join(sorted(foreign))}")
    own = [entry for entry in chain.entries if entry.study == study]
    sent = {(entry.run, entry.round): entry for entry in own if entry.numbers and not entry.refused}
    came = {(one.run, one.round): one for one in heard if not one.refused}
    _compare_answers(found, sent, came)
    _compare_refusals(found, own, heard)
    # what is no answer to a round has no numbers: names and levels, say, which the server shows to all
    told = [entry for entry in own if not entry.numbers and not entry.refused]
    for what, lines in groupby(sorted(told, key=lambda entry: entry.what), key=lambda entry: entry.what):
        found.agrees.append(f"also sent, beside the rounds: {what} ({counted(len(list(lines)), 'time')})")
    return found


Key = tuple[str, int]


def _compare_answers(found: Comparison, sent: Mapping[Key, LedgerLine], came: Mapping[Key, Heard]) -> None:
    both = [key for key in sent if key in came]
    same = [key for key in both if _same(sent[key], came[key])]
    undigested = [key for key in same if not sent[key].digest]
    numbers, size = sum(sent[key].numbers for key in same), sum(sent[key].bytes for key in same)
    found.agrees.append(f"{counted(len(same), 'answer')} sent and received alike: {numbers:,} numbers, {size:,} bytes")
    if undigested:
        found.agrees.append(f"of these, {len(undigested)} by their length alone: a former version wrote no digests")
    _tell(found.differs, [key for key in both if key not in set(same)], "received with other bytes than were sent", sent)
    missing, last = [key for key in sent if key not in came], _last_rounds(came)
    # A round that a site or the server did not live to finish ends its run: the answer was sent, and nobody wrote down that it came. The
    # server writes a round down before it asks for the next, so there is one such answer a run at most, and nothing after it.
    ends = {run: number for run, number in missing if number == last.get(run, -1) + 1}
    unfinished = [key for key in missing if ends.get(key[0]) == key[1] and (key[0], key[1] + 1) not in sent]
    _tell(found.open, unfinished, "sent when its run ended, which the server did not write down or did not get", sent)
    _tell(found.differs, [k for k in missing if k not in set(unfinished)], "sent, and not in the server's record", sent)
    unsent = [key for key in came if key not in sent]
    _tell(found.differs, unsent, "received, and not in the site's ledger: lines of it are gone, or it never sent it", {})
    odd = [key for key in same if sent[key].numbers * WORD_BYTES != sent[key].bytes]
    _tell(found.differs, odd, "with more or fewer numbers than its bytes hold", sent)


def _last_rounds(came: Mapping[Key, Heard]) -> dict[str, int]:
    found: dict[str, int] = {}
    for run, number in came:
        found[run] = max(number, found.get(run, -1))
    return found


def _same(line: LedgerLine, heard: Heard) -> bool:
    return line.bytes == heard.size and line.digest in ("", heard.digest.hex())


def _tell(where: list[str], keys: Sequence[Key], how: str, sent: Mapping[Key, LedgerLine]) -> None:
    if not keys:
        return
    named = "; ".join(
        f"run {run} round {number}" + (f" ({sent[run, number].what})" if (run, number) in sent else "") for run, number in keys[:SHOWN]
    )
    where.append(f"{counted(len(keys), 'answer')} {how}: {named}{'; …' if len(keys) > SHOWN else ''}")


def _compare_refusals(found: Comparison, own: Sequence[LedgerLine], heard: Sequence[Heard]) -> None:
    # Only what the server heard must be in the ledger: a refusal that ends a connection is written down and never arrives.
    said = Counter((entry.run, entry.round) for entry in own if entry.refused)
    known = Counter((one.run, one.round) for one in heard if one.refused)
    if said:
        found.agrees.append(
            f"{counted(sum(said.values()), 'request')} refused by the site, {(said & known).total()} of them known to the server"
        )
    if unknown := known - said:
        found.differs.append(f"the server says that the site refused {counted(unknown.total(), 'request')} that its ledger does not have")
