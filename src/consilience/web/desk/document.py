"""A document for the data protection officer, before consent: one file that opens anywhere and loads nothing."""

from __future__ import annotations

import base64
import hashlib
import platform
import time
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from consilience.iod.report.html import Html, el, label, labels, listed
from consilience.iod.report.tables import Column, table
from consilience.protocol.version import VERSION
from consilience.secagg import fingerprint_of, fingerprint_text
from consilience.web.desk.leaving import kinds_of
from consilience.web.rendering import moment, size

if TYPE_CHECKING:  # the desk's pages make it, from the desk
    from consilience.web.desk.offer import Offer
    from consilience.web.desk.sitedesk import SiteDesk

__all__ = ["document"]

STYLE = (
    "body{font:16px/1.55 system-ui,sans-serif;max-width:52rem;margin:2.5rem auto;padding:0 1.5rem;color:#15191e;overflow-wrap:anywhere}"
    "h1{line-height:1.2}h2{margin-top:2.2rem;border-top:1px solid #ccd3da;padding-top:1.2rem}table{border-collapse:collapse;width:100%}"
    "th,td{border-bottom:1px solid #ccd3da;padding:.35rem .7rem .35rem 0;text-align:left;vertical-align:top}"
    ".number{text-align:right;white-space:nowrap}th{overflow-wrap:normal}"
    "caption{text-align:left;color:#4d5761;padding:.3rem 0}code{font-size:.95em}"
)
LEARNT = (
    "Participants and the study's owner learn the result: which pairs of variables were found dependent or independent given which others, "
    "with p-values and numbers of rows over all sites together, and the graphs that agree with it.",
    "The study's server learns sums over sites, the number of messages, when this site was connected, and this site's network address.",
    "Other sites learn this site's name and fingerprint, the same result, and what this site states of itself (see below).",
    "Nobody is sent a row of the table. What can be worked out about this site alone is said below, sentence by sentence.",
)
PROTECTED = (
    "The table stays in the memory of a program on this site's machine. No value of it is written to a disk by that program.",
    "Every number is masked with random numbers that this site shares with each other site, and that cancel only in the sum over all of "
    "them. Masked numbers alone look random to the server and to whoever listens.",
    "This site leaves out what would tell of few rows, and refuses requests that break the contract's limits. It writes every message and "
    "every refusal to a ledger before it leaves.",
)


def document(desk: SiteDesk) -> bytes:
    """The contract, what leaves, what is learnt, limits, fingerprints and versions, as an HTML file."""
    offer, rehearsal = desk.offer, desk.dry_run.found
    assert offer is not None
    assert rehearsal is not None
    assert desk.study is not None
    joined = desk.study.joined
    parts = [
        el("h1", "Taking part in the study ", el("q", offer.name)),
        el("p", f"For the data protection officer of the site {desk.site}. Made on {moment(time.time())}. {_consent(desk)}"),
        _section(
            "What is planned",
            el(
                "p",
                f"{len(offer.sites)} sites look for causal relations between {len(offer.variables)} variables without bringing their data "
                f"together. This site takes part with {desk.table.frame.height if desk.table else 0:,} rows of the variables ",
                labels(desk.held),
                ".",
            ),
            _withheld(desk),
            *_steps(desk),
        ),
        _section("What leaves this site", *_leaves(desk)),
        _section("What others learn from it", listed(LEARNT)),
        _section("How it is protected", listed(PROTECTED)),
        _section("What can be worked out about this site", listed(desk.disclosed())),
        _section("Warnings", _warnings(offer)),
        _section("Together with earlier studies", *_earlier(desk)),
        _section("The contract, as it stands", listed(offer.lines()), el("p", f"Reference: {offer.reference}"), *_digest(desk)),
        _section("Fingerprints", *_fingerprints(desk, offer)),
        _section(
            "Technical data",
            listed(
                (
                    f"Server: {joined.url}",
                    f"Study: {joined.study}",
                    f"Protocol version {VERSION}; consilience {_version()}; Python {platform.python_version()}",
                )
            ),
        ),
    ]
    policy = f"default-src 'none'; style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
    page = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=policy),
            el("title", f"Data protection: {offer.name}"),
            el("style", Html(STYLE)),
        ),
        el("body", el("main", *parts)),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n".encode()


def _section(title: str, *body: str | None) -> Html:
    return el("section", el("h2", title), *body)


def _consent(desk: SiteDesk) -> str:
    given = desk.consent
    return "Consent has not been given." if given is None else f"Consent was given on {moment(given.time)}, reference {given.reference}."


def _withheld(desk: SiteDesk) -> Html | None:
    return el("p", "Withheld, though the table has them: ", labels(sorted(desk.withheld)), ".") if desk.withheld else None


def _steps(desk: SiteDesk) -> list[Html]:
    lines = desk.plan.lines
    words = f"The table is harmonised first, by the plan {desk.plan.digest[:16]}, which stays at this site:"
    return [el("p", words), listed(lines)] if lines else []


def _leaves(desk: SiteDesk) -> list[Html]:
    rehearsal = desk.dry_run.found
    assert rehearsal is not None
    rows = [
        el(
            "tr",
            el("th", kind.title, scope="row"),
            el("td", kind.words),
            el("td", f"{kind.messages:,}", class_="number"),
            el("td", f"{kind.numbers:,}", class_="number"),
            el("td", size(kind.size), class_="number"),
        )
        for kind in kinds_of(rehearsal.lines)
    ]
    heads = [Column("Message"), Column("What it says"), Column("messages", number=True), Column("numbers", number=True)]
    words = (
        f"A dry run with this site's own table, and copies of it in place of the other sites, would send {len(rehearsal.lines):,} messages "
        f"with {rehearsal.numbers:,} masked numbers, {size(rehearsal.size)}. Which tests come up depends on all sites' data, so the real "
        "run may send more or fewer messages; it sends no other kinds."
    )
    return [el("p", words), table([*heads, Column("bytes", number=True)], rows, caption="By kind of message", sortable=False)]


def _warnings(offer: Offer) -> Html:
    warnings = offer.warnings()
    return listed(warnings) if warnings else el("p", "There are none beyond the ordinary.")


def _earlier(desk: SiteDesk) -> list[Html]:
    """What no study by itself tells, but this one and earlier ones together."""
    judged = desk.judgement()
    if judged is None:
        return [el("p", "The study has no contract yet that could be held against earlier ones.")]
    if not judged.subtractions:
        words = "This site’s home remembers the studies that it took part in. None of them and this one together tell more than each alone"
        return [el("p", f"{words}, as far as this site can know."), *([listed(judged.identities)] if judged.identities else [])]
    return [listed([*(one.words for one in judged.subtractions), *judged.identities])]


def _digest(desk: SiteDesk) -> list[Html]:
    """The contract's digest, and what the site's policy says of it."""
    judged = desk.judgement()
    if judged is None:
        return []
    found = [el("p", "Digest: ", el("code", judged.digest))]
    if judged.trouble:
        found.append(el("p", judged.trouble))
    elif judged.broken:
        found += [el("p", f"The site’s policy ({judged.policy[:16]}…) would not agree to it:"), listed(judged.broken)]
    else:
        found.append(
            el("p", f"The site’s policy ({judged.policy[:16]}…) would agree to it." if judged.policy else "The site has no policy.")
        )
    return found


def _fingerprints(desk: SiteDesk, offer: Offer) -> list[Html]:
    assert desk.study is not None
    rows = [("server", fingerprint_text(fingerprint_of(desk.study.joined.server_key)))]
    rows += [(f"site {name}", fingerprint_text(value)) for name, value in offer.sites]
    body = [el("tr", el("th", label(name), scope="row"), el("td", el("code", text))) for name, text in rows]
    words = "Compare them with the other owners by telephone. Whoever stood between the sites would have to show others."
    return [el("p", words), table([Column("who"), Column("fingerprint")], body, caption="Identities", sortable=False)]


def _version() -> str:
    try:
        return version("consilience")
    except PackageNotFoundError:
        return "(not installed as a package)"
