"""Every block of code of README and documentation is run, or says why it is not.

Without a comment above it, a block is run here: examples with prompts by doctest, other Python and ``consilience`` commands in a folder
with the tables of two hospitals, TOML by whoever reads such a file. ``<!-- run by tests/… -->`` names the test that runs it otherwise,
``<!-- not run: … -->`` says why nobody does. Commands and options must exist in any case, also those that sentences name.
"""

from __future__ import annotations

import doctest
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyreadstat
import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.cli.app import app
from consilience.data.harmonise import Plan
from consilience.errors import ConsilienceError
from consilience.iod import Knowledge
from consilience.service.agent.policy import read_policy
from consilience.service.config import load_agent, load_server
from consilience.settings.studyfile import read_study
from tests.code_blocks import DIRECTIVES, DRAWN, ROOT, Block, blocks, blocks_in, commands_of, lines_of, reads, spans
from tests.command_lines import TYPED, wrong_with

READERS: dict[str, Callable[[Path], Any]] = {
    "a study": read_study,
    "a site's plan": Plan.of,
    "knowledge": Knowledge.from_toml,
    "settings of a server": lambda path: load_server(path, {}),
    "settings of a site": lambda path: load_agent(path, {}),
    "a policy": read_policy,
}
LEAST_WORDS = 3
FEWER = {"discover": ("--bootstrap", "4"), "effect": ("--bootstrap", "4"), "power": ("--replications", "4", "--jobs", "1")}
"""What a command is given at its end, so that it takes no minutes: fewer repetitions than it says, or than there are if it says nothing."""
ELSEWHERE = {"consilience reproduce --size smoke": "tests/cli/test_simulate.py"}
"""Lines that take long, and that another test runs by the same words."""


def runs_here(block: Block) -> bool:
    return not block.comment and block.language in ("python", "sh", "toml") and not block.prompts and not strangers(block)


def strangers(block: Block) -> list[str]:
    """Programs of a shell's lines that are not ours."""
    lines = lines_of(block.text) if block.language == "sh" else []
    return [words[0] for line in lines for words in commands_of(line) if words[0] != "consilience"]


def wrong_block(block: Block, tested: list[str]) -> str:
    """Why nobody knows whether a block is right; empty if somebody does."""
    language = block.language
    if language.startswith("{"):
        return "" if language.strip("{").partition("}")[0] in DIRECTIVES else "this directive is code that nobody runs"
    if block.comment and not block.reason and not block.runner:
        return f"the comment above is neither 'run by tests/…' nor 'not run: …': {block.comment}"
    if language in ("", "indented", *DRAWN):
        typed = [line for line in block.text.splitlines() if line.split()[:1] and line.split()[0] in TYPED]
        return f"a line that somebody types stands in a block without a language: {typed[0].strip()}" if typed else ""
    if block.prompts:
        return wrong_examples(block, tested)
    if block.reason:
        return "" if len(block.reason.split()) >= LEAST_WORDS else "the reason why it is not run is no reason"
    if block.runner:
        test = ROOT / block.runner
        if not test.is_file() or not test.name.startswith("test_"):
            return f"there is no test {block.runner}"
        return "" if reads(test, block.page) else f"{block.runner} does not read {block.page}"
    if runs_here(block):
        return ""
    what = f"{strangers(block)[0]} is not run here" if strangers(block) else "nobody runs it"
    return f"{what}: write 'run by tests/…' or 'not run: …' as an HTML comment in the line above"


def wrong_examples(block: Block, tested: list[str]) -> str:
    if block.comment:
        return "examples with prompts are run by doctest, and need no comment"
    if not any(block.page == place or block.page.startswith(f"{place}/") for place in tested):
        return "doctest does not run this page: it is in none of pytest's testpaths"
    if "+SKIP" in block.text:
        return "an example is skipped"
    found = doctest.DocTestParser().get_examples(block.text)
    outside = [line for line in block.text.splitlines() if line.lstrip().startswith(">>>")]
    return "" if len(found) == len(outside) else "doctest does not see every prompt"


def test_every_block_is_run_or_says_why_not(pytestconfig: pytest.Config) -> None:
    assert "*.md" in pytestconfig.getoption("doctestglob")
    tested = [str(place) for place in pytestconfig.getini("testpaths")]
    assert len(blocks()) > 50
    found = [f"{block.where}: {why}" for block in blocks() if (why := wrong_block(block, tested))]
    assert not found, "\n".join(found)


def test_every_command_of_a_block_is_one() -> None:
    found = [
        f"{block.where}: {' '.join(words)}: {why}"
        for block in blocks()
        if block.language in ("sh", "bash", "console")
        for line in lines_of(block.text)
        for words in commands_of(line)
        if not (block.runner and words[0] == "python")  # a program that the page has its reader write; the test that types it runs it
        if (why := wrong_with(words))
    ]
    assert not found, "\n".join(found)


def test_every_command_that_a_sentence_names_is_one() -> None:
    typed = [(page, span) for page, span in spans() if span.split()[:1] and span.split()[0] in TYPED]
    assert len(typed) > 50
    found = [
        f"{page}: {span}: {why}" for page, span in typed for words in commands_of(span) if words and (why := wrong_with(words, whole=False))
    ]
    assert not found, "\n".join(found)


def test_lines_that_run_elsewhere_do() -> None:
    for line, test in ELSEWHERE.items():
        assert ", ".join(f'"{word}"' for word in line.split()[1:]) in (ROOT / test).read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tables of two hospitals, also in other formats, as the pages name them."""
    for name, frame in zip(("muenster", "marburg"), cs.simulate.mixed_sites(n=300, sites=2, seed=4).values(), strict=True):
        frame.write_csv(tmp_path / f"{name}.csv")
    pyreadstat.write_sav(frame.to_pandas(), str(tmp_path / "marburg.sav"))
    (tmp_path / "folder").mkdir()
    frame.write_parquet(tmp_path / "folder" / "part.parquet")
    with duckdb.connect(str(tmp_path / "warehouse.duckdb")) as database:
        database.execute("CREATE TABLE patients AS SELECT * FROM frame")
    (tmp_path / "known.toml").write_text('tiers = [["A", "B"], ["C", "D", "E"]]\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


def pages_with(language: str) -> list[str]:
    return sorted({block.page for block in blocks() if block.language == language and runs_here(block)})


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", pages_with("sh"))
def test_commands_do_what_the_page_says(page: str) -> None:
    """In the order of the page, in one folder; each ends with what it was asked for."""
    for block in blocks():
        if block.page != page or block.language != "sh" or not runs_here(block):
            continue
        for line in lines_of(block.text):
            (words,) = commands_of(line)
            if line in ELSEWHERE:
                continue
            fewer = FEWER.get(words[1], ()) if words[1] == "power" or "--bootstrap" in words else ()
            done = CliRunner().invoke(app, [*words[1:], *fewer])
            assert done.exit_code == 0, f"{block.where}: {line}: {done.output[-1000:]} {done.exception or ''}"
            assert done.output.strip()


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", pages_with("python"))
def test_programs_without_prompts_run(page: str) -> None:
    """From the top of the page to its end, as if they were pasted one after the other."""
    names: dict[str, Any] = {"__name__": "pasted"}
    for block in blocks():
        if block.page == page and block.language == "python" and runs_here(block):
            program = "\n" * block.line + block.text  # so that an error names the line of the page
            exec(compile(program, ROOT / page, "exec"), names)


@pytest.mark.parametrize("block", [block for block in blocks() if block.language == "toml" and runs_here(block)], ids=lambda b: b.where)
def test_toml_is_what_some_part_of_the_program_reads(block: Block, tmp_path: Path) -> None:
    assert readers_of(block.text, tmp_path)


def readers_of(text: str, folder: Path) -> list[str]:
    path = folder / "file.toml"
    path.write_text(text, encoding="utf-8")
    found = []
    for name, read in READERS.items():
        try:
            read(path)
        except ConsilienceError:
            continue
        found.append(name)
    return found


def test_each_reader_takes_its_own_files_alone(tmp_path: Path) -> None:
    """Or "somebody reads it" would say nothing."""
    assert readers_of("[columns.age]\nrename = 'years'", tmp_path) == ["a site's plan"]
    assert readers_of("[columns.age]\nrenamed = 'years'", tmp_path) == []
    assert readers_of("name = 'x'\n[variables]\nage = 'continuous'", tmp_path) == ["a study"]
    assert readers_of("name = 'x'\n[variables]\nage = 'continual'", tmp_path) == []
    assert readers_of("port = 8443\nmax_runs = 3", tmp_path) == ["settings of a server"]
    assert readers_of("min_rows = 30\nallow_queried = true", tmp_path) == ["a policy"]
    assert readers_of("tiers = [['A'], ['B']]", tmp_path) == ["knowledge"]
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads("a = ")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("```sh\nconsilience check a.csv\n```", ""),
        ("```sh\nls\n```", "ls is not run here"),
        ("```yaml\na: 1\n```", "nobody runs it"),
        ("<!-- not run: needs a registry -->\n```yaml\na: 1\n```", ""),
        ("<!-- not run: no -->\n```yaml\na: 1\n```", "is no reason"),
        ("<!-- not run: needs a registry -->\n\n```yaml\na: 1\n```", "nobody runs it"),
        ("<!-- later -->\n```sh\nls\n```", "neither"),
        ("<!-- run by tests/test_nothing.py -->\n```sh\nls\n```", "there is no test"),
        ("<!-- run by tests/test_parallel.py -->\n```sh\nls\n```", "does not read docs/page.md"),
        ("```\nconsilience check a.csv\n```", "without a language"),
        ("```text\n+---+\n```", ""),
        ("    1 + 1\n", ""),
        ("    pip install x\n", "without a language"),
        ("```python\n>>> 1 + 1\n2\n\n```", ""),
        ("```python\n>>> 1 + 1  # doctest: +SKIP\n2\n\n```", "skipped"),
        ("```{toctree}\npage\n```", ""),
        ("```{code-block} python\n1 + 1\n```", "nobody runs"),
        ("- an item\n\n  ```sh\n  ls\n  ```\n", "ls is not run here"),
    ],
)
def test_what_nobody_runs_is_found(text: str, why: str) -> None:
    (block,) = blocks_in(text, "docs/page.md")
    assert why in (found := wrong_block(block, ["docs"]))
    assert bool(why) == bool(found)


def test_examples_on_pages_that_doctest_does_not_run_are_found() -> None:
    (block,) = blocks_in("```python\n>>> 1\n1\n\n```", "CONTRIBUTING.md")
    assert "testpaths" in wrong_block(block, ["docs", "README.md"])


def test_a_test_that_only_speaks_of_a_page_does_not_read_it() -> None:
    assert reads(ROOT / "tests" / "system" / "test_nvflare.py", "docs/nvflare.md"), "by what it imports"
    assert not reads(ROOT / "tests" / "data" / "package_tables.py", "docs/real-data.md")
    assert not reads(ROOT / "tests" / "test_parallel.py", "docs/nvflare.md")
