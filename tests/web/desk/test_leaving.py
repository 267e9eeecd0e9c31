"""What leaves a site, by kind of message: every line of a ledger has words for its kind."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.web.desk.leaving import OTHER, kinds_of


@pytest.mark.parametrize("method", ["fedci", "residual", "fisher", "auto"])
def test_every_line_that_a_study_writes_is_of_a_kind_with_words(method: str) -> None:
    frames = cs.simulate.mixed_sites(n=300, sites=3, seed=4, absent={2: ["E"]})
    clients = [cs.Client(name, frame) for name, frame in frames.items()]
    cs.Server(clients, method=method, min_cell=5).test_many([("A", "B", []), ("C", "D", ["A"]), ("A", "E", ["C"])])
    titles = {kind.title for kind in kinds_of(clients[0].record.entries)}
    assert "What this site states" in titles
    assert OTHER[0] not in titles
