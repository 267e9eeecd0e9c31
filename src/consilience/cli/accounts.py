"""``consilience server owner`` and its like: accounts, by whoever operates the server, on its own machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from consilience.cli.optional import need_service
from consilience.cli.terminal import Terminal, say
from consilience.errors import OptionError
from consilience.service.errors import ConfigurationError

if TYPE_CHECKING:
    from consilience.service.config import ServerConfig
    from consilience.service.store import AccountRole, Store

__all__ = ["ConfigFile", "HomeOption", "add_account_commands", "add_owner", "address_of", "new_password", "own_certificate"]

ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.", envvar="CONSILIENCE_SERVER_CONFIG")]
HomeOption = Annotated[str | None, typer.Option(help="Folder with the identity, the database and certificates.")]
PublicUrl = Annotated[str | None, typer.Option(help="Address under which the server's pages are reached.")]
Account = Annotated[str, typer.Argument(help="Name of the account.")]
Every = Annotated[bool, typer.Option("--all", help="It sees all studies of the server, also those that nobody has shown it.")]
PasswordStdin = Annotated[bool, typer.Option(help="Read the password from standard input.")]


def new_password(given: bool) -> str:
    """From standard input for scripts, from the terminal for people; never from the command line, where others can read it."""
    if given:
        return sys.stdin.readline().rstrip("\n")
    return str(typer.prompt("password (at least 12 characters)", hide_input=True, confirmation_prompt=True))


def own_certificate(settings: ServerConfig) -> bool:
    """Whether the server serves with the certificate that ``init`` made: no other is named, and no proxy is in front."""
    return not settings.tls_cert and not settings.behind_proxy and (Path(settings.home) / "tls.crt").exists()


def address_of(settings: ServerConfig) -> str:
    """The server's public address; if none is set, where it listens."""
    scheme = "https" if settings.tls_cert or own_certificate(settings) else "http"
    return settings.public_url or f"{scheme}://{settings.host}:{settings.port}"


def add_owner(settings: ServerConfig, name: str, password: str, role: str = "owner", *, create: bool = False) -> None:
    """A new account in the server's database; with ``create``, in a new one."""
    from consilience.service.server.passwords import Passwords  # noqa: PLC0415  the extra may not be installed
    from consilience.service.store import AccountRole  # noqa: PLC0415

    hashed = Passwords().hash(password)  # before there is a file: a password that is too short leaves nothing behind
    with _opened(settings, create=create) as store:
        store.accounts.add(name, hashed, AccountRole(role))


@contextmanager
def _opened(settings: ServerConfig, *, create: bool = False) -> Iterator[Store]:
    """The server's database, which the server itself may have open."""
    from consilience.service.store import Database, Store  # noqa: PLC0415

    folder = Path(settings.home)
    if create:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    database = Database(folder / "studies.sqlite", time.time, create=create)
    try:
        yield Store(database)
    finally:
        database.close()


@contextmanager
def _server(config: Path | None, home: str | None, public_url: str | None = None) -> Iterator[tuple[Store, ServerConfig]]:
    """The database and the settings of a server that is there."""
    need_service()
    from consilience.service.config import load_server  # noqa: PLC0415

    settings = load_server(config, home=home, public_url=public_url)
    if not (Path(settings.home) / "studies.sqlite").is_file():
        raise ConfigurationError(f"There is no server in {settings.home!r}. Make one with: consilience server init.")
    with _opened(settings) as store:
        yield store, settings


def _there(store: Store, name: str) -> None:
    if not store.accounts.exists(name):
        raise OptionError(f"There is no account {name!r} on this server.")


def owner(name: Account, config: ConfigFile = None, home: HomeOption = None, password_stdin: PasswordStdin = False) -> None:
    """Add an account for an owner of studies."""
    need_service()
    from consilience.service.config import load_server  # noqa: PLC0415

    add_owner(load_server(config, home=home), name, new_password(password_stdin))


def observer(
    name: Account,
    every: Every = False,
    config: ConfigFile = None,
    home: HomeOption = None,
    password_stdin: PasswordStdin = False,
) -> None:
    """Add an account for somebody who looks on, such as a data protection officer: it sees studies, and changes nothing.

    Example: consilience server observer eve --all
    """
    need_service()
    from consilience.service.config import load_server  # noqa: PLC0415

    add_owner(load_server(config, home=home), name, new_password(password_stdin), _observing(every))


def invite_link(
    role: Annotated[str, typer.Option(help="What the account will be: owner, observer or observer-of-all.")] = "owner",
    hours: Annotated[float, typer.Option(help="How long the link is good.", min=0.1, max=2160.0)] = 168.0,
    config: ConfigFile = None,
    home: HomeOption = None,
    public_url: PublicUrl = None,
) -> None:
    """Print a link with which somebody makes an account, once, under a name and a password of their own choice.

    Example: consilience server invite-link --role observer
    """
    with _server(config, home, public_url) as (store, settings):
        from consilience.service.server.linked import make_account_link  # noqa: PLC0415

        link, expires = make_account_link(store, address_of(settings), _role(role), hours * 3600.0)
    _hand_over(link, expires, f"Whoever has it can make an account ({role}).")


def accounts(config: ConfigFile = None, home: HomeOption = None) -> None:
    """All accounts of the server, and what they may."""
    with _server(config, home) as (store, _settings):
        found = store.accounts.all()
    table = Table()
    for heading in ("account", "role", "since"):
        table.add_column(heading)
    for row in found:
        table.add_row(row.name, row.role.value, time.strftime("%Y-%m-%d", time.gmtime(row.created)))
    Terminal().print(table)


def account_role(
    name: Account,
    role: Annotated[str, typer.Argument(help="owner, observer or observer-of-all.")],
    config: ConfigFile = None,
    home: HomeOption = None,
) -> None:
    """Let an account be something else, from its next request on. Studies that an observer owns stay with it: it sees them.

    Example: consilience server account-role eve observer-of-all
    """
    with _server(config, home) as (store, _settings):
        _there(store, name)
        with store.database.writing():
            store.accounts.set_role(name, _role(role))
            store.audit.add(name, f"became {role}", detail="by whoever operates the server")


def end_sessions(name: Account, config: ConfigFile = None, home: HomeOption = None) -> None:
    """End all sessions and tokens of an account, as after a laptop was lost; print how many there were."""
    with _server(config, home) as (store, _settings):
        _there(store, name)
        with store.database.writing():
            ended = store.accounts.end_sessions(name)
            store.audit.add(name, "all sessions were ended", detail="by whoever operates the server")
    say(ended)


def forget_login(name: Account, config: ConfigFile = None, home: HomeOption = None) -> None:
    """Let an account be taken by the next person of its name who logs in by OpenID Connect: the one whose it was is another there now."""
    with _server(config, home) as (store, _settings):
        _there(store, name)
        with store.database.writing():
            if not store.subjects.forget(name):
                raise OptionError(f"Nobody has logged in to {name!r} by OpenID Connect.")
            store.accounts.end_sessions(name)
            store.audit.add(name, "who logs in elsewhere was forgotten", detail="by whoever operates the server")


def _observing(every: bool) -> str:
    return "observer-of-all" if every else "observer"


def _role(given: str) -> AccountRole:
    from consilience.service.store import AccountRole  # noqa: PLC0415

    if given not in list(AccountRole):
        raise OptionError(f"An account is one of {', '.join(AccountRole)}; got {given!r}.")
    return AccountRole(given)


def owner_password(name: Account, config: ConfigFile = None, home: HomeOption = None, password_stdin: PasswordStdin = False) -> None:
    """Set another password for an account. Whoever is logged in to it must log in anew.

    Example: consilience server owner-password ada
    """
    with _server(config, home) as (store, _settings):
        from consilience.service.server.passwords import Passwords  # noqa: PLC0415

        _there(store, name)  # before anybody types a password for nobody
        kept = Passwords().hash(new_password(password_stdin))
        with store.database.writing():
            store.accounts.change_password(name, kept)
            store.audit.add(name, "another password was set", detail="by whoever operates the server")


def reset_link(name: Account, config: ConfigFile = None, home: HomeOption = None, public_url: PublicUrl = None) -> None:
    """Print a link with which an account's owner sets another password. It works once, within an hour.

    Example: consilience server reset-link ada
    """
    with _server(config, home, public_url) as (store, settings):
        from consilience.service.server.linked import make_reset_link  # noqa: PLC0415

        _there(store, name)
        link, expires = make_reset_link(store, address_of(settings), name)
    _hand_over(link, expires, f"Whoever has it can set the password of {name}.")


def _hand_over(link: str, expires: float, words: str) -> None:
    say(link)  # alone on standard output, for a script
    until = time.strftime("%H:%M UTC on %d %B %Y", time.gmtime(expires))
    Terminal(stderr=True).print(
        f"It works once, until {until}. {words} Hand it over on a way that you trust.", highlight=False, soft_wrap=True
    )


COMMANDS: dict[str, Callable[..., None]] = {
    "owner": owner,
    "observer": observer,
    "invite-link": invite_link,
    "accounts": accounts,
    "account-role": account_role,
    "end-sessions": end_sessions,
    "forget-login": forget_login,
    "owner-password": owner_password,
    "reset-link": reset_link,
}


def add_account_commands(app: typer.Typer) -> None:
    """Add the commands to ``consilience server``."""
    for name, command in COMMANDS.items():
        app.command(name)(command)
