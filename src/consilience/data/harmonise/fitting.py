"""A table held to what a study declares: its units, which a site that has said its own is converted to."""

from __future__ import annotations

from collections.abc import Mapping

from consilience.data.errors import HarmoniseError
from consilience.data.harmonise.applying import Harmonised, harmonise
from consilience.data.harmonise.columns import ColumnPlan
from consilience.data.harmonise.scales import unit_named
from consilience.data.harmonise.units import convert
from consilience.data.schema import Schema
from consilience.errors import OptionError
from consilience.frames import pl

__all__ = ["fit"]


def fit(frame: pl.DataFrame, units: Mapping[str, tuple[str, str]], schema: Schema, owner: str) -> Harmonised[pl.DataFrame]:
    """The table in the study's units.

    Parameters
    ----------
    frame : polars.DataFrame
        The site's table, after its plan.
    units : mapping of str to pair of str
        By column, the unit that the site says it has, and the substance, if it is known (:attr:`Plan.units`). A column whose unit
        nobody says is left as it is: its range, if the study has one, is all that it can be held to.
    schema : Schema
        The study's variables.
    owner : str
        The site's name, for messages.

    Returns
    -------
    Harmonised

    Raises
    ------
    HarmoniseError
        If there is no way from the site's unit to the study's.

    Examples
    --------
    >>> from consilience.data.kinds import Kind, Variable
    >>> study = Schema([Variable("chol", Kind.CONTINUOUS, unit="mmol/l", range=(0.5, 30.0))])
    >>> found = fit(pl.DataFrame({"chol": [201.0]}), {"chol": ("mg/dl", "cholesterol")}, study, "muenster")
    >>> found.frame["chol"].to_list(), found.changes[0].words
    ([5.19831171249], 'mg/dl -> mmol/l, cholesterol: × 0.0258622')
    """
    steps = [
        _step(name, *units[name], variable.unit, owner)
        for name, variable in schema.items()
        if variable.unit and name in units and name in frame.columns and not _same(units[name][0], variable.unit)
    ]
    return harmonise(steps, (), frame, owner) if steps else Harmonised(frame)


def _same(one: str, other: str) -> bool:
    try:
        return unit_named(one) == unit_named(other)
    except OptionError:  # units that no table knows are the same if they are written the same
        return "".join(one.split()).casefold() == "".join(other.split()).casefold()


def _step(name: str, unit: str, substance: str, wanted: str, owner: str) -> ColumnPlan:
    try:
        convert(substance, unit, wanted)
    except OptionError as error:
        raise HarmoniseError(
            f"The study has {name!r} in {wanted}, and {owner!r} in {unit}. {error} In the site's plan that is "
            f"factor = … under [columns.{name}], with unit = {wanted!r}."
        ) from None
    return ColumnPlan(name=name, unit=f"{unit} -> {wanted}", analyte=substance)
