"""Accounts in a real browser: links whose key is sent to nobody, and a login at a provider of another site, with a browser's cookies."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from playwright.sync_api import expect

from consilience.service.config import ServerConfig
from consilience.service.server import actions, create_app
from consilience.service.server.linked import make_account_link, make_reset_link
from consilience.service.server.services import Services
from consilience.service.store import AccountRole
from consilience.web.server_app import with_pages
from tests.service.helpers import CHEAP, SERVER, make_app
from tests.service.server.openid import CLIENT, SECRET, OpenIdProvider, openid_provider
from tests.web.browser import street

NEW = "another horse, another battery"


@contextmanager
def serving(home: Path, provider: OpenIdProvider) -> Iterator[tuple[str, Services]]:
    """A server with pages at an address of its own; the provider is at another site: 127.0.0.1 is not localhost."""
    make_app(home).state.services.store.database.close()  # the accounts
    (home / "secret").write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        url = f"http://127.0.0.1:{port}"
        oidc = {"oidc_issuer": provider.url, "oidc_client_id": CLIENT, "oidc_client_secret_file": str(home / "secret")}
        config = ServerConfig(home=str(home), port=port, public_url=url, oidc_name="the clinic", **oidc)
        app: FastAPI = with_pages(create_app(config, SERVER, passwords=CHEAP))
        provider.redirect_uri = f"{url}/login/callback"
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.01)
        try:
            yield url, app.state.services
        finally:
            server.should_exit = True
            thread.join(10)


@pytest.mark.slow
def test_links_and_a_login_elsewhere_in_a_browser(tmp_path: Path) -> None:
    with openid_provider("localhost") as provider, serving(tmp_path, provider) as (url, services), street(tmp_path) as people:
        person = people.person("ada", url, provider.url)
        person.allowed.add(404)  # the provider has no icon
        page = person.page
        link, _ = make_reset_link(services.store, url, "ada")
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.goto(link)
        key = link.rpartition("#")[2]
        expect(page.get_by_label("The key of the link")).to_have_value(key)
        assert page.url == f"{url}/reset"  # nor is it in the history, for whoever sits down here next
        person.see("reset")
        page.get_by_label("A new password").fill(NEW)
        page.get_by_label("The new one again").fill(NEW)
        page.get_by_role("button", name="Set the password").click()
        expect(page.get_by_role("heading", name="The password is set")).to_be_visible()
        assert not [address for address in asked if key in address]

        provider.asks = True
        page.get_by_role("link", name="Log in with the clinic").click()
        page.get_by_role("link", name="Let me in").click()
        page.wait_for_url(f"{url}/studies")  # and not the login again, which is where a redirect without the cookie would end
        expect(page.get_by_role("heading", name="Studies", level=1)).to_be_visible()
        assert any(address.startswith(f"{provider.url}/authorize") for address in asked)

        page.goto(f"{url}/account")
        page.get_by_role("button", name="Make a token").click()
        expect(page.get_by_label("The token", exact=True)).to_be_visible()
        person.see("account")
        study = actions.create(services, "ada", actions.declare("ours"))
        page.goto(f"{url}/studies/{study}/people")
        page.get_by_label("Name of the account").fill("bob")
        page.get_by_label("An observer", exact=True).check()
        page.get_by_role("button", name="Share the study").click()
        expect(page.get_by_role("row", name="bob observer no")).to_be_visible()
        person.see("people")

        observer = people.person("bob", url)
        observer.page.goto(make_account_link(services.store, url, AccountRole.OBSERVER)[0])
        observer.page.get_by_label("Name of the account").fill("eve")
        observer.page.get_by_label("A password").fill(NEW)
        observer.page.get_by_label("The password again").fill(NEW)
        observer.page.get_by_role("button", name="Make the account").click()
        expect(observer.page.get_by_role("heading", name="The account is made")).to_be_visible()
        assert [*person.wrong(), *observer.wrong()] == []
