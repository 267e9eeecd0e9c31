"""Tables for spreadsheets: no name is a formula, numbers stay numbers, and our own programs read on."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.result import CIResult, to_frame
from consilience.cli.entry import main
from consilience.cli.files import write_result
from consilience.service.result_files import documents_of
from consilience.sheets import frame_csv, guarded_csv
from tests.service.agent.sites import CONTRACT

NAMES = ("=cmd|' /C calc'!A0", "@sum", "-x", "+y", "\tz", "\rw")
"""What spreadsheets take for formulas, or for the end of a cell and the beginning of one."""


def found_with_names() -> cs.Discovery:
    """A discovery over variables with such names."""
    rng = np.random.default_rng(0)
    frames = [pl.DataFrame({name: rng.normal(size=60) for name in NAMES}) for _ in range(2)]
    return cs.discover(cs.Server([cs.Client(f"site{i}", frame) for i, frame in enumerate(frames)]), max_given=1)


@pytest.fixture(scope="module")
def found() -> cs.Discovery:
    return found_with_names()


def cells(text: str) -> list[str]:
    return [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def safe(text: str) -> bool:
    return not [cell for cell in cells(text) if cell.startswith(("=", "+", "-", "@", "\t", "\r")) and not is_number(cell) and cell != "+"]


def test_the_table_of_tests_holds_no_formula_wherever_it_is_written(found: cs.Discovery, tmp_path: Path) -> None:
    write_result(found, tmp_path)
    written = (tmp_path / "tests.csv").read_bytes().decode()
    published = dict(documents_of(found, CONTRACT, ("a", "b"), 1, 1))["tests.csv"].decode()
    for text in (written, published):
        assert safe(text)
        assert {f"'{name}" for name in NAMES} <= set(cells(text))


def test_numbers_stay_numbers(found: cs.Discovery) -> None:
    read = pl.read_csv(frame_csv(found.tests).encode(), infer_schema_length=None)
    assert read.height == found.tests.height
    for name in ("p_value", "statistic_y", "size"):
        assert read[name].dtype == pl.Float64
        assert read[name].to_list() == found.tests[name].to_list()
    assert (read["size"] < 0).any()
    assert read["x"].to_list() == [f"'{x}" for x in found.tests["x"]]


def test_what_was_written_is_decided_again(found: cs.Discovery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_result(found, tmp_path)
    monkeypatch.setattr(
        sys, "argv", ["consilience", "redecide", str(tmp_path / "result.json"), "--alpha", "0.5", "--out", str(tmp_path / "b")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, 3)
    again = json.loads((tmp_path / "b" / "result.json").read_text())
    assert {test["x"] for test in again["tests"]} | {test["y"] for test in again["tests"]} == set(NAMES)
    assert safe((tmp_path / "b" / "tests.csv").read_bytes().decode())


def test_files_of_former_versions_are_guarded_when_they_are_given_out() -> None:
    assert guarded_csv(b'x,given,size\n=a,"@b,c",-1.5\n') == b"x,given,size\n'=a,\"'@b,c\",-1.5\n"
    once = frame_csv(to_frame([CIResult("=a", "b", ("@c",), 0.5, 10, 2, 1)])).encode()
    assert guarded_csv(once) == once
