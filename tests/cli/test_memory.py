"""Tables larger than the memory that the command line allows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app


@pytest.mark.slow
def test_memory_is_an_option_and_results_do_not_hang_on_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("table", "streamed"):
        monkeypatch.setattr(f"consilience.data.{module}.BLOCK_ROWS", 64)
    monkeypatch.setattr("consilience.data.streamed.BLOCKS_HELD", 1)
    frames = cs.simulate.mixed_sites(n=4000, sites=2, seed=1)
    for name, frame in frames.items():
        frame.write_parquet(tmp_path / f"{name}.parquet", row_group_size=50)
    asked = ["test", "A", "B", *(str(tmp_path / f"{name}.parquet") for name in frames), "--json"]
    runner = CliRunner()
    whole = runner.invoke(app, asked)
    assert whole.exit_code == 0, whole.output
    found = runner.invoke(app, [*asked, "--memory", "200 kB"])
    assert found.exit_code == 0, found.output
    one, other = json.loads(found.stdout), json.loads(whole.stdout)
    assert one["p_value"] == pytest.approx(other["p_value"], rel=1e-9)
    assert one["diagnostics"]["curvature_p"] == pytest.approx(other["diagnostics"]["curvature_p"], rel=1e-9)
    refused = runner.invoke(app, [*asked, "--memory", "200 kB", "--method", "residual"])
    assert refused.exit_code != 0
    assert "method='residual'" in str(refused.exception) + refused.output
