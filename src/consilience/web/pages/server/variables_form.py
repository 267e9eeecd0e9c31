"""The variables of a study as a form: a row each, with a box for every set of variables that sites measure."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from consilience.data.kinds import Kind
from consilience.errors import OptionError
from consilience.service.settings import MOST_LEVELS, MOST_NAME, VariableSpec
from consilience.settings.declaration import MOST_VARIABLES
from consilience.web.forms import Form, Trouble

__all__ = ["MOST_SETS", "VariableRow", "VariablesForm", "join_words", "split_words", "with_measures"]

MOST_SETS = 16
"""So many sets have a column in the form. A study may have more, with a study file."""
SPARE_ROWS, MORE_ROWS = 3, 6
KINDS = tuple(kind.value for kind in Kind)


def split_words(text: str) -> tuple[str, ...]:
    """Words with commas between them; one with a comma in it stands in quotation marks.

    >>> split_words('I, II, "III, late"')
    ('I', 'II', 'III, late')
    """
    try:
        rows = list(csv.reader(io.StringIO(text), skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise OptionError(f"Words stand with commas between them, in quotation marks where one has a comma: {error}.") from None
    return tuple(word.strip() for row in rows for word in row if word.strip())


def join_words(words: Iterable[str]) -> str:
    """The same as one line of text.

    >>> join_words(("I", "II", "III, late"))
    'I, II, "III, late"'
    """
    return ", ".join('"' + word.replace('"', '""') + '"' if any(c in word for c in ',"') else word for word in words)


def with_measures(specs: Iterable[VariableSpec], before: Iterable[VariableSpec]) -> list[VariableSpec]:
    """The variables with the units and ranges that those of the same name had: the table has no place for them, and must not lose them.

    >>> chol = VariableSpec("chol", Kind.CONTINUOUS, unit="mmol/l")
    >>> with_measures([VariableSpec("chol", Kind.CONTINUOUS)], [chol]) == [chol]
    True
    """
    old = {v.name: {"unit": v.unit, "low": v.low, "high": v.high} for v in before}
    return [msgspec.structs.replace(v, **old[v.name]) if v.name in old and not v.kind.is_discrete else v for v in specs]


@dataclass(slots=True)
class VariableRow:
    """A row as it was typed. ``sets`` are the numbers of the sets that hold it."""

    name: str = ""
    kind: str = Kind.CONTINUOUS.value
    levels: str = ""
    sets: set[int] = field(default_factory=lambda: {0})


@dataclass(slots=True)
class VariablesForm:
    """All rows, and how many sets have a column."""

    rows: list[VariableRow]
    sets: int = 1

    @classmethod
    def of_study(cls, variables: Sequence[VariableSpec] | None, datasets: Sequence[Sequence[str]] | None) -> VariablesForm:
        """What a study says now, with room for more."""
        held = datasets or ()
        rows = [
            VariableRow(v.name, v.kind.value, join_words(v.levels), {i for i, names in enumerate(held) if v.name in names})
            for v in variables or ()
        ]
        return cls(rows, max(1, len(held))).with_room(SPARE_ROWS)

    @classmethod
    def of_form(cls, form: Form) -> VariablesForm:
        """What was typed; no more of it than a study can have."""
        rows = []
        for i in range(min(_whole(form.text("rows", 4)), MOST_VARIABLES)):
            sets = {_whole(given[:4]) for given in form.many(f"in-{i}")}
            rows.append(VariableRow(form.text(f"name-{i}", MOST_NAME + 1), form.text(f"kind-{i}", 20), form.text(f"levels-{i}"), sets))
        return cls(rows, max(1, min(_whole(form.text("sets", 4)), MOST_SETS)))

    def with_room(self, count: int = MORE_ROWS) -> VariablesForm:
        """The same with empty rows at the end."""
        spare = [VariableRow(sets=set(range(self.sets))) for _ in range(min(count, MOST_VARIABLES - len(self.rows)))]
        return VariablesForm([*self.rows, *spare], self.sets)

    def with_set(self) -> VariablesForm:
        """The same with one more set, still empty."""
        return VariablesForm(self.rows, min(self.sets + 1, MOST_SETS))

    def read(self) -> tuple[list[VariableSpec], list[list[str]], list[Trouble]]:
        """The variables and the sets, and what is wrong with single rows. Empty rows and empty sets do not count."""
        specs, troubles, seen = [], list[Trouble](), set[str]()
        for i, row in enumerate(self.rows):
            if not row.name:
                if row.levels:
                    troubles.append(Trouble(f"name-{i}", f"Row {i + 1} has levels and no name."))
                continue
            troubles += self._wrong(i, row, seen)
            seen.add(row.name)
            try:
                levels = split_words(row.levels)
            except OptionError as error:
                troubles.append(Trouble(f"levels-{i}", f"Levels of {row.name!r}: {error}"))
                continue
            if row.kind in KINDS:
                specs.append(VariableSpec(row.name, Kind(row.kind), levels if Kind(row.kind).is_discrete else ()))
        sets = [[row.name for row in self.rows if row.name and number in row.sets] for number in range(self.sets)]
        if not specs and not troubles:
            troubles.append(Trouble("name-0", "Name at least one variable."))
        return specs, [names for names in sets if names], troubles

    def _wrong(self, i: int, row: VariableRow, seen: set[str]) -> Iterable[Trouble]:
        if row.name in seen:
            yield Trouble(f"name-{i}", f"There are two variables {row.name!r}; each has one row.")
        if len(row.name) > MOST_NAME or not row.name.isprintable():
            yield Trouble(f"name-{i}", f"A variable's name is 1 to {MOST_NAME} printable characters; look at row {i + 1}.")
        if row.kind not in KINDS:
            yield Trouble(f"kind-{i}", f"The kind of {row.name!r} is one of {', '.join(KINDS)}.")
        if row.kind in (Kind.ORDINAL, Kind.MULTINOMIAL) and not row.levels:
            yield Trouble(f"levels-{i}", f"{row.name!r} is {row.kind}: name its levels, 2 to {MOST_LEVELS}, with commas between them.")
        if row.kind in KINDS and not Kind(row.kind).is_discrete and row.levels:
            words = f"{row.name!r} is {Kind(row.kind).in_words} and has no levels: take them away, or choose another kind."
            yield Trouble(f"levels-{i}", words)
        if not any(number < self.sets for number in row.sets):
            yield Trouble(f"in-{i}-0", f"{row.name!r} is in no set: tick at least one that holds it.")


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() else 0
