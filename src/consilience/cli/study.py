"""``consilience server study``: manage studies on a running server, over its REST interface."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from consilience.cli.calling import Ca, Server, StudyId, call, rest_client
from consilience.cli.sharing import add_sharing_commands
from consilience.cli.study_following import download, follow
from consilience.cli.terminal import Terminal, say, say_json
from consilience.cli.waiting import Where, waiting
from consilience.errors import OptionError
from consilience.wording import printable

__all__ = ["study_app"]

ELSEWHERE = {
    "tests": Where("consilience.cli.study_records:list_tests", "The tests that are done: also while the study runs, and after it failed."),
    "events": Where(
        "consilience.cli.study_records:list_events", "What has happened in a study, oldest first, and then the end; `watch` waits for more."
    ),
    "received": Where(
        "consilience.cli.study_records:list_received",
        "What the server says it received from each site, in all; `audit` compares it with the sites' ledgers line by line.",
    ),
    "export": Where(
        "consilience.cli.study_archive:export_study",
        "A study that is over as one file for an audit: contract, consents, record of answers, tests, result, versions, digests.",
    ),
    "verify": Where(
        "consilience.cli.study_archive:verify_archive",
        "Whether an archive is whole: every digest, the server's signature, every site's consent; with ledgers, every answer. "
        "Needs no server.",
    ),
    "delete": Where(
        "consilience.cli.study_archive:delete_study",
        "Delete a study from its server, for good. What stays at the sites is said before, and after.",
    ),
    "without": Where(
        "consilience.cli.study_again:go_without",
        "Go on without a site that does not fit or does not agree, until all have agreed. All others are asked for consent again.",
    ),
    "copy": Where(
        "consilience.cli.study_again:copy_study",
        "Make a draft with the same declaration, but for the settings given; print its id. Its sites, these or others, are asked anew.",
    ),
    "rerun": Where("consilience.cli.study_again:rerun_study", "Do a study that is over once more; print the id of the study to look at."),
}
study_app = typer.Typer(
    cls=waiting(ELSEWHERE), help="Create studies, invite sites, start them, follow them, fetch results.", no_args_is_help=True
)


@study_app.command("login")
def login(
    name: Annotated[str, typer.Argument(help="Name of the account.")],
    server: Server = "",
    ca: Ca = "",
    password_stdin: Annotated[bool, typer.Option(help="Read the password from standard input.")] = False,
) -> None:
    """Print a token for the environment.

    Example: export CONSILIENCE_SERVER_TOKEN=$(consilience server study login ada)
    """
    password = sys.stdin.readline().rstrip("\n") if password_stdin else typer.prompt("password", hide_input=True, err=True)
    with rest_client(server, ca, login=False) as client:
        say(call(client, "POST", "/login", {"name": name, "password": password})["token"])


@study_app.command("create")
def create(
    file: Annotated[Path, typer.Argument(help="A study file (.toml); what it says of the sites' files is not sent.")],
    at_once: Annotated[bool, typer.Option("--open", help="Open it: it cannot be changed any more, and sites may connect.")] = False,
    sites: Annotated[list[str] | None, typer.Option("--invite", metavar="SITE", help="Invite a site, too. Repeatable.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the invitations, one file SITE.txt each.")] = Path(),
    server: Server = "",
    ca: Ca = "",
) -> None:
    """Create a draft from a file and print its id; with --invite and --open, all that comes before the sites' part.

    A file that names variables and sites but no data sets is enough where the sites' files are at hand: which variables they hold is
    read off them, and only that is sent.

    Example: consilience server study create study.toml --open --invite muenster --invite marburg
    """
    from consilience.data.harmonise import Plan  # noqa: PLC0415  all that reads a table or makes a key is slow to load
    from consilience.data.sources import load  # noqa: PLC0415
    from consilience.service.tls import write_private  # noqa: PLC0415
    from consilience.settings.studyfile import read_study  # noqa: PLC0415

    files = _invitation_files(sites or [], out)
    study = read_study(file)
    if study.schema and study.files and not study.datasets:
        plans = {site: Plan.of(study.plans[site]) if site in study.plans else Plan() for site in study.files}
        held = (plans[site].apply(load(path, site).frame, site).frame.columns for site, path in study.files.items())
        sets = dict.fromkeys(tuple(sorted(set(names) & set(study.schema))) for names in held)
        study = replace(study, datasets=tuple(names for names in sets if names))
    with rest_client(server, ca) as client:
        found = call(client, "POST", "/studies", study.declaration())["id"]
        say(found)  # first: whatever fails after it, the study is there
        for site, path in files.items():
            invitation = call(client, "POST", f"/studies/{found}/invitations", {"site": site})["invitation"]
            write_private(path, f"{invitation}\n".encode())  # whoever reads it could join in the site's place
            Terminal(stderr=True).print(
                f"{escape(str(path))}: works once; hand it over on a way you trust", highlight=False, soft_wrap=True
            )
        if at_once:
            call(client, "POST", f"/studies/{found}/open")


def _invitation_files(sites: Sequence[str], folder: Path) -> dict[str, Path]:
    """A new file for each site, or why there can be none, before anything is created."""
    files = {site: folder / f"{site}.txt" for site in sites}
    for site, path in files.items():
        if not site or site != Path(site).name or path.exists():
            why = "is there already" if path.exists() else "is no name of a file"
            raise OptionError(f"An invitation would be written to {str(path)!r}, which {why}: say --out FOLDER, or use `study invite`.")
    folder.mkdir(parents=True, exist_ok=True)
    return files


@study_app.command("list")
def listing(server: Server = "", ca: Ca = "", as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Your studies, newest first."""
    with rest_client(server, ca) as client:
        found = call(client, "GET", "/studies")
    if as_json:
        say_json(found)
        return
    table = Table()
    for heading in ("id", "name", "state", "sites", "tests", "rounds"):
        table.add_column(heading)
    for s in found:
        cells = (s["id"], s["name"], s["state"], len(s["sites"]), s["tests"], s["rounds"])
        table.add_row(*(escape(printable(str(cell))) for cell in cells))
    Terminal().print(table)


@study_app.command("show")
def show(study: StudyId, server: Server = "", ca: Ca = "") -> None:
    """A study as JSON: its settings, its sites with their fingerprints, how it stands."""
    with rest_client(server, ca) as client:
        say_json(call(client, "GET", f"/studies/{study}"))


@study_app.command("invite")
def invite(study: StudyId, site: Annotated[str, typer.Argument(help="The site's name.")], server: Server = "", ca: Ca = "") -> None:
    """Print an invitation. It works once: send it on a way that you and the site trust."""
    with rest_client(server, ca) as client:
        say(call(client, "POST", f"/studies/{study}/invitations", {"site": site})["invitation"])


@study_app.command("open")
def open_(study: StudyId, server: Server = "", ca: Ca = "") -> None:
    """Open a draft: it cannot be changed any more, and sites may connect."""
    with rest_client(server, ca) as client:
        say(call(client, "POST", f"/studies/{study}/open")["state"])


@study_app.command("start")
def start(
    study: StudyId,
    to_its_end: Annotated[bool, typer.Option("--watch", help="Follow it until it is over, as `study watch` does.")] = False,
    out: Annotated[Path | None, typer.Option(help="With --watch: folder for its result.")] = None,
    server: Server = "",
    ca: Ca = "",
) -> None:
    """Start an open study with the sites that have joined.

    Example: consilience server study start STUDY --watch --out result
    """
    if out is not None and not to_its_end:
        raise OptionError("A result is there when the study is over: say --watch with --out, or fetch it later by `study result`.")
    with rest_client(server, ca) as client:
        say(call(client, "POST", f"/studies/{study}/start")["state"])
        if to_its_end:
            code = follow(client, study)
            if out is not None and call(client, "GET", f"/studies/{study}")["state"] == "finished":
                download(client, study, out)
            raise typer.Exit(code)


@study_app.command("cancel")
def cancel(study: StudyId, server: Server = "", ca: Ca = "") -> None:
    """Cancel a study. Results that are there are kept."""
    with rest_client(server, ca) as client:
        say(call(client, "POST", f"/studies/{study}/cancel")["state"])


@study_app.command("search")
def search(study: StudyId, server: Server = "", ca: Ca = "") -> None:
    """Look again for the graphs of a study that failed after all its tests were made. No site is asked."""
    with rest_client(server, ca) as client:
        say(call(client, "POST", f"/studies/{study}/search")["state"])


@study_app.command("watch")
def watch(study: StudyId, server: Server = "", ca: Ca = "") -> None:
    """Follow a study until it is over. Exit code 0 if there are graphs; 3 if there is none, or it did not finish."""
    with rest_client(server, ca) as client:
        raise typer.Exit(follow(client, study))


@study_app.command("audit")
def audit(
    study: StudyId,
    ledgers: Annotated[list[Path], typer.Argument(help="Ledgers of sites, as they hand them over (client ledger --json).")],
    server: Server = "",
    ca: Ca = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Compare what sites say they sent with what the server says it received.

    Exit code 0 if all of it agrees, 3 if something differs or a ledger is no evidence. Sites whose ledgers are not given are named, and
    not compared.
    """
    with rest_client(server, ca) as client:
        told = call(client, "GET", f"/studies/{study}/received")
    from consilience.data.errors import ReadError  # noqa: PLC0415
    from consilience.service.reconcile import Comparison, audited  # noqa: PLC0415  the extra may not be installed

    read: dict[str, bytes] = {}
    for file in ledgers:
        try:
            read[str(file)] = file.read_bytes()
        except OSError as error:
            raise ReadError(f"A site's ledger should be in {str(file)!r}: {error.strerror}.") from None
    found: list[Comparison] = audited(study, told, read)
    if as_json:
        say_json([asdict(one) for one in found])
    else:
        console = Terminal()
        for one in found:
            console.print(f"[bold]{escape(printable(one.site))}[/]", highlight=False)
            for mark, lines in (("[green]agrees [/]", one.agrees), ("[red]differs[/]", one.differs), ("[dim]open   [/]", one.open)):
                for line in lines:
                    console.print(f"  {mark} {escape(printable(line))}", highlight=False, soft_wrap=True)
    raise typer.Exit(3 if any(one.differs for one in found) else 0)


@study_app.command("result")
def result(
    study: StudyId,
    out: Annotated[Path, typer.Option(help="Folder to write into.")] = Path(),
    server: Server = "",
    ca: Ca = "",
) -> None:
    """Download the result of a finished study: JSON, CSV and the report."""
    with rest_client(server, ca) as client:
        download(client, study, out)


add_sharing_commands(study_app)
