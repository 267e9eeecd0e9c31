"""A site's policy: what is read from its file, what it holds against a contract, and what nobody who is asked by nobody agrees to."""

from __future__ import annotations

import hashlib
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest

from consilience.service.agent.asking import Asked, by_digest, by_policy, check_digest
from consilience.service.agent.policy import Policy, describe_policy, example_policy, parse_policy, read_policy, rules_in_words, violations
from consilience.service.contract import Contract, Member
from consilience.service.errors import ConfigurationError
from consilience.settings import NetworkSettings
from tests.service.agent.sites import CLIENTS, CONTRACT, MEMBERS, OTHER, changed

ROOT = Path(__file__).parents[3]
TODAY = date(2026, 1, 31)
ATTACK = {"site_effects": "joint", "allow_joint": True, "on_dropout": "restart", "min_rows": 1}


def with_settings(**settings: Any) -> Contract:
    return changed(settings=msgspec.convert(settings, NetworkSettings))


def broken(policy: Policy, contract: Contract, *subtracted: str) -> list[str]:
    return violations(policy, contract, "site0", subtracted, TODAY)


def test_what_a_file_leaves_out_is_as_strict_as_a_study_over_a_network() -> None:
    policy = parse_policy(b"")
    assert broken(policy, CONTRACT) == []
    assert [words.split()[0] for words in broken(policy, with_settings(**ATTACK))] == ["min_rows", "site_effects", "on_dropout"]


@pytest.mark.parametrize(
    ("rules", "contract", "said"),
    [
        ({"min_contributors": 3}, CONTRACT, "min_contributors must be at least 3 by this site's policy; the contract has 2."),
        ({"min_rows": 11}, CONTRACT, "min_rows must be at least 11"),
        ({"min_cell": 6}, CONTRACT, "min_cell must be at least 6"),
        ({"isolation": "strict"}, CONTRACT, "isolation must be strict by this site's policy; the contract has aggregate."),
        ({"methods": ["fisher", "residual"]}, CONTRACT, "method may be fisher, residual by this site's policy; the contract has fedci."),
        ({"single_site": ["refuse"]}, CONTRACT, "single_site may be refuse"),
        ({"on_dropout": []}, CONTRACT, "on_dropout may be nothing"),
        ({"max_variables": 1}, CONTRACT, "at most 1 variables"),
        ({"members": ["site1"]}, CONTRACT, "the contract lists 'site2'"),
        ({"pins": {"site1": "ab" * 32}}, CONTRACT, "'site1' must take part with the fingerprint abab"),
        ({"pins": {"ulm": "ab" * 32}}, CONTRACT, "the contract does not list it"),
        ({"valid_until": date(2026, 1, 30)}, CONTRACT, "agrees until 2026-01-30; today is 2026-01-31"),
        ({}, changed(queried=True), "allow_queried"),
    ],
)
def test_every_rule_names_itself_the_value_and_the_way_out(rules: dict[str, Any], contract: Contract, said: str) -> None:
    (words,) = broken(msgspec.convert(rules, Policy), contract)
    assert said in words
    assert words.endswith(".")


def test_what_keeps_the_rules_breaks_none() -> None:
    pins = {"site1": CLIENTS[1].identity.fingerprint_text.upper()}
    policy = Policy(min_contributors=2, members=("site1", "site2"), pins=pins, max_variables=2, valid_until=TODAY, max_given=0)
    assert broken(policy, CONTRACT) == []  # two variables leave nothing to condition on
    assert broken(Policy(allow_queried=True), changed(queried=True)) == []


def test_conditioning_sets_are_bounded_by_setting_or_by_variables() -> None:
    wide = changed(datasets=(("A", "C", "D", "E", "F"),))
    assert len(broken(Policy(max_given=2), wide)) == 1
    assert broken(Policy(max_given=3), wide) == []
    assert broken(Policy(max_given=2), msgspec.structs.replace(wide, settings=NetworkSettings(max_given=2))) == []


def test_what_earlier_studies_and_this_one_tell_needs_a_word_in_the_policy() -> None:
    (words,) = broken(Policy(), CONTRACT, "This study is without 'ulm' ….")
    assert "'ulm'" in words
    assert "allow_subtraction = true" in words
    assert broken(Policy(allow_subtraction=True), CONTRACT, "This study is without 'ulm' ….") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("min_row = 3", "Did you mean 'min_rows'"),
        ("digest = 'ab'", "'digest', which no policy has"),
        ("min_rows = 'many'", "min_rows"),
        ("min_contributors = 1", "min_contributors"),
        ('methods = ["fedci", "magic"]', "methods takes: fedci, fisher, residual, auto"),
        ('isolation = "tight"', "isolation takes: aggregate, strict"),
        ("valid_until = 3", "valid_until"),
        ('pins = {ulm = "abc"}', "pins 'ulm'"),
        ("allow_queried = 1", "allow_queried"),
        ("min_rows = ", "should be a policy"),
        ("\udcff", "should be a policy"),
    ],
)
def test_a_file_that_is_no_policy_is_an_error_that_names_the_rule(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ConfigurationError, match=said):
        read_policy(file)


def test_a_file_that_is_not_there_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="--write"):
        read_policy(tmp_path / "policy.toml")


def test_the_example_is_a_policy_and_has_every_rule() -> None:
    text = example_policy(date(2028, 2, 29))
    policy = parse_policy(text.encode())
    assert policy.valid_until == date(2029, 2, 28)
    assert policy.digest == hashlib.sha256(text.encode()).hexdigest(), "as sha256sum prints it"
    for name, _, meaning in describe_policy():
        assert meaning in text
        assert f"{name} = " in text or f"[{name}]" in text
    assert not policy.allow_subtraction
    assert any(line.startswith("max_given = 3: ") for line in rules_in_words(policy))


def test_the_documentation_has_every_rule_with_its_default_and_meaning() -> None:
    text = (ROOT / "docs" / "site.md").read_text(encoding="utf-8")
    for name, default, meaning in describe_policy():
        assert f"| `{name}` | {f'`{default}`' if default else '–'} | {meaning} |" in text


def asked(contract: Contract = CONTRACT) -> Asked:
    return Asked(contract, "site0", [], [])


def test_a_policy_agrees_by_its_digest_and_says_all_that_it_does_not_agree_to() -> None:
    decide = by_policy(parse_policy(b"min_rows = 10"))
    assert decide(asked()).by == f"policy {hashlib.sha256(b'min_rows = 10').hexdigest()}"
    no = decide(asked(with_settings(**ATTACK)))
    assert not no.yes
    assert all(word in no.why for word in ("min_rows", "joint", "restart", "Nothing has left"))


def test_a_digest_agrees_to_one_contract_and_nothing_else() -> None:
    decide = by_digest(CONTRACT.digest.hex().upper())
    assert decide(asked()).yes
    for other in (
        with_settings(min_rows=11),
        changed(name="trial "),
        changed(members=MEMBERS[:2]),
        changed(members=(*MEMBERS[:2], Member("site2", OTHER))),
        changed(datasets=(("A",), ("C",))),
        changed(queried=True),
    ):
        no = decide(asked(other))
        assert not no.yes
        assert other.digest.hex() in no.why
    assert not by_digest(CONTRACT.digest.hex(), Policy(min_rows=50))(asked()).yes, "a policy holds besides"


@pytest.mark.parametrize("text", ["", "ab", "ab" * 8, "ab" * 31, "zz" * 32, "ab" * 33])
def test_part_of_a_digest_is_no_consent(text: str) -> None:
    with pytest.raises(ConfigurationError, match="64 hexadecimal digits"):
        check_digest(text)
