"""A site's table: what would be read how, what makes trouble, and the sentence to send."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from consilience.errors import MissingPackageError
from consilience.federation import Client
from consilience.service.doctor import tables
from consilience.service.doctor.sign import Sign, Standing
from consilience.service.doctor.tables import look_at_table

GOOD = "age,sex\n" + "".join(f"{20 + i}.5,{'MF'[i % 2]}\n" for i in range(40))
GERMAN = "Größe;Gewicht;PatientenID\n" + "".join(f"1,{60 + i % 37};{'k.A.' if i % 9 == 0 else f'{70 + i},5'};P{i:05d}\n" for i in range(40))


def looked_at(file: Path) -> list[Sign]:
    return look_at_table(file, lambda path: [Client("site", path)])


def written(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    folder.chmod(0o700)
    file = folder / "site.csv"
    file.write_bytes(text.encode(encoding))
    return file


def signs(found: list[Sign]) -> list[tuple[str, str]]:
    assert all(bool(sign.ask) == (sign.standing is not Standing.GOOD) for sign in found), "what is to be sent goes with every finding"
    return [(sign.about, sign.standing.value) for sign in found]


def test_of_a_good_table_is_told_what_each_column_is_and_why(tmp_path: Path) -> None:
    found = looked_at(written(tmp_path, GOOD))
    assert signs(found) == [("columns", "good")]
    assert found[0].words == "40 rows; read as: age continuous (decimal numbers); sex multinomial (text: F, M)."


def test_what_was_done_or_left_out_in_reading_is_asked_about(tmp_path: Path) -> None:
    found = looked_at(written(tmp_path, GERMAN, "latin-1"))
    assert signs(found)[0] == ("columns", "good")
    assert "PatientenID left out (an identifier)" in found[0].words
    assert "Gewicht continuous (decimal numbers; 5 missing)" in found[0].words
    asked = " ".join(sign.ask for sign in found)
    assert {standing for _, standing in signs(found)[1:]} == {"notice"}
    for words in ("is read as windows-1252", "read as missing: 'k.A.' (5 rows)", "an identifier, left out. Is that as it should be?"):
        assert words in asked
    assert all(sign.ask.startswith("To whoever made site.csv: ") for sign in found[1:])


@pytest.mark.parametrize(
    ("text", "about", "words", "ask"),
    [
        ("", "table", "is empty", "it cannot be read as it is"),
        ("a,a\n1,2\n", "table", "two columns named 'a'", "every column needs a name of its own"),
        ("a,b\n1,2\n2,3\n3,1\n", "rows", "fewer than 10 rows", "it has 3 rows. Is that all of it?"),
        ("id,name\n" + "".join(f"P{i:05d},N{i:03d} O{i}\n" for i in range(40)), "columns", "No column is a variable", "the right table?"),
    ],
)
def test_what_cannot_be_used_stands_in_the_way(tmp_path: Path, text: str, about: str, words: str, ask: str) -> None:
    found = looked_at(written(tmp_path, text))
    assert signs(found)[0] == (about, "obstacle")
    assert words in found[0].words
    assert ask in found[0].ask


def test_a_column_that_would_be_a_guess_is_refused_in_a_sentence_of_its_own(tmp_path: Path) -> None:
    rows = "".join(f"{'heavy' if i % 9 == 0 else 70 + i},{20 + i}.5\n" for i in range(40))
    found = looked_at(written(tmp_path, "weight,age\n" + rows))
    assert signs(found) == [("columns", "good"), ("table", "obstacle")]
    assert "weight refused; age continuous" in found[0].words
    assert "mostly numbers (35 of 40 values)" in found[1].ask


def test_a_file_that_is_not_there_or_not_for_this_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (gone,) = looked_at(tmp_path / "nothing.csv")
    assert (gone.about, gone.standing) == ("file", Standing.OBSTACLE)
    assert gone.ask == f"To whoever keeps the data: where is nothing.csv? I look for it at {str(tmp_path / 'nothing.csv')!r}."
    file = written(tmp_path, GOOD)
    monkeypatch.setattr(tables.os, "access", lambda *_: False)  # whoever runs tests as root may read everything
    (closed,) = looked_at(file)
    assert "may not read" in closed.words
    assert closed.ask.startswith("Please let my account read")


def test_a_format_whose_package_is_missing_is_for_those_who_install(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)

    def read(_: Path) -> list[Client]:
        raise MissingPackageError("Excel files are read by the package fastexcel, which is not installed.")

    (found,) = look_at_table(file, read)
    assert (found.about, found.standing) == ("packages", Standing.OBSTACLE)
    assert "fastexcel" in found.ask
    assert "install it for my account" in found.ask


@pytest.mark.skipif(os.name != "posix", reason="rights are lists there")
def test_a_table_that_every_account_can_read_is_a_notice(tmp_path: Path) -> None:
    file = written(tmp_path, GOOD)
    file.chmod(0o644)
    assert signs(looked_at(file)) == [("columns", "good")], "nobody else enters the folder"
    above = [tmp_path, *tmp_path.parents]
    before = {folder: folder.stat().st_mode for folder in above}
    if any(not mode & 0o001 and folder.stat().st_uid != os.getuid() for folder, mode in before.items()):
        pytest.skip("a folder above is closed, and not ours to open")
    try:
        for folder in above:
            if not before[folder] & 0o001:
                folder.chmod(before[folder] | 0o001)
        assert signs(looked_at(file)) == [("columns", "good"), ("rights", "notice")]
        file.chmod(0o640)
        assert signs(looked_at(file)) == [("columns", "good")]
    finally:
        for folder, mode in before.items():
            if folder.stat().st_mode != mode:
                folder.chmod(mode)
