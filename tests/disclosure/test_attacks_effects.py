"""Outcomes under an intervention at points of a server's choice: where they would be about few rows, noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from consilience.glm.layout import Ordinal
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.messages import Announced
from consilience.protocol.standardise import StandardAsk, Standardise
from tests.disclosure.test_attacks_steep import AGGREGATE, MANY, NAMES, OFF, STRICT, server_of


def told(rules: dict[str, Any], slope: float, values: tuple[float, ...] = (-0.5, 0.5), of_x: float = 0.0) -> Any:
    """What three sites say of B if X were set, at slopes of W and of X of the server's choice; D and W are left as they are."""
    server = server_of(MANY, rules)
    model = ModelAsk("B", NAMES[1:], NAMES, (0, 1, 2), (0, 1), np.array([0.0, slope, of_x]).tobytes())
    request = Standardise((StandardAsk(model, "X", values),), Ordinal.PROPORTIONAL, {})
    (found,) = request.read(server._transport.ask(request, [Announced(NAMES, 3, 280)]), server.schema)
    return found


def test_a_step_in_what_is_left_as_it_is_is_not_told() -> None:
    """With a slope of hundreds a prediction is 0 or 1: their sum counts the rows beyond a step, and gradients are of those beside it."""
    assert not told(OFF, 300.0).infeasible
    for rules in (AGGREGATE, STRICT):
        steep = told(rules, 300.0)
        assert steep.infeasible
        assert (np.abs(steep.sums) > 1e3).all()
        assert not told(rules, 0.05).infeasible


@pytest.mark.parametrize("rules", [AGGREGATE, STRICT], ids=["aggregate", "strict"])
def test_values_far_out_tell_how_many_rows_there_are_and_no_more(rules: dict[str, Any]) -> None:
    """X set to a value so far out that all would be 1: a sum over all rows alike, or silence."""
    far = told(rules, 0.05, (-400.0, 400.0), of_x=0.02)
    assert far.infeasible or (far.sums[0] < far.sums[1] and far.sums[1] <= 280.0)


@pytest.mark.parametrize("rules", [AGGREGATE, STRICT], ids=["aggregate", "strict"])
def test_where_nothing_is_steep_the_rule_changes_no_digit(rules: dict[str, Any]) -> None:
    free, ruled = (server_of(MANY, one, masking=False).effect("D", "W", ["X"]) for one in (OFF, rules))
    assert free.known
    assert ruled.known
    assert [c.estimate for c in ruled.contrasts] == pytest.approx([c.estimate for c in free.contrasts], rel=1e-9)
