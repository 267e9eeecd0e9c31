"""``consilience server`` beside its everyday: backups, and a new certificate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from consilience.cli.accounts import ConfigFile, HomeOption
from consilience.cli.optional import need_service
from consilience.cli.terminal import Terminal
from consilience.service.errors import ConfigurationError

__all__ = ["back_up_server", "renew_certificate", "restore_server"]


def renew_certificate(
    config: ConfigFile = None,
    home: HomeOption = None,
    host_name: Annotated[
        list[str] | None, typer.Option("--self-signed", help="Host name or address, if others than those of the old one. Repeatable.")
    ] = None,
) -> None:
    """Make a new certificate in place of the one that init made. Start the server again; sites that have joined go on by themselves.

    Example: consilience server renew-certificate
    """
    need_service()
    from consilience.service.config import load_server  # noqa: PLC0415
    from consilience.service.tls import hosts_named, life_of, self_signed, write_private  # noqa: PLC0415

    settings = load_server(config, home=home)
    file = Path(settings.home) / "tls.crt"
    if settings.tls_cert and Path(settings.tls_cert).resolve() != file.resolve():
        raise ConfigurationError(
            f"This renews the certificate that init made, {str(file)!r}; the server's settings name {settings.tls_cert!r}. "
            f"Renew that where it was made, and start the server again."
        )
    if not file.is_file():
        raise ConfigurationError(f"There is no certificate {str(file)!r} to renew. init --self-signed makes one, for a new server.")
    hosts = host_name or hosts_named(file.read_text(encoding="ascii"))
    certificate, key = self_signed(hosts)
    # the key first: a server that is started in between says that the two do not fit, and the command is run again
    write_private(file.with_name("tls.key"), key.encode())
    write_private(file, certificate.encode())
    day = life_of(certificate)[1].date().isoformat()
    Terminal().print(f"{file} for {', '.join(hosts)}, until {day}\nStart the server again to use it.", highlight=False, soft_wrap=True)


def back_up_server(
    target: Annotated[Path, typer.Argument(help="A new folder for the backup.")],
    config: ConfigFile = None,
    home: HomeOption = None,
) -> None:
    """Copy the server's database, identity and certificate into a new folder; the server may be running.

    Example: consilience server backup /backups/monday
    """
    need_service()
    from consilience.service.config import load_server  # noqa: PLC0415
    from consilience.service.store.backup import back_up  # noqa: PLC0415

    for path in back_up(Path(load_server(config, home=home).home), target):
        Terminal().print(f"written: {path}", highlight=False, soft_wrap=True)


def restore_server(
    source: Annotated[Path, typer.Argument(help="The folder of a backup.")],
    config: ConfigFile = None,
    home: HomeOption = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite the server that is in the folder.")] = False,
) -> None:
    """Put a backup into the folder of a server that does not run.

    Example: consilience server restore /backups/monday
    """
    need_service()
    from consilience.service.config import load_server  # noqa: PLC0415
    from consilience.service.store.backup import restore  # noqa: PLC0415

    for path in restore(source, Path(load_server(config, home=home).home), overwrite=overwrite):
        Terminal().print(f"written: {path}", highlight=False, soft_wrap=True)
