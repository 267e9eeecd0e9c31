"""The page on effects in four hospitals is what its script makes, where their data are at hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from tests.iod.test_heart import DATA, ROOT, needs_data

pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")


@pytest.mark.slow
@needs_data
def test_the_page_is_what_the_script_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("effects_heart", ROOT / "benchmarks" / "effects_heart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = tmp_path / "page.md"
    monkeypatch.setattr(sys, "argv", ["effects_heart.py", str(DATA), "--out", str(page)])
    assert module.main() == 0
    assert page.read_text(encoding="utf-8") == (ROOT / "docs" / "effects-heart.md").read_text(encoding="utf-8")
    assert "must not be called effects" in page.read_text(encoding="utf-8")
