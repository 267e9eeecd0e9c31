"""Study files: what is written is read, what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import consilience as cs
from consilience.cli.sites import clients_of
from consilience.data.studyfile import read_study, write_study


def test_what_is_written_is_read(tmp_path: Path) -> None:
    schema = cs.Schema(
        {
            "blood pressure": "continuous",
            'odd "name"': "binary",
            "stage": ("ordinal", ["I", "II", "III"]),
            "größe.😀": ("multinomial", ["a\\b", "c\nd"]),
        }
    )
    path = tmp_path / "study.toml"
    write_study(path, schema, {"münster 1": "data/münster.csv", "b": "/absolute.csv"}, "Two lines\nof comment")
    found = read_study(path)
    assert dict(found.schema) == dict(schema)
    assert found.files == {"münster 1": tmp_path / "data" / "münster.csv", "b": Path("/absolute.csv")}
    assert path.read_text(encoding="utf-8").startswith("# Two lines\n# of comment\n")


GOOD = '[variables.A]\nkind = "continuous"\n[sites.a]\nfile = "a.csv"\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml", "cannot be read as a study file"),
        ('[sites.a]\nfile = "a.csv"', r"sections \[variables.NAME\]"),
        ('[variables.A]\nkind = "continuous"', r"sections \[sites.NAME\]"),
        (GOOD.replace('file = "a.csv"', "rows = 3"), r"\[sites.a\].*has none"),
        (GOOD.replace('kind = "continuous"', "levels = [1, 2]"), r"\[variables.A\]"),
        (GOOD.replace('kind = "continuous"', 'kind = "ordinal"\nlevels = "12"'), r"\[variables.A\]"),
        (GOOD.replace("[sites.a]\nfile", "sites"), r"sections \[sites.NAME\]"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(cs.errors.ReadError, match=words):
        read_study(path)


def test_a_missing_file_and_wrong_kinds(tmp_path: Path) -> None:
    with pytest.raises(cs.errors.ReadError, match="cannot be read"):
        read_study(tmp_path / "none.toml")
    path = tmp_path / "study.toml"
    path.write_text(GOOD.replace("continuous", "counts"), encoding="utf-8")
    with pytest.raises(cs.errors.OptionError, match="must be one of"):
        read_study(path)
    path.write_text(GOOD.replace('"continuous"', '"ordinal"\nlevels = [1, 2.0, "x"]'), encoding="utf-8")
    assert read_study(path).schema["A"].levels == ("1", "2", "x")


def test_one_study_file_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(cs.errors.OptionError, match="stands alone"):
        clients_of([path, tmp_path / "b.csv"], None, None)
