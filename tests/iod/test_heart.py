"""Four hospitals: the script, on made-up files that look like theirs; and its page, where the real ones are at hand (they are not part of
the repository).
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import consilience as cs
from tests.iod.example_pages import ROOT, cells, command_of, run, script, sections_of

DATA = ROOT.parent / "shared" / "data" / "heart"
PAGE = ROOT / "docs" / "heart.md"
KNOWN = cs.Knowledge(exogenous=["age", "sex"])
pytestmark = pytest.mark.filterwarnings("ignore::consilience.DoubtfulDataWarning")  # two hospitals have a cholesterol of 0, as it is said
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the UCI Heart Disease data are not beside the repository; see examples/heart.py")


def made_up(folder: Path) -> dict[str, pl.DataFrame]:
    """Files as the hospitals have them: 0 for a cholesterol that was not measured, columns that are hardly there, other patients each."""
    rng = np.random.default_rng(5)
    frames = {}
    for name, n, older in (("cleveland", 90, 0), ("hungarian", 80, -6), ("switzerland", 60, 1), ("va", 70, 5)):
        age = rng.normal(54 + older, 8, n).round()
        ill = rng.random(n) < 0.5
        frame = pl.DataFrame(
            {
                "age": age.astype(int),
                "sex": rng.integers(0, 2, n),
                "cp": np.where(ill & (rng.random(n) < 0.8), 4, rng.integers(1, 4, n)),
                "trestbps": rng.normal(130, 15, n).round().astype(int),
                "chol": rng.normal(240, 50, n).round().astype(int),
                "fbs": rng.integers(0, 2, n),
                "restecg": rng.integers(0, 3, n),
                "thalach": (220 - age + rng.normal(0, 6, n)).round().astype(int),
                "exang": rng.integers(0, 2, n),
                "oldpeak": rng.normal(1, 1, n).round(1),
                "slope": rng.integers(1, 4, n),
                "ca": rng.integers(0, 4, n),
                "thal": rng.choice([3, 6, 7], n),
                "num": ill * (1 if name == "hungarian" else rng.integers(1, 5, n)),
            }
        )
        rows = pl.int_range(n)
        gone = {"cleveland": 0, "hungarian": n, "switzerland": n // 4, "va": n - 3}[name]
        zeros = {"switzerland": n, "va": 15}.get(name, 0)
        frames[name] = frame.with_columns(
            pl.when(rows >= gone).then("thal").alias("thal"),
            pl.when(rows < zeros).then(0).otherwise("chol").alias("chol"),
        )
        frames[name].write_csv(folder / f"{name}.csv")
    return frames


@pytest.mark.slow
def test_the_command_of_the_page_writes_a_page_from_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    files = made_up(tmp_path)
    committed = PAGE.read_text(encoding="utf-8")
    arguments = command_of(committed)
    assert arguments[:4] == ["examples/heart.py", "FOLDER", "--page", "docs/heart.md"]
    arguments[1], arguments[3] = str(tmp_path), str(tmp_path / "heart.md")
    arguments[arguments.index("--bootstrap") + 1] = "2"
    run(arguments, monkeypatch)
    assert "1,044 questions: together" in capfd.readouterr().err  # what it is at, on a quick machine not all of it
    text = (tmp_path / "heart.md").read_text(encoding="utf-8")
    parts = sections_of(text)
    assert list(parts) == list(sections_of(committed))
    assert command_of(text)[4:] == ["--alpha", "0.01", "--bootstrap", "2", "--seed", "20"]
    lacking = {name: rest for name, *rest in cells(parts["What hospitals lack"])}
    assert lacking["cholesterol"] == ["0%", "0%", "**100%**", "21%", "yes"]
    assert lacking["thallium scan"] == ["0%", "**100%**", "25%", "**96%**", "yes"]
    assert "thallium scan at Budapest, cholesterol at Zurich and Basel and thallium scan at Long Beach" in parts["What hospitals lack"]
    assert "has 0 in 15 rows" in parts["What hospitals lack"]
    differing = {name: rest for name, *rest in cells(parts["How hospitals differ"])}
    for place, frame in enumerate(files.values()):
        assert differing["patients"][place] == str(frame.height)
        assert differing["age"][place].startswith(f"{np.mean(frame['age'].to_numpy()):.1f} (")
        assert differing["disease"][place] == f"{np.mean(frame['num'].to_numpy() > 0):.0%}"
    edges = {name: rest for name, *rest in cells(parts["How stable it is"])}
    assert edges["`age --> max heart rate`"][:2] == ["yes", "100%"]
    assert "age – max heart rate" in parts["What a clinician can and cannot conclude"]
    assert not re.search(r"\b(None|nan|inf)\b", text)
    for name in ("graph", "decisions", "stability"):
        assert f"(images/heart-{name}.svg)" in text
        assert ET.parse(tmp_path / "images" / f"heart-{name}.svg").getroot().tag.endswith("svg")


@pytest.mark.slow
@needs_data
def test_the_report_of_four_hospitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    heart = script("heart", monkeypatch)
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
def test_the_page_is_what_the_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that rests on no resampled copy; and decisions of masked sums are those of pooled rows."""
    words, heart_study, heart_page = (script(name, monkeypatch) for name in ("study.words", "heart_study", "heart_page"))
    made = heart_study.run(DATA, KNOWN, alpha=0.01, bootstrap=0, seed=20, steps=words.Steps(), variants=False)
    assert made.pooled.rejects == made.together.rejects
    committed, again = sections_of(PAGE.read_text(encoding="utf-8")), heart_page.sections(made)
    assert list(committed) == list(again)
    resampled = ("In short", "How stable it is", "What a clinician can and cannot conclude", "How it was made")
    for title in committed:
        if title not in resampled:
            assert committed[title] == again[title].strip()


def test_pictures_of_the_page_are_there() -> None:
    for name in re.findall(r"\(images/([a-z-]+\.svg)\)", PAGE.read_text(encoding="utf-8")):
        assert ET.parse(PAGE.parent / "images" / name).getroot().tag.endswith("svg")
