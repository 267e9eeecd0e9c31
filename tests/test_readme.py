"""What the README says is so: its program prints what it says, its figures are those of the pages, and it leaves no dependency out."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from consilience.cli.demo_study import kept, kind_of, kinds_of_answers
from tests.code_blocks import Block, blocks

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
BUILDERS = {"all", "dev", "docs", "peers"}
"""Extras that bring what others bring, or are for whoever works on it."""
OTHERS = ("python-fedci", "rIOD", "Tetrad", "causal-learn", "DataSHIELD", "vantage6", "NVIDIA FLARE", "Flower")
QUOTED = {
    "docs/reproduction.md": ("120,960 tests", "from 0.016 to 0.070"),
    "docs/calibration.md": ("**1.000** / **1.000** / **1.000** / **1.000** | 0.051 / 0.054 / 0.044",),
    "docs/accuracy.md": ("| optimal | 30 of 30 | 7.47 |", "| strongest | 30 of 30 | 10.07 |", "| FCI, complete cases | 30 of 30 | 10.37 |"),
    "docs/iod-scale.md": ("| 20 | 11 | 0.21 / 0.51 |",),
    "docs/operations.md": ("| 4 sites, 24 rounds | in process 0.33 s, network 0.79 s",),
    "docs/out-of-core.md": ("| 33 ns | 16 min | 668 MiB |",),
}
"""Where each figure comes from: whoever measures anew and rewrites a page finds the README behind it."""


def section(heading: str) -> str:
    found = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]


def rows(text: str) -> list[list[str]]:
    """The cells of all rows of all tables, headings left out."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    rules = [at for at, row in enumerate(cells) if set("".join(row)) <= set("-:")]
    return [row for at, row in enumerate(cells) if at not in rules and at + 1 not in rules]


def names(cell: str) -> set[str]:
    return {word.strip(" `") for word in cell.split(",")}


def package(requirement: str) -> str:
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None
    return found[0]


def of_readme(language: str) -> list[Block]:
    return [block for block in blocks() if block.page == "README.md" and block.language == language]


def test_the_two_commands_come_first() -> None:
    head = TEXT.split("\n## ")[0]
    assert [line.split("#")[0].strip() for line in head.split("```")[1].splitlines()[1:]] == ["make demo", "make test"]


@pytest.mark.slow
def test_the_program_prints_what_it_says(tmp_path: Path) -> None:
    """Pasted into an empty folder, with nothing beside it."""
    (program,) = (block for block in of_readme("python") if not block.prompts)
    assert len(program.text.splitlines()) <= 12
    (said,) = of_readme("text")
    done = subprocess.run([sys.executable, "-c", program.text], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == said.text
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_dependencies_are_there_with_their_reasons() -> None:
    told, extras = {}, {}
    for row in rows(section("What it depends on")):
        if len(row) == 2:
            told |= dict.fromkeys(names(row[0]), row[1])
        else:
            extras[row[0].strip("`")] = names(row[1])
            assert row[2] or row[0] == "`all`"
    assert all(told.values())
    assert set(told) == {package(one) for one in PROJECT["dependencies"]}
    optional = PROJECT["optional-dependencies"]
    assert set(extras) == set(optional) - (BUILDERS - {"all"})
    for extra in set(extras) - {"all"}:
        wanted = [re.fullmatch(r"consilience\[(\w+)\]", one) for one in optional[extra]]
        assert extras[extra] == {of[1] if of else package(one) for one, of in zip(optional[extra], wanted, strict=True)}, extra
    assert set(re.findall(r"\w+", optional["all"][0].partition("[")[2])) == set(extras) - {"all", "nvflare"}


def test_how_often_which_answer_comes_is_counted() -> None:
    told = {row[0]: [int(cell) for cell in row[1:]] for row in rows(section("Figures").partition("**The demonstration**")[2])}
    series = kept()
    kinds = [kinds_of_answers(one.answers) for one in series]
    counted = {kind: [found.get(kind, 0) for found in kinds] for kind in dict.fromkeys(kind for found in kinds for kind in found)}
    counted["decisions contradict each other"] = [sum(found.overruled > 0 for found in one.answers) for one in series]
    counted["the same as from pooled rows"] = [sum(found.as_pooled for found in one.answers) for one in series]
    assert told == counted
    assert f"| answer | {' | '.join(f'{one.rows:,} rows' for one in series)} |" in TEXT
    assert kind_of(series[0].answers[0].graphs) == "the true edges, other marks", "as the sentence above the table says"


@pytest.mark.parametrize("page", QUOTED)
def test_figures_are_those_of_the_pages(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [words for words in QUOTED[page] if words not in text] == []
    assert f"({page}" in section("Figures")


def test_every_figure_has_its_command() -> None:
    told = rows(section("Figures").partition("**The demonstration**")[0])
    assert len(told) >= 8
    assert [row[0] for row in told if not re.match(r"`(make|python|pytest|consilience) ", row[2])] == []


@pytest.mark.parametrize("name", OTHERS)
def test_other_tools_have_a_version_and_sources(name: str) -> None:
    """On the page each has a row with numbers of sources that exist, and a sentence on what it has and we lack."""
    assert any(name in row[0] and re.search(r"\d+\.\d+", row[0]) for row in rows(section("Beside other tools")))
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    (row,) = (row for row in rows(page) if row[0].startswith(f"**{name}"))
    numbers = [int(number) for number in re.findall(r"\d+", re.findall(r"\[([\d, –]+)\]", row[0])[0])]
    sources = {int(number) for number in re.findall(r"^(\d+)\. ", page, re.MULTILINE)}
    assert numbers
    assert set(numbers) <= sources
    assert sources == set(range(1, max(sources) + 1))
    assert f"- **{name}**" in page


def test_pictures_are_there_and_have_words() -> None:
    pictures = re.findall(r'<img src="([^"]+)" width="\d+" alt="([^"]{30,})">', TEXT)
    assert len(pictures) == TEXT.count("<img") == 4
    assert all((ROOT / path).is_file() for path, _ in pictures)


def test_the_paper_and_the_software_can_be_cited() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    told = section("Citing")
    title = re.findall(r"title: (Federated.*)", citation)[0]
    assert title in told
    authors = re.findall(r"given-names: (.*)\n +family-names: (.*)", citation)
    assert len(authors) == 4
    assert all(f"{first} {last}" in told for first, last in authors)
