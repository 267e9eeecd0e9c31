"""``consilience server study export|verify|delete``: a study as a file for an audit, whether such a file is whole, and a study no more."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from consilience.cli.calling import AsJson, Ca, Server, StudyId, call, rest_client
from consilience.cli.optional import need_service
from consilience.cli.terminal import Terminal, say, say_json
from consilience.data.errors import ReadError
from consilience.errors import OptionError
from consilience.service.errors import ConfigurationError
from consilience.wording import printable

__all__ = ["delete_study", "export_study", "verify_archive"]

EXPORT_SECONDS = 300.0
"""A study with a million tests takes its server a minute to pack."""


def export_study(
    study: StudyId,
    out: Annotated[Path, typer.Option(help="The file to write, such as study.zip; it must not be there yet.")],
    server: Server = "",
    ca: Ca = "",
) -> None:
    """A study that is over as one file for an audit: contract, consents, record of answers, tests, result, versions, digests.

    The file is an RO-Crate 1.1 in a ZIP file, signed by the server; `study verify` looks at it without one.

    Example: consilience server study export 00112233aabbccdd --out study.zip
    """
    if out.exists():
        raise ConfigurationError(f"--out names a file that is not there yet; {str(out)!r} is.")
    with rest_client(server, ca) as client:
        client.timeout = EXPORT_SECONDS
        content: bytes = call(client, "GET", f"/studies/{study}/archive")
    from consilience.service.archive_check import check_archive  # noqa: PLC0415  the extra may not be installed

    verdict = check_archive(content)
    if not verdict.sound or verdict.study != study:
        raise OptionError(f"What the server sent is no sound archive of this study: {'; '.join(verdict.differs) or verdict.study}.")
    try:
        with out.open("xb") as file:
            file.write(content)
    except OSError as error:
        raise ConfigurationError(f"{str(out)!r} cannot be written: {error.strerror}.") from None
    say(out)
    Terminal(stderr=True).print(
        f"{len(verdict.files)} files, signed by the server {verdict.server}. Compare this fingerprint with the one that the server shows.",
        highlight=False,
        soft_wrap=True,
    )


def verify_archive(
    file: Annotated[Path, typer.Argument(help="An archive, as study export writes it.")],
    ledgers: Annotated[list[Path] | None, typer.Argument(help="Ledgers of sites, to hold against the archive's record.")] = None,
    fingerprint: Annotated[str, typer.Option(help="The server's fingerprint, as it was compared; another is a difference.")] = "",
    as_json: AsJson = False,
) -> None:
    """Whether an archive is whole: every digest, the server's signature, every site's consent; with ledgers, every answer. Needs no server.

    Exit code 0 if all of it agrees, 3 if something differs, 2 if the file is no archive.

    Example: consilience server study verify study.zip muenster.jsonl marburg.jsonl
    """
    need_service()
    from consilience.secagg import read_fingerprint  # noqa: PLC0415  the extra may not be installed
    from consilience.service.archive_check import check_archive  # noqa: PLC0415

    verdict = check_archive(_read(file), {str(path): _read(path) for path in ledgers} if ledgers else None)
    if fingerprint and read_fingerprint(fingerprint) != read_fingerprint(verdict.server):
        verdict.differs.append(f"the archive is signed by {verdict.server}, and not by the server that was named")
    if as_json:
        say_json({**asdict(verdict), "sound": verdict.sound})
    else:
        _show(verdict.study, verdict.name, verdict.state, verdict.agrees, verdict.differs)
        for one in verdict.ledgers:
            _show(one.site, "", "", one.agrees, one.differs, one.open)
    raise typer.Exit(0 if verdict.sound else 3)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise ReadError(f"{str(path)!r} cannot be read: {error.strerror}.") from None


def _show(head: str, name: str, state: str, agrees: list[str], differs: list[str], undecided: list[str] | None = None) -> None:
    terminal = Terminal()
    title = printable(" ".join(part for part in (head, repr(name) if name else "", state) if part))
    terminal.print(f"[bold]{escape(title)}[/]", highlight=False)
    for mark, lines in (("[green]agrees [/]", agrees), ("[red]differs[/]", differs), ("[dim]open   [/]", undecided or [])):
        for line in lines:
            terminal.print(f"  {mark} {escape(printable(line))}", highlight=False, soft_wrap=True)


def delete_study(
    study: StudyId,
    server: Server = "",
    ca: Ca = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the study's name.")] = False,
) -> None:
    """Delete a study from its server, for good. What stays at the sites is said before, and after.

    A study that runs is cancelled first. Example: consilience server study delete 00112233aabbccdd
    """
    with rest_client(server, ca) as client:
        found: dict[str, Any] = call(client, "GET", f"/studies/{study}")
        would: dict[str, Any] = call(client, "GET", f"/studies/{study}/deletion")
        terminal = Terminal(stderr=True)
        name = printable(str(found["name"]))
        terminal.print(escape(f"{name!r} ({study}), which is {printable(str(found['state']))}."), highlight=False, soft_wrap=True)
        _lines(terminal, "What goes:", would["goes"])
        _lines(terminal, "What stays:", would["stays"])
        if not yes and typer.prompt("Type the study's name to delete it", err=True, default="", show_default=False).strip() != name.strip():
            raise OptionError("That is not the study's name. Nothing was deleted.")
        done: dict[str, Any] = call(client, "DELETE", f"/studies/{study}")
    say(f"deleted {study}")
    _lines(terminal, "What stays:", done["stays"])


def _lines(terminal: Terminal, title: str, lines: list[str]) -> None:
    terminal.print(title, highlight=False)
    for line in lines:
        terminal.print(f"  - {escape(printable(str(line)))}", highlight=False, soft_wrap=True)
