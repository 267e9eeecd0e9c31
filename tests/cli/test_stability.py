"""``consilience discover --bootstrap`` and ``--leave-one-out``, on files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    paths = []
    for name, frame in cs.simulate.mixed_sites(n=360, sites=3, seed=5).items():
        path = tmp_path / f"{name}.csv"
        frame.select("A", "B", "C").write_csv(path)
        paths.append(str(path))
    return paths


def test_json_has_replicates_and_what_is_left_without_each_site(files: list[str]) -> None:
    answer = CliRunner().invoke(app, ["discover", "--json", "--bootstrap", "3", "--leave-one-out", *files])
    found = cs.Discovery.from_dict(json.loads(answer.stdout))
    assert found.settings["bootstrap"] == 3
    assert found.stability is not None
    assert (found.stability.asked, found.stability.done) == (3, 3)
    assert found.stability.sites is not None
    assert sorted(found.stability.sites["site"]) == ["site1", "site2", "site3"]
    again = found.redecide(alpha=0.01)
    assert again.stability is None
    assert again.settings["bootstrap"] == 0


def test_a_number_that_cannot_be_is_refused(files: list[str]) -> None:
    answer = CliRunner().invoke(app, ["discover", "--bootstrap", "-1", *files])
    assert answer.exit_code == 2
