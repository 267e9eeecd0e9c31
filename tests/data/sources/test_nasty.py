"""Every nasty file is read as the table of the page says, or refused in words; nothing is read wrongly in silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from consilience import Client
from consilience.data.finding import Grade
from consilience.errors import ConsilienceError
from tests.data.sources.nasty import Nasty, corpus, table

PAGE = Path(__file__).parents[3] / "docs" / "reading-data.md"
READ = [one for one in corpus() if not one.error]
NOT_READ = [one for one in corpus() if one.error]


def at_site(one: Nasty, folder: Path) -> Client:
    path = folder / one.name
    path.write_bytes(one.content)
    return Client("muenster", path)


def test_there_are_sixty_of_them() -> None:
    assert len(corpus()) >= 60
    assert len({one.name for one in corpus()}) == len(corpus())


@pytest.mark.parametrize("one", READ, ids=lambda one: one.name)
def test_a_file_becomes_what_the_page_says(one: Nasty, tmp_path: Path) -> None:
    client = at_site(one, tmp_path)
    verdicts = {
        row["name"]: row["kind"] if row["verdict"] in ("sure", "doubtful") else row["verdict"] for row in client.variables.to_dicts()
    }
    assert {name: verdicts.get(name) for name in one.kinds} == one.kinds
    assert {name for name, kind in one.kinds.items() if kind not in ("excluded", "refused")} == set(client.declarations)
    if one.age:
        assert tuple(client.frame["age"][: len(one.age)].to_list()) == one.age


@pytest.mark.parametrize("one", [one for one in READ if one.codes], ids=lambda one: one.name)
def test_what_is_odd_about_a_file_is_said_with_a_way_out(one: Nasty, tmp_path: Path) -> None:
    found = at_site(one, tmp_path).findings
    assert one.codes <= {finding.code for finding in found}
    for finding in found:
        assert finding.words.endswith((".", "!", "?"))
        assert finding.remedies or finding.grade is Grade.NOTICE


@pytest.mark.parametrize("one", NOT_READ, ids=lambda one: one.name)
def test_what_is_no_table_is_an_error_in_words(one: Nasty, tmp_path: Path) -> None:
    with pytest.raises(ConsilienceError) as caught:
        at_site(one, tmp_path)
    assert one.error.lower() in str(caught.value).lower()
    assert one.name in str(caught.value)


def test_the_page_has_the_table() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
