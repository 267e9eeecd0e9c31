"""Three data holders take part with three apps: from their files to the same graphs, one of them after repairing its table."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

import consilience as cs
from tests.system.processes import Server, declaration
from tests.web.apps import Browser, Fields, running_app, until_page, words_of

SECRET = "Zebra-31337"
"""A value in a column that no study uses: it must not be found on any disk but in the site's own file."""


def invite(server: Server, study: str, site: str) -> str:
    return str(server.do("POST", f"/studies/{study}/invitations", {"site": site})["invitation"])


def prepared(browser: Browser, file: str, invitation: str) -> None:
    """Data, columns, join; up to the page that says whether they fit."""
    assert browser.launch().status_code == 200
    assert "To do" in words_of(browser.get("/"))
    assert browser.send("/data", "/data", file=file).status_code == 200
    browser.send("/columns", "/columns")
    joined = browser.send("/join", "/join", invitation=invitation)
    assert "Joined" in words_of(joined.text), words_of(joined.text)


def consented(browser: Browser, site: str) -> str:
    """Fit, dry run, consent; the reference."""
    fits = browser.send("/fit", "/fit", -1, **{"continue": "1"})
    assert "dry run" in words_of(fits.text), words_of(fits.text)
    browser.send("/leaving", "/leaving")
    until_page(browser, "/leaving", "masked numbers")  # at once on a machine that has nothing else to do
    document = browser.http.get("/leaving/document")
    assert document.headers["content-disposition"].startswith("attachment")
    assert b"data protection officer" in document.content
    assert "as the study has it" in words_of(browser.send("/consent", "/consent", name="somebody else").text)
    given = browser.send("/consent", "/consent", name=site)
    assert "You have agreed" in words_of(given.text), words_of(given.text)
    return words_of(given.text).partition("Reference ")[2][:14]


@pytest.mark.slow
def test_three_sites_find_the_same_graphs(server: Server, tmp_path: Path) -> None:
    frames = cs.simulate.mixed_sites(n=600, sites=3, seed=1)
    body = declaration(frames)
    study = server.do("POST", "/studies", body)["id"]
    levels = next(v["levels"] for v in body["variables"] if v["name"] == "E")
    folders = {}
    for i, (name, frame) in enumerate(frames.items()):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        table = frame.with_columns(note=pl.Series([f"{SECRET}-{i}-{row}" for row in range(frame.height)]))
        if i == 1:  # another name for A, another spelling for E
            table = table.rename({"A": "a value"}).with_columns(pl.col("E").replace_strict({level: f"LEVEL {level}" for level in levels}))
        table.write_csv(folders[name] / "table.csv")
    with ExitStack() as stack:
        browsers = {name: stack.enter_context(running_app(folder)) for name, folder in folders.items()}
        for name, browser in browsers.items():
            prepared(browser, "table.csv", invite(server, study, name))
        first, second, third = browsers.values()
        assert "Conflict" in words_of(second.get("/fit"))
        assert "Repair or withhold" in words_of(second.send("/fit", "/fit", -1, **{"continue": "1"}).text)
        repair(second, levels)
        names = list(frames)
        references = {consented(first, names[0]), consented(second, names[1]), consented(third, names[2])}
        assert len(references) == 1, "all have agreed to the same"
        assert "waits for the study’s owner" in words_of(until_page(first, "/run", "waits for the study’s owner"))
        server.do("POST", f"/studies/{study}/open")
        server.do("POST", f"/studies/{study}/start")
        assert server.wait(study) == "finished"
        for name, browser in browsers.items():
            until_page(browser, "/run", "The study is finished")
            assert browser.http.get("/result").status_code == 200
            content = browser.http.get("/result/files/result.json")
            assert json.loads(content.content) == server.result(study), name
            lines = browser.http.get("/run/ledger.jsonl").text.splitlines()
            assert len(lines) > 5
            assert "Done" in words_of(browser.get("/"))
    for file in tmp_path.rglob("*"):
        if file.is_file() and file.name != "table.csv":
            assert SECRET.encode() not in file.read_bytes(), file


def repair(browser: Browser, levels: list[str]) -> None:
    """Match the column with another name, and the levels with another spelling."""
    text = browser.get("/fit")
    numbers = {name: i for i, name in enumerate(sorted("ABCDE"))}
    assert "Under another name?" in words_of(text)
    browser.send("/fit", "/fit", numbers["A"], do="column", column="a value")
    assert numbers["E"] > numbers["A"]
    which = [fields.get("variable") for address, fields in Fields(browser.get("/fit")).forms if address == "/fit"].index(str(numbers["E"]))
    browser.send("/fit", "/fit", which, do="levels", **{f"level-{i}": f"={level}" for i, level in enumerate(levels)})
    assert "5 of 5 variables match" in words_of(browser.get("/fit"))


@pytest.mark.slow
def test_a_contract_that_is_not_what_was_agreed_to_is_asked_about_again(server: Server, tmp_path: Path) -> None:
    """The first site agrees before the second has joined: what is proposed then is something else."""
    frames = dict(list(cs.simulate.mixed_sites(n=600, sites=3, seed=1).items())[:2])
    study = server.do("POST", "/studies", declaration(frames))["id"]
    server.do("POST", f"/studies/{study}/open")
    names = list(frames)
    folders = [tmp_path / name for name in names]
    for folder, frame in zip(folders, frames.values(), strict=True):
        folder.mkdir()
        frame.write_parquet(folder / "table.parquet")
    with running_app(folders[0]) as first, running_app(folders[1]) as second:
        prepared(first, "table.parquet", invite(server, study, names[0]))
        early = consented(first, names[0])
        prepared(second, "table.parquet", invite(server, study, names[1]))
        late = consented(second, names[1])
        assert early != late
        server.do("POST", f"/studies/{study}/start")
        asked = words_of(until_page(first, "/run", "Your answer is needed"))
        assert "Read it and answer" in asked
        assert first.http.get("/run/ledger.jsonl").text == "", "nothing has left"
        again = words_of(first.get("/consent"))
        assert f"New site: {names[1]}." in again
        assert "With two sites, each can compute" in again
        old = first.send("/consent", "/consent", name=names[0], reference=early)
        assert "has changed while you read" in words_of(old.text)
        assert "You have agreed" in words_of(first.send("/consent", "/consent", name=names[0]).text)
        assert server.wait(study) == "finished"
        until_page(first, "/run", "The study is finished")
