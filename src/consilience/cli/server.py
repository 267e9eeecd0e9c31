"""``consilience server``: set up and run a study server."""

from __future__ import annotations

import logging
import os
import sys
from importlib.util import find_spec
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consilience.cli.accounts import ConfigFile, HomeOption, add_account_commands, add_owner, address_of, new_password, own_certificate
from consilience.cli.later import load_soon, loading
from consilience.cli.optional import need_service, need_web
from consilience.cli.terminal import Terminal
from consilience.cli.upkeep import back_up_server, renew_certificate, restore_server
from consilience.cli.waiting import Where, waiting
from consilience.service.errors import ConfigurationError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from consilience.service.config import ServerConfig

__all__ = ["server_app"]

GROUPS = {
    "study": Where("consilience.cli.study:study_app", "Create studies, invite sites, start them, follow them, fetch results."),
    "account": Where(
        "consilience.cli.account:account_app", "Your own account: who is logged in, your password, links that you were given."
    ),
}
server_app = typer.Typer(
    cls=waiting(GROUPS, last=True), help="Set up and run a study server, and manage its studies.", no_args_is_help=True
)
server_app.command("backup")(back_up_server)
server_app.command("restore")(restore_server)
server_app.command("renew-certificate")(renew_certificate)
add_account_commands(server_app)
LOOPBACK = ("127.0.0.1", "::1", "localhost")
SWITCH_SECONDS = 0.0001


@server_app.command("init")
def init(
    owner: Annotated[str, typer.Option(help="Name of the first owner's account.")],
    config: ConfigFile = None,
    home: HomeOption = None,
    host_name: Annotated[
        list[str] | None, typer.Option("--self-signed", help="Make a certificate for this host name or address, for trials. Repeatable.")
    ] = None,
    password_stdin: Annotated[bool, typer.Option(help="Read the password from standard input.")] = False,
) -> None:
    """Make the server's identity, its database and the first account.

    Example: consilience server init --owner ada --self-signed study.example
    """
    need_service()
    from consilience.secagg import Identity  # noqa: PLC0415  not for the list of commands
    from consilience.service.config import load_server  # noqa: PLC0415  the extra may not be installed
    from consilience.service.tls import self_signed, write_private  # noqa: PLC0415

    settings = load_server(config, home=home)
    folder = Path(settings.home)
    if (folder / "identity.pem").exists():
        raise ConfigurationError(f"There is a server in {str(folder)!r} already. Choose another folder with --home.")
    if (folder / "studies.sqlite").exists():
        raise ConfigurationError(
            f"A new server needs a folder without a database; there is one in {str(folder)!r}, of a server whose identity.pem is gone. "
            f"Put that back from a backup, or choose another folder with --home."
        )
    add_owner(settings, owner, new_password(password_stdin), create=True)
    identity = Identity.generate()
    write_private(folder / "identity.pem", identity.to_pem(_identity_password()))
    if host_name:
        certificate, key = self_signed(host_name)
        write_private(folder / "tls.crt", certificate.encode())
        write_private(folder / "tls.key", key.encode())
    console = Terminal()
    console.print(f"server in {folder}\nfingerprint {identity.fingerprint_text}", highlight=False, soft_wrap=True)


def _identity_password() -> bytes | None:
    return os.environ.get("CONSILIENCE_SERVER_IDENTITY_PASSWORD", "").encode() or None


@server_app.command("run")
def run(
    config: ConfigFile = None,
    home: HomeOption = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on.")] = None,
    public_url: Annotated[str | None, typer.Option(help="Address under which sites reach the server.")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="Certificate file (PEM).")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its private key file (PEM).")] = None,
    behind_proxy: Annotated[bool | None, typer.Option(help="A reverse proxy in front ends TLS.")] = None,
    log_level: Annotated[str, typer.Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """Serve studies until stopped. Studies that were running go on.

    Example: consilience server run --tls-cert fullchain.pem --tls-key privkey.pem --public-url https://study.example
    """
    need_service()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # many small runs: threads of one would wait for those of another
    with loading():
        from consilience.secagg import Identity  # noqa: PLC0415
        from consilience.service.config import load_server  # noqa: PLC0415
        from consilience.service.logs import set_up_logs  # noqa: PLC0415
        from consilience.service.server.serve import serve  # noqa: PLC0415

    settings = load_server(
        config, home=home, host=host, port=port, public_url=public_url, tls_cert=tls_cert, tls_key=tls_key, behind_proxy=behind_proxy
    )
    settings = _complete(settings)
    folder = Path(settings.home)
    try:
        identity = Identity.from_pem((folder / "identity.pem").read_bytes(), _identity_password())
    except OSError:
        raise ConfigurationError(f"There is no server in {str(folder)!r}. Make one with: consilience server init.") from None
    set_up_logs(log_level.upper())
    logging.getLogger("consilience.server").info(
        "serving", extra={"url": settings.public_url, "fingerprint": identity.fingerprint_text, "tls": bool(settings.tls_cert)}
    )
    # A run computes in a thread of this process. By default it would keep the interpreter for 5 ms whenever a page or a site is answered:
    # to encrypt a piece of news, and to send it, each give the interpreter away, and two hundred pages would have it two seconds late.
    sys.setswitchinterval(SWITCH_SECONDS)
    load_soon()
    serve(settings, identity, _pages)


def _pages(app: FastAPI) -> FastAPI:
    """With pages, where the extra is installed."""
    if find_spec("jinja2") is None:
        if app.state.services.config.oidc_issuer:
            need_web()  # says what is missing: a login by OpenID Connect is a page
        words = "no pages: they need the package 'jinja2', which is not installed: pip install 'consilience[web]'"
        logging.getLogger("consilience.server").warning(words)
        return app
    from consilience.web.server_app import with_pages  # noqa: PLC0415

    return with_pages(app)


def _complete(settings: ServerConfig) -> ServerConfig:
    """The certificate that init made, if no other is named; the public address; and no open port without TLS."""
    import msgspec  # noqa: PLC0415

    folder = Path(settings.home)
    if own_certificate(settings):
        settings = msgspec.structs.replace(settings, tls_cert=str(folder / "tls.crt"), tls_key=str(folder / "tls.key"))
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise ConfigurationError("--tls-cert and --tls-key go together; got one of them.")
    if settings.proxy_cert and not settings.behind_proxy:
        raise ConfigurationError("proxy_cert is the certificate of a proxy in front; there is none. Say --behind-proxy, or leave it out.")
    for file in filter(None, (settings.tls_cert, settings.tls_key, settings.proxy_cert)):
        if not Path(file).is_file():
            raise ConfigurationError(f"There is no file {file!r}.")
    if not settings.tls_cert and not settings.behind_proxy and settings.host not in LOOPBACK:
        raise ConfigurationError(
            f"Without TLS the server listens on this machine only; got host {settings.host!r}. Give --tls-cert and --tls-key, "
            f"make a certificate for trials with init --self-signed, or say --behind-proxy."
        )
    for address in settings.trusted_proxies.split(","):
        try:
            ip_network(address.strip())
        except ValueError:
            raise ConfigurationError(
                f"trusted_proxies has addresses or networks of the proxy in front, with commas between them; got {address.strip()!r}."
            ) from None
    return msgspec.structs.replace(settings, public_url=address_of(settings))
