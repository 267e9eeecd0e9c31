"""A dry run asks what the study would ask, on the terms that its contract would have."""

from __future__ import annotations

from typing import Any

import pytest

import consilience as cs
from consilience.service.agent.rehearsal import rehearse
from consilience.service.contract import Contract, Member
from consilience.service.settings import specs_of
from consilience.settings import NetworkSettings, SiteEffects
from tests.federation.helpers import mixed_clients
from tests.service.agent.sites import shown_by_a_server

STUDY = "00112233aabbccdd"


def test_requests_are_held_against_the_terms_of_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    clients = mixed_clients(3, columns="AC")
    schema = cs.Server(clients).schema
    settings = NetworkSettings(max_given=0, min_rows=7, site_effects=SiteEffects.NONE)
    members = tuple(Member(c.name, c.identity.public_bytes) for c in clients)
    contract = Contract(STUDY, "trial", specs_of(schema), (("A", "C"),), settings, members)
    seen, join = [], cs.Client.join

    def watched(self: cs.Client, study: str, schema: Any, terms: Any, *more: Any, **also: Any) -> Any:
        seen.append(terms)
        return join(self, study, schema, terms, *more, **also)

    monkeypatch.setattr(cs.Client, "join", watched)
    rehearse(clients[0], shown_by_a_server(contract))
    assert seen == [contract.terms] * 3
    assert contract.terms.max_given == 0
    assert contract.terms.network
