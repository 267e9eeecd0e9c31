"""A site of a study: the holder of data that do not leave it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any
from weakref import ref

import polars as pl

from consilience.data.errors import KindConflictError, KindError, RareLevelError
from consilience.data.harmonise import Change, Harmonised, Plan
from consilience.data.harmonise.fitting import fit
from consilience.data.infer import declare
from consilience.data.kinds import Kind, level_label
from consilience.data.reading import load, ordered_columns
from consilience.data.schema import Declaration, Schema
from consilience.data.table import Table
from consilience.errors import StudyError
from consilience.federation.site.half import SiteHalf
from consilience.federation.site.ledger import Ledger
from consilience.options import check_number, check_option
from consilience.protocol.history import History
from consilience.protocol.states import SiteState
from consilience.secagg import Identity
from consilience.settings.terms import Terms

__all__ = ["Client"]

RARE = ("warn", "refuse")


class Client:
    """A site: a name and a table.

    Kinds are inferred from the columns' types, and shown with the reason by :attr:`variables`. What leaves the site is written to
    :attr:`ledger`.

    Parameters
    ----------
    name
        What the site is called in the study.
    data
        A polars or pandas frame, or a path to a ``.csv`` or ``.parquet`` file.
    kinds
        Kinds that win over the inferred ones, by column: ``"continuous"``, ``"binary"``, ``"ordinal"``, ``"multinomial"`` or
        ``"count"`` (which is never inferred).
    levels
        Levels of discrete columns, in their order.
    harmonise
        What is done with the table first: a :class:`~consilience.data.harmonise.Plan`, the same as a mapping, or the path of a
        ``site.toml``. What it changes is in :attr:`changes`, and stays here. ``kinds`` and ``levels`` win over the plan's.
    identity
        The site's long-term key, which others pin. By default a new one.
    min_cell
        Levels with fewer rows than this are called rare.
    rare_levels
        ``"warn"`` shows rare levels in :attr:`variables`; ``"refuse"`` makes them an error.

    Raises
    ------
    DataError
        The data cannot be read, or a column cannot be of the kind that is declared for it.

    Examples
    --------
    >>> import polars as pl
    >>> a = Client("muenster", pl.DataFrame({"age": [61.5, 70.1], "stage": [1, 3]}), levels={"stage": [1, 2, 3]})
    >>> a
    Client('muenster', 2 rows; age: continuous, stage: ordinal 1 < 2 < 3)
    """

    def __init__(
        self,
        name: str,
        data: Any,
        *,
        kinds: Mapping[str, str | Kind] | None = None,
        levels: Mapping[str, Iterable[Any]] | None = None,
        harmonise: Plan | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        identity: Identity | None = None,
        min_cell: int = 5,
        rare_levels: str = "warn",
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise StudyError(f"A client needs a name that is not empty; got {name!r}.")
        self.name = name
        self.plan = Plan() if harmonise is None else Plan.of(harmonise)
        harmonised = self.plan.apply(load(data, name), name)
        self.frame: pl.DataFrame = harmonised.frame
        self.changes: tuple[Change, ...] = harmonised.changes
        said = {**self.plan.kinds, **(kinds or {})}
        # a kind that is given anew goes without the plan's levels
        orders = {n: v for n, v in self.plan.levels.items() if n not in (kinds or {})} | dict(levels or {})
        self.declarations: dict[str, Declaration] = declare(self.frame, name, said, orders, self._ordered(data))
        for column, (unit, _) in self.plan.units.items():
            self._say_unit(column, unit)
        self.min_cell = int(check_number("min_cell", min_cell, least=0))
        if check_option("rare_levels", rare_levels, RARE) == "refuse":
            self._refuse_rare_levels()
        self.identity = Identity.generate() if identity is None else identity
        self.record = Ledger()
        self._last: tuple[pl.DataFrame, str | None, ref[Table]] | None = None

    @property
    def variables(self) -> pl.DataFrame:
        """What this site measures: name, kind, why it is that kind, levels, those with few rows, missing values."""
        text, texts = pl.String, pl.List(pl.String)
        schema: dict[str, Any] = {"name": text, "kind": text, "because": text, "levels": texts, "rare": texts, "missing": pl.Int64}
        return pl.DataFrame(
            [
                {
                    "name": name,
                    "kind": d.variable.kind.value,
                    "because": d.reason,
                    "levels": list(d.variable.levels),
                    "rare": list(self._rare(name)),
                    "missing": _n_missing(self.frame[name]),
                }
                for name, d in self.declarations.items()
            ],
            schema=schema,
        )

    def _rare(self, name: str) -> dict[str, int]:
        """Levels of a discrete column that occur, but in fewer than ``min_cell`` rows."""
        if not self.declarations[name].variable.kind.is_discrete:
            return {}
        column = self.frame[name]
        counts = (column.fill_nan(None) if column.dtype.is_float() else column).drop_nulls().value_counts()
        found = {level_label(level): n for level, n in counts.iter_rows() if n < self.min_cell}
        return dict(sorted(found.items()))

    def _refuse_rare_levels(self) -> None:
        for name in self.declarations:
            for level, n in self._rare(name).items():
                raise RareLevelError(
                    f"{name!r} = {level!r} occurs in {n} rows of {self.name!r}, fewer than min_cell = {self.min_cell}. "
                    f"Merge it with another level, leave the rows out, or lower min_cell."
                )

    def _say_unit(self, column: str, unit: str) -> None:
        declared = self.declarations[column]
        if declared.variable.kind.is_discrete:
            raise KindError(
                f"The plan of {self.name!r} says the unit of {column!r}, which is {declared.variable.kind.value} "
                f"({declared.reason}). Declare it continuous with kinds={{{column!r}: 'continuous'}}, or take the unit out of the plan."
            )
        self.declarations[column] = replace(declared, variable=replace(declared.variable, unit=unit))

    def _ordered(self, data: Any) -> set[str]:
        """Columns of ordered categories, by their new names; a recoding may have changed their order."""
        plans = {column.name: column for column in self.plan.columns}
        return {plans[n].final if n in plans else n for n in ordered_columns(data) if n not in plans or not plans[n].recode}

    def fitted(self, schema: Schema) -> Harmonised[pl.DataFrame]:
        """The table in the units of a study, where both it and the site's plan say what they are; and what that changes.

        Parameters
        ----------
        schema
            The study's variables.

        Returns
        -------
        Harmonised
            The table, and what was changed.

        Raises
        ------
        HarmoniseError
            If there is no way from the site's unit to the study's.

        Examples
        --------
        >>> import polars as pl
        >>> from consilience.data.kinds import Kind, Variable
        >>> client = Client("muenster", pl.DataFrame({"height": [180.5, 171.0]}), harmonise={"height": {"unit": "cm"}})
        >>> client.fitted(Schema([Variable("height", Kind.CONTINUOUS, unit="m")])).frame["height"].to_list()
        [1.805, 1.71]
        """
        return fit(self.frame, self.plan.units, schema, self.name)

    @property
    def ledger(self) -> pl.DataFrame:
        """Everything that has left this site, in words, with running totals; one row a message, refusals included.

        :attr:`record` is the ledger itself, which also gives totals and writes JSON Lines.
        """
        return self.record.frame()

    def join(
        self,
        study: str,
        schema: Schema,
        terms: Terms,
        members: Iterable[bytes],
        *,
        history: History | None = None,
        ledger: Ledger | None = None,
        state: SiteState | None = None,
    ) -> SiteHalf:
        """Take part in a study. The data are encoded over its schema; columns outside it are left alone.

        Parameters
        ----------
        study
            The study's id, for the ledger.
        schema
            Its variables.
        terms
            What this site holds every request against.
        members
            The fingerprints of all sites that take part, this one's included.
        history, ledger
            Records that outlive the process; by default they are the client's own.
        state
            Where the site stands if it is reached over a network; in process it has consented by joining.

        Returns
        -------
        SiteHalf
            What the study's server talks to.

        Raises
        ------
        SchemaError
            A value or a declared kind does not fit the schema.

        Examples
        --------
        :class:`consilience.Server` does this for every client it is given.
        """
        for name, d in self.declarations.items():
            if name in schema and d.declared_kind and d.variable.kind is not schema[name].kind:
                raise KindConflictError(
                    f"{self.name!r} declares {name!r} as {d.variable.kind.value}, the study as {schema[name].kind.value}. "
                    f"Drop kinds={{{name!r}: ...}} at {self.name!r} or change the study's schema."
                )
        record = self.record if ledger is None else ledger
        return SiteHalf(self.name, self._encoded(schema, terms.cluster), terms, self.identity, record, study, members, history, state)

    def _encoded(self, schema: Schema, cluster: str | None) -> Table:
        """The data over a schema; those of the last study, while it lives, if it had the same one and the same clusters."""
        if self._last is not None:
            frame, by, kept = self._last
            table = kept()
            if table is not None and frame is self.frame and by == cluster and table.schema == schema:
                return table
        table = Table(self.fitted(schema).frame, schema, self.name, cluster)
        self._last = (self.frame, cluster, ref(table))
        return table

    def __repr__(self) -> str:
        def describe(d: Declaration) -> str:
            v = d.variable
            joint = " < " if v.kind is Kind.ORDINAL else ", "
            return f"{v.name}: {v.kind.value}" + (f" {joint.join(v.levels)}" if v.levels else "")

        return f"Client({self.name!r}, {self.frame.height} rows; {', '.join(describe(d) for d in self.declarations.values())})"


def _n_missing(column: pl.Series) -> int:
    gone = column.null_count()
    return gone + int(column.is_nan().sum()) if column.dtype.is_float() else gone
