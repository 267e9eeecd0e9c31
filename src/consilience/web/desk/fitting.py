"""The study's variables beside the site's columns: which fit, which are missing, which are in conflict, and what would repair it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import combinations

from consilience.data.errors import HarmoniseError, OutOfRangeError
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.derived import Derived
from consilience.data.harmonise.fitting import fit as in_units
from consilience.data.infer import labels_of
from consilience.data.kinds import Kind, Variable
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.errors import DataError, SchemaError
from consilience.frames import pl
from consilience.web.desk.origin import OWNER
from consilience.web.desk.table import SiteTable
from consilience.web.desk.words import page_words

__all__ = ["Match", "Pairs", "fit", "kind_words", "lost_pairs", "pairs_of", "suggested"]

MOST_STRANGE = 60
"""Levels that can be re-spelled on one page; a column with more is no levels but free text."""
_SPACE = re.compile(r"[\s_.-]+")


@dataclass(frozen=True, slots=True)
class Match:
    """A variable of the study and what this site has for it.

    ``state`` is ``matches``, ``missing``, ``conflict`` or ``withheld``. ``fix`` says what repairs a conflict: ``levels`` (each of
    ``strange`` gets a level of the study), ``kind`` (the owner's own kind gives way), ``unit`` (the owner says which it is), ``range``
    (what is outside becomes missing) or ``column`` (on the column's own page). A unit that nobody has said is no conflict, and can be.
    ``column`` is the site's name for it, ``guess`` a column that may be meant.
    """

    variable: Variable
    state: str
    column: str = ""
    words: str = ""
    fix: str = ""
    strange: tuple[str, ...] = ()
    guess: str = ""

    @property
    def seen(self) -> str:
        """Stands for what a form was made from: one that was loaded before the study or the table changed is told from one of now."""
        return hashlib.sha256(repr((self.variable, self.column, self.strange)).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of variables: those that the study can test at all, and those that this site contributes to."""

    testable: int
    here: int


def fit(schema: Schema, table: SiteTable, withheld: Collection[str]) -> list[Match]:
    """Every variable of the study, in its order."""
    kept = [table.column_plan(name) for name in table.frame.columns if not table.column_plan(name).drop]
    columns = {plan.final: plan for plan in kept}
    free = [plan.name for called, plan in columns.items() if called not in schema]
    derived = {one.name: one for one in table.plan.derived}
    return [
        _match(variable, table, columns.get(variable.name) or derived.get(variable.name), free, withheld) for variable in schema.values()
    ]


def _match(variable: Variable, table: SiteTable, made: ColumnPlan | Derived | None, free: list[str], withheld: Collection[str]) -> Match:
    if made is None:
        return Match(variable, "missing", guess=suggested(variable.name, free))
    column = made.name
    if variable.name in withheld:
        return Match(variable, "withheld", column)
    if made.kind and made.kind != variable.kind.value:
        words = f"You have chosen {made.kind}; the study has it as {variable.kind.value}."
        return Match(variable, "conflict", column, words, "kind")
    series = table.column(variable.name)
    if series.null_count() == len(series):
        return Match(variable, "conflict", column, "The column has no values.", "column")
    if variable.kind.is_discrete:
        return _levels(variable, column, series)
    return _numbers(variable, column, series, table)


def _levels(variable: Variable, column: str, series: pl.Series) -> Match:
    try:
        strange = tuple(sorted(labels_of(series) - set(variable.levels)))
        if len(strange) > MOST_STRANGE:
            words = f"{len(strange):,} values are not levels of the study, such as {strange[0]!r}. Is this the right column?"
            return Match(variable, "conflict", column, words, "column")
        if strange:
            return Match(variable, "conflict", column, "Some values are not levels of the study.", "levels", strange)
        Table(pl.DataFrame({variable.name: series}), Schema([variable]), OWNER)
    except (DataError, SchemaError) as error:
        return Match(variable, "conflict", column, page_words(error), "column")
    return Match(variable, "matches", column)


def _numbers(variable: Variable, column: str, series: pl.Series, table: SiteTable) -> Match:
    """Numbers in the study's unit: converted, if the owner has said that they are in another, and held to the study's range."""
    said = table.plan.units.get(variable.name, ("", ""))[0]
    try:
        done = in_units(series.to_frame(), table.plan.units, Schema([variable]), OWNER)
        Table(done.frame, Schema([variable]), OWNER)
    except OutOfRangeError:
        numbers = done.frame[variable.name].cast(pl.Float64)
        low, high = variable.range or (0.0, 0.0)
        outside = int((~numbers.is_between(low, high)).fill_null(value=False).sum())
        unit = f" {variable.unit}" if variable.unit else ""
        words = (
            f"The study has it from {low:g} to {high:g}{unit}; {outside:,} of {numbers.count():,} values are outside. "
            f"{'Is it in another unit?' if variable.unit else 'Are they codes, or in another unit?'}"
        )
        return Match(variable, "conflict", column, words, "unit" if variable.unit and not said else "range")
    except HarmoniseError as error:
        return Match(variable, "conflict", column, str(error).split(" In the site's plan")[0], "unit")
    except (DataError, SchemaError) as error:
        return Match(variable, "conflict", column, page_words(error), "column")
    words = " ".join(f"Converted: {change.words}." for change in done.changes)
    if variable.unit and not said:
        words = f"The study has it in {variable.unit}; nobody has said the unit of this column."
    return Match(variable, "matches", column, words, "unit" if variable.unit and not said else "")


def suggested(wanted: str, among: Collection[str]) -> str:
    """The one of ``among`` that may mean ``wanted``: the same but for case and spaces, or the only one that begins alike.

    >>> suggested("M", ["male", "female"]), suggested("Stage II", ["stage_ii", "stage_iii"]), suggested("x", ["y"])
    ('male', 'stage_ii', '')
    """
    key = _plain(wanted)
    same = [name for name in among if _plain(name) == key]
    if len(same) == 1:
        return same[0]
    alike = [name for name in among if key and _plain(name) and (_plain(name).startswith(key) or key.startswith(_plain(name)))]
    return alike[0] if len(alike) == 1 else ""


def _plain(text: str) -> str:
    return _SPACE.sub(" ", text.casefold()).strip()


def pairs_of(datasets: Collection[Collection[str]], held: Collection[str]) -> Pairs:
    """The study's pairs that some variable set holds, and those of them that this site holds.

    >>> pairs_of([["A", "B"], ["B", "C"]], ["B", "C"])
    Pairs(testable=2, here=1)
    """
    testable = {pair for names in datasets for pair in combinations(sorted(names), 2)}
    return Pairs(len(testable), sum(set(pair) <= set(held) for pair in testable | set(combinations(sorted(held), 2))))


def lost_pairs(withheld: Collection[str], held: Collection[str]) -> list[tuple[str, str]]:
    """Pairs that this site could contribute to and does not, because a variable of theirs is withheld.

    >>> lost_pairs(["A"], ["B", "C"])
    [('A', 'B'), ('A', 'C')]
    """
    return [pair for pair in combinations(sorted({*withheld, *held}), 2) if set(pair) & set(withheld)]


def kind_words(variable: Variable) -> str:
    """A kind with its levels.

    >>> kind_words(Variable("stage", Kind.ORDINAL, ("I", "II")))
    'ordinal: I < II'
    """
    joint = " < " if variable.kind is Kind.ORDINAL else ", "
    measured = f", {variable.measured}" if variable.measured else ""
    return variable.kind.value + (f": {joint.join(variable.levels)}" if variable.levels else "") + measured
