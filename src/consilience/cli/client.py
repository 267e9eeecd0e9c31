"""``consilience client``: the site agent. It holds the data, dials out, and answers what its owner has consented to."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from consilience.cli.consenting import confirmed, decider, person, policy_command, policy_of, show_offer, show_told, show_words
from consilience.cli.optional import need_service
from consilience.cli.terminal import Terminal, say, say_json, say_lines
from consilience.service.errors import ConfigurationError
from consilience.wording import counted, printable

if TYPE_CHECKING:
    from consilience.federation import Client
    from consilience.federation.site.ledger_summary import LedgerSummary
    from consilience.service.agent import Home, StudyFolder
    from consilience.service.agent.asking import Asked, Decide, Decision
    from consilience.service.config import AgentConfig

__all__ = ["client_app"]

client_app = typer.Typer(help="Take part in a study: join it, answer it, look at what has left this site.", no_args_is_help=True)
client_app.command("policy")(policy_command)
ConfigFile = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.", envvar="CONSILIENCE_CLIENT_CONFIG")]
HomeOption = Annotated[str | None, typer.Option(help="Folder with the identity and the studies.")]
StudyOption = Annotated[str, typer.Option(help="Which study, if this site has joined more than one.")]


def _settings(config: Path | None, **given: Any) -> AgentConfig:
    need_service()
    from consilience.service.config import load_agent  # noqa: PLC0415  the extra may not be installed

    return load_agent(config, **given)


def _home(settings: AgentConfig) -> Home:
    from consilience.service.agent import Home  # noqa: PLC0415

    return Home(Path(settings.home), settings.identity_password)


@client_app.command("join")
def join(
    invitation: Annotated[str, typer.Argument(help="File with the invitation, or - for standard input.")],
    config: ConfigFile = None,
    home: HomeOption = None,
    ca: Annotated[str | None, typer.Option(help="Certificate authorities to trust (PEM).")] = None,
    insecure: Annotated[bool | None, typer.Option(help="Allow a connection without TLS; for trials.")] = None,
) -> None:
    """Take an invitation: bind this site's identity to it, once.

    Example: consilience client join invitation.txt
    """
    settings = _settings(config, home=home, ca=ca, insecure=insecure)
    from consilience.data.errors import ReadError  # noqa: PLC0415
    from consilience.secagg import fingerprint_of, fingerprint_text  # noqa: PLC0415
    from consilience.service.agent import join as enter  # noqa: PLC0415
    from consilience.service.invitation import read_invitation  # noqa: PLC0415

    try:
        text = sys.stdin.read() if invitation == "-" else Path(invitation).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"The invitation should be in {invitation!r}: {error}.") from None
    found = read_invitation(text)
    place = _home(settings)
    folder = enter(place, found, ca=settings.ca, insecure=settings.insecure)
    console = Terminal()
    console.print(f"joined study {found.study} as {escape(repr(found.site))}; kept in {escape(str(folder.path))}", highlight=False)
    console.print(f"this site   {place.identity().fingerprint_text}", highlight=False, soft_wrap=True)
    console.print(f"the server  {fingerprint_text(fingerprint_of(found.server))}", highlight=False, soft_wrap=True)
    console.print("Compare both with the study's owner, by other means than through the server.", highlight=False)


@client_app.command("run")
def run(
    data: Annotated[str | None, typer.Option(help="The site's table, .csv or .parquet.")] = None,
    study: StudyOption = "",
    config: ConfigFile = None,
    home: HomeOption = None,
    kind: Annotated[list[str] | None, typer.Option(help="Declare a kind: NAME=KIND. Repeatable.")] = None,
    harmonise: Annotated[
        str | None, typer.Option(help="What is done with the table first: renaming, recoding, units, ranges, … (a site.toml).")
    ] = None,
    pin: Annotated[list[str] | None, typer.Option(help="A fingerprint compared beforehand: SITE=FINGERPRINT. Repeatable.")] = None,
    ca: Annotated[str | None, typer.Option(help="Certificate authorities to trust (PEM).")] = None,
    policy: Annotated[
        str | None, typer.Option(help="What may be agreed to without asking (TOML); `consilience client policy` makes an example.")
    ] = None,
    yes: Annotated[bool | None, typer.Option("--yes", help="Consent without asking to what the policy allows; needs --policy.")] = None,
    consent: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="Consent to the contract with this digest, and to no other; --dry-run prints it.")
    ] = None,
    allow_subtraction: Annotated[
        bool | None,
        typer.Option("--allow-subtraction", help="With --consent: also if an earlier study can be subtracted from this one."),
    ] = None,
    send_names_and_levels: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="In a study without declared variables: send the names and levels with this digest in the open."
        ),
    ] = None,
    insecure: Annotated[bool | None, typer.Option(help="Allow a connection without TLS; for trials.")] = None,
    dry_run: Annotated[bool, typer.Option(help="Show what would leave this site, and send nothing of it.")] = False,
) -> None:
    """Answer a study until it is over. The data stay in this process; the result is written to the study's folder.

    Exit code 0 if there are graphs; 3 if there is none, or the study did not finish.

    Example: consilience client run --data muenster.csv
    """
    given = {"data": data, "home": home, "harmonise": harmonise, "ca": ca, "yes": yes, "policy": policy, "consent": consent}
    told = {"send_names_and_levels": send_names_and_levels, "allow_subtraction": allow_subtraction, "insecure": insecure}
    settings = _settings(config, **given, **told)
    decide = None if dry_run else decider(settings)  # first: what cannot be decided by is said before anything is read
    folder = _home(settings).study(study)
    gone = folder.withdrawn
    if gone is not None:
        raise ConfigurationError(
            f"This site withdrew from the study on {gone.time[:10]}, and answers nothing in it. To take part again, ask its owner for an "
            f"invitation to a copy."
        )
    kinds = settings.kinds | dict(_pair("--kind", text) for text in kind or [])
    peers = settings.peers | dict(_pair("--pin", text) for text in pin or [])
    if not settings.data:
        raise ConfigurationError("Say where the site's table is: --data FILE.")
    from consilience.federation import Client  # noqa: PLC0415  models and tables, which no other command of this group needs

    client = Client(
        folder.joined.site,
        settings.data,
        kinds=kinds,
        levels=settings.levels,
        harmonise=settings.harmonise or None,
        identity=_home(settings).identity(),
        min_cell=settings.min_cell,
        cells=settings.cells,
        rare_levels=settings.rare_levels,
        memory=settings.memory or None,
    )
    _say_check(client)
    if dry_run:
        _dry_run(client, folder, settings)
    else:
        _run(client, folder, settings, peers, decide)


def _say_check(client: Client) -> None:
    """What looks wrong in the site's own table, before anything is asked or sent."""
    from consilience.cli.findings import show_findings  # noqa: PLC0415
    from consilience.data.finding import Grade  # noqa: PLC0415

    grave = [finding for finding in client.findings if finding.grade is not Grade.NOTICE]
    console = Terminal(stderr=True)
    if grave:
        console.print(f"Look at the table of {escape(repr(client.name))} (consilience check shows all of it):", highlight=False)
        show_findings(grave, console)


def _pair(option: str, text: str) -> tuple[str, str]:
    name, sign, rest = text.partition("=")
    if not sign or not name or not rest:
        raise ConfigurationError(f"{option} takes NAME=VALUE; got {text!r}.")
    return name, rest


def _run(client: Client, folder: StudyFolder, settings: AgentConfig, peers: dict[str, str], decide: Decide | None) -> None:
    from consilience.service.agent import Agent, Site  # noqa: PLC0415
    from consilience.service.agent.entry import download  # noqa: PLC0415
    from consilience.service.agent.telling import digest_of_words  # noqa: PLC0415

    console = Terminal(stderr=True)

    def say(words: str) -> None:
        console.print(escape(words), highlight=False, soft_wrap=True)

    def tells(lines: list[str], warnings: list[str]) -> bool:
        show_words(console, lines, warnings)
        if settings.send_names_and_levels:
            return settings.send_names_and_levels.strip().lower() == digest_of_words(lines)
        return confirmed("May exactly these names and levels be sent in the open?")

    def decided(asked: Asked) -> Decision:
        show_words(console, asked.lines, asked.warnings)
        found = (decide or person(console, policy_of(settings)))(asked)
        if found.yes:
            say(f"agreed to {asked.contract.digest.hex()} by {found.by}")
        return found

    with folder.lock():
        site = Site(client, folder, lambda *_: False, peers, tells, decide=decided)
        agent = Agent(folder.joined, client.identity, settings, say, keep=folder.trust)
        try:
            outcome = asyncio.run(agent.run(site))
        finally:
            if site.advice:
                say(site.advice)
        say(f"{outcome.state}: {outcome.message}")
        if outcome.token:
            contract = folder.contract
            held = set(client.declarations) & (set(contract.schema) if contract else set())
            for path in download(folder, outcome.token, held, ca=settings.ca, insecure=settings.insecure):
                say(f"written: {path}")
    raise typer.Exit(0 if outcome.state == "finished" and _graphs(folder) else 3)


def _graphs(folder: StudyFolder) -> int:
    """How many graphs the result has that was written: none is no success, here as for ``consilience discover``."""
    file = folder.path / "result.json"
    return len(json.loads(file.read_text(encoding="utf-8"))["pags"]) if file.exists() else 0


def _dry_run(client: Client, folder: StudyFolder, settings: AgentConfig) -> None:
    from consilience.service.agent import Agent  # noqa: PLC0415
    from consilience.service.agent.entry import fetch_study  # noqa: PLC0415
    from consilience.service.agent.rehearsal import rehearse  # noqa: PLC0415

    token = asyncio.run(Agent(folder.joined, client.identity, settings, lambda _: None, keep=folder.trust).token())
    study = fetch_study(folder, token, ca=settings.ca, insecure=settings.insecure)
    if study["variables"] is None:
        show_told(client, folder)
    ledger = rehearse(client, study)
    show_offer(client, folder, study, settings)
    console = Terminal()
    for entry in ledger.entries:
        console.print(f"{entry.numbers:8d} numbers  {escape(entry.what)}", highlight=False, soft_wrap=True)
    total = ledger.totals()
    console.print(
        f"An example with copies of this site as the others: {total['messages']} messages, {total['numbers']} masked numbers, "
        f"{total['bytes']} bytes. Nothing of it was sent.",
        highlight=False,
        soft_wrap=True,
    )


@client_app.command("token")
def token(
    study: StudyOption = "",
    config: ConfigFile = None,
    home: HomeOption = None,
    ca: Annotated[str | None, typer.Option(help="Certificate authorities to trust (PEM).")] = None,
    insecure: Annotated[bool | None, typer.Option(help="Allow a connection without TLS; for trials.")] = None,
) -> None:
    """Print a token with which the study's page and its result can be seen in a browser. It is good for a week, for this study alone.

    Example: consilience client token --home muenster
    """
    settings = _settings(config, home=home, ca=ca, insecure=insecure)
    folder = _home(settings).study(study)
    from consilience.service.agent import Agent  # noqa: PLC0415

    with folder.lock():  # a site has one connection: this one would end that of an agent at work
        found = asyncio.run(Agent(folder.joined, _home(settings).identity(), settings, lambda _: None, keep=folder.trust).token())
    Terminal(stderr=True).print(escape(printable(f"for {folder.joined.url}/token")), highlight=False, soft_wrap=True)
    say(found)


@client_app.command("withdraw")
def withdraw(
    study: Annotated[str, typer.Argument(help="The study's id; may be left out if this site has joined one.")] = "",
    reason: Annotated[str, typer.Option(help="Why, for the study's owner and for who reads the result.")] = "",
    config: ConfigFile = None,
    home: HomeOption = None,
    ca: Annotated[str | None, typer.Option(help="Certificate authorities to trust (PEM).")] = None,
    insecure: Annotated[bool | None, typer.Option(help="Allow a connection without TLS; for trials.")] = None,
) -> None:
    """Withdraw from a study, before it runs, while it does or after: this site answers nothing more in it, whatever the server says.

    What was summed before cannot be taken out of the sums. The study's owner is told at once, and its result says so.

    Example: consilience client withdraw --home muenster --reason "the table had a mistake"
    """
    settings = _settings(config, home=home, ca=ca, insecure=insecure)
    place = _home(settings)
    folder, console = place.study(study), Terminal(stderr=True)
    from consilience.service.agent import Agent  # noqa: PLC0415
    from consilience.service.agent.leaving import tell_withdrawn  # noqa: PLC0415

    found = folder.keep_withdrawn(reason)  # first: an agent at work looks at it before every answer
    total = folder.ledger(place.identity()).totals()
    console.print(f"This site has withdrawn from the study {folder.joined.study}, and answers nothing more in it.", highlight=False)
    left = f"{total['messages']} messages with {total['numbers']} numbers had left it (consilience client ledger lists them)."
    console.print(left, highlight=False, soft_wrap=True)
    token = asyncio.run(Agent(folder.joined, place.identity(), settings, lambda _: None).token())
    told = tell_withdrawn(folder, token, found.reason, ca=settings.ca, insecure=settings.insecure)
    console.print(escape(told), highlight=False, soft_wrap=True)


@client_app.command("reconsider")
def reconsider(study: StudyOption = "", config: ConfigFile = None, home: HomeOption = None) -> None:
    """Allow a study that declares something else than before one more answer: whether a table fits tells something about its values.

    Example: consilience client reconsider --home muenster
    """
    folder = _home(_settings(config, home=home)).study(study)
    with folder.lock():
        found = folder.reconsider()
    console = Terminal()
    if found is None:
        console.print("There is nothing to allow: this site declines no contract of the study unseen.", highlight=False)
        return
    was = f"does not fit, {counted(found.times, 'time')} so far: {found.reason}" if found.reason else "fits."
    console.print(f"The study's owner was told that the table {escape(was)}", highlight=False, soft_wrap=True)
    console.print("One more declaration is looked at. (The same one is looked at again in any case.)", highlight=False, soft_wrap=True)


@client_app.command("status")
def status(
    config: ConfigFile = None, home: HomeOption = None, as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False
) -> None:
    """This site's fingerprint, and the studies it has joined."""
    place = _home(_settings(config, home=home))
    from consilience.service.agent.earlier.past import Past  # noqa: PLC0415

    agreed, rows = Past(place.path).studies(), []
    for folder in place.studies():
        contract, totals = folder.contract, folder.ledger(place.identity()).totals()
        by = next((took.by for took in reversed(agreed) if contract and took.contract == contract.digest.hex()), "")
        rows.append(
            {
                "study": folder.joined.study,
                "name": printable(contract.name) if contract else "",
                "site": folder.joined.site,
                "server": folder.joined.url,
                "consented": contract is not None,
                "by": by,
                "finished": (folder.path / "result.json").exists(),
                **totals,
            }
        )
    if as_json:
        say_json({"fingerprint": place.identity().fingerprint.hex(), "studies": rows})
        return
    console = Terminal()
    console.print(f"this site  {place.identity().fingerprint_text}", highlight=False, soft_wrap=True)
    table = Table()
    for heading in ("study", "name", "as", "consented", "messages", "numbers", "refused", "result"):
        table.add_column(heading)
    for row in rows:
        yes = {True: "yes", False: "no"}
        counts = (str(row["messages"]), str(row["numbers"]), str(row["refused"]))
        names = (str(row["study"]), escape(str(row["name"])), escape(str(row["site"])))
        table.add_row(*names, yes[bool(row["consented"])], *counts, yes[bool(row["finished"])])
    console.print(table)


@client_app.command("ledger")
def ledger(
    study: StudyOption = "",
    config: ConfigFile = None,
    home: HomeOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON Lines, digests and signatures included.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Check every digest and every signature, and print nothing else.")] = False,
    summary: Annotated[bool, typer.Option("--summary", help="Totals, then each run, then what was refused; no single lines.")] = False,
) -> None:
    """Everything that has left this site in a study, in words, and every request it refused.

    Lines are chained by digests and signed by this site; one that was changed is an error that names it. For the study's owner, who can
    compare it with what the server says it received: consilience client ledger --json > ledger.jsonl
    """
    place = _home(_settings(config, home=home))
    record = place.study(study).ledger(place.identity())
    if verify:
        Terminal().print(record.verify().said, highlight=False, soft_wrap=True)
        return
    if summary:
        from consilience.federation.site.ledger_summary import summarised  # noqa: PLC0415

        _show_summary(place.study(study), summarised(record.entries), as_json=as_json)
        return
    if as_json:
        say_lines(record.lines())
        return
    console = Terminal()
    for e in record.entries:
        what = f"[red]refused:[/] {escape(e.refused)}" if e.refused else escape(e.what)
        console.print(
            f"{e.time}  run {e.run} round {e.round:3d}  {e.numbers:7d} numbers  masked with {e.masked_with}  {what}",
            highlight=False,
            soft_wrap=True,
        )
    total = record.totals()
    console.print(
        f"{total['messages']} messages, {total['numbers']} numbers, {total['bytes']} bytes; {total['refused']} refused", highlight=False
    )


def _show_summary(folder: StudyFolder, found: LedgerSummary, *, as_json: bool) -> None:
    if as_json:
        say_json({"study": folder.joined.study, "site": folder.joined.site, **asdict(found)})
        return
    terminal, total = Terminal(), found.total
    between = f", from {total.first} to {total.last}" if total.first else ""
    terminal.print(
        f"{counted(total.messages, 'message')}, {total.numbers:,} numbers, {total.bytes:,} bytes left this site; "
        f"{total.refused} refused{between}",
        highlight=False,
        soft_wrap=True,
    )
    table = Table()
    for heading in ("run", "from", "to", "messages", "numbers", "bytes", "refused"):
        table.add_column(heading, justify="left" if heading in ("run", "from", "to") else "right")
    for run in found.runs:
        counts = (f"{one:,}" for one in (run.messages, run.numbers, run.bytes, run.refused))
        table.add_row(escape(run.run) or "before any", run.first, run.last, *counts)
    if found.runs:
        terminal.print(table)
    for reason, times in found.refusals.items():
        terminal.print(f"[red]refused[/] {counted(times, 'time')}: {escape(printable(reason))}", highlight=False, soft_wrap=True)
