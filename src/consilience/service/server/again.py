"""A study once more: decided again from its tests, run again under its contract, or copied. Which of them it is follows from what is asked.

The tests that were made are there, whatever became of the study, and a p-value does not depend on the level that it is held against. So
another level, other knowledge and another way out of contradictions need no site, as long as they need no other tests. A study that failed
or was cancelled may be run again as it is: that is the contract to which its sites have agreed, and only what is missing is asked for.
Everything else is another study: a copy, whose sites are asked for consent anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import msgspec

from consilience.secagg.ring import WORD_BYTES
from consilience.service.errors import LifeCycleError
from consilience.service.server.actions import Declared, create, declare, search_again
from consilience.service.server.services import Services
from consilience.service.settings import MOST_NAME
from consilience.service.store import State, StudyRow
from consilience.settings import NetworkSettings, Part, names_of
from consilience.typed import from_plain
from consilience.wording import counted

__all__ = ["Again", "How", "copy", "rerun"]

DECIDING = frozenset(names_of(Part.GRAPHS, Part.KNOWLEDGE))
"""Settings that say how tests are decided by, and nothing of what sites are asked."""
ANEW = "Its sites are invited and asked for consent anew: theirs was to another study."


class How(StrEnum):
    """In which way a study is done once more."""

    DECIDED = "decided"
    """From the tests that are there; no site is asked. Should one be missing after all, it becomes a copy."""
    RUN = "run"
    """Under the contract that its sites have agreed to."""
    COPY = "copy"
    """As a draft that asks for consent anew."""


@dataclass(frozen=True, slots=True)
class Again:
    """What came of it: which study to look at, and why it is that one."""

    how: How
    study: str
    words: str


def copy(services: Services, row: StudyRow, name: str = "", changes: Mapping[str, Any] | None = None) -> str:
    """A draft that says the same, but for its name and the settings in ``changes``; its id. Sites join it, these or others."""
    declared = _declared(row, changes or {}, name or row.name)
    study = create(services, row.by, declared, origin=row.id)
    services.store.audit.add(row.by, "copied a study", study=study, detail=row.id)
    return study


def rerun(services: Services, row: StudyRow, changes: Mapping[str, Any]) -> Again:
    """Do a study that is over once more, with other settings or with the same: from its tests, under its contract, or as a copy."""
    if not row.state.is_over:
        raise LifeCycleError(f"A study is done again when it is over; this one is {row.state.value}. Cancel it first, or make a copy.")
    declared = _declared(row, changes, row.name)
    changed = [field for field in changes if getattr(declared.settings, field) != getattr(row.settings, field)]
    if not changed:
        return _as_it_is(services, row)
    told = _told(declared.settings, changed)
    asking = [name for name in changed if name not in DECIDING]
    if asking or row.contract is None or not services.store.runs.count_results(row.id):
        why = f"{', '.join(asking)} is part of what sites are asked for" if asking else "No test of it was made"
        return _copied(services, row, changes, f"{why}, so this is a copy of the study with {told}.")
    return _decided(services, row, declared, told)


def _as_it_is(services: Services, row: StudyRow) -> Again:
    """Run again what has not finished: the contract is the same, and so is what its sites have agreed to."""
    if row.state is State.FINISHED:
        raise LifeCycleError(
            "The study has finished with these settings, and would find the same again. Give others (alpha, resolve, knowledge, …), or "
            "make a copy of it."
        )
    if row.contract is None:
        return _copied(services, row, {}, "It was never started, so nobody has agreed to anything.")
    if services.store.searches.get(row.id) is not None:
        search_again(services, row)
        return Again(
            How.RUN, row.id, "All its tests are made, and only the graphs are missing: they are sought again, and no site is asked."
        )
    gone = [site.name for site in services.store.studies.sites(row.id) if site.withdrew is not None]
    if gone:
        return _copied(services, row, {}, f"{', '.join(gone)} withdrew, and the contract names every site.")
    tests = services.store.runs.count_results(row.id)
    with services.store.database.writing():
        services.store.studies.move(row.id, [State.FAILED, State.CANCELLED], State.RUNNING)
        services.store.runs.add_event(row.id, "rerun", {"tests": tests, **_sent(services, row.id)})
        services.store.audit.add(row.by, "ran it again", study=row.id)
    services.runner.begin(row.id)
    services.bell.ring(row.id)
    words = (
        f"It runs again under the same contract, to which its sites have agreed: {counted(tests, 'test')} that were made are kept, and "
        f"sites are asked for the others. Sites that have stopped must be started again (consilience client run); nobody is asked again."
    )
    return Again(How.RUN, row.id, words)


def _decided(services: Services, row: StudyRow, declared: Declared, told: str) -> Again:
    """A study of its own, without sites, with the tests of this one: what is published stays as it was."""
    assert row.contract is not None
    name = f"{row.name} ({told})"
    store = services.store
    with store.database.writing():
        study = create(
            services, row.by, Declared(name[:MOST_NAME], declared.variables, declared.datasets, declared.settings), origin=row.id
        )
        contract = msgspec.structs.replace(row.contract, study=study, name=name[:MOST_NAME], settings=declared.settings, members=())
        tests = store.runs.copy_results(row.id, study)
        store.studies.move(study, [State.DRAFT], State.RUNNING, contract=contract)
        sites = [member.name for member in row.contract.members]
        store.runs.add_event(study, "rerun", {"tests": tests, "of": row.id, "sites": sites, **_sent(services, row.id)})
        store.audit.add(row.by, "decided again", study=study, detail=row.id)
    services.runner.begin(study)
    services.bell.ring(study)
    words = f"It is decided again with {told}, from {counted(tests, 'test')} of the study {row.id}; no site is asked."
    return Again(How.DECIDED, study, words)


def _sent(services: Services, study: str) -> dict[str, int]:
    """What left each site for the tests that are there. All sites answer every round; one that was lost in it has answered fewer."""
    sizes: dict[str, list[int]] = {}
    for one in services.store.runs.heard(study):
        if not one.refused:
            sizes.setdefault(one.site, []).append(one.size)
    return {
        "messages": max(map(len, sizes.values()), default=0),
        "numbers": max(map(sum, sizes.values()), default=0) // WORD_BYTES,
    }


def _copied(services: Services, row: StudyRow, changes: Mapping[str, Any], why: str) -> Again:
    return Again(How.COPY, copy(services, row, changes=changes), f"{why} {ANEW}")


def _declared(row: StudyRow, changes: Mapping[str, Any], name: str) -> Declared:
    """What the study says, with other settings, checked as a draft is."""
    settings = from_plain(msgspec.to_builtins(row.settings) | dict(changes), NetworkSettings)
    return declare(name, row.variables, row.datasets, settings)


def _told(settings: NetworkSettings, names: list[str]) -> str:
    """What is other than it was, in words."""
    plain = msgspec.to_builtins(settings)
    found = [f"{name} {plain[name]}" for name in names if name not in names_of(Part.KNOWLEDGE)]
    known = [name for name in names if name in names_of(Part.KNOWLEDGE)]
    return ", ".join([*found, *(["other knowledge"] if known else [])])
