"""``consilience server study tests|events|received``: what a study has on record, for people and, with ``--json``, for programs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from consilience.cli.calling import AsJson, Ca, Server, StudyId, call, rest_client
from consilience.cli.show import format_p
from consilience.cli.terminal import Terminal, say_json
from consilience.wording import counted, printable

__all__ = ["list_events", "list_received", "list_tests"]

MOST_SHOWN = 50


def list_tests(
    study: StudyId,
    server: Server = "",
    ca: Ca = "",
    most: Annotated[int, typer.Option(min=1, help="Tests to show, strongest dependence first; --json has all.")] = MOST_SHOWN,
    as_json: AsJson = False,
) -> None:
    """The tests that are done: also while the study runs, and after it failed.

    Example: consilience server study tests 00112233aabbccdd
    """
    with rest_client(server, ca) as client:
        found: list[dict[str, Any]] = call(client, "GET", f"/studies/{study}/tests")
    if as_json:
        say_json(found)
        return
    informative = [one for one in found if one["informative"]]
    terminal = Terminal()
    terminal.print(
        f"{counted(len(found), 'test')} done, {len(found) - len(informative)} of them not informative", highlight=False, soft_wrap=True
    )
    table = Table()
    for heading in ("x", "y", "given", "p", "n", "sites", "how strong"):
        table.add_column(heading, justify="right" if heading in ("p", "n", "sites") else "left")
    for one in sorted(informative, key=lambda one: (one["p_value"] is None, one["p_value"] or 0.0))[:most]:
        p = "" if one["p_value"] is None else format_p(one["p_value"])
        cells = (one["x"], one["y"], ", ".join(one["given"]), p, one["n"], one["contributors"], one["in_words"])
        table.add_row(*(escape(printable(str(cell))) for cell in cells))
    if table.row_count:
        terminal.print(table)
    if len(informative) > most:
        terminal.print(f"… and {len(informative) - most} more; --most or --json has them", highlight=False)
    for one in [one for one in found if not one["informative"]][:most]:
        given = f" | {', '.join(one['given'])}" if one["given"] else ""
        words = printable(f"not informative: {one['x']}, {one['y']}{given}: {one['reason']}")
        terminal.print(escape(words), highlight=False, soft_wrap=True)


def list_events(
    study: StudyId,
    server: Server = "",
    ca: Ca = "",
    after: Annotated[int, typer.Option(min=0, help="Only what happened after this event, by its number.")] = 0,
    as_json: AsJson = False,
) -> None:
    """What has happened in a study, oldest first, and then the end; `watch` waits for more.

    Example: consilience server study events 00112233aabbccdd
    """
    with rest_client(server, ca) as client:
        found = list(_all_events(client, study, after))
    if as_json:
        say_json(found)
        return
    terminal = Terminal()
    for one in found:
        when = f"{datetime.fromtimestamp(one['time'], UTC):%Y-%m-%d %H:%M:%S} UTC"
        body = ", ".join(f"{name} {_plain(value)}" for name, value in one["body"].items())
        words = printable(f"{one['number']:6d}  {when}  {one['kind']:10}  {body}")
        terminal.print(escape(words.rstrip()), highlight=False, soft_wrap=True)


def _plain(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _all_events(client: Any, study: str, after: int) -> Iterator[dict[str, Any]]:
    while found := call(client, "GET", f"/studies/{study}/log?after={after}"):
        yield from found
        if found[-1]["number"] <= after:
            return
        after = found[-1]["number"]


def list_received(study: StudyId, server: Server = "", ca: Ca = "", as_json: AsJson = False) -> None:
    """What the server says it received from each site, in all; `audit` compares it with the sites' ledgers line by line.

    With --json every answer by its length and digest, too. Example: consilience server study received 00112233aabbccdd
    """
    with rest_client(server, ca) as client:
        totals: list[dict[str, Any]] = call(client, "GET", f"/studies/{study}/received/totals")
        if as_json:
            say_json({"totals": totals, **call(client, "GET", f"/studies/{study}/received")})
            return
    table = Table(caption="Answers are masked numbers; the server computes with their sums over all sites.", caption_justify="left")
    for heading in ("site", "answers", "numbers", "bytes", "refused", "runs"):
        table.add_column(heading, justify="left" if heading == "site" else "right")
    for one in totals:
        counts = (f"{one[name]:,}" for name in ("answers", "numbers", "bytes", "refused", "runs"))
        table.add_row(escape(printable(one["site"])), *counts)
    Terminal().print(table)
