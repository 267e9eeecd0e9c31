"""A run as its page sees it: a real server, real sites, and the events of an open page until the end."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import httpx
import pytest

from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.invitation import read_invitation
from consilience.service.store import Event, State
from consilience.service.tls import client_context
from consilience.web.pages.server.board import LINES, Board, Boards
from consilience.web.pages.server.event_words import words_of
from consilience.web.pages.server.follow import events_of
from consilience.web.pages.server.visit import Visit
from tests.system.processes import OWNER, PASSWORD, PROGRAM, Agent, Server, declaration, enrol, environment, running, until
from tests.system.test_equality import frames_of
from tests.web.pages.server.helpers import CSRF, Browser, words


@contextmanager
def logged_in(url: str, ca: str) -> Iterator[httpx.Client]:
    """A browser's client, with its cookie."""
    context = client_context(Path(ca).read_text())
    with httpx.Client(base_url=url, verify=context, timeout=30.0, trust_env=False, headers={"Origin": url}) as client:
        form = CSRF.search(client.get("/login").text)
        assert form is not None
        reply = client.post("/login", data={"csrf": form[1], "name": OWNER, "password": PASSWORD})
        assert reply.status_code == 303, reply.text
        yield client


@pytest.mark.slow
def test_the_lobby_follows_who_joins(tmp_path: Path) -> None:
    with running(tmp_path) as server, logged_in(server.url, server.ca) as client:
        study = server.do("POST", "/studies", {"name": "trial"})["id"]
        page = client.get(f"/studies/{study}/lobby")
        after = re.findall(r"lobby/live\?after=(\d+)", page.text)
        assert len(after) == 1
        with client.stream("GET", f"/studies/{study}/lobby/live?after={after[0]}", timeout=30.0) as reply:
            text = server.do("POST", f"/studies/{study}/invitations", {"site": "muenster"})["invitation"]
            enter(Home(tmp_path / "site"), read_invitation(text))
            told = [json.loads(line[6:]) for line in islice((line for line in reply.iter_lines() if line.startswith("data: ")), 3)]
        assert [part["target"] for part in told] == ["sites", "overlap", "next"]
        assert "muenster" in told[0]["html"]
        assert 'name="csrf"' in told[2]["html"]


@pytest.mark.slow
def test_a_page_follows_a_run_to_its_end(tmp_path: Path) -> None:
    frames = frames_of(3, rows=120, seed=3)
    with running(tmp_path) as server, logged_in(server.url, server.ca) as client:
        study, agents = enrol(server, tmp_path / "sites", frames, declaration(frames))
        for agent in agents:
            agent.start()
        until(lambda: all(site["connected"] for site in server.do("GET", f"/studies/{study}")["sites"]))
        page = client.get(f"/studies/{study}/progress")
        live = re.search(r'data-live="([^"]+)"', page.text)
        assert live is not None
        assert "Cancel the study" in page.text
        kinds, targets, last, seen, leads = [], list[str](), "", list[int](), list[bool]()
        with client.stream("GET", live[1], timeout=60.0) as reply:  # opened before the run begins: one page follows all of it
            assert reply.headers["content-type"].startswith("text/event-stream")
            assert "default-src 'none'" in reply.headers["content-security-policy"]
            with logged_in(server.url, server.ca) as other:
                form = CSRF.search(other.get(f"/studies/{study}").text)
                assert form is not None
                assert other.post(f"/studies/{study}/start", data={"csrf": form[1]}).headers["location"] == f"/studies/{study}/progress"
            for line in reply.iter_lines():
                if line.startswith("event: "):
                    kinds.append(line[7:])
                elif line.startswith("id: "):
                    seen.append(int(line[4:]))
                elif line.startswith("data: "):
                    told = json.loads(line[6:])
                    targets.append(told["target"])
                    last = told["html"]
                    if "is asked for consent" in last or "has agreed to the contract" in last:
                        leads.append("has agreed to the contract" in last)
        assert True in leads, "the page says that all have agreed when they have"
        assert leads == sorted(leads), "and not before"
        assert kinds == ["replace"] * (len(kinds) - 1) + ["done"], "no page is loaded anew, neither at the start nor at the end"
        assert targets[-4:] == ["board", "steps", "actions", ""]
        assert last == "The study is finished; nothing more will change here."
        assert seen == sorted(seen)
        assert server.wait(study) == "finished"
        result = client.get(f"/studies/{study}/result")
        assert result.status_code == 200
        shown = client.get(f"/studies/{study}/progress").text
        assert "See the result" in shown
        assert "Cancel the study" not in shown
        assert int(re.findall(r"<strong>(\d+)</strong>tests done", shown)[0]) == len(server.result(study)["tests"])
        for agent in agents:
            agent.wait()
        check_site(server, agents[0], study)


def check_site(server: Server, agent: Agent, study: str) -> None:
    """A site's own people see the same result, with a token that its program prints."""
    command = [*PROGRAM, "client", "token", "--home", str(agent.home)]
    token = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout.strip()
    context = client_context(Path(server.ca).read_text())
    with httpx.Client(base_url=server.url, verify=context, timeout=30.0, trust_env=False, headers={"Origin": server.url}) as client:
        form = CSRF.search(client.get("/token").text)
        assert form is not None
        assert client.post("/token", data={"csrf": form[1], "token": token}).headers["location"] == f"/studies/{study}"
        assert client.get(f"/studies/{study}").status_code == 200
        assert client.get(f"/studies/{study}/result").status_code == 200
        assert client.get(f"/studies/{study}/result/files/result.json").json() == server.result(study)
        assert client.get(f"/studies/{study}/lobby").status_code == 404


def test_a_board_adds_up_what_events_say() -> None:
    board = Board()
    for number in range(1, 100):
        board.add(Event(number, float(number), "joined", {"site": f"s{number}"}))
    board.add(Event(100, 100.0, "round", {"rounds": 7, "bytes": 800}))
    board.add(Event(101, 101.0, "stage", {"words": "tests: 3 of 9"}))
    assert (board.number, board.rounds, board.bytes, board.stage, len(board.lines)) == (101, 7, 800, "tests: 3 of 9", LINES)
    assert board.lines[0][1] == "s99 joined"


def test_who_has_left_is_told_from_who_is_lost_until_either_comes_back() -> None:
    board = Board()
    board.add(Event(1, 1.0, "lost", {"site": "mainz", "reason": "the connection ended"}))
    board.add(Event(2, 2.0, "lost", {"site": "marburg", "reason": "its owner has left the study", "left": True}))
    assert (set(board.lost), board.left) == ({"mainz", "marburg"}, {"marburg"})
    assert board.lines[0][1].endswith("its owner has left the study")
    board.add(Event(3, 3.0, "connected", {"site": "marburg"}))
    assert (set(board.lost), board.left) == ({"mainz"}, set())


@pytest.mark.parametrize(
    "kind", ["created", "opened", "started", "resumed", "run", "round", "tests", "finished", "failed", "cancelled", "lost"]
)
def test_every_kind_of_event_has_words_even_without_its_details(kind: str) -> None:
    assert words_of(Event(1, 0.0, kind, {})) not in ("", kind)


def test_one_look_serves_all_who_look(ada: Browser, monkeypatch: pytest.MonkeyPatch) -> None:
    study = ada.new_study()
    services = ada.client.app.state.services  # type: ignore[attr-defined]
    boards, asked = Boards(services), list[int]()
    events = services.store.runs.events

    def counted(*args: object, **more: object) -> object:
        asked.append(1)
        return events(*args, **more)

    monkeypatch.setattr(services.store.runs, "events", counted)
    looks = [boards.standing(study) for _ in range(200)]
    assert len(asked) <= 4
    assert all(look is looks[0] for look in looks)
    time.sleep(0.25)
    services.runner.event(study, "opened")
    later = boards.standing(study)
    assert later is not None
    assert looks[0] is not None
    assert later.number == looks[0].number + 1
    assert later.state is State.DRAFT
    ada.act(study, "delete", called="trial")
    time.sleep(0.25)
    assert boards.standing(study) is None


def test_a_stream_ends_with_its_session(ada: Browser) -> None:
    """The page of somebody who was logged out goes to the beginning, and learns nothing more."""
    study = ada.new_study()
    app = ada.client.app.user_middleware[-1].kwargs["pages"]._app  # type: ignore[attr-defined]
    session = next(cookie.value for cookie in ada.client.cookies.jar if not cookie.name.endswith("-form"))
    pages = app.state.pages
    who = pages.services.store.accounts.who(session, "pages")
    request = type("Request", (), {"app": app})()
    visit = Visit(request, pages, session or "", who)

    async def first() -> str:
        ada.post("/logout", "/account")
        async for event in events_of(visit, study, 0, lambda _visit, _standing: []):
            return f"{event.kind} {event.target}"
        return ""

    assert asyncio.run(first()) == "go /studies"
    assert "Log in" in words(ada.client.get("/"))
