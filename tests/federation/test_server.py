"""What a server and the pooled analysis say of themselves, and one meaning for one option."""

from __future__ import annotations

from typing import Any

import pytest

import consilience as cs
from tests.federation.helpers import mixed_clients


def test_a_server_says_what_it_is() -> None:
    clients = mixed_clients(3, columns="AC")
    names = ", ".join(c.name for c in clients)
    server = cs.Server(clients)
    assert repr(server) == f"Server(fedci, 3 clients: {names}; 2 variables; 0 rounds)"
    server.test("A", "C")
    assert repr(server).endswith(f"; {server.rounds} rounds)")
    assert repr(cs.fisher(clients)).startswith("Server(fisher, 3 clients: ")


def test_the_pooled_analysis_says_what_it_is() -> None:
    clients = mixed_clients(2, columns="AC")
    rows = sum(c.frame.height for c in clients)
    assert repr(cs.pooled(clients)) == f"Pooled(2 sites: {', '.join(c.name for c in clients)}; 2 variables; {rows} rows)"


def test_site_effects_mean_the_same_for_pooled_and_federated_tests() -> None:
    clients = mixed_clients(3, columns="AC")
    p = {way: cs.pooled(clients, site_effects=way).test("A", "C").p_value for way in ("profiled", "coordinate", "joint", "none")}
    assert p["profiled"] == p["coordinate"] == p["joint"] == cs.pooled(clients).test("A", "C").p_value
    assert p["none"] != pytest.approx(p["profiled"], rel=1e-3)
    assert p["none"] == pytest.approx(cs.Server(clients, site_effects="none").test("A", "C").p_value, rel=1e-6)
    for flag, way in ((True, "profiled"), (False, "none")):
        assert cs.pooled(clients, site_effects=flag).test("A", "C").p_value == p[way]


@pytest.mark.parametrize("wrong", ["mixed", None, 1])
def test_site_effects_that_do_not_exist(wrong: Any) -> None:
    with pytest.raises(cs.errors.OptionError, match="site_effects must be one of profiled, coordinate, joint, none, random"):
        cs.pooled(mixed_clients(2, columns="AC"), site_effects=wrong)


def test_masking_is_true_or_false() -> None:
    with pytest.raises(cs.errors.OptionError, match="masking must be true or false; got 'no'"):
        cs.Server(mixed_clients(2, columns="AC"), masking="no")  # type: ignore[arg-type]
