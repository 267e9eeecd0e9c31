"""``consilience nvflare``: the same study on the network of NVIDIA FLARE, submitted and fetched with FLARE's own tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from consilience.cli.consenting import person, policy_of, show_words
from consilience.cli.optional import need_flare
from consilience.cli.terminal import Terminal
from consilience.service.errors import ConfigurationError
from consilience.settings.studyfile import read_study

__all__ = ["nvflare_app"]

nvflare_app = typer.Typer(help="Run a study on the network of NVIDIA FLARE.", no_args_is_help=True)
Kit = Annotated[Path, typer.Argument(help="Folder of a start-up kit, with startup and local in it.")]


def _tell(words: str) -> None:
    Terminal(stderr=True).print(escape(words), highlight=False, soft_wrap=True)


@nvflare_app.command("site")
def site(
    kit: Kit,
    data: Annotated[Path, typer.Option(help="The site's table, .csv or .parquet.")],
    home: Annotated[Path | None, typer.Option(help="Folder with identity, ledgers and results; in the kit, if not given.")] = None,
    harmonise: Annotated[Path | None, typer.Option(help="What is done with the table first (a site.toml).")] = None,
    policy: Annotated[Path | None, typer.Option(help="Consent to whatever this policy allows; else `nvflare consent` asks.")] = None,
    card: Annotated[Path | None, typer.Option(help="Where to write the site's card; NAME.json, if not given.")] = None,
) -> None:
    """Prepare a site's start-up kit: let FLARE run our executor, say where the table is, and write a card for the study's owner.

    The settings are in local/consilience.toml of the kit, and can be changed there.

    Example: consilience nvflare site muenster --data muenster.csv
    """
    need_flare()
    from consilience.flare.card import write_card  # noqa: PLC0415  the extra may not be installed
    from consilience.flare.kit import allow, name_of, site_settings, write_settings  # noqa: PLC0415
    from consilience.flare.names import EXECUTOR  # noqa: PLC0415
    from consilience.service.agent.home import Home  # noqa: PLC0415
    from consilience.service.agent.policy import read_policy  # noqa: PLC0415
    from consilience.service.contract import Member  # noqa: PLC0415

    name = name_of(kit)
    given = {"data": data, "home": home, "harmonise": harmonise, "policy": policy}
    settings: dict[str, str | bool] = {key: str(path.absolute()) for key, path in given.items() if path is not None}
    if policy is not None:
        read_policy(policy)  # now, and not when a job is there
        settings["yes"] = True
    written = write_settings(kit, settings)
    allow(kit, EXECUTOR)
    found = site_settings(kit / "local")
    identity = Home(Path(found.home), found.identity_password).identity()
    member = Member(name, identity.public_bytes)
    write_card(card or Path(f"{name}.json"), member)
    _tell(f"{name!r} takes part by the settings in {str(written)!r}; its jobs may run {EXECUTOR}")
    _tell(f"this site  {identity.fingerprint_text}")
    _tell(f"Send {str(card or f'{name}.json')!r} to the study's owner, and compare the fingerprint by other means.")
    _tell("A client of FLARE's that is running reads this when it is started anew.")


@nvflare_app.command("server")
def server(
    kit: Kit,
    home: Annotated[Path | None, typer.Option(help="Folder for the journals of studies; in the kit, if not given.")] = None,
) -> None:
    """Prepare the server's start-up kit: let FLARE run our controller, and say where journals are kept.

    Example: consilience nvflare server server
    """
    need_flare()
    from consilience.flare.kit import allow, write_settings  # noqa: PLC0415
    from consilience.flare.names import CONTROLLER  # noqa: PLC0415

    if home is not None:
        write_settings(kit, {"home": str(home.absolute())})
    allow(kit, CONTROLLER)
    _tell(f"jobs on this server may run {CONTROLLER}. A server of FLARE's that is running reads this when it is started anew.")


@nvflare_app.command("job")
def job(
    study: Annotated[Path, typer.Argument(help="The study file (TOML).")],
    site: Annotated[list[Path], typer.Option(help="The card of a site, as `consilience nvflare site` writes it. One for each site.")],
    out: Annotated[Path, typer.Option(help="Folder to write the job to.")],
) -> None:
    """Write a study as a job folder, to submit with nvflare job submit -j FOLDER.

    The contract is fixed with it: its digest is what sites agree to. A job that was cut off is submitted again as it is.

    Example: consilience nvflare job study.toml --site muenster.json --site marburg.json --site mainz.json --out job
    """
    need_flare()
    from consilience.flare.card import read_card  # noqa: PLC0415
    from consilience.flare.job import contract_for, write_job  # noqa: PLC0415
    from consilience.service.contract import warnings_of  # noqa: PLC0415

    contract = contract_for(read_study(study, needs=("variables",)), tuple(map(read_card, site)))
    write_job(out, contract)
    show_words(Terminal(), [*contract.lines(), f"the contract's digest: {contract.digest.hex()}"], warnings_of(contract))
    _tell(f"written: {str(out)!r}. Each site agrees with: consilience nvflare consent KIT {out}")


@nvflare_app.command("consent")
def consent(
    kit: Kit,
    job: Annotated[Path, typer.Argument(help="The job folder, or the contract.msgpack in it.")],
) -> None:
    """Read the contract of a job, and agree to it, and to no other: its digest goes into the site's settings.

    Example: consilience nvflare consent muenster job
    """
    need_flare()
    from consilience.flare.job import read_contract  # noqa: PLC0415
    from consilience.flare.kit import agree, name_of, site_settings  # noqa: PLC0415
    from consilience.flare.participant import folder_of, table_of  # noqa: PLC0415
    from consilience.service.agent.asking import Asked  # noqa: PLC0415
    from consilience.service.agent.disclosing import disclosed  # noqa: PLC0415
    from consilience.service.agent.earlier.recalling import recall  # noqa: PLC0415
    from consilience.service.agent.home import Home  # noqa: PLC0415
    from consilience.service.contract import warnings_of  # noqa: PLC0415

    contract, name, settings, console = read_contract(job), name_of(kit), site_settings(kit / "local"), Terminal()
    client = table_of(name, settings)
    if contract.fingerprints.get(name) != client.identity.fingerprint:
        raise ConfigurationError(f"The contract must list this site, {name!r}, with its own identity; it does not. Send the card.")
    mine = disclosed(client, contract)
    folder = folder_of(Home(Path(settings.home), settings.identity_password), contract.study, name)
    recalled = recall(folder, contract, client, mine.shielded)
    lines = [*contract.lines(), f"the contract's digest: {contract.digest.hex()}", *mine.lines()]
    warnings = [*warnings_of(contract), *recalled.warnings]
    show_words(console, lines, warnings)
    if not person(console, policy_of(settings))(Asked(contract, name, lines, warnings, recalled.subtractions)).yes:
        _tell("You have not agreed. Nothing has left this site.")
        raise typer.Exit(3)
    file = agree(kit, contract.digest.hex(), subtraction=bool(recalled.subtractions))
    _tell(f"agreed to {contract.digest.hex()}, in {str(file)!r}")
