"""A site's policy: what its owner agrees to without being asked, in a file of the site's own. TOML.

Consent without a question (``--yes``) is consent to whatever a study's owner has written by the time the study starts. So it needs a
policy: limits that a contract must keep, read by a person once, at the site. A contract is held against it as a whole, and everything that
breaks it is said at once.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import msgspec

from consilience.data.errors import nearest
from consilience.errors import ConsilienceError
from consilience.secagg import fingerprint_text, read_fingerprint
from consilience.secagg.context import sha256
from consilience.service.contract import Contract
from consilience.service.errors import ConfigurationError
from consilience.settings import Dropout, Isolation, Method, NetworkSettings, SiteEffects
from consilience.settings.choices import Cells, SingleSite
from consilience.settings.declaration import MOST_VARIABLES
from consilience.typed import from_plain

__all__ = ["Policy", "describe_policy", "example_policy", "parse_policy", "read_policy", "rules_in_words", "violations"]

_USUAL = NetworkSettings()


def _said(words: str, least: int | None = None) -> Any:
    return msgspec.Meta(description=words) if least is None else msgspec.Meta(description=words, ge=least)


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules. What a file leaves out is as strict as the defaults of a study over a network are.

    ``digest`` is that of the file's bytes, as ``sha256sum`` prints it; it is no rule.

    >>> Policy().on_dropout, SiteEffects.JOINT in Policy().site_effects
    ((<Dropout.STOP: 'stop'>,), False)
    """

    min_contributors: Annotated[int, _said("a study's min_contributors must be at least this", 2)] = _USUAL.min_contributors
    min_rows: Annotated[int, _said("a study's min_rows must be at least this", 1)] = _USUAL.min_rows
    min_cell: Annotated[int, _said("a study's min_cell must be at least this", 1)] = _USUAL.min_cell
    isolation: Annotated[
        Isolation, _said("strict: nothing about one site alone may come out by subtracting; aggregate: what the contract says")
    ] = _USUAL.isolation
    cells: Annotated[
        Cells, _said("refuse: few rows with given levels of several variables together must be in no sum; told: what the contract says")
    ] = _USUAL.cells
    methods: Annotated[tuple[Method, ...], _said("methods that a study may use")] = tuple(Method)
    site_effects: Annotated[tuple[SiteEffects, ...], _said("where sites' intercepts may live; joint discloses numbers of single sites")] = (
        tuple(each for each in SiteEffects if each is not SiteEffects.JOINT)
    )
    single_site: Annotated[
        tuple[SingleSite, ...],
        _said("what may happen to a test that one site alone can do; local tells its p-value in three digits"),
    ] = tuple(SingleSite)
    on_dropout: Annotated[tuple[Dropout, ...], _said("what may happen when a site is gone; restart reveals its part of finished sums")] = (
        tuple(each for each in Dropout if each is not Dropout.RESTART)
    )
    max_given: Annotated[
        Annotated[int, msgspec.Meta(ge=0)] | None, _said("largest model: conditioning sets have at most so many variables")
    ] = None
    max_variables: Annotated[Annotated[int, msgspec.Meta(ge=1, le=MOST_VARIABLES)] | None, _said("most variables of a study")] = None
    members: Annotated[
        tuple[str, ...], _said("sites that may take part, by name; empty for any. Names are the study's owner's: pins say who it is")
    ] = ()
    allow_queried: Annotated[bool, _said("whether the variables may have been asked from the sites instead of declared in advance")] = False
    allow_subtraction: Annotated[
        bool, _said("whether a study may be one from which an earlier one can be subtracted, so that few sites or few rows remain")
    ] = False
    valid_until: Annotated[date | None, _said("the last day on which this policy agrees to anything")] = None
    pins: Annotated[dict[str, str], _said("sites that must take part, with the fingerprints that they must have")] = {}
    digest: str = ""


RULES = tuple(field for field in msgspec.structs.fields(Policy) if field.name != "digest")
NO_POLICY = (
    "--yes agrees to whatever the study's owner proposes, so it needs a policy of this site: write one with consilience client policy "
    "--write policy.toml, read and change it, and say --policy policy.toml (CONSILIENCE_CLIENT_POLICY). Or agree to one contract alone "
    "with --consent DIGEST, which --dry-run prints, or without either, when you are asked."
)
"""What whoever says ``--yes`` without a policy is told."""
_EXAMPLE: dict[str, Any] = {
    "min_contributors": 3,
    "min_rows": 20,
    "on_dropout": ["stop"],
    "max_given": 3,
    "max_variables": 20,
    "valid_until": None,
    "pins": {"marburg": "0011 2233 4455 6677 8899 aabb ccdd eeff 0011 2233 4455 6677 8899 aabb ccdd eeff"},
}
"""Where the example says something else than the default; None is a year from the day on which it is made."""


def read_policy(path: Path | str) -> Policy:
    """Read a policy; :class:`ConfigurationError` that names the rule if it is none."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(
            f"The policy should be in {str(path)!r}: {error.strerror or error}. consilience client policy --write FILE makes an example."
        ) from None
    return parse_policy(data, str(path))


def parse_policy(data: bytes, path: str = "policy.toml") -> Policy:
    """The same from bytes that are there already; ``path`` is what they are called in messages.

    >>> parse_policy(b"min_rows = 50").min_rows
    50
    >>> parse_policy(b"min_row = 50")
    Traceback (most recent call last):
    consilience.service.errors.ConfigurationError: 'policy.toml' has a rule 'min_row', which no policy has. Did you mean 'min_rows'?
    """
    try:
        content = tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ConfigurationError(f"{path!r} should be a policy (TOML): {error}.") from None
    names = [rule.name for rule in RULES]
    for name in content:
        if name not in names:
            raise ConfigurationError(f"{path!r} has a rule {name!r}, which no policy has.{nearest(name, names)}")
    try:
        found = from_plain({**content, "digest": sha256(data).hex()}, Policy)
    except msgspec.ValidationError as error:
        raise ConfigurationError(f"{path!r} has a rule that cannot be used: {error}.{_choices(str(error))}") from None
    for name, text in found.pins.items():
        try:
            read_fingerprint(text)
        except (ValueError, ConsilienceError) as error:
            raise ConfigurationError(f"{path!r} pins {name!r} to what is no fingerprint: {error}") from None
    return found


def _choices(error: str) -> str:
    """The words that a rule takes, where the error is about one of them."""
    for rule in RULES:
        words = _words_of(rule)
        if words and f"`$.{rule.name}" in error:
            return f" {rule.name} takes: {', '.join(words)}."
    return ""


def _words_of(rule: msgspec.structs.FieldInfo) -> tuple[str, ...]:
    default = rule.default
    one = default[0] if isinstance(default, tuple) and default else default
    return tuple(each.value for each in type(one)) if isinstance(one, StrEnum) else ()


def describe_policy() -> list[tuple[str, str, str]]:
    """Name, default and meaning of every rule: the rows of the table in the documentation.

    >>> describe_policy()[1]
    ('min_rows', '10', "a study's min_rows must be at least this")
    """
    return [(rule.name, _toml(_default(rule)), _meaning(rule)) for rule in RULES]


def _default(rule: msgspec.structs.FieldInfo) -> Any:
    return msgspec.to_builtins(rule.default if rule.default is not msgspec.NODEFAULT else rule.default_factory())


def _meaning(rule: msgspec.structs.FieldInfo) -> str:
    return " ".join(m.description for m in rule.type.__metadata__ if m.description)


def _toml(value: Any) -> str:
    if value is None or value in ([], {}):
        return ""
    return value.isoformat() if isinstance(value, date) else json.dumps(value, ensure_ascii=False)


def example_policy(today: date | None = None) -> str:
    """A policy to begin with, every rule with its meaning; those without a default of their own are comments.

    >>> parse_policy(example_policy(date(2026, 1, 31)).encode()).valid_until
    datetime.date(2027, 1, 31)
    """
    day = today or datetime.now(UTC).date()
    lines = [
        "# A site's policy: what consilience client run --yes agrees to without asking anybody. Read every line, and change it.",
        "# A contract that breaks a rule is declined, and nothing leaves the site. consilience client policy FILE says what it says.",
    ]
    for rule in RULES:
        value = _EXAMPLE.get(rule.name, _default(rule))
        lines += ["", f"# {_meaning(rule)}"]
        if words := _words_of(rule):
            lines.append(f"# ({', '.join(words)})")
        if rule.name == "valid_until":
            lines.append(f"valid_until = {day.replace(year=day.year + 1, day=min(day.day, 28) if day.month == 2 else day.day).isoformat()}")
        elif rule.name == "pins":
            lines += ["# [pins]", *(f"# {name} = {json.dumps(text)}" for name, text in value.items())]
        elif rule.name == "members":
            lines.append('# members = ["muenster", "marburg"]')
        else:
            lines.append(f"{rule.name} = {_toml(value)}")
    return "\n".join(lines) + "\n"


def rules_in_words(policy: Policy) -> list[str]:
    """What a policy asks for, a line for each rule that asks for something.

    >>> rules_in_words(Policy(min_rows=50))[1]
    "min_rows = 50: a study's min_rows must be at least this"
    """
    found = []
    for rule in RULES:
        value = getattr(policy, rule.name)
        if value is not None and value not in ((), {}):
            found.append(f"{rule.name} = {_toml(msgspec.to_builtins(value))}: {_meaning(rule)}")
    return found


def violations(policy: Policy, contract: Contract, site: str, subtracted: Sequence[str] = (), today: date | None = None) -> list[str]:
    """What speaks against a contract by a policy, each with the rule, the value and the way out; empty if it may be agreed to.

    Parameters
    ----------
    policy, contract
        The one is held against the other.
    site
        The name of this site, which need not be among its own members.
    subtracted
        What an earlier study and this one tell together, in words (:mod:`consilience.service.agent.earlier.past`).
    today
        For the last day of the policy.

    >>> contract = Contract("00112233aabbccdd", "trial", (), (), NetworkSettings(min_rows=1), ())
    >>> violations(Policy(), contract, "muenster")  # doctest: +ELLIPSIS
    ["min_rows must be at least 10 by this site's policy; the contract has 1. Ask the study's owner to change it, or change the policy."]
    """
    day = datetime.now(UTC).date() if today is None else today
    found = []
    if policy.valid_until is not None and day > policy.valid_until:
        found.append(f"This site's policy agrees until {policy.valid_until.isoformat()}; today is {day.isoformat()}. Read and renew it.")
    found += _limits(policy, contract)
    found += _sizes(policy, contract)
    found += _people(policy, contract, site)
    if contract.queried and not policy.allow_queried:
        found.append(
            "The variables must have been declared in advance by this site's policy; in this study they were asked from the sites. Ask its "
            "owner to declare them, or set allow_queried = true in the policy."
        )
    if not policy.allow_subtraction:
        way = "This site's policy does not allow that; with allow_subtraction = true it would."
        found += [f"{words} {way}" for words in subtracted]
    return found


WAY_OUT = "Ask the study's owner to change it, or change the policy."


def _limits(policy: Policy, contract: Contract) -> list[str]:
    s = contract.settings
    found = [
        f"{name} must be at least {least} by this site's policy; the contract has {value}. {WAY_OUT}"
        for name, least, value in (
            ("min_contributors", policy.min_contributors, s.min_contributors),
            ("min_rows", policy.min_rows, s.min_rows),
            ("min_cell", policy.min_cell, s.min_cell),
        )
        if value < least
    ]
    if policy.isolation is Isolation.STRICT and s.isolation is not Isolation.STRICT:
        found.append(f"isolation must be strict by this site's policy; the contract has {s.isolation.value}. {WAY_OUT}")
    if policy.cells is Cells.REFUSE and s.cells is not Cells.REFUSE:
        found.append(f"cells must be refuse by this site's policy; the contract has {s.cells.value}. {WAY_OUT}")
    allowed: tuple[tuple[str, tuple[StrEnum, ...], StrEnum], ...] = (
        ("method", policy.methods, s.method),
        ("site_effects", policy.site_effects, s.site_effects),
        ("single_site", policy.single_site, s.single_site),
        ("on_dropout", policy.on_dropout, s.on_dropout),
    )
    for name, words, value in allowed:
        if value not in words:
            said = ", ".join(word.value for word in words) or "nothing"
            found.append(f"{name} may be {said} by this site's policy; the contract has {value.value}. {WAY_OUT}")
    return found


def _sizes(policy: Policy, contract: Contract) -> list[str]:
    found = []
    largest = max((len(names) for names in contract.datasets), default=0) - 2
    most = largest if contract.settings.max_given is None else min(contract.settings.max_given, largest)
    if policy.max_given is not None and most > policy.max_given:
        said = "no bound" if contract.settings.max_given is None else str(contract.settings.max_given)
        found.append(f"max_given may be at most {policy.max_given} by this site's policy; the contract has {said}. {WAY_OUT}")
    if policy.max_variables is not None and len(contract.variables) > policy.max_variables:
        found.append(
            f"A study may have at most {policy.max_variables} variables by this site's policy; the contract has "
            f"{len(contract.variables)}. {WAY_OUT}"
        )
    return found


def _people(policy: Policy, contract: Contract, site: str) -> list[str]:
    found, members = [], contract.fingerprints
    known = {site, *policy.members, *policy.pins}
    strange = [name for name in members if policy.members and name not in known]
    if strange:
        found.append(
            f"Only the sites {', '.join(map(repr, policy.members))} may take part by this site's policy; the contract lists "
            f"{strange[0]!r}. Add it to members once you know whose it is, or ask the study's owner to remove it."
        )
    for name, text in policy.pins.items():
        pinned, now = read_fingerprint(text), members.get(name)
        if now != pinned:
            says = "does not list it" if now is None else f"says {fingerprint_text(now)}"
            found.append(
                f"{name!r} must take part with the fingerprint {fingerprint_text(pinned)} by this site's policy; the contract {says}. Ask "
                f"its owner, not through the server."
            )
    return found
