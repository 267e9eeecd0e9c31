"""``consilience server study without|copy|rerun``: a study goes on without a site, is copied, or is done once more."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape

from consilience.cli.calling import Ca, Server, StudyId, call, rest_client
from consilience.cli.options import Given, takes_settings
from consilience.cli.terminal import Terminal, say
from consilience.errors import OptionError
from consilience.iod.knowledge import Knowledge
from consilience.settings import Part
from consilience.wording import printable

__all__ = ["copy_study", "go_without", "rerun_study"]

POLL_SECONDS = 0.5
COPIED = (
    "It is a draft with the same variables and settings, but for those given. Sites are invited and asked for consent anew, these or "
    "others: who takes part is what sums are over, so that no test is taken over. The study that it is a copy of stays as it is, and can "
    "be decided again (study rerun). Where the sites of both differ by few, every site is told before it agrees what can be worked out by "
    "subtracting."
)


def go_without(study: StudyId, site: Annotated[str, typer.Argument(help="The site's name.")], server: Server = "", ca: Ca = "") -> None:
    """Go on without a site that does not fit or does not agree, until all have agreed. All others are asked for consent again.

    Example: consilience server study without 00112233aabbccdd mainz
    """
    with rest_client(server, ca) as client:
        found = call(client, "POST", f"/studies/{study}/without", {"site": site})
    say(found["state"])
    if found["state"] == "running":
        names = ", ".join(each["name"] for each in found["sites"])
        _aside(f"The contract is another one without {site}: asked for consent anew are {names}. Its digest is {found['contract']}.")


@takes_settings(Part.GRAPHS, Part.TESTS, default="as before")
def copy_study(
    study: StudyId,
    settings: Given,
    name: Annotated[str | None, typer.Option(help="Its name; that of the study, if left out.")] = None,
    server: Server = "",
    ca: Ca = "",
) -> None:
    """Make a draft with the same declaration, but for the settings given; print its id. Its sites, these or others, are asked anew.

    Example: consilience server study copy 00112233aabbccdd --name "with a fourth site"
    """
    body = {"settings": _plain(settings), **({"name": name} if name else {})}
    with rest_client(server, ca) as client:
        found = call(client, "POST", f"/studies/{study}/copy", body)
    say(found["id"])
    _aside(COPIED)


@takes_settings(Part.GRAPHS, default="as before")
def rerun_study(
    study: StudyId,
    settings: Given,
    knowledge: Annotated[Path | None, typer.Option(help="Other knowledge: tiers, required, forbidden (a TOML file).")] = None,
    without_knowledge: Annotated[bool, typer.Option("--without-knowledge", help="Leave out what was known before.")] = False,
    server: Server = "",
    ca: Ca = "",
) -> None:
    """Do a study that is over once more; print the id of the study to look at.

    With another alpha, resolution or knowledge it is decided from the tests that were made, as a study of its own, and no site is asked.
    A study that failed or was cancelled, as it was, runs again under its contract. If tests are missing, it is a copy that asks for
    consent anew. Exit code 0 if there are graphs, or if it runs; 3 if there are none, or a draft.

    Example: consilience server study rerun 00112233aabbccdd --alpha 0.01
    """
    if knowledge is not None and without_knowledge:
        raise OptionError("--knowledge gives other knowledge and --without-knowledge none; take one of them.")
    known = Knowledge() if without_knowledge else None if knowledge is None else Knowledge.from_toml(knowledge)
    body = {"settings": _plain(settings | ({} if known is None else known.to_settings()))}
    with rest_client(server, ca) as client:
        found = call(client, "POST", f"/studies/{study}/rerun", body)
        now = found["study"]
        say(now["id"])
        _aside(found["words"])
        while found["how"] == "decided" and now["state"] == "running":
            time.sleep(POLL_SECONDS)
            now = call(client, "GET", f"/studies/{now['id']}")
        result = call(client, "GET", f"/studies/{now['id']}/documents/result.json") if now["state"] == "finished" else None
    if result is not None:
        _aside(result["headline"])
        raise typer.Exit(0 if result["pags"] else 3)
    if now["message"]:
        _aside(now["message"])
    raise typer.Exit(0 if now["state"] == "running" else 3)


def _plain(settings: Given) -> dict[str, Any]:
    """Settings as JSON has them."""
    found: dict[str, Any] = json.loads(json.dumps(settings))
    return found


def _aside(words: object) -> None:
    """For people, beside what a program reads."""
    Terminal(stderr=True).print(escape(printable(str(words))), highlight=False, soft_wrap=True)
