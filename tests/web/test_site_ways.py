"""Other ways through the app: a study without a list of variables, a refusal, leaving and coming back, an app that was started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import consilience as cs
from tests.system.processes import Server, declaration, running, until
from tests.web.apps import Browser, running_app, until_page, words_of
from tests.web.test_site_study import consented, invite, prepared

FRAMES = dict(list(cs.simulate.mixed_sites(n=400, sites=2, seed=2).items()))
NAMES = list(FRAMES)
pytestmark = pytest.mark.slow


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    made = []
    for name, frame in FRAMES.items():
        (tmp_path / name).mkdir()
        frame.write_parquet(tmp_path / name / "table.parquet")
        made.append(tmp_path / name)
    return made


def study_of(server: Server, **changes: Any) -> str:
    study = str(server.do("POST", "/studies", {**declaration(FRAMES), **changes})["id"])
    server.do("POST", f"/studies/{study}/open")
    return study


def test_a_study_without_variables_asks_twice(server: Server, folders: list[Path]) -> None:
    """First whether the variables may be told, then about the contract that was made of them."""
    study = study_of(server, variables=None, datasets=None)
    with running_app(folders[0]) as first, running_app(folders[1]) as second:
        for browser, name in ((first, NAMES[0]), (second, NAMES[1])):
            prepared(browser, "table.parquet", invite(server, study, name))
            asked = words_of(browser.send("/fit", "/fit", -1, **{"continue": "1"}).text)
            assert "its server asks which ones this site measures" in asked
            assert all(f"{column}: " in asked for column in FRAMES[name].columns), "every name, before it is told"
            browser.send("/consent", "/consent", name=name)
            until_page(browser, "/run", "waits for the study’s owner")
        server.do("POST", f"/studies/{study}/start")
        for browser, name in ((first, NAMES[0]), (second, NAMES[1])):
            until_page(browser, "/run", "Your answer is needed")
            assert len(browser.http.get("/run/ledger.jsonl").text.splitlines()) == 1, "the names of the variables"
            assert "The variables were asked from the sites" in words_of(browser.get("/consent"))
            browser.send("/consent", "/consent", name=name)
        assert server.wait(study) == "finished"
        until_page(first, "/run", "The study is finished")


def test_whoever_does_not_agree_sends_nothing(server: Server, folders: list[Path]) -> None:
    study = study_of(server)
    with running_app(folders[0]) as first:
        prepared(first, "table.parquet", invite(server, study, NAMES[0]))
        consented(first, NAMES[0])
        with running_app(folders[1]) as second:
            prepared(second, "table.parquet", invite(server, study, NAMES[1]))
            server.do("POST", f"/studies/{study}/start")
            until_page(first, "/run", "Your answer is needed")
            first.send("/consent", "/consent", decline="1")
            assert "You have not agreed" in words_of(until_page(first, "/run", "The run has ended"))
            assert first.http.get("/run/ledger.jsonl").text == ""
            assert server.state(study)[0] == "running", "it waits for another answer"
            gone = first.http.post("/run/withdraw", data={"csrf": first.csrf("/run"), "reason": "not our study"})
            assert "This site has withdrawn from the study" in words_of(gone.text)
            assert "not our study. It answers nothing more." in words_of(gone.text)
            (told,) = until(lambda: [body for _, kind, body in server.events(study) if kind == "withdrew"], 20)
            assert told == {"site": NAMES[0], "reason": "not our study", "answers": 0, "bytes": 0}
            server.do("POST", f"/studies/{study}/cancel")


def withheld(browser: Browser, *names: str) -> str:
    return words_of(browser.send("/fit", "/fit", -1, withheld=list(names), do="withhold").text)


def test_a_site_leaves_comes_back_and_goes_on_after_a_restart(server: Server, folders: list[Path]) -> None:
    study = study_of(server)
    held = FRAMES[NAMES[0]].columns
    with running_app(folders[0]) as first:
        prepared(first, "table.parquet", invite(server, study, NAMES[0]))
        said = withheld(first, held[0])
        assert f"{len(held) - 1} of {len(held)} variables match" in said
        assert f"{len(held) - 1} pairs without this site" in said
        assert f"{len(held)} of {len(held)} variables match" in withheld(first)
        with running_app(folders[1]) as second:
            prepared(second, "table.parquet", invite(server, study, NAMES[1]))
            consented(first, NAMES[0])
            until_page(first, "/run", "waits for the study’s owner")
            with first.http.stream("GET", "/run/events?after=0") as stream:
                assert stream.headers["content-type"].startswith("text/event-stream")
                lines = stream.iter_lines()
                retry, *_, event = (next(lines) for _ in range(4))
                assert retry.startswith("retry: ")
                assert event == "event: replace"
                assert "waits for the study’s owner" in next(lines)
            busy = first.http.post("/data/forget", data={"csrf": first.csrf("/run")})
            assert busy.status_code == 409, "the table cannot be taken from under the agent"
            assert "Leave the study?" in words_of(first.send("/run", "/run/leave").text)
            left = first.http.post("/run/leave", data={"csrf": first.csrf("/run"), "sure": "1"})
            assert "This site has left the study" in words_of(left.text)
            left_by = until(lambda: [body["site"] for _, kind, body in server.events(study) if kind == "lost" and body.get("left")], 20)
            assert left_by == [NAMES[0]], "who leaves says so; who closes the app, or only looks, does not"
            first.send("/run", "/run")
            until_page(first, "/run", "waits for the study’s owner")
            server.do("POST", f"/studies/{study}/start")
            until_page(first, "/run", "waits for the other sites")
    # both apps are gone; the second has not agreed to anything, the first has
    with running_app(folders[0]) as first, running_app(folders[1]) as second:
        first.launch()
        assert "Stopped" in words_of(first.get("/"))
        first.send("/data", "/data", file="table.parquet")
        withheld(first, held[0])
        assert "You have agreed to take part with" in words_of(first.send("/run", "/run").text)
        withheld(first)
        assert "There is a problem" not in words_of(first.send("/run", "/run").text)
        second.launch()
        second.send("/data", "/data", file="table.parquet")
        second.send("/columns", "/columns")
        consented(second, NAMES[1])
        assert server.wait(study) == "finished"
        until_page(first, "/run", "The study is finished")
        until_page(second, "/run", "The study is finished")


def test_an_invitation_that_is_none_and_a_server_that_is_gone(folders: list[Path], tmp_path: Path) -> None:
    with running(tmp_path / "gone") as away:
        study = study_of(away)
        invitation = invite(away, study, NAMES[0])
        again = invite(away, study, NAMES[1])
        with running_app(folders[0]) as browser:
            browser.launch()
            assert "begins with" in words_of(browser.send("/join", "/join", invitation="hello").text)
            answer = browser.http.post("/join/file", data={"csrf": browser.csrf()}, files={"file": ("i.txt", invitation.encode())})
            assert "Joined" in words_of(answer.text)
            away.kill()
            browser.send("/data", "/data", file="table.parquet")
            gone = browser.http.get("/fit")
            assert gone.status_code == 502
            assert "cannot be reached" in words_of(gone.text)
            assert "There is a problem" in words_of(browser.send("/join", "/join", invitation=again).text)


@pytest.mark.parametrize("file", ["big.csv", "big.parquet"])
def test_a_large_table_is_read_typed_and_drawn_in_a_few_seconds(tmp_path: Path, file: str) -> None:
    """The bound is the issue's with room for a busy machine; the benchmark measures."""
    frame = cs.simulate.mixed_sites(n=100_000, sites=1, seed=3)
    table = next(iter(frame.values()))
    wide = pl.concat([table.rename(lambda name, i=i: f"{name}{i}") for i in range(4)], how="horizontal")
    wide.write_csv(tmp_path / "big.csv") if file == "big.csv" else wide.write_parquet(tmp_path / "big.parquet")
    with running_app(tmp_path) as browser:
        browser.launch()
        token = browser.csrf()
        answer = browser.http.post("/data", data={"csrf": token, "file": file})
        assert "100,000 rows" in words_of(answer.text)
        assert sum(r.elapsed.total_seconds() for r in (answer, *answer.history)) < 9.0
