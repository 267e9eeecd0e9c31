"""The mechanism of the paper's introduction: one decision without power, and no graph is left."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.simulate.example import DECISIVE, EXAMPLE_PAG, introductory_example


@pytest.mark.slow
def test_fisher_leaves_no_pag_and_fedci_finds_the_generating_one() -> None:
    made = introductory_example()
    clients = made.clients()
    server, meta = cs.Server(clients), cs.fisher(clients)
    federated, combined = cs.discover(server, alpha=0.05, resolve="strict"), cs.discover(meta, alpha=0.05, resolve="strict")
    assert combined.pags == ()
    assert federated.pags == (EXAMPLE_PAG,) == (made.pag,)
    # the federated local graphs are those of the paper's figure
    assert federated.local_pags == (
        cs.PAG.parse("A <-> C, A <-> E, B o-> C, C --> E"),
        cs.PAG.parse("A o-o C, A o-o D, C o-o D, C o-o E, D o-o E"),
    )
    assert cs.discover(made.oracle()).pags == (EXAMPLE_PAG,)
    x, y, given = DECISIVE
    assert server.test(x, y, given).p_value < 0.05 < meta.test(x, y, given).p_value
    assert made.oracle().test(x, y, given).p_value == 0.0


@pytest.mark.slow
def test_the_decisive_test_is_the_only_one_on_which_they_part() -> None:
    made = introductory_example()
    clients = made.clients()
    p = [test.test_all(max_given=2) for test in (cs.Server(clients), cs.fisher(clients))]
    parted = [
        (row["x"], row["y"], tuple(row["given"]))
        for row, other in zip(p[0].iter_rows(named=True), p[1].iter_rows(named=True), strict=True)
        if (row["p_value"] > 0.05) != (other["p_value"] > 0.05)
    ]
    assert parted == [DECISIVE]
