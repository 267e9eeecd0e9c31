"""Who may come in: passwords and tokens, with the limits on trying. The REST interface and the pages go through the same door."""

from __future__ import annotations

from consilience.errors import OptionError
from consilience.service.errors import LoginError, TokenError
from consilience.service.server.services import Services
from consilience.service.store import Principal, TokenKind

__all__ = ["change_password", "check_password", "end_others", "end_session", "exchange_token", "log_in", "make_token"]


def check_password(services: Services, address: str, name: str, password: str) -> None:
    """``LoginError`` unless it is the password. Failed attempts are counted per address, per address and name, and per name."""
    keys = ((services.logins, address), (services.logins, f"{address} {name}"), (services.account_logins, name))
    for limit, key in keys:
        limit.take(key)
    if not services.passwords.fits(services.store.accounts.password_of(name), password):
        services.metrics.add("logins_failed")
        services.store.audit.add(name, "failed login", detail=f"from {address}")
        raise LoginError("The name or the password is not right.")
    for limit, key in keys:
        limit.give_back(key)


def log_in(
    services: Services, address: str, name: str, password: str, kind: TokenKind = TokenKind.PROGRAM, agent: str = ""
) -> tuple[str, float]:
    """A new token for an owner's name and password, and when it ends."""
    check_password(services, address, name, password)
    services.store.audit.add(
        name, "logged in", detail=f"from {address}, {'with a browser' if kind is TokenKind.PAGES else 'with a program'}"
    )
    return services.store.accounts.issue(Principal(owner=name), services.config.token_hours * 3600.0, kind, agent, address)


def change_password(services: Services, address: str, name: str, old: str, new: str, keep: str = "") -> None:
    """Another password for an account whose old one is known. All its other tokens end."""
    check_password(services, address, name, old)
    if new == old:
        raise OptionError("The new password must not be the old one.")
    services.store.accounts.change_password(name, services.passwords.hash(new), keep)
    services.store.audit.add(name, "changed the password", detail=f"from {address}")


def end_session(services: Services, name: str, handle: str) -> bool:
    """End one session or token of an account; False if it has none with this handle."""
    ended = services.store.accounts.end_session(name, handle)
    if ended:
        services.store.audit.add(name, "ended a session", detail=handle)
    return ended


def end_others(services: Services, name: str, keep: str) -> int:
    """End all sessions and tokens of an account but the one that asks; how many there were."""
    ended = services.store.accounts.end_sessions(name, keep)
    if ended:
        services.store.audit.add(name, "ended all other sessions", detail=str(ended))
    return ended


def make_token(services: Services, name: str, address: str) -> tuple[str, float]:
    """A token for a program, for somebody who is logged in with a browser; and when it ends."""
    services.store.audit.add(name, "made a token for a program", detail=f"from {address}")
    made = "a program, with a token from the page Account"
    return services.store.accounts.issue(Principal(owner=name), services.config.token_hours * 3600.0, agent=made, address=address)


def exchange_token(services: Services, address: str, token: str, agent: str = "") -> tuple[str, Principal]:
    """A session of the pages for the token of a site: the same study, no longer than the token, and no longer than an owner's."""
    services.joins.take(address)
    who = services.store.accounts.who(token)
    if not who.site:
        raise TokenError("This is not the token of a site. Owners log in with their name and password.")
    services.joins.give_back(address)
    left = services.store.accounts.expires(token) - services.clock()
    session, _ = services.store.accounts.issue(who, min(left, services.config.token_hours * 3600.0), TokenKind.PAGES, agent, address)
    return session, who
