"""What every transport must do, whatever carries the messages: subclass :class:`TransportConformance` and say how to make one.

A transport that is not the local one is a :class:`CarriedConformance`: it must also give the local one's bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import consilience as cs
from consilience import CIResult, CITest, Question, errors
from consilience.citest.rounding import told_statistic
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

# without a rule of their own on rare levels, which sites would hold on to over a network: all transports are on the same terms
CLIENTS = [cs.Client(c.name, c.frame, min_cell=1) for c in mixed_clients(4, columns="ABCD", missing=0.03)]
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


def in_one_place(effects: SiteEffects = SiteEffects.PROFILED, method: Method = Method.FEDCI) -> CITest:
    """What the terms mean, computed without any transport: on all rows together, or for Fisher's method site by site."""
    return FisherByHand() if method is Method.FISHER else cs.pooled(CLIENTS, site_effects=effects)


@cache
def _wanted(number: int) -> pl.DataFrame:
    return in_one_place(**TERMS[number]).test_all(max_given=1)


@cache
def _bits(number: int) -> pl.DataFrame:
    """Those of the local transport."""
    return federated(local(**TERMS[number]), **TERMS[number]).test_all(max_given=1)


FOUND: dict[tuple[type, int], pl.DataFrame] = {}
"""What every transport found on the terms of a number, for all tests that look at it."""


class FisherByHand(CITest):
    """-2 Σ log p over the sites that can test, each alone with its rows, against χ² with two degrees of freedom a site."""

    variables, datasets = tuple(SCHEMA), tuple(DATASETS)

    def answer(self, questions: Sequence[Question], progress: Any = None) -> list[CIResult]:
        alone = [cs.pooled([client], schema=SCHEMA).answer(questions) for client in CLIENTS]
        return [self._combined(question, answers) for question, answers in zip(questions, zip(*alone, strict=True), strict=True)]

    def _combined(self, question: Question, answers: Sequence[CIResult]) -> CIResult:
        able = [answer for answer in answers if answer.informative]
        p_value = stats.chi2.sf(sum(told_statistic(answer.log_p) for answer in able), 2 * len(able))
        return question.result(p_value, n=sum(answer.n for answer in able), contributors=len(able))


def counting(transport: Transport) -> list[int]:
    """The lengths of all sums that the transport returns from now on."""
    lengths, ask = [], transport.ask

    def counted(request: Any, announced: Any) -> Any:
        total = ask(request, announced)
        lengths.append(len(total))
        return total

    transport.ask = counted  # type: ignore[method-assign]
    return lengths


class TransportConformance:
    """The suite. :meth:`make` gives a transport over ``CLIENTS``, in the order of their names, on the given terms."""

    def make(self, **terms: Any) -> Transport:
        raise NotImplementedError

    def found(self, number: int) -> pl.DataFrame:
        """Tests over this transport, on the terms of this number."""
        if (key := (type(self), number)) not in FOUND:
            FOUND[key] = federated(self.make(**TERMS[number]), **TERMS[number]).test_all(max_given=1)
        return FOUND[key]

    @pytest.mark.parametrize("number", range(len(TERMS)), ids=[*SiteEffects, Method.FISHER])
    def test_it_gives_what_rows_in_one_place_give(self, number: int) -> None:
        """Not the numbers of another transport, which could be wrong in the same way."""
        found, wanted = self.found(number), _wanted(number)
        exact = ["x", "y", "given", "n", "contributors", "informative"]
        assert found.select(exact).equals(wanted.select(exact))
        np.testing.assert_allclose(found["p_value"], wanted["p_value"], rtol=1e-6)

    def test_a_sum_is_the_plain_sum_over_sites(self) -> None:
        """The numbers of a survey, counted by hand: who has the variables, and how many complete rows."""
        sets = (("A", "B"), ("A", "B", "C", "D"))
        found = self.make().ask(Survey(sets), [])
        rows = [[client.frame.drop_nulls(list(names)).height for client in CLIENTS] for names in sets]
        assert found[:4].tolist() == [4.0, sum(rows[0]), 4.0, sum(rows[1])]
        assert sum(rows[1]) < sum(rows[0]) < sum(client.frame.height for client in CLIENTS)

    def test_rounds_and_bytes_are_counted(self) -> None:
        """A round is a sum; a number is sixteen bytes from each of four sites, and the questions are on top of that."""
        transport = self.make()
        lengths, test = counting(transport), federated(transport)
        test.test_all(max_given=1)
        assert test.rounds == len(lengths) > 3
        assert test.bytes > 4 * 16 * sum(lengths)

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


class CarriedConformance(TransportConformance):
    """And what a transport that carries messages must do besides: exactly what the local one does."""

    @pytest.mark.parametrize("number", range(len(TERMS)), ids=[*SiteEffects, Method.FISHER])
    def test_it_gives_the_bits_of_the_local_one(self, number: int) -> None:
        assert self.found(number).equals(_bits(number))

    def test_rounds_and_bytes_are_those_of_the_local_one(self) -> None:
        test, wanted = federated(self.make()), federated(local())
        test.test_all(max_given=1)
        wanted.test_all(max_given=1)
        assert test.rounds == wanted.rounds
        assert test.bytes == pytest.approx(wanted.bytes, rel=0.05)
