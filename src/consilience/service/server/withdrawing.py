"""A site takes back its part in a study, before it runs, while it does, or after."""

from __future__ import annotations

from dataclasses import dataclass

from consilience.service.errors import LifeCycleError, WithdrawnError
from consilience.service.server.services import Services
from consilience.service.store import State, StudyRow
from consilience.service.withdrawal import mark_documents, sentence_of
from consilience.wording import counted

__all__ = ["MOST_REASON", "Withdrawn", "withdraw_site"]

MOST_REASON = 500


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """What a site that withdraws is told: what of it the server has, and what becomes of the study."""

    answers: int
    bytes: int
    words: str


def withdraw_site(services: Services, row: StudyRow, site: str, reason: str) -> Withdrawn:
    """Nothing more is asked of the site, nor taken from it. A run that asks sites ends: to make its sums anew without this one would tell
    its part of them. What was summed stays, and results say that the site has withdrawn. The study's owner hears of it at once.
    """
    store = services.store
    why = " ".join(reason.split())[:MOST_REASON]
    with store.database.writing():
        now = store.studies.get(row.id)
        if now is None or not store.studies.withdrew(row.id, site, why):
            raise LifeCycleError("This site has withdrawn from the study before, or takes no part in it.")
        heard = [one for one in store.runs.heard(row.id, site) if not one.refused]
        size = sum(one.size for one in heard)
        mark_documents(store, now)
    services.runner.event(row.id, "withdrew", site=site, reason=why, answers=len(heard), bytes=size)
    services.runner.dismiss(row.id, site, "the site has withdrawn from the study")
    asks = now.state is State.RUNNING and store.searches.get(row.id) is None
    begun = asks and all(each.consented for each in store.studies.sites(row.id))
    if begun:
        (mine,) = [each for each in store.studies.sites(row.id) if each.name == site]
        services.runner.stop(row.id, WithdrawnError(f"{sentence_of(mine)} What was summed before stays in the tests that are kept."))
    return Withdrawn(len(heard), size, _words(now.state, len(heard), begun=begun, asks=asks))


def _words(state: State, answers: int, *, begun: bool, asks: bool) -> str:
    stays = (
        f"{counted(answers, 'answer')} of this site {'is' if answers == 1 else 'are'} part of sums with those of the others, and cannot be "
        f"taken out of them."
        if answers
        else "Nothing of this site was summed."
    )
    if begun:
        return f"The run has ended. {stays} The tests that were finished are kept, with the study's owner."
    if asks or state in (State.DRAFT, State.OPEN):
        return f"{stays} The study's owner decides whether to go on without this site."
    return f"{stays} The result, if there is one, says that this site has withdrawn."
