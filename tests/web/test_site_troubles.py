"""What goes wrong at a site: a choice passed over, an invitation used twice, a study that is cancelled, an app that is started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import polars as pl
import pytest

from consilience.federation.site.ledger import LedgerLine
from tests.system.processes import Server, declaration, running
from tests.web.apps import Browser, Fields, running_app, until_page, words_of
from tests.web.test_site_study import consented, invite, prepared
from tests.web.test_site_ways import FRAMES, NAMES

pytestmark = pytest.mark.slow


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    for name, frame in FRAMES.items():
        (tmp_path / name).mkdir()
        frame.write_csv(tmp_path / name / "table.csv")
    return [tmp_path / name for name in NAMES]


def study_of(server: Server, **changes: Any) -> str:
    study = str(server.do("POST", "/studies", {**declaration(FRAMES), **changes})["id"])
    server.do("POST", f"/studies/{study}/open")
    return study


def levels(browser: Browser, *choices: str) -> str:
    """Send the first form for levels."""
    return browser.send("/fit", "/fit", 0, do="levels", **{f"level-{i}": choice for i, choice in enumerate(choices)}).text


def test_a_level_is_never_made_missing_by_passing_over_it(server: Server, tmp_path: Path) -> None:
    variables = [{"name": "dead", "kind": "binary", "levels": []}, {"name": "age", "kind": "continuous", "levels": []}]
    study = study_of(server, variables=variables, datasets=[["age", "dead"]])
    pl.DataFrame({"dead": ["no", "yes", "other"] * 20, "age": [float(i) for i in range(60)]}).write_csv(tmp_path / "table.csv")
    with running_app(tmp_path) as browser:
        prepared(browser, "table.csv", invite(server, study, "muenster"))
        browser.get("/fit")
        # the study's variables come in their order, so age first: it matches and has no form
        said = browser.send("/fit", "/fit", 0, do="levels").text
        assert "Choose what yes is in dead" in words_of(said)
        assert 'href="#level-1-2"' in said
        assert 'id="level-1-2"' in said
        assert "1 of 2 variables match" in words_of(browser.get("/fit"))
        half = levels(browser, "=0", "missing")
        assert "Choose what yes is" in words_of(half)
        assert "Choose what no is" not in words_of(half)
        assert half.count(" selected") == 2, "what was chosen is still there"
        assert "dead would have no value left" in words_of(levels(browser, "missing", "missing", "missing"))
        assert "Choose what" in words_of(levels(browser, "=0", "missing", "=nonsense"))
        old = browser.get("/fit")
        assert "2 of 2 variables match" in words_of(levels(browser, "=0", "missing", "=1"))
        seen = old.partition('name="seen" value="')[2][:16]
        late = {"csrf": browser.csrf("/fit"), "variable": "1", "seen": seen, "do": "levels", "level-0": "=1"}
        assert "has changed since this page was loaded" in words_of(browser.http.post("/fit", data=late).text)


def test_an_invitation_works_once_and_a_server_may_be_away(folders: list[Path], tmp_path: Path) -> None:
    with running(tmp_path) as away, running_app(folders[0]) as first, running_app(folders[1]) as second:
        study = study_of(away)
        invitation, other = invite(away, study, NAMES[0]), invite(away, study, NAMES[1])
        prepared(first, "table.csv", invitation)
        second.launch()
        used = second.send("/join", "/join", invitation=invitation)
        assert "The invitation is not valid, or not any more" in words_of(used.text)
        again = words_of(first.send("/join", "/join", invitation=invitation).text)
        assert "The invitation is not valid, or not any more" in again
        assert f"takes part as {NAMES[0]}" in again, "what was joined stays joined"
        away.kill()
        gone = second.send("/join", "/join", invitation=other)
        assert "Check the network, and try again" in words_of(gone.text)
        assert other[:40] in gone.text, "what was pasted is still there"
        away.start()
        assert "Joined" in words_of(second.send("/join", "/join", invitation=other).text)


def test_a_study_that_is_cancelled_while_it_runs(server: Server, folders: list[Path]) -> None:
    study = study_of(server)
    with running_app(folders[0]) as first, running_app(folders[1]) as second:
        prepared(first, "table.csv", invite(server, study, NAMES[0]))
        prepared(second, "table.csv", invite(server, study, NAMES[1]))
        consented(first, NAMES[0])
        server.do("POST", f"/studies/{study}/start")
        until_page(first, "/run", "waits for the other sites")
        assert "This site has not agreed to the study" in words_of(second.get("/run"))
        server.do("POST", f"/studies/{study}/cancel")
        ended = words_of(until_page(first, "/run", "over without a result"))
        assert "It is cancelled: cancelled by its owner" in ended
        assert "Who took part" in ended
        assert "did not agree" in ended
        for untrue in ("Running for", "not asked yet", "Leave the study", "Go on"):
            assert untrue not in ended
        given = words_of(first.get("/consent/given"))
        assert "The study is cancelled" in given
        assert "Leave this app running" not in given
        assert first.http.get("/consent").url.path == "/run", "nobody is asked to agree to a study that is over"
        assert "The study is cancelled" in words_of(second.get("/fit"))
        late = words_of(second.get("/run"))
        assert "This site had not agreed to it" in late
        assert "Go on" not in late
        assert second.http.get("/consent").url.path == "/run"
        assert "typing this site’s name. The study is cancelled" in words_of(second.get("/"))


def started(server: Server, study: str, first: Browser, second: Browser) -> None:
    """Both have joined, the first has agreed, the study waits for the second."""
    prepared(first, "table.csv", invite(server, study, NAMES[0]))
    prepared(second, "table.csv", invite(server, study, NAMES[1]))
    consented(first, NAMES[0])
    server.do("POST", f"/studies/{study}/start")
    until_page(first, "/run", "waits for the other sites")


def test_after_a_restart_the_table_must_be_the_one_that_was_agreed_with(server: Server, folders: list[Path]) -> None:
    study, frame, file = study_of(server), FRAMES[NAMES[0]], folders[0] / "table.csv"
    with running_app(folders[1]) as second:
        with running_app(folders[0]) as first:
            started(server, study, first, second)
        frame.head(frame.height - 1).write_csv(file)
        with running_app(folders[0]) as first:
            first.launch()
            assert "Choose the table and go on" in words_of(first.get("/run"))
            given = words_of(first.get("/consent/given"))
            assert "The agent is not running, so the study waits for this site" in given
            assert "The agent answers" not in given
            first.send("/data", "/data", file="table.csv")
            assert "is not the one that you have agreed with" in words_of(first.send("/run", "/run").text)
            assert first.http.get("/run/ledger.jsonl").text == ""
            # in another order it is the same table
            frame.reverse().select(frame.columns[::-1]).write_csv(file)
            first.send("/data", "/data", file="table.csv")
            # but not after other steps, though these change no value
            page = f"/columns/{next(i for i, column in enumerate(reversed(frame.columns)) if frame[column].dtype.is_float())}"
            first.send(page, page, low="-1e9")
            assert "are not those that you have agreed with" in words_of(first.send("/run", "/run").text)
            first.send(page, page, reset="1")
            assert "There is a problem" not in words_of(first.send("/run", "/run").text)
            consented(second, NAMES[1])
            assert server.wait(study) == "finished"
            until_page(first, "/run", "The study is finished")


def test_sums_of_two_tables_do_not_leave_in_one_study(server: Server, folders: list[Path]) -> None:
    study, frame, file = study_of(server), FRAMES[NAMES[0]], folders[0] / "table.csv"
    with running_app(folders[1]) as second, running_app(folders[0]) as first:
        started(server, study, first, second)
        ledger = next(folders[0].rglob("consent.json")).parent / "ledger.jsonl"
        first.http.post("/run/leave", data={"csrf": first.csrf("/run"), "sure": "1"})
        line = LedgerLine("2026-01-31T00:00:00Z", study, "r", 0, "counts of 3 variable sets", 6, 96, 2)
        ledger.write_bytes(msgspec.json.encode(line) + b"\n")  # as if a round had been answered before
        frame.head(frame.height - 1).write_csv(file)
        first.send("/data", "/data", file="table.csv")
        assert "about the rows that differ" in words_of(first.send("/run", "/run").text)
        first.send("/fit", "/fit", -1, **{"continue": "1"})
        first.send("/leaving", "/leaving")
        until_page(first, "/leaving", "masked numbers")  # at once on a machine that has nothing else to do
        assert "about the rows that differ" in words_of(first.send("/consent", "/consent", name=NAMES[0]).text)
        assert len(first.http.get("/run/ledger.jsonl").text.splitlines()) == 1


def test_what_another_window_has_changed_is_not_agreed_to_unread(server: Server, folders: list[Path]) -> None:
    study = study_of(server)
    with running_app(folders[0]) as browser:
        prepared(browser, "table.csv", invite(server, study, NAMES[0]))
        for kept in ([], FRAMES[NAMES[0]].columns[:1]):
            browser.send("/fit", "/fit", -1, withheld=kept, **{"continue": "1"})
            browser.send("/leaving", "/leaving")
            until_page(browser, "/leaving", "masked numbers")
            if not kept:
                (read,) = (fields for action, fields in Fields(browser.get("/consent")).forms if action == "/consent")
        said = browser.http.post("/consent", data={**read, "name": NAMES[0]})
        assert "what you withhold, has changed while you read" in words_of(said.text)
        assert "You have agreed" in words_of(browser.send("/consent", "/consent", name=f" {NAMES[0]} ").text)
