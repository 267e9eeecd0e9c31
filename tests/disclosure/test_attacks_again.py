"""The same sums again with one site fewer: by a drop-out with restart, or as another study.

With the rules off every attack recovers its number; with them it finds what the consent announces. What one program cannot know, that
there was another study before, is remembered by a site's home over a network, and is said here to come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

from consilience import errors
from tests.disclosure.derivation import (
    Knowledge,
    Part,
    Record,
    Released,
    alone,
    assert_same,
    between,
    deviation,
    knowledge_of,
    own,
    too_small,
)
from tests.disclosure.scenes import AGGREGATE, KINDS, MIN_CELL, MIN_ROWS, OFF, STRICT, serve, studied, table
from tests.federation.helpers import lose

RESTART = {"on_dropout": "restart"}
THREE = {"a": table(1), "b": table(2), "c": table(3, {"p": 35, "q": 23, "r": 2})}
"""All measure C, X and Z. At c two patients have level r."""


def with_a_loss(frames: Mapping[str, pl.DataFrame], rules: Mapping[str, Any], lost: str) -> Record:
    """A site vanishes after the first tests; the server asks again, without it."""
    server, record = serve(frames, rules, **RESTART)
    server.test_many([("C", "X"), ("C", "X", ["Z"])])
    lose(server, list(frames).index(lost), at=0)
    server.test_many([("C", "X"), ("C", "X", ["Z"]), ("C", "Z")])
    assert lost not in server.participants
    return record


def whole(frames: Mapping[str, pl.DataFrame]) -> dict[str, Knowledge]:
    return {site: Knowledge(frozenset(frame.columns)) for site, frame in frames.items()}


# drop-outs


def test_without_rules_a_restart_subtracts_the_lost_site() -> None:
    record = with_a_loss(THREE, OFF, "c")
    found = alone(record.sums(), whole(THREE), "c", ("C", "X", "Z"))
    assert found is not None
    assert found.cells == [35, 23, 2]
    assert_same(found, own(THREE["c"], record.schema, ("C", "X", "Z")))


def test_in_aggregate_a_restart_subtracts_a_site_without_rare_levels_as_announced() -> None:
    """No site keeps a level by the rows of another, which may vanish or be left out."""
    record = with_a_loss(THREE, AGGREGATE, "c")
    found = alone(record.sums(), whole(THREE), "c", ("C", "X", "Z"))
    assert found is not None, "the consent announces it"
    assert_same(found, own(THREE["c"].filter(pl.col("C") != "r"), record.schema, ("C", "X", "Z")))


def test_strict_and_restarts_do_not_go_together() -> None:
    with pytest.raises(errors.OptionError, match="on_dropout"):
        serve(THREE, STRICT, **RESTART)


def test_a_site_with_few_rows_sits_out_where_a_restart_would_show_it() -> None:
    frames = {**THREE, "c": table(3, {"p": 5, "q": 3})}
    found = alone(with_a_loss(frames, OFF, "c").sums(), whole(frames), "c", ("C", "X"))
    assert found is not None
    assert found.rows == 8
    found = alone(with_a_loss(frames, AGGREGATE, "c").sums(), whole(frames), "c", ("C", "X"))
    assert found is None or found.rows == 0


TWO_WITH_GAPS = {
    "a": table(1),
    "b": table(2),
    "c": table(3, lacking={"Z": {"p": 2}}),
    "d": table(4, lacking={"Z": {"p": 6, "q": 6}}),
}
"""c's two rows without Z are hidden among twelve of d, until d vanishes."""


def test_without_rules_a_restart_uncovers_rows_hidden_among_those_of_the_lost_site() -> None:
    record = with_a_loss(TWO_WITH_GAPS, OFF, "d")
    found = between(record.sums(), knowledge_of(TWO_WITH_GAPS), "c", "Z", ("C", "X"))
    assert found is not None
    assert (found.rows, found.cells) == (2, [2, 0, 0])


def test_with_rules_a_restart_uncovers_no_rows() -> None:
    record = with_a_loss(TWO_WITH_GAPS, AGGREGATE, "d")
    assert record.sums()
    for known in (knowledge_of(TWO_WITH_GAPS), {**knowledge_of(TWO_WITH_GAPS), "c": whole(TWO_WITH_GAPS)["c"]}):
        for site in "cd":
            for found in (between(record.sums(), known, site, "Z", ("C", "X")), alone(record.sums(), known, site, ("C", "X"))):
                assert found is None or not too_small(found, MIN_ROWS, MIN_CELL)


# another study

ASKED = ("C", "X", "Z")


def again_without(frames: Mapping[str, pl.DataFrame], rules: Mapping[str, Any], left_out: str) -> tuple[list[Released], Any]:
    """All sums of a study, and of another one without a site."""
    first = studied(frames, rules)
    second = studied({site: frame for site, frame in frames.items() if site != left_out}, rules)
    return first.sums() + second.sums(), first.schema


def test_without_rules_the_same_study_without_a_site_gives_that_site() -> None:
    sums, schema = again_without(THREE, OFF, "c")
    found = alone(sums, whole(THREE), "c", ASKED)
    assert found is not None
    assert_same(found, own(THREE["c"], schema, ASKED))


@pytest.mark.parametrize("rules", [AGGREGATE, {**AGGREGATE, **RESTART}, STRICT], ids=["aggregate", "restart", "strict"])
def test_with_rules_it_gives_that_site_without_its_rare_levels(rules: dict[str, Any]) -> None:
    """In one program nothing remembers that there was another study; over a network a site's home does, and asks. What comes out was
    prepared for it by c alone, whatever others have: no rare level, at least ``min_rows`` rows.
    """
    sums, schema = again_without(THREE, rules, "c")
    found = alone(sums, whole(THREE), "c", ASKED)
    assert found is not None
    assert_same(found, own(THREE["c"].filter(pl.col("C") != "r"), schema, ASKED))


def test_in_one_program_two_studies_with_other_variables_tell_a_row_that_one_of_them_leaves_out() -> None:
    """What remains, for the same reason: where Z is studied, c leaves the row without it out; where it is not, the row is there."""
    frames = {"a": table(1), "b": table(2), "c": table(3, lacking={"Z": {"q": 1}})}
    first = studied(frames, AGGREGATE)
    second = studied({site: frame.drop("Z") for site, frame in frames.items()}, AGGREGATE, schema={name: KINDS[name] for name in "CX"})
    with_z, without_z = (_over(record, ("C", "X")) for record in (first, second))
    found = without_z.minus(with_z)
    assert (found.rows, found.cells) == (1, [0, 1, 0])
    patient, others = frames["c"].filter(pl.col("Z").is_null()), frames["c"].drop_nulls("Z")
    n = others.height
    np.testing.assert_allclose(abs(deviation(found)[2]), abs(patient["X"][0] - others["X"].mean()) * np.sqrt(n / (n + 1)), rtol=1e-7)


def _over(record: Record, variables: tuple[str, ...]) -> Part:
    """A sum over these variables: the last that was made."""
    return [r.part.over(variables) for r in record.sums() if set(variables) <= set(r.variables)][-1]
