"""Who has a study: its owner shares it, takes it back, hands it over; the others see with whom."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from consilience.service.server import sharing
from consilience.service.store import Role
from consilience.web.forms import Form, Trouble
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.visit import HOME, Visit, acts, go, shows

__all__ = ["handed_over", "people", "shared", "taken_back"]

WAYS = (
    ("co-owner", "A co-owner", "May do all that you may with it, but share it, hand it over and delete it."),
    ("observer", "An observer", "Sees the contract, the sites, their consents, events and the audit log, and changes nothing."),
    ("observer-result", "An observer who sees the result", "The same, and what the study finds."),
)
"""As what an account has a study: value, words, hint."""


def _people(visit: Visit, troubles: Sequence[Trouble] = (), status: int = 200, name: str = "", way: str = "observer") -> Response:
    row, access = visit.seen, visit.access
    around = steps(row, visit.request.url.path, result=access.result)
    members = visit.services.store.members.of(row.id)
    values = {"study": row, "access": access, "members": members, "ways": WAYS, "name": name, "way": way, "me": visit.owner}
    return visit.show("people.html", "Who has the study", status=status, steps=around, troubles=troubles, **values)


def _shared(visit: Visit, form: Form) -> Response:
    row, way = visit.held, form.text("way", 20)
    if way not in [value for value, *_ in WAYS]:
        return _people(visit, [Trouble("way", "Say as what the account has the study.")], 422, form.text("name", 64))
    role = Role.CO_OWNER if way == "co-owner" else Role.OBSERVER
    sharing.share(visit.services, row, form.text("name", 64), role, result=way == "observer-result")
    return go(f"{HOME}/{row.id}/people")


def _taken_back(visit: Visit, form: Form) -> Response:
    row, name = visit.study, form.text("name", 64)
    if name == visit.owner != row.owner:
        sharing.leave(visit.services, row)
        return go(HOME)
    if not sharing.take_back(visit.services, visit.held, name):
        return _people(visit, [Trouble("", "The study is not shared with this account any more.")], 404)
    return go(f"{HOME}/{row.id}/people")


def _handed_over(visit: Visit, form: Form) -> Response:
    row = visit.held
    sharing.hand_over(visit.services, row, form.text("name", 64))
    return go(f"{HOME}/{row.id}/people")


people = shows(_people)
shared, taken_back, handed_over = acts(_shared, _people), acts(_taken_back, _people), acts(_handed_over, _people)
