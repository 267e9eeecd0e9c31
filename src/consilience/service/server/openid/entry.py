"""From what a provider says of a person to an account of this server, and a session of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from consilience.errors import OptionError
from consilience.service.errors import LoginError
from consilience.service.server.openid.settings import OpenIdSettings
from consilience.service.server.services import Services
from consilience.service.store import Principal, TokenKind

__all__ = ["enter", "named"]


def enter(services: Services, settings: OpenIdSettings, claims: Mapping[str, Any], address: str, agent: str = "") -> tuple[str, str]:
    """A session of the pages for who has logged in there, and whose it is. ``LoginError`` where the configuration does not allow it.

    An account belongs to the first person who comes by its name: another of the same name, after that one has left, does not get it.
    """
    _check(settings, claims)
    subject, store = str(claims["sub"]), services.store
    with store.database.writing():  # of two first logins at once, one makes the account
        account = store.subjects.account_of(settings.issuer, subject)
        mine = bool(account)
        if not mine:
            account = named(settings, claims)
            _make(services, settings, account)
            mine = store.subjects.bind(settings.issuer, subject, account)
    if not mine:
        store.audit.add(account, "failed login", detail=f"by somebody else of this name at {settings.name}, from {address}")
        raise LoginError(f"The account {account[:64]!r} belongs to somebody else there. Ask whoever operates this server.")
    store.audit.add(account, "logged in", detail=f"from {address}, with a browser, by {settings.name}")
    seconds = services.config.token_hours * 3600.0
    return store.accounts.issue(Principal(owner=account), seconds, TokenKind.PAGES, agent, address)[0], account


def _make(services: Services, settings: OpenIdSettings, account: str) -> None:
    """An account for a first login, if there is none and the configuration says so."""
    store = services.store
    if store.accounts.exists(account):
        return
    if settings.create is None:
        raise LoginError(f"You are {account[:64]!r} there, and this server has no account of that name. Ask whoever operates it for one.")
    try:
        store.accounts.add(account, "", settings.create)  # no password fits an empty hash
    except OptionError as error:
        raise LoginError(f"No account can be made for you. {error}") from None
    store.audit.add(account, "the account was made by a first login", detail=f"at {settings.name}, {settings.create.value}")


def named(settings: OpenIdSettings, claims: Mapping[str, Any]) -> str:
    """The name of the account that a person would have.

    >>> from consilience.service.config import ServerConfig
    >>> config = ServerConfig(
    ...     public_url="https://study.example", oidc_issuer="https://login.example", oidc_client_id="study",
    ...     oidc_claim="email", oidc_domains="hospital.example",
    ... )
    >>> settings = OpenIdSettings.of(config)
    >>> named(settings, {"email": "ada@hospital.example"})
    'ada'
    """
    value = claims.get(settings.claim)
    if not isinstance(value, str) or not value:
        raise LoginError(f"{settings.name} does not say who you are: its answer has no {settings.claim!r}.")
    return value.rpartition("@")[0] if settings.claim == "email" else value


def _check(settings: OpenIdSettings, claims: Mapping[str, Any]) -> None:
    if settings.domains:
        mail = claims.get("email")
        domain = mail.rpartition("@")[2].casefold() if isinstance(mail, str) else ""
        if claims.get("email_verified") is not True or domain not in settings.domains:
            raise LoginError("Your mail address is not one of those that may log in here, or it is not verified there.")
    if settings.groups:
        held = claims.get(settings.groups_claim)
        if not isinstance(held, list) or settings.groups.isdisjoint(each for each in held if isinstance(each, str)):
            raise LoginError("You are in none of the groups that may log in here.")
