"""A site's plan over a network: shown before consent, kept with it, asked about again when it changes; units and ranges of a contract."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

import consilience as cs
from consilience.data.kinds import Kind
from consilience.errors import DataError, OptionError, SchemaError
from consilience.protocol.handshake import Challenge, Consent, Declined, Welcome
from consilience.service.agent import Site
from consilience.service.agent.home import PlanRecord
from consilience.service.contract import decode_contract
from consilience.service.settings import VariableSpec, schema_of, spec_from
from tests.service.agent.sites import CLIENTS, CONTRACT, STUDY, changed, folder_of, proposal

PLAN = {"A": {"range": [-1000, 1000]}}


class Owner:
    """Says yes or no, and remembers what was shown."""

    def __init__(self, *, agrees: bool = True) -> None:
        self.agrees, self.seen = agrees, list[tuple[list[str], list[str]]]()

    def __call__(self, lines: list[str], warnings: list[str]) -> bool:
        self.seen.append((lines, warnings))
        return self.agrees


def started(path: Path, owner: Owner, plan: Any = None, frame: Any = None) -> Site:
    """The agent, as it is started with a plan."""
    old = CLIENTS[0]
    client = cs.Client(old.name, old.frame if frame is None else frame, harmonise=plan, identity=old.identity)
    site = Site(client, folder_of(path, old.name), owner)
    site.state.moves(Challenge)
    site.handle(Welcome(old.name, STUDY, "trial", "open"))
    return site


def test_the_plan_is_shown_and_kept_and_not_sent(tmp_path: Path) -> None:
    owner = Owner()
    reply = started(tmp_path, owner, PLAN).handle(proposal())
    assert isinstance(reply, Consent)
    record = folder_of(tmp_path).plan
    assert record.lines == ("A: range -1000 to 1000",)
    assert any("A: outside -1000 to 1000 made missing; 0 values changed" in line for line in owner.seen[0][0])
    assert record.digest not in repr(reply)
    assert reply.digest == CONTRACT.digest


def test_the_same_plan_is_not_asked_about_again(tmp_path: Path) -> None:
    owner = Owner()
    for _ in range(2):
        assert isinstance(started(tmp_path, owner, PLAN).handle(proposal()), Consent)
    assert len(owner.seen) == 1


@pytest.mark.parametrize(("first", "second"), [(PLAN, {"A": {"range": [-1, 1]}}), (None, PLAN), (PLAN, None)])
def test_another_plan_is_asked_about_before_anything_is_answered(tmp_path: Path, first: Any, second: Any) -> None:
    owner = Owner()
    started(tmp_path, owner, first).handle(proposal())
    refuser = Owner(agrees=False)
    assert isinstance(started(tmp_path, refuser, second).handle(proposal()), Declined)
    assert "is not the one that was agreed to" in refuser.seen[0][1][-1]
    assert folder_of(tmp_path).plan.digest == PlanRecord.of(cs_plan(first)).digest  # a no changes nothing
    assert isinstance(started(tmp_path, owner, second).handle(proposal()), Consent)
    assert len(owner.seen) == 2
    assert isinstance(started(tmp_path, owner, second).handle(proposal()), Consent)
    assert len(owner.seen) == 2


def cs_plan(plan: Any) -> Any:
    return cs.Client("x", CLIENTS[0].frame, harmonise=plan).plan


def test_a_damaged_record_of_the_plan_is_an_error(tmp_path: Path) -> None:
    started(tmp_path, Owner(), PLAN).handle(proposal())
    (folder_of(tmp_path).path / "harmonise.json").write_text("{", encoding="utf-8")
    with pytest.raises(cs.errors.ServiceError, match="cannot be read"):
        _ = folder_of(tmp_path).plan


def measured(**what: Any) -> Any:
    return changed(variables=tuple(msgspec.structs.replace(v, **what) if v.name == "A" else v for v in CONTRACT.variables))


def test_a_contract_with_units_says_so_and_survives_the_way() -> None:
    contract = measured(unit="mmol/l", low=-100.0)
    assert "A (continuous in mmol/l, -100 to inf)" in "\n".join(contract.lines())
    again = decode_contract(contract.encoded())
    assert (again, again.digest) == (contract, contract.digest)
    assert again.schema["A"].range == (-100.0, float("inf"))
    assert contract.digest != CONTRACT.digest


def test_a_site_with_values_outside_the_range_is_refused_before_its_owner_is_asked(tmp_path: Path) -> None:
    owner = Owner()
    site = started(tmp_path, owner)
    reply = site.handle(proposal(measured(low=0.0, high=0.5)))
    assert isinstance(reply, Declined)
    assert "0.5" not in reply.reason  # what does not fit stays here
    assert owner.seen == []
    assert isinstance(site.failure, SchemaError)
    assert "range = [0, 0.5]" in str(site.failure)


def test_a_site_that_says_its_unit_is_converted_and_shown_so(tmp_path: Path) -> None:
    owner = Owner()
    site = started(tmp_path, owner, {"A": {"unit": "cm"}})
    assert isinstance(site.handle(proposal(measured(unit="m"))), Consent)
    assert any("A: cm -> m: × 0.01" in line for line in owner.seen[0][0])
    other = started(tmp_path / "other", owner, {"A": {"unit": "kg"}})
    assert isinstance(other.handle(proposal(measured(unit="m"))), Declined)
    assert isinstance(other.failure, DataError)


@pytest.mark.parametrize("spec", [{"unit": "x" * 41}, {"unit": "a\nb"}, {"low": float("inf")}])
def test_units_from_outside_are_bounded(spec: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match="A unit has up to 40"):
        schema_of((VariableSpec("A", Kind.CONTINUOUS, **spec),))


def test_a_server_that_knows_no_units_is_understood() -> None:
    assert spec_from({"name": "A", "kind": "continuous", "levels": []}) == VariableSpec("A", Kind.CONTINUOUS)
