"""The verdicts of several sites together: the variables that all agree on, and what stands against the others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from consilience.data.facts.patterns import CODES
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.judging.verdict import Standing, Verdict
from consilience.data.kinds import level_label
from consilience.data.schema import Schema, agreement

__all__ = ["Common", "in_common"]


@dataclass(frozen=True, slots=True)
class Common:
    """What several sites have in common.

    Attributes
    ----------
    schema : Schema
        The variables that can be used.
    findings : tuple of Finding
        What is doubtful about them, and what is refused. Each counts for whoever uses its variables.
    left_out : mapping of str to Finding
        Columns that are no variable at any site (identifiers, dates): refused to whoever asks for them by name.

    Examples
    --------
    >>> list(Common(Schema({"age": "continuous"})).schema)
    ['age']
    """

    schema: Schema
    findings: tuple[Finding, ...] = ()
    left_out: Mapping[str, Finding] = field(default_factory=dict)


def in_common(sites: Mapping[str, Mapping[str, Verdict]], without: Collection[str] = (), schema: Schema | None = None) -> Common:
    """What the sites have in common.

    Parameters
    ----------
    sites : mapping of str to mapping of str to Verdict
        The verdicts by site and column.
    without : collection of str, optional
        Columns that are no variables, as one that marks clusters.
    schema : Schema, optional
        The variables, if the study declared them; then nobody needs to agree.

    Returns
    -------
    Common

    Examples
    --------
    >>> from consilience.data.facts import facts_of
    >>> from consilience.data.judging import judge_all
    >>> import polars as pl
    >>> a, b = pl.DataFrame({"age": [61.5, 70.2], "sex": ["M", "F"]}), pl.DataFrame({"age": [55.1, 48.0], "sex": ["male", "female"]})
    >>> found = in_common({"a": judge_all(facts_of(a), owner="a"), "b": judge_all(facts_of(b), owner="b")})
    >>> list(found.schema), [finding.code for finding in found.findings]
    (['age'], ['spelling-conflict'])
    """
    held = {site: {name: v for name, v in verdicts.items() if name not in without} for site, verdicts in sites.items()}
    if schema is not None:
        return Common(schema, tuple(f for f in _doubtful(held) if set(f.columns) & set(schema)))
    usable = {
        site: {name: v.declaration for name, v in verdicts.items() if v.standing.usable and v.declaration is not None}
        for site, verdicts in held.items()
    }
    agreed, conflicts = agreement(usable)
    refused = [f for verdicts in held.values() for v in verdicts.values() if v.standing is Standing.REFUSED for f in v.findings]
    barred = {name for finding in refused for name in finding.columns}
    common = Schema([variable for name, variable in agreed.items() if name not in barred])
    doubts = [*_doubtful(held), *_constant_codes(held, common), *_left_out_somewhere(held, common)]
    return Common(common, (*refused, *conflicts.values(), *doubts), _left_out(held, {*agreed, *conflicts, *barred}))


def _doubtful(held: Mapping[str, Mapping[str, Verdict]]) -> list[Finding]:
    return [
        f for verdicts in held.values() for v in verdicts.values() if v.standing.usable for f in v.findings if f.grade is Grade.DOUBTFUL
    ]


def _constant_codes(held: Mapping[str, Mapping[str, Verdict]], common: Schema) -> list[Finding]:
    """A number that is the same usual code in every row of one site, and varies at others."""
    codes = {level_label(code) for code in CODES}
    found = []
    for site, verdicts in held.items():
        for name, verdict in verdicts.items():
            only = verdict.declaration.only if verdict.declaration and name in common and not common[name].kind.is_discrete else ""
            if only in codes:
                words = f"{name!r} is {only} in every row of {site!r} and varies at other sites: does {only} stand for 'missing'?"
                found.append(Finding("missing-code", Grade.DOUBTFUL, words, (name,), (site,), (Remedy(Step.DROP, name),)))
    return found


def _left_out_somewhere(held: Mapping[str, Mapping[str, Verdict]], common: Schema) -> list[Finding]:
    """A column that is a variable at some sites, and an identifier or a date by its values at others."""
    found = []
    for site, verdicts in held.items():
        for name, verdict in verdicts.items():
            if verdict.standing is Standing.EXCLUDED and name in common and verdict.findings[0].code != "empty":
                seen = verdict.findings[0]
                words = f"{seen.words} Other sites use it as {common[name].kind.in_words}."
                found.append(Finding("left-out-here", Grade.DOUBTFUL, words, (name,), (site,), seen.remedies))
    return found


def _left_out(held: Mapping[str, Mapping[str, Verdict]], known: Collection[str]) -> dict[str, Finding]:
    found: dict[str, Finding] = {}
    for verdicts in held.values():
        for name, verdict in verdicts.items():
            if verdict.standing is Standing.EXCLUDED and name not in known:
                seen = verdict.findings[0]
                found.setdefault(name, Finding(seen.code, Grade.REFUSED, seen.words, seen.columns, seen.sites, seen.remedies))
    return found
