"""What every transport must do, whatever carries the messages: subclass :class:`TransportConformance` and say how to make one."""

from __future__ import annotations

from typing import Any

import pytest

from consilience import errors
from consilience.data.schema import unite
from consilience.federation import FederatedTest
from consilience.federation.site.half import SiteHalf
from consilience.federation.transport import LocalTransport, Transport
from consilience.glm.layout import SiteEffects
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.settings.choices import Dropout, Method
from consilience.settings.terms import Terms
from tests.federation.helpers import mixed_clients

CLIENTS = mixed_clients(4, columns="ABCD", missing=0.03)
SCHEMA = unite({c.name: c.declarations for c in CLIENTS})
DATASETS = [frozenset(c.declarations) for c in CLIENTS]
MEMBERS = {c.name: c.identity.fingerprint for c in CLIENTS}
TERMS: list[dict[str, Any]] = [*({"effects": effects} for effects in SiteEffects), {"method": Method.FISHER}]


def participants(**terms: Any) -> list[SiteHalf]:
    return [c.join("study", SCHEMA, Terms(**terms), MEMBERS.values()) for c in CLIENTS]


def local(**terms: Any) -> Transport:
    return LocalTransport(participants(**terms))


def federated(transport: Transport, **terms: Any) -> FederatedTest:
    return FederatedTest(SCHEMA, Terms(**terms), DATASETS, transport)


class TransportConformance:
    """The suite. :meth:`make` gives a transport over ``CLIENTS``, in the order of their names, on the given terms."""

    def make(self, **terms: Any) -> Transport:
        raise NotImplementedError

    @pytest.mark.parametrize("terms", TERMS, ids=[*SiteEffects, Method.FISHER])
    def test_it_gives_the_bits_of_the_local_one(self, terms: dict[str, Any]) -> None:
        wanted = federated(local(**terms), **terms).test_all(max_given=1)
        assert federated(self.make(**terms), **terms).test_all(max_given=1).equals(wanted)

    def test_rounds_and_bytes_are_counted(self) -> None:
        test, wanted = federated(self.make()), federated(local())
        test.test_all(max_given=1)
        wanted.test_all(max_given=1)
        assert test.rounds == wanted.rounds
        assert test.bytes == pytest.approx(wanted.bytes, rel=0.05)

    def test_counts_are_announced_once_in_a_run(self) -> None:
        """Twice the same, and anew after a drop-out; a transport that forgot would be refused by every site."""
        transport = self.make(on_dropout=Dropout.RESTART)
        test = federated(transport, on_dropout=Dropout.RESTART)
        test.test("A", "B")
        test.test("A", "B", ["C"])
        transport.drop(transport.names[0])
        test._sums = test._sums.without_a_site()
        assert test.test("A", "B", ["C"]).contributors == 3

    def test_a_refusal_has_its_name_on_both_sides(self) -> None:
        transport = self.make()
        transport.ask(Survey((("A", "B"),)), [])
        with pytest.raises(errors.OutsideSchemaError, match="Z"):
            transport.ask(Survey((("A", "Z"),)), [])

    def test_a_sum_without_counts_is_refused(self) -> None:
        with pytest.raises(errors.DisclosureError):
            self.make().ask(Products((("A", "B"),), {}), [])

    def test_a_sum_over_too_few_is_refused(self) -> None:
        with pytest.raises(errors.DisclosureError):
            self.make().ask(Products((("A", "B"),), {}), [Announced(("A", "B"), 1, 100)])

    def test_names_are_the_sites_that_are_left(self) -> None:
        transport = self.make()
        assert transport.names == tuple(MEMBERS)
        transport.drop("site2")
        assert transport.names == ("site0", "site1", "site3")
