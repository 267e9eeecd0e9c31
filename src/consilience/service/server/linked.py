"""What one-time links are good for: whoever operates the server makes them, whoever has one uses it, once."""

from __future__ import annotations

from consilience.service.errors import LinkError
from consilience.service.server.services import Services
from consilience.service.store import AccountRole, LinkKind, LinkRow, Store

__all__ = ["ACCOUNT_SECONDS", "RESET_SECONDS", "link_to", "make_account", "make_account_link", "make_reset_link", "reset_password"]

RESET_SECONDS = 3600.0
ACCOUNT_SECONDS = 7 * 86400.0


def link_to(url: str, page: str, key: str) -> str:
    """The address that is handed over. The key stands behind the ``#``: browsers send that part to nobody, so it is in no log.

    >>> link_to("https://study.example/", "reset", "KEY")
    'https://study.example/reset#KEY'
    """
    return f"{url.rstrip('/')}/{page}#{key}"


def make_reset_link(store: Store, url: str, name: str, seconds: float = RESET_SECONDS) -> tuple[str, float]:
    """A link with which another password is set for an account that is there, and when it ends; an older one ends now."""
    key, expires = store.links.make(LinkKind.RESET, seconds, account=name)
    store.audit.add(name, "a link for another password was made", detail="by whoever operates the server")
    return link_to(url, "reset", key), expires


def reset_password(services: Services, address: str, key: str, new: str) -> None:
    """Another password for the account that a link is of. All its sessions and tokens end, and so does the link."""
    services.passwords.check(new)  # what is wrong with the password says nothing of the link, and leaves it good
    _found(services, address, LinkKind.RESET, key)
    kept = services.passwords.hash(new)  # before the transaction: a hash takes its time, and everybody would wait for it
    with services.store.database.writing():
        account = services.store.links.take(LinkKind.RESET, key).account
        services.store.accounts.change_password(account, kept)
        services.store.audit.add(account, "set another password with a link", detail=f"from {address}")


def make_account_link(store: Store, url: str, role: AccountRole, seconds: float = ACCOUNT_SECONDS) -> tuple[str, float]:
    """A link with which somebody makes an account, under a name and a password of their own choice; and when it ends."""
    key, expires = store.links.make(LinkKind.ACCOUNT, seconds, role=role)
    return link_to(url, "welcome", key), expires


def make_account(services: Services, address: str, key: str, name: str, password: str) -> AccountRole:
    """A new account, by a link, which ends; what it may. A name that is taken counts as a failed attempt, and leaves the link good."""
    services.passwords.check(password)
    _found(services, address, LinkKind.ACCOUNT, key)
    kept = services.passwords.hash(password)
    services.links.take(address)
    with services.store.database.writing():
        role = services.store.links.take(LinkKind.ACCOUNT, key).role
        services.store.accounts.add(name, kept, role)
        services.store.audit.add(name, "made the account with a link", detail=f"from {address}, {role.value}")
    services.links.give_back(address)
    return role


def _found(services: Services, address: str, kind: LinkKind, key: str) -> LinkRow:
    """What a link opens. Those that open nothing are counted per address."""
    services.links.take(address)
    try:
        found = services.store.links.find(kind, key)
    except LinkError:
        services.metrics.add("links_failed")
        raise
    services.links.give_back(address)
    return found
