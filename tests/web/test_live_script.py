"""The script that keeps pages up to date, in a real browser: also after coming back to a page that the browser had put aside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from consilience.web import live
from consilience.web.live import Event, Streams, last_event
from consilience.web.rendering import static_mount
from consilience.web.security import Shield
from tests.web.browser import street
from tests.web.pages.result.stage import served

ENDING = """<!doctype html><html lang="en"><title>Live</title><main data-live="/events"><h1>Live</h1><p id="connection" role="status"></p>
<div id="actions"><button>Cancel</button></div></main><script type="module" src="/static/live.js"></script>"""
PAGE = """<!doctype html><html lang="en"><title>Live</title><main data-live="/events?after=0"><h1>Live</h1><ol id="list"></ol></main>
<script type="module" src="/static/live.js"></script>"""


@pytest.mark.slow
def test_a_page_that_was_put_aside_goes_on_where_it_was(tmp_path: Path) -> None:
    asked, streams = list[int](), Streams()

    async def page(_request: Request) -> Response:
        return HTMLResponse(PAGE)

    async def events(request: Request) -> Response:
        asked.append(last_event(request))

        async def found() -> AsyncIterator[Event]:
            for number in range(asked[-1] + 1, asked[-1] + 3):
                yield Event("append", "list", f"<li>{number}</li>", number)
            await asyncio.sleep(30.0)

        return streams.respond(found())

    app = Starlette(routes=[Route("/", page), Route("/events", events), static_mount()])
    app.add_middleware(Shield, links=True)
    with served(app) as address, street(tmp_path) as people:
        person = people.person("reader", address)
        person.allowed.add(404)  # it asks for an icon
        person.page.goto(address)
        expect(person.page.locator("li")).to_have_text(["1", "2"])
        person.page.evaluate("dispatchEvent(new PageTransitionEvent('pagehide', {persisted: true}))")
        person.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
        expect(person.page.locator("li")).to_have_text(["1", "2", "3", "4"])
        assert asked == [0, 2]
        assert person.wrong() == []
        person.page.goto("about:blank")
        streams.close()


@pytest.mark.slow
def test_a_page_whose_study_is_over_says_so_and_asks_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "RETRY", (50, 60))
    asked, streams = list[int](), Streams()

    async def page(_request: Request) -> Response:
        return HTMLResponse(ENDING)

    async def events(request: Request) -> Response:
        asked.append(last_event(request))

        async def found() -> AsyncIterator[Event]:
            yield Event("replace", "actions", "", 1)
            if len(asked) > 1:  # the first connection ends without a word
                yield Event("done", "", "Over &amp; out.", 2)

        return streams.respond(found())

    app = Starlette(routes=[Route("/", page), Route("/events", events), static_mount()])
    app.add_middleware(Shield, links=True)
    with served(app) as address, street(tmp_path) as people:
        person = people.person("reader", address)
        person.allowed.add(404)  # it asks for an icon
        person.page.goto(address)
        expect(person.page.locator("#connection")).to_have_text("Over & out.")
        expect(person.page.get_by_role("button")).to_have_count(0)
        person.page.wait_for_timeout(400)
        assert asked == [0, 1], "connected again after the first, and not after the last"
        assert person.wrong() == []
