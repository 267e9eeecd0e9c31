"""Logging in by OpenID Connect, with a provider that runs: the way there and back, who is let in, and attacks on it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from joserfc.jwk import RSAKey

from consilience.errors import MissingPackageError
from consilience.service.config import ServerConfig
from consilience.service.errors import ConfigurationError
from consilience.service.server.openid import settings as openid_settings
from consilience.service.server.openid.settings import OpenIdSettings, provider_of
from consilience.service.store import AccountRole
from tests.service.server.openid import (
    CLIENT,
    SECRET,
    Claims,
    OpenIdProvider,
    keyed,
    openid_provider,
    signed_by_a_curve,
    signed_by_another,
    unsigned,
)
from tests.service.server.roles import services_of
from tests.web.pages.server.helpers import HOST, Browser, another, browsing, words

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running() -> Iterator[OpenIdProvider]:
    with openid_provider() as found:
        found.redirect_uri = f"{HOST}/login/callback"
        yield found


@pytest.fixture
def provider(running: OpenIdProvider) -> Iterator[OpenIdProvider]:
    """As it was made, whatever a test before has done to it."""
    before = dict(vars(running))
    yield running
    vars(running).update(before)


@contextmanager
def at_server(tmp_path: Path, provider: OpenIdProvider, **more: Any) -> Iterator[Browser]:
    (tmp_path / "secret").write_text(f"{SECRET}\n")
    given = {"oidc_issuer": provider.url, "oidc_client_id": CLIENT, "oidc_client_secret_file": str(tmp_path / "secret"), **more}
    with browsing(tmp_path, time.time, **given) as found:  # type: ignore[arg-type]
        yield found


@pytest.fixture
def browser(tmp_path: Path, provider: OpenIdProvider) -> Iterator[Browser]:
    with at_server(tmp_path, provider) as found:
        yield found


def there(browser: Browser, after: str = "") -> httpx.URL:
    """To the provider, and where that sends the browser back to."""
    reply = browser.get(f"/login/there?next={after}")
    assert reply.status_code == 303, words(reply)
    back = httpx.get(reply.headers["location"], trust_env=False)
    assert back.status_code == 303, back.text
    return httpx.URL(back.headers["location"])


def come_back(browser: Browser, url: httpx.URL) -> Any:
    """As a browser does, which is sent by another site."""
    fetched = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    return browser.get(url.raw_path.decode(), **fetched)


def log_in(browser: Browser) -> Any:
    return come_back(browser, there(browser))


def is_in(browser: Browser, name: str = "ada") -> bool:
    reply = browser.get("/account")
    return reply.status_code == 200 and f" {name} Log out" in words(reply)


def test_a_person_logs_in_and_goes_where_they_wanted(browser: Browser, provider: OpenIdProvider) -> None:
    assert "Log in with 127.0.0.1" in words(browser.get("/login"))
    reply = come_back(browser, there(browser, "/studies/new"))
    assert reply.status_code == 200  # no redirect: a strict cookie would not come with it
    assert '<meta http-equiv="refresh" content="0; url=/studies/new">' in reply.text
    made = {text.partition("=")[0]: text for text in reply.headers.get_list("set-cookie")}
    session = next(text for name, text in made.items() if not name.endswith(("-form", "-oidc")))
    assert all(word in session for word in ("HttpOnly", "Secure", "SameSite=strict"))
    assert is_in(browser)
    (row,) = [row for row in services_of(browser.client).store.audit.of_account("ada") if row.action == "logged in"]
    assert "by 127.0.0.1" in row.detail
    assert another(browser).login("bob").status_code == 303  # passwords work as before


def test_the_way_there_is_sealed_in_a_cookie_for_ten_minutes(browser: Browser) -> None:
    reply = browser.get("/login/there")
    (cookie,) = reply.headers.get_list("set-cookie")
    assert cookie.startswith("__Host-consilience-")
    assert all(word in cookie for word in ("HttpOnly", "Secure", "SameSite=lax", "Max-Age=600"))
    asked = httpx.URL(reply.headers["location"]).params
    assert asked["tenant"] == "1"  # what the provider's own address has
    assert (asked["redirect_uri"], asked["response_type"], asked["code_challenge_method"]) == (f"{HOST}/login/callback", "code", "S256")
    assert len({asked["state"], asked["nonce"], asked["code_challenge"]}) == 3
    assert all(len(asked[name]) == 43 for name in ("state", "nonce", "code_challenge"))


def says(**changes: Any) -> Callable[[Claims], Claims]:
    return lambda claims: {**claims, **changes}


def without(name: str) -> Callable[[Claims], Claims]:
    return lambda claims: {key: value for key, value in claims.items() if key != name}


LIES = {
    "wrong nonce": says(nonce="another"),
    "no nonce": without("nonce"),
    "wrong audience": says(aud="another client"),
    "no audience": without("aud"),
    "an audience among others, for somebody else": says(aud=[CLIENT, "another"], azp="another"),
    "an audience among others, for nobody": says(aud=[CLIENT, "another"]),
    "expired": lambda claims: {**claims, "exp": int(time.time()) - 120},
    "without an end": without("exp"),
    "not yet": lambda claims: {**claims, "nbf": int(time.time()) + 600},
    "issued in the future": lambda claims: {**claims, "iat": int(time.time()) + 600},
    "another issuer": says(iss="https://login.evil.example"),
    "nobody": says(sub=""),
    "no subject": without("sub"),
    "another access token": says(at_hash="AAAAAAAAAAAAAAAAAAAAAA"),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_token_that_does_not_hold_lets_nobody_in(browser: Browser, provider: OpenIdProvider, lie: Callable[[Claims], Claims]) -> None:
    provider.twist = lie
    reply = log_in(browser)
    assert reply.status_code == 401
    assert "The login was not confirmed." in words(reply)
    assert not is_in(browser)
    provider.twist = lambda claims: claims
    assert log_in(browser).status_code == 200
    assert is_in(browser)


FORGERIES: dict[str, Callable[[Claims], str]] = {
    "alg none": unsigned,
    "another key": signed_by_another,
    "an unknown key": signed_by_a_curve,
    "the client's secret as a key": lambda claims: keyed(claims, SECRET.encode()),
    "no token": lambda _claims: "",
    "no three parts": lambda _claims: "a.b",
    "a number": lambda _claims: 7,  # type: ignore[dict-item, return-value]
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_a_token_that_the_provider_has_not_signed_lets_nobody_in(
    browser: Browser, provider: OpenIdProvider, forge: Callable[[Claims], str]
) -> None:
    provider.sign = forge
    assert log_in(browser).status_code == 401
    assert not is_in(browser)


def test_the_public_key_is_no_secret_to_sign_with(browser: Browser, provider: OpenIdProvider) -> None:
    """The old trick: HMAC, with the text of the key that everybody knows."""
    provider.sign = lambda claims: keyed(claims, provider.key.as_pem(private=False))
    assert log_in(browser).status_code == 401
    assert not is_in(browser)


def test_the_state_of_another_browser_is_refused(browser: Browser) -> None:
    """Somebody else's way back, sent to a victim: they would be logged in as the attacker, or the attacker as them."""
    attacker = another(browser)
    url = there(attacker)
    assert come_back(browser, url).status_code == 401  # a browser that never went
    there(browser)
    reply = come_back(browser, url)  # one that went, with a state of its own
    assert reply.status_code == 401
    assert "This login was not begun in this browser" in words(reply)
    assert not is_in(browser)
    assert come_back(attacker, url).status_code == 200  # and the code was not used up by it


def test_a_way_back_works_once_and_for_ten_minutes(tmp_path: Path, provider: OpenIdProvider) -> None:
    (tmp_path / "secret").write_text(SECRET)
    now = time.time()
    given = {"oidc_issuer": provider.url, "oidc_client_id": CLIENT, "oidc_client_secret_file": str(tmp_path / "secret")}
    with browsing(tmp_path, lambda: now, **given) as browser:  # type: ignore[arg-type]
        url = there(browser)
        assert come_back(browser, url).status_code == 200
        assert come_back(browser, url).status_code == 401
        url = there(browser)
        now += 601
        assert "too long ago" in words(come_back(browser, url))


def test_a_code_of_another_login_is_refused_by_its_proof(browser: Browser) -> None:
    """A code that was stolen from somebody, in a login that the thief began: PKCE, and the nonce."""
    stolen = there(another(browser)).params["code"]
    url = there(browser)
    assert come_back(browser, url.copy_set_param("code", stolen)).status_code == 401
    assert not is_in(browser)


@pytest.mark.parametrize("query", ["", "error=access_denied", "code=", "code=" + "x" * 5000])
def test_without_a_code_nobody_is_let_in_and_nothing_is_echoed(browser: Browser, query: str) -> None:
    state = there(browser).params["state"]
    reply = browser.get(f"/login/callback?state={state}&{query}&error_description=<b>hello</b>")
    assert reply.status_code == 401
    assert "has not let you in" in words(reply)
    assert "hello" not in reply.text


def test_an_answer_of_another_provider_is_refused(browser: Browser, provider: OpenIdProvider) -> None:
    provider.answers_as = "https://login.evil.example"
    assert log_in(browser).status_code == 401
    provider.answers_as = provider.url
    assert log_in(browser).status_code == 200


def test_a_cookie_that_the_server_has_not_sealed_is_worth_nothing(browser: Browser) -> None:
    url = there(browser)
    name, value = next((c.name, str(c.value)) for c in browser.client.cookies.jar if c.name.endswith("-oidc"))
    for planted in ("", "x", f"{value[:-1]}{'0' if value[-1] != '0' else '1'}", f"e30=.{value.rpartition('.')[2]}", "e30=.0"):
        browser.client.cookies.set(name, planted, domain="study.example")
        browser.client.cookies.delete(name, domain="study.example", path="/") if not planted else None
        assert come_back(browser, url).status_code == 401, planted


def test_the_host_of_a_request_does_not_say_where_to_come_back_to(browser: Browser) -> None:
    assert browser.get("/login/there", Host="evil.example").status_code == 403
    reply = browser.get("/login/there", **{"X-Forwarded-Host": "evil.example"})
    assert httpx.URL(reply.headers["location"]).params["redirect_uri"] == f"{HOST}/login/callback"
    after = come_back(browser, there(browser, "https://evil.example/"))
    assert 'content="0; url=/studies"' in after.text


def test_refused_logins_are_limited(tmp_path: Path, provider: OpenIdProvider) -> None:
    with at_server(tmp_path, provider, login_burst=3) as browser:
        found = [browser.get("/login/callback?code=x&state=y").status_code for _ in range(4)]
        assert found == [401, 401, 401, 429]
        assert log_in(browser).status_code == 429


def test_a_key_that_the_provider_has_changed_is_learnt(browser: Browser, provider: OpenIdProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    assert log_in(browser).status_code == 200
    provider.key = RSAKey.generate_key(2048, {"kid": "second"})
    asked = provider.asked
    assert log_in(browser).status_code == 401  # asked for a moment ago
    assert provider.asked == asked
    monkeypatch.setattr("consilience.service.server.openid.provider.AGAIN_SECONDS", -1.0)
    assert log_in(browser).status_code == 200


def test_nobody_gets_an_account_unless_the_configuration_says_so(browser: Browser, provider: OpenIdProvider) -> None:
    provider.person = {"sub": "1", "preferred_username": "eve"}
    reply = log_in(browser)
    assert reply.status_code == 401
    assert "this server has no account of that name" in words(reply)
    assert not services_of(browser.client).store.accounts.exists("eve")


def test_a_first_login_makes_an_account_where_the_configuration_says_so(tmp_path: Path, provider: OpenIdProvider) -> None:
    with at_server(tmp_path, provider, oidc_create="observer", oidc_domains="Hospital.example, other.example") as browser:
        provider.person = {"sub": "1", "preferred_username": "eve", "email": "eve@hospital.example", "email_verified": True}
        assert log_in(browser).status_code == 200
        store = services_of(browser.client).store
        assert store.accounts.role_of("eve") is AccountRole.OBSERVER
        assert "This account has none here" in words(browser.get("/account"))
        for password in ("", "any password at all"):
            assert another(browser).login("eve", password).status_code == 401
        for wrong in (
            {"email_verified": False},
            {"email_verified": "true"},
            {"email": "eve@evil.example"},
            {"email": "hospital.example@evil"},
        ):
            provider.person = {"sub": "2", "preferred_username": "mallory", "email": "m@hospital.example", "email_verified": True, **wrong}
            assert log_in(another(browser)).status_code == 401, wrong
        provider.person = {"sub": "3", "preferred_username": "a <b>", "email": "x@hospital.example", "email_verified": True}
        assert log_in(another(browser)).status_code == 401
        assert {row.name for row in store.accounts.all()} == {"ada", "bob", "eve"}


def test_groups_decide_where_they_are_configured(tmp_path: Path, provider: OpenIdProvider) -> None:
    with at_server(tmp_path, provider, oidc_groups="causal, owners", oidc_groups_claim="roles") as browser:
        for roles, expected in ((["owners", "x"], 200), (["x"], 401), ("owners", 401), ([["owners"]], 401), (None, 401)):
            provider.person = {"sub": "7f3a", "preferred_username": "ada", "roles": roles}
            assert log_in(another(browser)).status_code == expected, roles


def test_an_account_belongs_to_one_person_whatever_names_are_given_there(browser: Browser, provider: OpenIdProvider) -> None:
    assert log_in(browser).status_code == 200
    provider.person = {"sub": "somebody else", "preferred_username": "ada"}
    thief = another(browser)
    reply = log_in(thief)
    assert reply.status_code == 401
    assert "belongs to somebody else" in words(reply)
    assert not is_in(thief)
    provider.person = {"sub": "7f3a", "preferred_username": "bob"}  # who has another name there now is still ada here
    renamed = another(browser)
    assert log_in(renamed).status_code == 200
    assert is_in(renamed, "ada")
    store = services_of(browser.client).store
    assert any(row.action == "failed login" and "somebody else" in row.detail for row in store.audit.of_account("ada"))
    store.subjects.forget("ada")
    provider.person = {"sub": "somebody else", "preferred_username": "ada"}
    assert log_in(thief).status_code == 200


def test_a_mail_address_is_a_name_in_one_domain(tmp_path: Path, provider: OpenIdProvider) -> None:
    with at_server(tmp_path, provider, oidc_claim="email", oidc_domains="hospital.example") as browser:
        assert log_in(browser).status_code == 200
        assert is_in(browser, "ada")


@pytest.mark.parametrize("wrong", [{"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/token"}, {"jwks_uri": ""}])
def test_a_provider_that_is_not_who_was_asked_is_not_used(browser: Browser, provider: OpenIdProvider, wrong: dict[str, str]) -> None:
    provider.endpoints = wrong
    reply = browser.get("/login/there")
    assert reply.status_code == 503
    assert "does not answer as it should" in words(reply)
    assert "evil" not in reply.text


def test_a_provider_that_is_down_leaves_passwords(tmp_path: Path, provider: OpenIdProvider) -> None:
    with at_server(tmp_path, provider, oidc_issuer="http://127.0.0.1:9") as browser:
        assert browser.get("/login/there").status_code == 503
        assert browser.login().status_code == 303


def test_without_a_provider_there_are_no_such_pages(tmp_path: Path) -> None:
    with browsing(tmp_path) as browser:
        assert browser.get("/login/there").status_code == 404
        assert browser.get("/login/callback?code=x&state=y").status_code == 404
        assert "Log in with" not in words(browser.get("/login"))


GOOD = {"public_url": "https://study.example", "oidc_issuer": "https://login.example", "oidc_client_id": "study"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"oidc_issuer": "http://login.example"}, "must be https://"),
        ({"public_url": "http://study.example"}, "public_url"),
        ({"oidc_client_id": ""}, "needs oidc_client_id"),
        ({"oidc_issuer": ""}, "need oidc_issuer"),
        ({"oidc_create": "owner"}, "oidc_domains or oidc_groups"),
        ({"oidc_claim": "email", "oidc_domains": "a.example, b.example"}, "oidc_domains has 2"),
        ({"oidc_scopes": "profile email"}, "must have openid"),
        ({"oidc_client_secret_file": "/no/such/file"}, "/no/such/file"),
    ],
)
def test_what_cannot_be_configured_is_said(wrong: dict[str, str], said: str) -> None:
    assert OpenIdSettings.of(ServerConfig(**GOOD)) is not None  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match=said):
        OpenIdSettings.of(ServerConfig(**{**GOOD, **wrong}))  # type: ignore[arg-type]


def test_without_the_extra_the_way_out_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openid_settings, "find_spec", lambda _name: None)
    with pytest.raises(MissingPackageError, match=r"pip install 'consilience\[oidc\]'"):
        provider_of(ServerConfig(**GOOD), time.time)  # type: ignore[arg-type]
    assert provider_of(ServerConfig(), time.time) is None
