"""Consent: everything once more, the site's name typed, and a confirmation with a reference."""

from __future__ import annotations

import hashlib

from starlette.requests import Request
from starlette.responses import Response

from consilience.errors import ConsilienceError
from consilience.secagg import fingerprint_text
from consilience.service.agent.telling import TELL_WARNING
from consilience.web.desk import SiteDesk
from consilience.web.desk.offer import Offer, differences
from consilience.web.desk.words import page_words
from consilience.web.forms import Form, Trouble
from consilience.web.pages.site.common import desk_of, form_of, page, see

__all__ = ["answer", "given", "show"]


async def show(request: Request) -> Response:
    """What is agreed to."""
    desk = desk_of(request)
    if desk.table is None or desk.study is None:
        return see("/")
    session = desk.session
    if session is not None and session.active and session.pending is None:
        return see("/consent/given")
    if session is None or not session.active:
        try:
            await desk.look()
        except ConsilienceError as error:
            return page(request, "unreachable.html", "The study cannot be reached", status=502, words=str(error), back="/consent")
    if desk.over:
        return see("/run")
    if not _ready(desk):
        return see("/leaving" if desk.fit_confirmed else "/fit")
    return _page(request)


def _ready(desk: SiteDesk) -> bool:
    """Asked by the agent, or after a dry run of what is offered now; a study without a schema has nothing to rehearse."""
    if desk.session is not None and desk.session.pending is not None:
        return True
    return desk.offer is None or desk.dry_run.found is not None


def _asked(desk: SiteDesk) -> tuple[Offer | None, list[str]]:
    """What is asked, and what has changed since the owner agreed to something."""
    session = desk.session
    if session is not None and session.pending is not None:
        offer = session.pending.offer
        before = session.agreed
        return offer, differences(before, offer) if offer is not None and before is not None else []
    offer = desk.offer
    if offer is not None and desk.dry_run.found is not None and isinstance(desk.dry_run.found.of, Offer) and desk.dry_run.found.of != offer:
        return offer, differences(desk.dry_run.found.of, offer)
    return offer, []


def _page(request: Request, *troubles: Trouble) -> Response:
    desk = desk_of(request)
    session = desk.session
    offer, changed = _asked(desk)
    pending = session.pending if session is not None else None
    try:
        lines = offer.lines() if offer else _told(desk)
    except ConsilienceError as error:  # what must not be told is not even asked about; a yes all the same fails with the same words
        lines, troubles = [], (*troubles, Trouble("", page_words(error)))
    judged = desk.judgement() if offer else None
    warnings = _warnings(desk, offer)
    sites = [(name, fingerprint_text(value), name == desk.site) for name, value in offer.sites] if offer else []
    first = desk.first_done()
    return page(
        request,
        "consent.html",
        "Do you agree?",
        troubles=list(troubles),
        offer=offer,
        lines=lines,
        disclosed=desk.disclosed() if offer else (),
        warnings=warnings,
        changed=changed,
        sites=sites,
        pending=pending,
        judged=judged,
        first=first,
        steps=sum(not line.startswith(" ") for line in first),
        reference=offer.reference if offer else _mark(lines),
    )


def _warnings(desk: SiteDesk, offer: Offer | None) -> list[str]:
    """What to know before agreeing, but for what earlier studies and this one tell: that is a question of its own."""
    pending, judged = desk.session.pending if desk.session is not None else None, desk.judgement() if offer else None
    apart = {one.words for one in judged.subtractions} if judged is not None else set()
    if pending is not None:
        return [words for words in pending.warnings if words not in apart]
    identities = judged.identities if judged is not None else ()
    return [*offer.warnings(), *desk.doubts(), *identities] if offer else [TELL_WARNING]


def _told(desk: SiteDesk) -> list[str]:
    """The names and levels that would be told: what the agent asks about, or would ask."""
    pending = desk.session.pending if desk.session is not None else None
    return pending.lines if pending is not None else list(desk.telling())


def _shown(desk: SiteDesk) -> list[str]:
    """The same, or nothing where something in it must not be told."""
    try:
        return _told(desk)
    except ConsilienceError:
        return []


def _mark(lines: list[str]) -> str:
    """Stands for words that were shown: a yes to others is none to these."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


async def answer(request: Request) -> Response:
    """Yes, by the site's name; or no."""
    desk = desk_of(request)
    form = await form_of(request)
    session = desk.session
    pending = session.pending if session is not None else None
    if desk.over:
        return see("/run")
    if desk.table is None or desk.study is None or not _ready(desk):
        return see("/")
    offer, _ = _asked(desk)
    if form.flag("decline"):
        if pending is not None:
            pending.answer(yes=False)
        return see("/run" if pending is not None else "/")
    if session is not None and session.active and pending is None:
        return see("/consent/given")
    if trouble := _wrong(desk, form, offer):
        return _page(request, trouble)
    try:
        await desk.agree(offer)
    except ConsilienceError as error:
        return _page(request, Trouble("", page_words(error)))
    return see("/consent/given")


def _wrong(desk: SiteDesk, form: Form, offer: Offer | None) -> Trouble | None:
    """Why a yes is none: it was given to something else, in part, or without the site's name."""
    judged = desk.judgement() if offer else None
    together = judged is not None and bool(judged.subtractions)
    if form.text("reference") != (offer.reference if offer else _mark(_shown(desk))):
        return Trouble("", "What the study asks for has changed while you read. Read it again; nothing was sent.")
    if form.text("version") != str(desk.version):  # in another window of the browser
        return Trouble("", "Your table, or what you withhold, has changed while you read. Read it again; nothing was sent.")
    if judged is not None and together and form.text("earlier-mark") != judged.mark:
        return Trouble("", "What this study and earlier ones tell together has changed while you read. Read it again; nothing was sent.")
    if together and not form.flag("earlier"):
        return Trouble("earlier", "Tick this box as well if you agree to what this study and earlier ones tell together.")
    if form.text("name").split() != desk.site.split():  # pages show several spaces as one
        return Trouble("name", f"Type the name of this site as the study has it: {desk.site}")
    return None


async def given(request: Request) -> Response:
    """The confirmation."""
    desk = desk_of(request)
    if desk.study is None or (desk.consent is None and desk.session is None):
        return see("/")
    return page(request, "given.html", "You have agreed", consent=desk.consent, contract=desk.study.contract)
