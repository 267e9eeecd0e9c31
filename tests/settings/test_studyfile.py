"""Study files: what is written is read, what is wrong is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import consilience as cs
from consilience.cli.sites import clients_of
from consilience.errors import OptionError
from consilience.settings import Dropout, Engine
from consilience.settings.studyfile import FOR_FILES, read_study, write_study


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


def test_settings_datasets_and_the_name_go_there_and_back(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    settings = {
        "alpha": 0.01,
        "max_given": 2,
        "engine": "iod",
        "selection_bias": False,
        "limit": 5,
        "tiers": [["A"], ["B", "größe"]],
        "required": ["A => B"],
        "on_dropout": "stop",
        "consent_seconds": 60,
    }
    schema = cs.Schema({"A": "continuous", "B": "binary"})
    write_study(path, schema, {"a": "a.csv"}, name='a "trial"', datasets=[["A", "B"], ["A"]], settings=settings)
    found = read_study(path)
    assert found.name == 'a "trial"'
    assert found.datasets == (("A", "B"), ("A",))
    assert found.settings["engine"] is Engine.IOD
    assert found.settings["on_dropout"] is Dropout.STOP
    assert found.settings["tiers"] == (("A",), ("B", "größe"))
    again = tmp_path / "again.toml"
    write_study(again, found.schema, {"a": "a.csv"}, name=found.name, datasets=found.datasets, settings=found.settings)
    assert again.read_bytes() == path.read_bytes()
    with pytest.raises(OptionError, match="cannot say that limit is none"):
        write_study(again, schema, {}, settings={"limit": None})


def test_what_a_server_is_told_has_no_file_names(tmp_path: Path) -> None:
    path = tmp_path / "trial.toml"
    path.write_text(
        'datasets = [["A", "B"]]\n[settings]\nmin_rows = 50\nmethod = "fisher"\n[variables]\nA = "continuous"\nB = "binary"\n'
        '[sites.a]\nfile = "/secret/a.csv"\n',
        encoding="utf-8",
    )
    told = read_study(path).declaration()
    assert told == {
        "name": "trial",
        "variables": [{"name": "A", "kind": "continuous", "levels": []}, {"name": "B", "kind": "binary", "levels": ["0", "1"]}],
        "datasets": (("A", "B"),),
        "settings": {"min_rows": 50, "method": "fisher"},
    }
    path.write_text('name = "asks the sites"', encoding="utf-8")
    assert read_study(path).declaration() == {"name": "asks the sites"}


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
        read_study(path, needs=FOR_FILES)


def test_a_missing_file_and_wrong_kinds(tmp_path: Path) -> None:
    with pytest.raises(cs.errors.ReadError, match="cannot be read"):
        read_study(tmp_path / "none.toml")
    path = tmp_path / "study.toml"
    path.write_text(GOOD.replace("continuous", "counts"), encoding="utf-8")
    with pytest.raises(cs.errors.OptionError, match="must be one of"):
        read_study(path)
    path.write_text(GOOD.replace('"continuous"', '"ordinal"\nlevels = [1, 2.0, "x"]'), encoding="utf-8")
    assert read_study(path).schema["A"].levels == ("1", "2", "x")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("owner = 1\n" + GOOD, r"keys name, datasets, settings, variables, sites; .*'owner'"),
        (GOOD.replace('file = "a.csv"', 'file = "a.csv"\nrows = 3'), r"\[sites.a\] has the keys file, harmonise; .*'rows'"),
        (
            GOOD.replace('kind = "continuous"', 'kind = "continuous"\ncolour = "m"'),
            r"\[variables.A\] has the keys kind, levels, unit, range; .*'colour'",
        ),
        (GOOD + "[settings]\nmin_row = 3", r"\[settings\] has the keys alpha, .*'min_row'"),
        ("settings = 3\n" + GOOD, r"section \[settings\]"),
        ("datasets = ['A']\n" + GOOD, "list of lists"),
        ("name = 3\n" + GOOD, "name is text"),
    ],
)
def test_unknown_keys_are_named_with_what_is_allowed(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(cs.errors.ReadError, match=words):
        read_study(path)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("alpha = 2", r"alpha must lie between 0 and 1; got 2. See \[settings\]"),
        ('engine = "magic"', "engine must be one of exact, iod"),
        ("limit = 1.5", "limit must be a whole number of at least 1"),
        ('selection_bias = "no"', "selection_bias must be true or false"),
        ('tiers = ["A"]', "tiers must be a list of lists of texts"),
        ('exogenous = "A"', "exogenous must be a list of texts; got 'A'"),
        ('separate = ["A", "B"]', "separate must be a list of lists of texts"),
        ("round_seconds = 1e9", "round_seconds must be a number of at least 1 and at most 86400"),
    ],
)
def test_settings_out_of_their_range_are_named(tmp_path: Path, setting: str, words: str) -> None:
    path = tmp_path / "study.toml"
    path.write_text(f"{GOOD}[settings]\n{setting}", encoding="utf-8")
    with pytest.raises(OptionError, match=words):
        read_study(path)


def test_one_study_file_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    path.write_text(GOOD, encoding="utf-8")
    with pytest.raises(cs.errors.OptionError, match="stands alone"):
        clients_of([path, tmp_path / "b.csv"], None, None)


def test_what_is_said_of_several_variables_is_short_for_what_is_required(tmp_path: Path) -> None:
    path = tmp_path / "study.toml"
    lines = 'required = ["A => B"]\nexogenous = ["A", "my age"]\nunconfounded = []\nseparate = [["B", "C"], ["B", "D"]]\n'
    path.write_text(f"{GOOD}[settings]\n{lines}", encoding="utf-8")
    found = read_study(path).settings
    assert found == {"required": ("A => B", 'exogenous "A" "my age"', 'separate "B" "C"', 'separate "B" "D"')}
    known = cs.Knowledge(required=found["required"])
    assert known == cs.Knowledge(required=["A => B"], exogenous=["A", "my age"], separate=[["B", "C"], ["B", "D"]])
