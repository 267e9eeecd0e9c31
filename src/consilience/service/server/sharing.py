"""Who has a study: its owner shares it, takes it back, hands it over. The REST interface and the pages call the same."""

from __future__ import annotations

from consilience.errors import OptionError
from consilience.service.server.services import Services
from consilience.service.store import AccountRole, Role, StudyRow

__all__ = ["hand_over", "leave", "share", "take_back"]


def share(services: Services, row: StudyRow, name: str, role: Role, *, result: bool = False) -> None:
    """Let an account have a study as a co-owner or as an observer; ``result`` shows it to an observer. Again: as something else."""
    known = _known(services, row, name)
    if role is Role.CO_OWNER and known is not AccountRole.OWNER:
        raise OptionError(f"The account {name!r} is an observer's and cannot own a study. Share the study with it as an observer.")
    if role not in (Role.CO_OWNER, Role.OBSERVER):
        raise OptionError(f"A study is shared with a co-owner or with an observer; got {role.value!r}.")
    services.store.members.put(row.id, name, role, result=role is Role.CO_OWNER or result)
    words = "a co-owner" if role is Role.CO_OWNER else "an observer who sees the result" if result else "an observer without the result"
    services.store.audit.add(row.by, "shared the study", study=row.id, detail=f"{name} is {words}")
    services.bell.ring(row.id)


def take_back(services: Services, row: StudyRow, name: str) -> bool:
    """An account has the study no more; False if it had not."""
    found = services.store.members.remove(row.id, name)
    if found:
        services.store.audit.add(row.by, "took the study back", study=row.id, detail=f"from {name}")
        services.bell.ring(row.id)  # who follows it looks again whether they may
    return found


def leave(services: Services, row: StudyRow) -> None:
    """A co-owner gives a study up."""
    if services.store.members.remove(row.id, row.by):
        services.store.audit.add(row.by, "left the study", study=row.id)
        services.bell.ring(row.id)


def hand_over(services: Services, row: StudyRow, name: str) -> None:
    """Another account owns the study; who owned it is a co-owner from now on, whom the new owner may take it back from."""
    if _known(services, row, name) is not AccountRole.OWNER:
        raise OptionError(f"The account {name!r} is an observer's and cannot own a study.")
    services.store.members.hand_over(row.id, row.owner, name)
    services.store.audit.add(row.by, "handed the study over", study=row.id, detail=f"to {name}")
    services.bell.ring(row.id)


def _known(services: Services, row: StudyRow, name: str) -> AccountRole:
    """What an account is that a study is shared with. Names that are none are counted: owners need not learn all accounts by trying."""
    services.links.take(f"account {row.by}")
    found = services.store.accounts.role_of(name)
    if found is None:
        raise OptionError(f"There is no account {name[:80]!r} on this server.")
    services.links.give_back(f"account {row.by}")
    if name == row.owner:
        raise OptionError(f"{name} owns this study.")
    return found
