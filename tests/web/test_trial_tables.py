"""The tables of a trial: made up, or one's own dealt out."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from consilience.data.infer import declare
from consilience.errors import OptionError
from consilience.web.trial_tables import SITES, own_tables, synthetic_tables
from tests.data.real_tables import RealStudy
from tests.web.tables import MARKER, traces, write_hospitals


def test_made_up_hospitals_fit_the_study_that_is_made_for_them() -> None:
    made = synthetic_tables()
    for name, frame in made.frames.items():
        for column, found in declare(frame, name).items():
            assert found.variable.kind is made.study.schema[column].kind
            assert set(found.variable.levels) <= set(made.study.schema[column].levels)
    assert len({tuple(frame.columns) for frame in made.frames.values()}) == 3
    assert {frozenset(d) for d in made.study.datasets} == {frozenset(f.columns) for f in made.frames.values()}


def test_a_table_of_ones_own_is_dealt_out_and_no_row_is_lost(tmp_path: Path) -> None:
    whole = pl.concat(RealStudy("whas500", 8, lacking=0).frames().values()).with_row_index("row")
    whole.write_csv(tmp_path / "own.csv")
    made = own_tables(tmp_path / "own.csv")
    assert tuple(made.frames) == SITES
    rows = pl.concat([frame.select("row") for frame in made.frames.values()])
    assert sorted(rows["row"].to_list()) == list(range(500))
    assert "row" not in made.study.schema  # it counts the rows, and says nothing of a patient
    assert len(made.study.schema) == 8
    held = [set(frame.columns) for frame in made.frames.values()]
    assert all(len(one) == 8 for one in held)
    assert held[0] | held[1] == {"row", *made.study.schema}


@pytest.mark.parametrize("text", ["x,y\n1,2\n3,4\n", "x\n" + "\n".join(str(i / 2) for i in range(99))])
def test_too_little_for_a_trial_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(OptionError, match="A trial needs at least two columns"):
        own_tables(tmp_path / "own.csv")


def test_the_search_for_data_on_disk_finds_them(tmp_path: Path) -> None:
    """Of the helper that the test in a browser uses: it must be able to fail."""
    made = write_hospitals(tmp_path / "data")
    assert set(traces(tmp_path)) == {made.muenster, made.marburg, made.mainz}
    pl.read_csv(made.muenster).write_parquet(tmp_path / "copy.parquet", compression="uncompressed")
    assert tmp_path / "copy.parquet" in traces(tmp_path)
    (tmp_path / "note.txt").write_text(f"the highest is {MARKER}")
    assert tmp_path / "note.txt" in traces(tmp_path)
