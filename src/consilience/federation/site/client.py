"""A site of a study: the holder of data that do not leave it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any
from weakref import ref

from consilience.data.errors import (
    KindConflictError,
    KindError,
    OutOfMemoryError,
    RareLevelError,
    UnknownVariableError,
    error_of,
    nearest,
)
from consilience.data.facts import ColumnFacts, facts_of
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.harmonise import Applied, Harmonised, Plan
from consilience.data.harmonise.fitting import fit
from consilience.data.judging import Standing, Verdict, judge, judge_all
from consilience.data.judging.verdict import use_error
from consilience.data.kinds import Kind, level_label
from consilience.data.schema import Declaration, Schema, shown_levels
from consilience.data.sources import Loaded, Reading, Scanned, load, scan_larger
from consilience.data.streamed import Streamed, least_memory
from consilience.data.table import Table
from consilience.disclosure.shield import Shielded, shield
from consilience.errors import StudyError
from consilience.federation.site.half import SiteHalf
from consilience.federation.site.ledger import Ledger
from consilience.frames import pl
from consilience.options import check_bytes, check_number, check_option, check_whole, quarter_of_memory
from consilience.protocol.history import History
from consilience.protocol.states import SiteState
from consilience.secagg import Identity
from consilience.secagg.context import pack
from consilience.settings.choices import Cells, Method, SiteEffects
from consilience.settings.declaration import DEFAULTS
from consilience.settings.terms import Terms
from consilience.showing import first, table
from consilience.wording import counted

__all__ = ["Client"]

RARE = ("warn", "refuse")
THREADS = 2
"""Threads of a site whose owner does not say how many: it shares its computer with others."""
LEAST_FOR_HELPERS = 1 << 30
"""Bytes that a table may take where another process helps with its sums: that one takes 150 MiB by itself, whatever the table."""
_SEED = b"consilience/seed/1"


class Client:
    """A site: a name and a table.

    Kinds are inferred from the columns' types, and shown with the reason by :attr:`variables`. What leaves the site is written to
    :attr:`ledger`.

    Parameters
    ----------
    name
        What the site is called in the study.
    data
        A polars or pandas frame, or a path to a ``.csv`` or ``.parquet`` file, to a folder of ``.parquet`` files, or a pattern that they
        fit (``folder/*.parquet``).
    kinds
        Kinds that win over the inferred ones, by column: ``"continuous"``, ``"binary"``, ``"ordinal"``, ``"multinomial"`` or
        ``"count"`` (which is never inferred).
    levels
        Levels of discrete columns, in their order.
    variables
        The columns to use; by default all that can be variables.
    missing
        Words and numbers that stand for "missing", besides the usual ones.
    decimal, thousands, separator, encoding
        How a text file is written, where that is not to be found out.
    sheet
        Of an Excel file: its name, or its number from 1.
    table, query
        Of a database: a table, or a query in SQL.
    harmonise
        What is done with the table first: a :class:`~consilience.data.harmonise.Plan`, the same as a mapping, or the path of a
        ``site.toml``. What it changes is in :attr:`changes`, and stays here. ``kinds`` and ``levels`` win over the plan's.
    identity
        The site's long-term key, which others pin. By default a new one.
    min_cell
        Levels with fewer rows than this are called rare; over a network, no count of a level below it can be worked out, whatever the
        study's own ``min_cell`` is.
    cells
        Over a network: ``"refuse"`` keeps this site out of sums over discrete variables that few of its rows have given levels of together,
        whatever the study's own ``cells`` is; ``"told"`` leaves that to the study.
    rare_levels
        ``"warn"`` shows rare levels in :attr:`variables`; ``"refuse"`` makes them an error.
    memory
        Bytes that the table may take, or a text such as ``"2 GB"``; by default a quarter of this computer's. Parquet files and DuckDB
        databases that would take more are not loaded: they are read a block of rows at a time, whenever something is summed over them.
    threads
        In how many threads sums over many rows are made: by default two, or one where the computer has one processor. On Linux, where sums
        take long and ``memory`` is a gigabyte or more, all but one are processes beside this one. No result depends on it.
    seed
        Resampled rows (``discover(bootstrap=...)``) are drawn from a secret of the identity and the study. A seed, a whole number, makes
        them the same in every study: to repeat an analysis in one program.

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
        variables: Iterable[str] | None = None,
        missing: Iterable[Any] = (),
        decimal: str | None = None,
        thousands: str | None = None,
        separator: str | None = None,
        encoding: str | None = None,
        sheet: str | None = None,
        table: str | None = None,
        query: str | None = None,
        harmonise: Plan | Mapping[str, Any] | str | os.PathLike[str] | None = None,
        identity: Identity | None = None,
        min_cell: int = 5,
        cells: str = DEFAULTS.cells.value,
        rare_levels: str = "warn",
        seed: int | None = None,
        memory: int | str | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(name, str) or not name.strip():
            raise StudyError(f"A client needs a name that is not empty; got {name!r}.")
        self.name = name
        self.min_cell = int(check_number("min_cell", min_cell, least=0))
        self.cells = Cells(check_option("cells", cells, tuple(Cells)))
        words = tuple(level_label(word) for word in ((missing,) if isinstance(missing, str) else missing))
        marks = {"separator": separator, "decimal": decimal, "thousands": thousands, "encoding": encoding}
        self.reading = Reading(**marks, missing=words, sheet=sheet, table=table, query=query)
        self.memory = quarter_of_memory() if memory is None else check_bytes("memory", memory)
        self.threads = min(THREADS, os.cpu_count() or 1) if threads is None else check_whole("threads", threads, least=1)
        self.lazy: pl.LazyFrame | None = None
        self._step = 0
        done = self._harmonised(data, harmonise)
        loaded, self.plan, self.changes = done.loaded, done.plan, done.changes
        self.frame: pl.DataFrame = loaded.frame
        chosen = _chosen(self.frame, variables, name)
        self.facts: dict[str, ColumnFacts] = facts_of(
            chosen if self.lazy is None else self.lazy.select(by_place(self.frame, chosen.columns))
        )
        self._read = tuple(replace(f, words=f"{name!r}: {f.words}", sites=(name,)) for f in loaded.findings)
        # a kind that is given anew goes without the plan's levels
        ordered = {n: v for n, v in self.plan.levels.items() if n in self.facts and n not in (kinds or {})}
        said = {**{n: k for n, k in self.plan.kinds.items() if n in self.facts}, **(kinds or {})}
        read = {n: v for n, v in loaded.levels.items() if n in self.facts}
        self.verdicts = self._judged(said, {**read, **ordered, **(levels or {})}, loaded.ordered, () if variables is None else variables)
        for column, (unit, _) in self.plan.units.items():
            self._say_unit(column, unit)
        self.findings: tuple[Finding, ...] = tuple(dict.fromkeys((*self._read, *(f for v in self.verdicts.values() for f in v.findings))))
        if check_option("rare_levels", rare_levels, RARE) == "refuse":
            self._refuse_rare_levels()
        self.identity = Identity.generate() if identity is None else identity
        self._draws = b"" if seed is None else pack(_SEED, str(check_whole("seed", seed, least=0)).encode(), name.encode())
        self.record = Ledger()
        self._last: tuple[pl.DataFrame, str | None, ref[Table]] | None = None

    def _judged(
        self, kinds: Mapping[str, str | Kind], levels: Mapping[str, Iterable[Any]], ordered: Collection[str], wanted: Iterable[str]
    ) -> dict[str, Verdict]:
        """A verdict for every column; what somebody declared or chose is in use, and raised at once if it cannot be."""
        wanted = set(wanted)
        found = judge_all(self.facts, kinds, levels, ordered=ordered, wanted=wanted, owner=self.name, min_cell=self.min_cell)
        used = [v for name, v in found.items() if name in kinds or name in levels or name in wanted]
        refused = [finding for v in used if v.standing is Standing.REFUSED for finding in v.findings]
        if refused:
            raise use_error(refused)
        return found | self._unread({*kinds, *levels})

    def _unread(self, declared: Collection[str]) -> dict[str, Verdict]:
        """Verdicts on columns that could not be read without guessing, and that nobody declared."""
        refused = (f for f in self._read if f.grade is Grade.REFUSED)
        return {
            column: Verdict(column, Standing.REFUSED, finding.words.removeprefix(f"{self.name!r}: "), findings=(finding,))
            for finding in refused
            for column in finding.columns
            if column in self.facts and column not in declared
        }

    @property
    def declarations(self) -> dict[str, Declaration]:
        """What this site says of each of its variables: the columns that are usable as they are."""
        return {name: v.declaration for name, v in self.verdicts.items() if v.standing.usable and v.declaration is not None}

    @property
    def variables(self) -> pl.DataFrame:
        """What this site's columns are taken for: name, kind, verdict, why, levels, those with few rows, missing values.

        The verdict is ``sure``, ``doubtful``, ``refused`` (an error if it is used) or ``excluded`` (no variable: an identifier, a date).
        """
        text, texts = pl.String, pl.List(pl.String)
        schema: dict[str, Any] = {"name": text, "kind": text, "verdict": text, "because": text}
        rows = [self._row(name, verdict) for name, verdict in self.verdicts.items()]
        return pl.DataFrame(rows, schema=schema | {"levels": texts, "rare": texts, "missing": pl.Int64})

    def _row(self, name: str, verdict: Verdict) -> dict[str, Any]:
        usable = verdict.standing.usable and verdict.declaration is not None
        return {
            "name": name,
            "kind": verdict.kind.value if usable and verdict.kind else None,
            "verdict": verdict.standing.value,
            "because": verdict.reason,
            "levels": list(verdict.declaration.variable.levels) if usable and verdict.declaration else [],
            "rare": list(self._rare(name)) if usable else [],
            "missing": self.facts[name].missing,
        }

    def held(self, schema: Schema) -> frozenset[str]:
        """The variables of a schema that this site measures.

        What the study declares of a column wins over what was guessed: an identifier here may be a variable there.

        Parameters
        ----------
        schema
            The study's variables.

        Returns
        -------
        frozenset of str

        Raises
        ------
        DataError
            A column cannot be what the schema says.

        Examples
        --------
        >>> client = Client("muenster", pl.DataFrame({"": [1, 2, 3], "age": [61.5, 70.1, 55.2]}))
        >>> sorted(client.held(Schema({"age": "continuous", "sex": "binary"})))
        ['age']
        """
        verdicts = [self._under(schema, name) for name in schema if name in self.verdicts]
        refused = [finding for v in verdicts if v.standing is Standing.REFUSED for finding in v.findings]
        if refused:
            raise use_error(refused)
        return frozenset(v.name for v in verdicts if v.standing.usable)

    def _under(self, schema: Schema, name: str) -> Verdict:
        known, variable = self.verdicts[name], schema[name]
        return known if known.standing.usable else judge(self.facts[name], variable.kind, variable.levels or None, owner=self.name)

    def columns_for(self, schema: Schema, cluster: str | None = None) -> pl.DataFrame:
        """The columns that a study uses, and the one that marks clusters.

        Parameters
        ----------
        schema
            The study's variables.
        cluster
            The column that marks clusters, if there is one.

        Returns
        -------
        polars.DataFrame
        """
        used = self.held(schema) | ({cluster} & set(self.frame.columns) if cluster is not None else set())
        return self.frame.select(by_place(self.frame, used))

    def _rare(self, name: str) -> dict[str, int]:
        """Levels of a discrete column that occur, but in fewer than ``min_cell`` rows."""
        if not self.declarations[name].variable.kind.is_discrete:
            return {}
        found = {level: n for level, n in self.facts[name].counts.items() if n < self.min_cell}
        return dict(sorted(found.items()))

    def _refuse_rare_levels(self) -> None:
        for name in self.declarations:
            for level, n in self._rare(name).items():
                raise RareLevelError(
                    f"{name!r} = {level!r} occurs in {n} rows of {self.name!r}, fewer than min_cell = {self.min_cell}. "
                    f"Merge it with another level, leave the rows out, or lower min_cell."
                )

    def _harmonised(self, data: Any, plan: Plan | Mapping[str, Any] | str | os.PathLike[str] | None) -> Applied:
        if isinstance(data, Applied):
            return data
        made = Plan() if plan is None else Plan.of(plan)
        scanned = None if isinstance(data, Loaded) else scan_larger(data, self.name, self.reading, self.memory)
        if scanned is not None:
            return self._scanned(scanned, made)
        loaded = data if isinstance(data, Loaded) else load(data, self.name, self.reading)
        return made.applied(loaded, self.name)

    def _scanned(self, scanned: Scanned, plan: Plan) -> Applied:
        """A table larger than memory, lazily; what is loaded of it are its columns' names and types."""
        least = least_memory(len(scanned.loaded.frame.columns), scanned.unpacked, self.threads)
        if least > self.memory:
            raise OutOfMemoryError(
                f"{self._too_large}. Read in blocks it takes about {least >> 20} MiB, of which {scanned.unpacked >> 20} MiB are for groups "
                f"of its rows, which are unpacked as a whole. Allow it more, use fewer threads, or write the file with smaller groups."
            )
        changed = [column.name for column in plan.columns if column.changes_values and not column.drop] + [d.name for d in plan.derived]
        if changed:
            raise OutOfMemoryError(
                f"{self._too_large}, and is read a block of rows at a time; a plan that changes values ({', '.join(changed)}) needs a "
                f"loaded table. Write the harmonised table as Parquet and name that, or allow it more memory."
            )
        done = plan.applied(scanned.loaded, self.name)
        self.lazy, self._step = plan.apply(scanned.lazy, self.name).frame, scanned.step
        return done

    @property
    def _too_large(self) -> str:
        return f"The table of {self.name!r} is larger than the {self.memory >> 20} MiB that it may take (memory=)"

    def _say_unit(self, column: str, unit: str, span: tuple[float, float] | None = None) -> None:
        """A column's unit and range, of a column that is used."""
        verdict = self.verdicts.get(column)
        if verdict is None or verdict.declaration is None:
            return
        variable = verdict.declaration.variable
        if variable.kind.is_discrete:
            words = f"{self.name!r} says the unit of {column!r}, which is {variable.kind.value} ({verdict.reason})."
            way = Remedy(Step.KIND, column, Kind.CONTINUOUS.value)
            raise error_of(KindError, Finding("unit-of-levels", Grade.REFUSED, words, (column,), (self.name,), (way,)))
        said = replace(verdict.declaration, variable=replace(variable, unit=unit, range=span))
        self.verdicts[column] = replace(verdict, declaration=said)

    def measure_in(self, schema: Schema) -> None:
        """Take the units and ranges that a study declares for this site's numbers.

        Parameters
        ----------
        schema
            The study's variables; those without a unit and a range are left alone.

        Examples
        --------
        >>> from consilience.data.kinds import Variable
        >>> client = Client("muenster", pl.DataFrame({"chol": [5.2, 4.1, 6.3]}))
        >>> client.measure_in(Schema([Variable("chol", Kind.CONTINUOUS, unit="mmol/l", range=(0.5, 30.0))]))
        >>> client.declarations["chol"].variable.measured
        'in mmol/l, 0.5 to 30'
        """
        for name, variable in schema.items():
            if variable.unit or variable.range is not None:
                self._say_unit(name, variable.unit, variable.range)

    def fitted(self, schema: Schema, cluster: str | None = None) -> Harmonised[pl.DataFrame]:
        """The columns of a study in its units, where both it and the site's plan say what they are; and what that changes.

        Parameters
        ----------
        schema
            The study's variables.
        cluster
            A column that is kept beside them.

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
        if self.lazy is not None:
            raise OutOfMemoryError(
                f"{self._too_large}, and what is asked for needs all of its rows at once. Allow it more, or use a table with fewer rows."
            )
        return fit(self.columns_for(schema, cluster), self.plan.units, schema, self.name)

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
        contract: bytes = b"",
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
        contract
            The digest of what the owner agreed to, which this site's keys are bound to; by default that of terms and variables.

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
                words = f"{self.name!r} declares {name!r} as {d.variable.kind.value}, the study's schema as {schema[name].kind.value}."
                way = Remedy(Step.KIND, name, schema[name].kind.value)
                raise error_of(KindConflictError, Finding("kind-conflict", Grade.REFUSED, words, (name,), (self.name,), (way,)))
        if self.lazy is not None:
            self._check_terms(terms)
        record = self.record if ledger is None else ledger
        agreed = (terms, self.identity, record, study, members, history, state)
        table, least = self._encoded(schema, terms.cluster), self.least_cell(terms)
        return SiteHalf(self.name, table, *agreed, contract=contract, min_cell=least, cells=self._cells(terms), draws=self._draws)

    def _check_terms(self, terms: Terms) -> None:
        """Refuse a study that asks for what a table larger than memory cannot do, before anything is sent."""
        unable = {
            f"method={terms.method.value!r}": terms.method in (Method.RESIDUAL, Method.AUTO),
            f"site_effects={terms.effects.value!r}": terms.effects is SiteEffects.RANDOM,
            f"cluster={terms.cluster!r}": terms.cluster is not None,
            f"bootstrap={terms.bootstrap}": terms.network and terms.bootstrap > 0,
            "effects": terms.network and terms.estimated,
        }
        asked = [words for words, wanted in unable.items() if wanted]
        if asked:
            raise OutOfMemoryError(
                f"{self._too_large}, and is read a block of rows at a time. That is not enough for {', '.join(asked)}, which the study "
                f"asks for. Leave that out of the study, use a table with fewer rows, or allow it more memory."
            )

    def least_cell(self, terms: Terms) -> int:
        """The least level count at this site: the study's or, over a network, its owner's own, whichever is more.

        In one program the study's rule is the only one: all rows are in one memory.

        Parameters
        ----------
        terms
            Those of the study.

        Returns
        -------
        int

        Examples
        --------
        >>> client = Client("muenster", pl.DataFrame({"age": [61.5, 70.1]}), min_cell=7)
        >>> client.least_cell(Terms(network=True, min_cell=5)), client.least_cell(Terms(min_cell=5))
        (7, 5)
        """
        return max(terms.min_cell, self.min_cell if terms.network else 1)

    def _cells(self, terms: Terms) -> Cells:
        """This site's rule on several levels together: the study's or, over a network, its owner's own."""
        return self.cells if terms.network else terms.cells

    def shielded(self, schema: Schema, terms: Terms) -> Shielded:
        """What of this site's table would take part in a study: the same as after :meth:`join`, for its owner to see before.

        Parameters
        ----------
        schema
            The study's variables.
        terms
            What the site would hold every request against.

        Returns
        -------
        Shielded

        Raises
        ------
        SchemaError
            A value does not fit the schema.

        Examples
        --------
        >>> client = Client("muenster", pl.DataFrame({"age": [61.5, 70.1] * 10, "sex": [0] * 18 + [1] * 2}))
        >>> found = client.shielded(Schema({"age": "continuous", "sex": "binary"}), Terms(min_cell=5))
        >>> found.rows_before, found.rows_left_out
        (20, 2)
        """
        return shield(self._encoded(schema, terms.cluster), terms, self.least_cell(terms), self._cells(terms))

    def _encoded(self, schema: Schema, cluster: str | None) -> Table:
        """The data over a schema; those of the last study, while it lives, if it had the same one and the same clusters."""
        if self._last is not None:
            frame, by, kept = self._last
            table = kept()
            if table is not None and frame is self.frame and by == cluster and table.schema == schema:
                return table
        if self.lazy is None:
            table = Table(self.fitted(schema, cluster).frame, schema, self.name, cluster)
            table.threads = self.threads
        else:
            table = self._streamed(self.lazy, schema)
        table.helpers = self.threads - 1 if self.memory >= LEAST_FOR_HELPERS else 0
        self._last = (self.frame, cluster, ref(table))
        return table

    def _streamed(self, lazy: pl.LazyFrame, schema: Schema) -> Streamed:
        if fit(self.columns_for(schema), self.plan.units, schema, self.name).changes:
            raise OutOfMemoryError(
                f"{self._too_large}, and is read as it is; the study has some of its variables in other units. Write the table in the "
                f"study's units, or allow it more memory."
            )
        used = lazy.select(by_place(self.frame, self.held(schema)))
        return Streamed(used, schema, self.name, memory=self.memory, threads=self.threads, step=self._step)

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.frame.height if self.lazy is None else max((facts.rows for facts in self.facts.values()), default=0)

    def __repr__(self) -> str:
        def describe(d: Declaration) -> str:
            v = d.variable
            joint = " < " if v.kind is Kind.ORDINAL else ", "
            return f"{v.name}: {v.kind.value}" + (f" {joint.join(v.levels)}" if v.levels else "")

        return f"Client({self.name!r}, {self.rows} rows; {', '.join(describe(d) for d in self.declarations.values())})"

    def _repr_html_(self) -> str:
        """What a notebook shows: how each column was read, and why."""
        heads = ["column", "kind", "verdict", "because", "levels", "rare", "missing"]
        rows = [
            (
                row["name"],
                row["kind"] or "–",
                row["verdict"],
                row["because"],
                shown_levels(self.declarations[row["name"]].variable) if row["levels"] else "",
                first(row["rare"]),
                f"{row['missing']:,}",
            )
            for row in self.variables.iter_rows(named=True)
        ]
        return table(f"{self.name}: {counted(self.rows, 'row')}, {counted(len(rows), 'column')}", heads, rows)


def _chosen(frame: pl.DataFrame, variables: Iterable[str] | None, owner: str) -> pl.DataFrame:
    """The columns that somebody chose; all of them if nobody did."""
    if variables is None:
        return frame
    wanted = [variables] if isinstance(variables, str) else list(variables)
    for name in wanted:
        if name not in frame.columns:
            raise UnknownVariableError(f"{owner!r} has no column {name!r} to choose.{nearest(name, frame.columns)}")
    return frame.select(by_place(frame, wanted))


def by_place(frame: pl.DataFrame, names: Collection[str]) -> list[pl.Expr]:
    """Columns by where they stand: to polars, a column named "*" or "^A.*$" is a pattern."""
    wanted = set(names)
    return [pl.nth(i) for i, name in enumerate(frame.columns) if name in wanted]
