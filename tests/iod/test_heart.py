"""Four real hospitals, where their data are at hand (they are not part of the repository)."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

import consilience as cs

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "heart"
pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # two hospitals have a cholesterol of 0, as it is said
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the UCI Heart Disease data are not beside the repository; see examples/heart.py")


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("heart", ROOT / "examples" / "heart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@needs_data
def test_the_report_of_four_hospitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    heart = example()
    page = tmp_path / "heart.html"
    monkeypatch.setattr(sys, "argv", ["heart.py", str(DATA), "--out", str(page)])
    heart.main()
    said = capsys.readouterr().out
    assert "The decisions and what is known contradict each other" in said
    assert "disease --> " in said
    assert 'age --> "max heart rate" in all' in said
    text = page.read_text(encoding="utf-8")
    assert "ST depression" in text
    assert "Exogenous: age and sex" in text
    words = re.sub(r"<[^>]+>", "", text.partition('id="result-title"')[2].partition('id="data-title"')[0])
    assert "age is a cause of max heart rate" in words
    assert not re.search(r"\b(age|sex)\b[^.]*do not cause each other", words)


@pytest.mark.slow
@needs_data
def test_masked_and_pooled_hospitals_give_the_same_graphs() -> None:
    heart = example()
    hospitals = [heart.hospital(DATA / f"{name}.csv") for name in ("cleveland", "hungarian", "switzerland", "va")]
    federated = cs.discover(cs.Server(hospitals), alpha=0.01)
    pooled = cs.discover(cs.pooled(hospitals), alpha=0.01)
    assert federated.pags == pooled.pags
    assert len(federated.pags) == 1
