"""A site that vanishes in the middle of tests of residuals: the others' results on the knots that were found with it."""

from __future__ import annotations

import numpy as np
import pytest

import consilience as cs
from consilience import errors
from consilience.federation.exchange.residual_sums import ResidualSums
from tests.federation.helpers import lose, mixed_clients

CLIENTS = mixed_clients(4, columns="ACDE", missing=0.03)
SCHEMA = cs.Server(CLIENTS).schema
ROUNDS = 7


def serve(clients: list[cs.Client] = CLIENTS) -> cs.Server:
    return cs.Server(clients, schema=SCHEMA, method="residual")


@pytest.mark.slow
def test_whenever_a_client_vanishes_the_results_are_those_of_the_others() -> None:
    """At every round: counts, places, both looks at a variable, means, products, fourth moments."""
    whole = serve()
    whole.test_all(max_given=1)
    assert whole.rounds == ROUNDS
    for at in range(ROUNDS):
        server, gone = serve(), (at + 1) % 4
        lose(server, gone, at)
        found = server.test_all(max_given=1)
        others = serve([c for i, c in enumerate(CLIENTS) if i != gone])
        learnt = server._sums.residual
        others._sums.residual = ResidualSums(dict(learnt.knots), dict(learnt.scores))
        wanted = others.test_all(max_given=1)
        exact = ["x", "y", "given", "n", "contributors", "informative", "reason", "df_y"]
        assert found.select(exact).equals(wanted.select(exact)), at
        for column in ("statistic_y", "p_value"):
            np.testing.assert_allclose(found[column].to_numpy(), wanted[column].to_numpy(), rtol=1e-6, atol=1e-8)
        assert server.participants == others.participants


def test_a_study_that_stops_keeps_what_is_finished() -> None:
    server = cs.Server(CLIENTS, schema=SCHEMA, method="residual", on_dropout="stop")
    server.test("A", "C")
    lose(server, 1, 0)
    with pytest.raises(errors.TooFewClientsError, match="1 results are finished"):
        server.test("A", "D", ["C"])
    assert len(server.results) == 1
