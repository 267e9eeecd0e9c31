"""What a study asks for beside what a site has, and offers that are equal only if all of them is."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl
import pytest

from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.derived import read_derived
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.data.sources import Loaded
from consilience.errors import ConsilienceError
from consilience.secagg import Identity, fingerprint_text
from consilience.service.contract import Contract, Member
from consilience.service.settings import VariableSpec
from consilience.settings import NetworkSettings
from consilience.web.desk.fitting import fit, pairs_of
from consilience.web.desk.offer import Offer, differences
from consilience.web.desk.origin import Origin
from consilience.web.desk.table import SiteTable

SCHEMA = Schema({"age": "continuous", "sex": ("binary", ["F", "M"]), "stage": ("ordinal", ["1", "2", "3"]), "outcome": "binary"})
MEMBERS = tuple(Member(name, Identity.generate().public_bytes) for name in ("a", "b"))
CONTRACT = Contract(
    "00112233aabbccdd",
    "trial",
    (VariableSpec("sex", Kind.BINARY, ("F", "M")), VariableSpec("age", Kind.CONTINUOUS), VariableSpec("dead", Kind.BINARY)),
    (("sex", "age"), ("age", "dead")),
    NetworkSettings(alpha=0.01),
    MEMBERS,
)


def shown(contract: Contract) -> dict[str, Any]:
    """As the server's REST interface shows it."""
    return {
        "id": contract.study,
        "name": contract.name,
        "variables": [{"name": v.name, "kind": v.kind.value, "levels": list(v.levels)} for v in contract.variables],
        "datasets": [list(names) for names in contract.datasets],
        "settings": msgspec.to_builtins(contract.settings),
        "sites": [{"name": m.name, "fingerprint": fingerprint_text(m.fingerprint)} for m in reversed(contract.members)],
    }


def states(table: SiteTable, withheld: set[str] | None = None) -> dict[str, str]:
    return {match.variable.name: match.state for match in fit(SCHEMA, table, withheld or set())}


def test_states_of_variables() -> None:
    table = SiteTable(Origin("t"), Loaded(pl.DataFrame({"Age": [1.5, 2.5], "sex": ["male", "F"], "stage": [1, 3], "note": ["x", "y"]})))
    assert states(table) == {"age": "missing", "outcome": "missing", "sex": "conflict", "stage": "matches"}
    assert next(m.guess for m in fit(SCHEMA, table, set()) if m.variable.name == "age") == "Age"
    conflict = next(m for m in fit(SCHEMA, table, set()) if m.state == "conflict")
    assert (conflict.fix, conflict.strange) == ("levels", ("male",))
    table.decide(ColumnPlan(name="Age", rename="age"))
    table.decide(ColumnPlan(name="sex", recode=(("male", "M"),)))
    assert states(table, {"stage"}) == {"age": "matches", "outcome": "missing", "sex": "matches", "stage": "withheld"}
    table.decide(ColumnPlan(name="stage", drop=True))
    assert states(table)["stage"] == "missing"


@pytest.mark.parametrize(
    ("column", "kind", "fix"),
    [
        (["x", "y"], "", "column"),
        ([1.0, float("inf")], "", "column"),
        ([None, None], "", "column"),
        ([1, 2], "ordinal", "kind"),
    ],
)
def test_what_repairs_a_number(column: list[Any], kind: str, fix: str) -> None:
    table = SiteTable(Origin("t"), Loaded(pl.DataFrame({"age": column})))
    table.decide(ColumnPlan(name="age", kind=kind))
    match = fit(Schema({"age": "continuous"}), table, set())[0]
    assert (match.state, match.fix) == ("conflict", fix)
    assert match.words


def test_numbers_are_held_to_the_study_s_unit_and_range() -> None:
    study = Schema([Variable("chol", Kind.CONTINUOUS, unit="mmol/l", range=(0.5, 30.0))])
    table = SiteTable(Origin("t"), Loaded(pl.DataFrame({"chol": [201.0, 240.0, 5000.0]})))
    first = fit(study, table, set())[0]
    assert (first.state, first.fix) == ("conflict", "unit")
    assert "3 of 3 values are outside" in first.words
    table.decide(ColumnPlan(name="chol", unit="mg/dl"))
    second = fit(study, table, set())[0]
    assert (second.state, second.fix) == ("conflict", "range")
    assert "1 of 3 values are outside" in second.words
    table.decide(ColumnPlan(name="chol", unit="mg/dl -> mmol/l", range=(0.5, 30.0)))
    assert fit(study, table, set())[0].state == "matches"
    table.decide(ColumnPlan(name="chol", unit="years"))
    assert fit(study, table, set())[0].fix == "unit"
    table.decide(ColumnPlan(name="chol", range=(0.5, 10.0), factor=0.0259))
    last = fit(study, table, set())[0]
    assert (last.state, last.fix) == ("matches", "unit"), "nobody has said the unit, which is no conflict"


def test_a_derived_variable_can_be_the_study_s() -> None:
    table = SiteTable(Origin("t"), Loaded(pl.DataFrame({"days": [20_000, 25_000]})))
    table.derive([read_derived("age", "days / 365.25")])
    assert fit(Schema({"age": "continuous"}), table, set())[0].state == "matches"


def test_free_text_is_not_respelled_level_by_level() -> None:
    table = SiteTable(Origin("t"), Loaded(pl.DataFrame({"sex": [f"p{n}" for n in range(100)]})))
    match = fit(Schema({"sex": ("binary", ["F", "M"])}), table, set())[0]
    assert (match.fix, match.strange) == ("column", ())


def test_pairs_here_may_be_beyond_the_study_s_sets() -> None:
    assert pairs_of([["A", "B"]], ["A", "B", "C"]).here == 3


def test_a_study_and_its_contract_make_the_same_offer() -> None:
    early, late = Offer.of_study(shown(CONTRACT)), Offer.of_contract(CONTRACT)
    assert early == late
    assert early.reference == late.reference
    assert early.lines() == late.lines()
    assert list(early.schema) == ["age", "dead", "sex"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"members": MEMBERS[:1]}, "No longer a site: b."),
        ({"members": (MEMBERS[0], Member("b", bytes(32)))}, "Another identity: b."),
        ({"settings": NetworkSettings(alpha=0.01, min_rows=1)}, "The setting min_rows was 10 and is 1."),
        ({"settings": NetworkSettings(alpha=0.01, round_seconds=5)}, "round_seconds"),
        ({"name": "other"}, "another name"),
        ({"datasets": (("sex", "age", "dead"),)}, "variable sets"),
        ({"variables": (*CONTRACT.variables[:2], VariableSpec("dead", Kind.CONTINUOUS))}, "kinds"),
    ],
)
def test_whatever_differs_is_another_offer(change: dict[str, Any], words: str) -> None:
    """Also what the contract's own words do not mention."""
    offer, other = Offer.of_contract(CONTRACT), Offer.of_contract(msgspec.structs.replace(CONTRACT, **change))
    assert offer != other
    assert offer.reference != other.reference
    assert words in " ".join(differences(offer, other))


@pytest.mark.parametrize("change", [{"variables": None}, {"settings": {"alpha": "x"}}, {"sites": [{}]}, {"variables": [{"name": "a"}]}])
def test_what_a_server_says_wrongly_is_an_error_of_ours(change: dict[str, Any]) -> None:
    with pytest.raises(ConsilienceError):
        Offer.of_study({**shown(CONTRACT), **change})
