"""One column's plan as a form: what it shows, and what was sent made into a plan again."""

from __future__ import annotations

import math
from dataclasses import replace

from consilience.data.harmonise.analytes import ANALYTES
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.scales import UNITS
from consilience.data.kinds import Kind
from consilience.frames import pl
from consilience.web.desk.labels import labels_in
from consilience.web.forms import Form, Trouble

__all__ = ["KINDS", "fields_of", "plan_of", "rows_of"]

KINDS = (
    ("", "Decide from the values", "As the list of columns says."),
    (Kind.CONTINUOUS.value, "Continuous", "A number that is measured, such as an age or a blood pressure."),
    (
        Kind.COUNT.value,
        "Count",
        "How often something happened, such as visits or falls: whole numbers from 0. Never decided from the values, so choose it.",
    ),
    (Kind.BINARY.value, "Binary", "Two levels, such as yes and no."),
    (Kind.ORDINAL.value, "Ordinal", "Levels with an order, such as stages."),
    (Kind.MULTINOMIAL.value, "Multinomial", "Levels without an order, such as blood groups."),
)
LONGEST = 200
DATES = (("", "leave it as it is"), ("days since", "days since a day"), ("age at", "age in years at a day or column"), ("year", "its year"))


def fields_of(plan: ColumnPlan) -> dict[str, object]:
    """What a form for a plan shows, by the names of its fields."""
    old, new = plan.units
    what = next((key for key, _ in DATES if key and plan.date.startswith(key)), "")
    return {
        "drop": plan.drop,
        "rename": plan.rename,
        "kind": plan.kind,
        "missing": "; ".join(plan.missing),
        "strip": plan.strip,
        "decimal": {",": "comma", ".": "point"}.get(plan.decimal, ""),
        "unit": old,
        "unit_to": "" if new == old else new,
        "analyte": plan.analyte,
        "factor": "" if plan.factor is None else f"{plan.factor:g}",
        "offset": "" if plan.offset is None else f"{plan.offset:g}",
        "low": _end(plan, 0),
        "high": _end(plan, 1),
        "date": what,
        "date_of": plan.date.removeprefix(what).strip(),
        "units": tuple(UNITS),
        "analytes": (("", "by the column’s name"), *((name, name) for name in sorted(ANALYTES))),
        "dates": DATES,
    }


def _end(plan: ColumnPlan, which: int) -> str:
    return "" if plan.range is None or math.isinf(plan.range[which]) else f"{plan.range[which]:.15g}"


def rows_of(column: pl.Series, plan: ColumnPlan) -> list[tuple[int, str, int, str, int]]:
    """The lines for levels: number, label, rows, spelling, place."""
    spelled, order = dict(plan.recode), {label: place for place, label in enumerate(plan.levels, start=1)}
    return [
        (i, label, count, spelled.get(label, label), order.get(spelled.get(label, label), i + 1))
        for i, (label, count) in enumerate(labels_in(column).items())
    ]


def plan_of(form: Form, column: pl.Series, kept: ColumnPlan) -> tuple[ColumnPlan, list[Trouble]]:
    """The plan that was sent, and what is wrong with it; ``kept`` is the one of before, for what a form has no field for."""
    troubles: list[Trouble] = []
    kind = form.text("kind")
    if kind and kind not in set(Kind):
        troubles.append(Trouble("kind", "Choose one of the kinds."))
        kind = ""
    recode, levels = _levels(form, column, kept, kind, troubles)
    numbers = {name: _number(form, name, label, troubles) for name, label in (("factor", "The factor"), ("offset", "The offset"))}
    if numbers["factor"] == 0:
        troubles.append(Trouble("factor", "The factor must not be 0."))
    made = ColumnPlan(
        name=kept.name,
        missing=tuple(word.strip() for word in form.text("missing").split(";") if word.strip()),
        strip=form.text("strip", LONGEST),
        decimal={"comma": ",", "point": "."}.get(form.text("decimal"), ""),
        date=_date(form, troubles),
        recode=recode,
        unit=_unit(form, troubles),
        analyte=form.text("analyte", LONGEST),
        factor=numbers["factor"],
        offset=numbers["offset"],
        range=_range(form, troubles),
        rename=_name(form, kept),
        kind=kind,
        levels=levels,
        drop=form.flag("drop"),
    )
    return (replace(made, factor=None) if troubles else made), troubles


def _name(form: Form, kept: ColumnPlan) -> str:
    given = form.raw("rename") if form.raw("rename") == kept.rename else form.text("rename", LONGEST)
    return "" if given == kept.name else given


def _number(form: Form, name: str, label: str, troubles: list[Trouble]) -> float | None:
    text = form.text(name, 40).replace(",", ".")
    if not text:
        return None
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        troubles.append(Trouble(name, f"{label} must be a number, such as 0.0259."))
        return None
    return found


def _range(form: Form, troubles: list[Trouble]) -> tuple[float, float] | None:
    low, high = (_number(form, name, label, troubles) for name, label in (("low", "The least value"), ("high", "The greatest value")))
    if low is None and high is None:
        return None
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    if ends[0] > ends[1]:
        troubles.append(Trouble("low", "The least value must not be above the greatest."))
        return None
    return ends


def _unit(form: Form, troubles: list[Trouble]) -> str:
    old, new = form.text("unit", LONGEST), form.text("unit_to", LONGEST)
    if new and not old:
        troubles.append(Trouble("unit", f"Say which unit the numbers are in; they cannot be converted to {new} else."))
    return f"{old} -> {new}" if old and new and old != new else old


def _date(form: Form, troubles: list[Trouble]) -> str:
    what, of = form.text("date"), form.text("date_of", LONGEST)
    if what not in {key for key, _ in DATES}:
        return ""
    if what in ("days since", "age at") and not of:
        words = "a day, as in 2020-01-01" if what == "days since" else "a day, as in 2020-01-01, or the column with the day"
        troubles.append(Trouble("date_of", f"Give {words}."))
        return ""
    return what if what in ("", "year") else f"{what} {of}"


def _levels(
    form: Form, column: pl.Series, kept: ColumnPlan, kind: str, troubles: list[Trouble]
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Levels that are spelled otherwise, and their order, where there is one."""
    labels = labels_in(column)
    spelling = {old: new for old, new in kept.recode if old not in labels}
    places, moved = dict[str, float](), False
    for i, label in enumerate(labels):
        given = form.raw(f"spelling-{i}").strip()
        new = label if given == label or not form.flag(f"spelling-{i}") else given[:LONGEST]  # a long one that was left alone stays whole
        if new != label:
            spelling[label] = new
        place = form.text(f"place-{i}", 10)
        if place and not place.isdecimal():
            troubles.append(Trouble(f"place-{i}", f"The place of {label} must be a whole number."))
        elif place:
            moved |= int(place) != i + 1
            places[new] = min(places.get(new, 1e9), int(place))
    places.pop("", None)
    ordered = tuple(sorted(places, key=lambda label: places[label]))
    levels = ordered if kind == Kind.ORDINAL.value or (moved and kind not in (Kind.CONTINUOUS.value, Kind.COUNT.value)) else ()
    return tuple(sorted(spelling.items())), levels
