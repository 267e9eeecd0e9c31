"""What would leave the site: the study's questions, asked of this site's own data in this process. Nothing is sent."""

from __future__ import annotations

from typing import Any

from consilience.data.errors import OutOfMemoryError
from consilience.data.harmonise import Applied
from consilience.data.sources import Loaded
from consilience.errors import StudyError
from consilience.federation import Client, FederatedTest
from consilience.federation.site.ledger import Ledger
from consilience.federation.transport import LocalTransport
from consilience.iod import discover
from consilience.iod.discover import discover_arguments
from consilience.service.contract import contract_shown

__all__ = ["rehearse"]


def rehearse(client: Client, study: dict[str, Any]) -> Ledger:
    """The ledger of a run with copies of this site as the others. Which tests come up depends on all data, so it is an example, not a list.

    ``study`` is the study as the server's REST interface shows it. The terms are those that its contract would have.
    """
    if study["variables"] is None:
        raise StudyError("The study has no schema yet: what would be asked depends on the other sites. Ask its owner to declare one.")
    if client.lazy is not None:
        raise OutOfMemoryError(
            f"A rehearsal takes copies of the table of {client.name!r} for the other sites, and it is larger than the memory it may take "
            f"(memory=). Allow it more, or rehearse with a table of some of its rows."
        )
    shown = contract_shown(study)
    schema, terms, settings = shown.schema, shown.terms, shown.settings
    others = max(2, settings.min_contributors, len(shown.members)) - 1
    # by the same plan, whose units may be others than the study's
    copied = Applied(Loaded(client.frame), client.plan)
    clients = [client, *(Client(f"another {i}", copied) for i in range(others))]
    members = [c.identity.fingerprint for c in clients]
    ledger = Ledger()
    first = client.join(shown.study, schema, terms, members, ledger=ledger)
    rest = [c.join(shown.study, schema, terms, members) for c in clients[1:]]
    test = FederatedTest(schema, terms, [frozenset(names) for names in shown.datasets], LocalTransport([first, *rest]))
    discover(test, **discover_arguments(settings) | {"time_limit": 1.0})  # only the tests matter: nobody sees these graphs
    return ledger
