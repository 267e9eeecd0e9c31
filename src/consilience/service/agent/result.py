"""What a study has found, as a site takes it: data, held against the contract; the report and the tables are made of it here.

Nothing is written as it came but the JSON (:mod:`consilience.service.result_reading` says why), and that only if it is a result over the
variables that the site's owner agreed to.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from consilience.iod import Discovery
from consilience.service.agent.home import StudyFolder
from consilience.service.contract import Contract
from consilience.service.errors import ResultError
from consilience.service.result_reading import files_of, read_told, readable
from consilience.service.tls import write_private

__all__ = ["NOT_AGREED", "keep_result", "read_result"]

NOT_AGREED = "This site has agreed to no contract of the study, and takes no result of it. Nothing was written. Ask the study's owner."
WAY_OUT = "Ask the study's owner."


def read_result(body: bytes, contract: Contract) -> tuple[Discovery, dict[str, Any]]:
    """The result of a study with this contract, and what its JSON says.

    Raises
    ------
    ResultError
        If it is none: no JSON, not a result, of another study, or over variables that nobody agreed to.
    """
    told = read_told(body, contract.study, WAY_OUT)
    with readable(WAY_OUT):
        _check_names(told, contract)
        return Discovery.from_dict(told), told


def _check_names(told: dict[str, Any], contract: Contract) -> None:
    """Only variables and variable sets of the contract, before anything is made of them: a graph over a million others is no result."""
    sets, names = {frozenset(held) for held in contract.datasets}, set(contract.schema)
    if len(told["local_pags"]) > len(contract.datasets) or len(told["pags"]) > max(contract.settings.limit or 0, 1):
        raise ValueError("it has more graphs than the contract allows")
    for graph in told["local_pags"]:
        if frozenset(graph["variables"]) not in sets:
            raise ValueError("it has variable sets that are not the contract's")
    for graph in (*told["local_pags"], *told["pags"]):
        if not names.issuperset(graph["labels"]) or len(graph["matrix"]) != len(graph["labels"]):
            raise ValueError("it has graphs over other variables than the contract's")
    for test in told["tests"]:
        if not names.issuperset((test["x"], test["y"], *test["given"])):
            raise ValueError("it has tests of other variables than the contract's")


def keep_result(folder: StudyFolder, body: bytes, held: set[str]) -> list[Path]:
    """Write a result into a study's folder: the JSON as it came, and what is made of it; the paths.

    The site's own local PAG is picked out here: the server need not know which it is.
    """
    contract = folder.contract
    if contract is None:
        raise ResultError(NOT_AGREED)
    found, told = read_result(body, contract)
    with readable(WAY_OUT):
        files = files_of(body, told, found)
        for local, pag in zip(told["local_pags"], found.local_pags, strict=True):
            if set(local["variables"]) == held:
                files["local-pag.svg"] = pag.to_svg().encode("utf-8", "replace")
                files["local-pag.json"] = json.dumps(local, ensure_ascii=False).encode("utf-8", "replace")
                break
    for name, content in files.items():
        write_private(folder.path / name, content)
    return [folder.path / name for name in files]
