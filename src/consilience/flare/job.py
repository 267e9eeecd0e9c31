"""A study as a job of FLARE's: a folder with the contract, the two apps and what FLARE is told of them.

The job says which classes run and how often sites ask for work, and carries the contract. It says nothing of tables, folders or consent:
those are settings of each participant's own, and a job that came from somebody else could not change them.
"""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any

from consilience.errors import OptionError
from consilience.flare.names import (
    CLIENT_KNOBS,
    CONTRACT_FILE,
    CONTROLLER,
    EXECUTOR,
    SERVER_APP,
    SERVER_KNOBS,
    SITE_APP,
    TASK,
)
from consilience.service.contract import Contract, Member, bounded, decode_contract
from consilience.service.errors import ConfigurationError
from consilience.service.settings import specs_of
from consilience.settings import Dropout, NetworkSettings
from consilience.settings.studyfile import StudyFile

__all__ = ["contract_for", "read_contract", "write_job"]


def contract_for(study: StudyFile, members: tuple[Member, ...]) -> Contract:
    """The contract of a study file with these sites, under a new id.

    Raises
    ------
    OptionError
        If it declares no variables, would go on without a site, or too few sites are given.
    """
    from consilience.service.server.actions import declare  # noqa: PLC0415  loads the study server, which none of the processes needs

    if not study.schema or not study.datasets:
        raise OptionError(
            "A study on FLARE's network declares its variables and variable sets: sites agree to a contract before the job runs. Add "
            "[variables] and datasets to the study file."
        )
    declared = declare(study.name, specs_of(study.schema), study.datasets, NetworkSettings(**study.settings))
    assert declared.variables is not None
    assert declared.datasets is not None
    if declared.settings.on_dropout is Dropout.RESTART:
        raise OptionError(
            "on_dropout must be 'stop' on FLARE's network, which ends a job when the process of one of its sites ends; got 'restart'. "
            "Submit the job again when the site is back, or write a job without it."
        )
    least = max(2, declared.settings.min_contributors)
    names = {member.name for member in members}
    if len(names) < max(least, len(members)) or len({member.identity for member in members}) < len(members):
        raise OptionError(
            f"A study over a network needs at least {least} sites, each with a name and an identity of its own; got {len(members)} cards "
            f"of {len(names)} sites. Give one --site for each."
        )
    sites = tuple(sorted(members, key=lambda member: member.name))
    return bounded(Contract(secrets.token_hex(8), declared.name, declared.variables, declared.datasets, declared.settings, sites))


def write_job(folder: Path, contract: Contract) -> None:
    """Write a job folder for ``nvflare job submit -j``; :class:`ConfigurationError` if something is there already."""
    names = [member.name for member in contract.members]
    meta = {
        "name": f"consilience-{contract.study}",
        "resource_spec": {},
        "deploy_map": {SERVER_APP: ["server"], SITE_APP: names},
        "min_clients": len(names),  # FLARE waits until all of them are there, and begins then
        "mandatory_clients": names,
    }
    server = {"format_version": 2, **SERVER_KNOBS, "workflows": [{"id": "study", "path": CONTROLLER, "args": {}}]}
    site = {"format_version": 2, **CLIENT_KNOBS, "executors": [{"tasks": [TASK], "executor": {"path": EXECUTOR, "args": {}}}]}
    none: dict[str, Any] = {"components": [], "task_data_filters": [], "task_result_filters": []}
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise ConfigurationError(
            f"{str(folder)!r} is there already. A job that was cut off is submitted again as it is; for a new one choose another folder."
        ) from None
    _write(folder / "meta.json", meta)
    _write(folder / SERVER_APP / "config" / "config_fed_server.json", server | none)
    _write(folder / SITE_APP / "config" / "config_fed_client.json", site | none)
    (folder / SERVER_APP / "config" / CONTRACT_FILE).write_bytes(contract.encoded())


def _write(path: Path, content: dict[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_contract(path: Path) -> Contract:
    """The contract of a job folder, or of a file that was taken out of one."""
    file = path / SERVER_APP / "config" / CONTRACT_FILE if path.is_dir() else path
    try:
        return decode_contract(file.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{str(path)!r} should be a job that `consilience nvflare job` wrote: {error.strerror}.") from None
