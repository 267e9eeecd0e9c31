"""Consent at the command line: who says yes, what a person is shown and asked, and a site's policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from consilience.cli.optional import need_service
from consilience.cli.terminal import Terminal, say_lines
from consilience.service.errors import ConfigurationError

if TYPE_CHECKING:
    from consilience.federation import Client
    from consilience.service.agent import StudyFolder
    from consilience.service.agent.asking import Asked, Decide
    from consilience.service.agent.policy import Policy
    from consilience.service.config import AgentConfig

__all__ = ["confirmed", "decider", "person", "policy_command", "policy_of", "show_offer", "show_told", "show_words"]


def policy_of(settings: AgentConfig) -> Policy | None:
    """The site's policy, if it has one."""
    from consilience.service.agent.policy import read_policy  # noqa: PLC0415

    return read_policy(settings.policy) if settings.policy else None


def decider(settings: AgentConfig) -> Decide | None:
    """Who agrees without being asked, as far as anybody does."""
    from consilience.service.agent.asking import unattended  # noqa: PLC0415

    return unattended(settings)


def show_words(console: Terminal, lines: list[str], warnings: list[str]) -> None:
    """Lines, and what is to be noted besides."""
    for line in lines:
        console.print(escape(line), highlight=False, soft_wrap=True)
    for line in warnings:
        console.print(f"[bold yellow]note:[/] {escape(line)}", highlight=False, soft_wrap=True)


def confirmed(words: str) -> bool:
    """Whether somebody says yes."""
    try:
        return typer.confirm(words, err=True)
    except typer.Abort:  # nobody is there to answer: that is a no
        return False


def person(console: Terminal, policy: Policy | None) -> Decide:
    """Somebody at the terminal. What they and earlier studies tell together is a question of its own; a policy is only shown to them."""
    from consilience.service.agent.asking import Decision  # noqa: PLC0415
    from consilience.service.agent.policy import violations  # noqa: PLC0415

    def decide(asked: Asked) -> Decision:
        broken = [] if policy is None else violations(policy, asked.contract, asked.site, [one.words for one in asked.subtractions])
        show_words(console, [], [f"By this site's policy you would not agree: {words}" for words in broken])
        if not confirmed("Do you agree, and may masked sums leave this site?"):
            return Decision(yes=False)
        if asked.subtractions:
            show_words(console, [], [one.words for one in asked.subtractions])
            if not confirmed("May it be told what this study and earlier ones tell together, as said above?"):
                return Decision(yes=False)
        return Decision(yes=True, by="its owner")

    return decide


def show_offer(client: Client, folder: StudyFolder, study: dict[str, Any], settings: AgentConfig) -> None:
    """The contract as it would be now, with its digest, what can be worked out about this site, and what the site's policy says of it."""
    from consilience.service.agent.disclosing import disclosed  # noqa: PLC0415
    from consilience.service.agent.earlier.recalling import recall  # noqa: PLC0415
    from consilience.service.agent.policy import violations  # noqa: PLC0415
    from consilience.service.contract import contract_shown, warnings_of  # noqa: PLC0415

    contract, policy, console = contract_shown(study), policy_of(settings), Terminal()
    mine = disclosed(client, contract)
    recalled = recall(folder, contract, client, mine.shielded)
    lines = [*contract.lines(), f"the contract's digest, as it stands now: {contract.digest.hex()}", *mine.lines()]
    show_words(console, lines, [*warnings_of(contract), *recalled.warnings])
    if policy is not None:
        broken = violations(policy, contract, folder.joined.site, [one.words for one in recalled.subtractions])
        says = "would not agree to it" if broken else "would agree to it"
        show_words(console, [f"This site's policy ({policy.digest[:16]}…) {says}.", *(f"  - {words}" for words in broken)], [])
    console.print(
        "Compare the digest and the fingerprints with the study's owner and the other sites, not through the server. --consent DIGEST "
        "agrees to this contract and to no other; whatever changes it, changes the digest.\n",
        highlight=False,
        soft_wrap=True,
    )


def show_told(client: Client, folder: StudyFolder) -> None:
    """What a study without declared variables would be told of this site's, and the digest that stands for these words."""
    from consilience.service.agent.telling import TELL_WARNING, declared, digest_of_words, question  # noqa: PLC0415

    lines = question(declared(client), folder.joined.url)
    show_words(Terminal(), [*lines, f"the digest of these words: {digest_of_words(lines)}"], [TELL_WARNING])


def policy_command(
    file: Annotated[Path | None, typer.Argument(help="A policy: say what it asks for.")] = None,
    example: Annotated[bool, typer.Option("--example", help="Print a policy to begin with, every rule with its meaning.")] = False,
    write: Annotated[Path | None, typer.Option(help="Write that example to a file that is not there yet.")] = None,
) -> None:
    """A site's policy: what `client run --yes` agrees to without asking anybody.

    Example: consilience client policy --write policy.toml
    """
    need_service()
    from consilience.service.agent.policy import example_policy, read_policy, rules_in_words  # noqa: PLC0415

    if example:
        say_lines(example_policy())
    if write is not None:
        try:
            with write.open("x", encoding="utf-8") as new:
                new.write(example_policy())
        except OSError as error:
            raise ConfigurationError(f"{str(write)!r} cannot be written: {error.strerror}. Choose a file that is not there yet.") from None
        Terminal(stderr=True).print(f"written: {escape(str(write))}. Read it and change it before you use it.", highlight=False)
    if file is not None:
        found, console = read_policy(file), Terminal()
        for line in rules_in_words(found):
            console.print(escape(line), highlight=False, soft_wrap=True)
        console.print(f"digest {found.digest}", highlight=False, soft_wrap=True)
    if file is None and write is None and not example:
        raise ConfigurationError("Say which policy is meant, or --example for one to begin with, or --write FILE.")
