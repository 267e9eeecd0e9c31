"""A server that asks for one model at point after point: each answer is some more equations in the rows."""

from __future__ import annotations

import numpy as np
import pytest

from consilience import errors
from consilience.federation.exchange.likelihood import MOST_COORDINATE, MOST_ROUNDS
from consilience.protocol.evaluate import MOST_STEPS, ModelAsk
from consilience.protocol.history import Points
from consilience.protocol.messages import Announced
from consilience.protocol.refit import MOST_LINES, LineAsk, Refit
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, point, refused
from tests.federation.site.attacks import change

TOLD = Announced(("A", "C"), 2, 2 * ROWS)


def test_no_honest_fit_takes_as_many_steps() -> None:
    """By coordinates first, then with profiled information, each as long as it may."""
    assert MOST_ROUNDS + MOST_COORDINATE <= MOST_STEPS


def asked(wire: Wire, n: int, begin: int = 0, **changes: object) -> None:
    for i in range(begin, begin + n):
        wire.send(wire.evaluate(change(LOGIT, beta=point(0.01 * i), **changes)), [TOLD])


def test_a_model_is_answered_at_a_bounded_number_of_points(wire: Wire) -> None:
    """As many answers as the site gives are fewer numbers than a patient server had before: there was no end to them."""
    asked(wire, MOST_STEPS)
    with refused(wire.clients[0], errors.RepeatedQuestionError) as caught:
        asked(wire, 1, begin=MOST_STEPS)
    assert f"{MOST_STEPS} points" in str(caught.value)
    asked(wire, 3)  # the old points again are the old answers
    other = ModelAsk("C", ("A", "B"), ("A", "B", "C"), (0, 1), (0, 1), point(0.25, 0.0))
    wire.send(wire.evaluate(other), [Announced(("A", "B", "C"), 2, 2 * ROWS)])  # another model has points of its own


def test_many_points_in_one_request_are_as_many(wire: Wire) -> None:
    models = [change(LOGIT, beta=point(0.01 * i)) for i in range(MOST_STEPS + 1)]
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(wire.evaluate(*models), [TOLD])
    wire.send(wire.evaluate(*models[:-1]), [TOLD])  # what was refused has used up nothing
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(wire.evaluate(models[-1]), [TOLD])


def test_leaving_out_a_column_is_no_other_model(wire: Wire) -> None:
    both = ModelAsk("C", ("A", "B"), ("A", "B", "C"), (0, 1), (0, 1), point(0.0, 0.0))
    told = [Announced(("A", "B", "C"), 2, 2 * ROWS)]
    models = [change(both, beta=point(0.01 * i, 0.0)) for i in range(MOST_STEPS)]
    wire.send(wire.evaluate(*models), told)
    for keep in ((0,), (1,), ()):
        with refused(wire.clients[0], errors.RepeatedQuestionError):
            wire.send(wire.evaluate(change(both, keep=keep, beta=point(*[0.5] * len(keep)))), told)


def test_a_new_run_of_the_same_sites_begins_no_new_count(wire: Wire) -> None:
    asked(wire, MOST_STEPS)
    wire.begin(wire.participants, b"run 2")
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        asked(wire, 1, begin=MOST_STEPS)


def test_the_count_outlives_the_process() -> None:
    """As a history on disk is read back: record by record."""
    wire = Wire.open(mixed_clients(2))
    kept: list[object] = []
    history = wire.participants[0]._history
    history.keep = kept.append  # type: ignore[method-assign]
    asked(wire, 5)
    again = type(history)()
    for record in kept:
        again.recall(record)  # type: ignore[arg-type]
    assert again.steps == history.steps
    assert set(again.steps.values()) == {5}
    assert all(len(record.models) == len(record.digests) for record in kept if isinstance(record, Points))


def test_slopes_of_a_line_are_few(wire: Wire) -> None:
    line = LineAsk("A", ("B",), ("A", "B"), (0,), np.zeros(1).tobytes())
    told = [Announced(("A", "B"), 2, 2 * ROWS)]
    for i in range(MOST_LINES):
        wire.send(Refit((change(line, slopes=point(0.1 * i)),), {}), told)
    with refused(wire.clients[0], errors.RepeatedQuestionError):
        wire.send(Refit((change(line, slopes=point(5.0)),), {}), told)


@pytest.mark.parametrize("guise", [{"mu": -0.0}, {"beta": point(-0.0)}])
def test_zero_is_written_one_way(three: Wire, guise: dict[str, object]) -> None:
    """Answered with three sites, asked again with two: the difference would be the third's, whatever the sign of nothing."""
    model = change(LOGIT, beta=point(0.0))
    three.total(three.evaluate(model), [three.everywhere("A", "C")])
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.RepeatedQuestionError):
        three.send(three.evaluate(change(model, **guise)), [TOLD])
