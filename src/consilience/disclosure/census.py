"""The census: what follows from all statements of a run, the same at the server and at every site.

- A site with fewer than ``min_rows`` rows sits out: it contributes zeros to everything.
- Whoever contributes to a variable set is known from the statements.
- A site that states that it keeps variables apart (:mod:`consilience.disclosure.cells`) contributes to no set that has them.
- With ``isolation="strict"`` some sets are not summed over, so that nothing that can be worked out by adding and subtracting sums is about
  fewer than ``min_contributors`` sites (:mod:`consilience.disclosure.isolation`). A site with gaps sits out there: which of its rows are in
  a sum would depend on the set, and subtracting would tell about them alone.

A false statement harms nobody but the site that makes it, as far as rows and levels go: what others contribute is decided by their own
tables (:mod:`consilience.disclosure.shield`). As to strictness, a site that lies is one that passes its numbers on: of what can be worked
out over so many sites, it takes its own part away. Sites that do so are counted in ``min_contributors``: a study that wants to be safe
against c such sites, so that what is left is about two or more, asks for at least c + 2.

*Which sets, with strict.* Not all can be had at once: each that is chosen may rule out others. Three orders are gone through: the sets with
most sites first (which favours rows), those with most variables first (which favours large conditioning sets), and those of single
variables before all others. The one that leaves most pairs of variables that can be tested is taken, then the one that leaves most sets.
Some studies sum over single variables before they test anything (:data:`ALONE`): there a pair counts if both of its variables may be summed
over alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from consilience.data.apart import Apart
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.isolation import Space
from consilience.disclosure.shield import Shielded
from consilience.disclosure.statement import Statement
from consilience.settings.choices import Isolation, Method, SiteEffects
from consilience.settings.terms import Terms
from consilience.wording import counted

__all__ = ["ALONE", "MOST_SETS", "Census", "apply"]

MOST_SETS = 1000
"""Sets of sites that are candidates with strict: those of single variables, then of pairs, and so on."""
MOST_TRIED = 20_000
"""Sets of variables that are gone through for them, where sites keep variables apart."""

ALONE: frozenset[str] = frozenset({Method.RESIDUAL, Method.AUTO, SiteEffects.NONE, SiteEffects.RANDOM})
"""Methods and site effects with which something is summed over single variables: where they lie, or between which values."""

Vector = tuple[int, ...]


class Census:
    """All statements of a run, by the fingerprint of the site.

    >>> schema = Schema({"A": "continuous", "B": "continuous", "C": "continuous"})
    >>> said = {b"1": Statement(("A", "B", "C"), True, 10), b"2": Statement(("A", "B"), True, 10), b"3": Statement(("A", "B"), True, 4)}
    >>> census = Census(said, Terms(min_cell=5), schema)
    >>> census.sits_out(b"3"), sorted(census.contributors(("A", "B")))
    (True, [b'1', b'2'])
    >>> strict = Census(said | {b"3": Statement(("A", "C"), True, 10)}, Terms(isolation=Isolation.STRICT), schema)
    >>> strict.refusal(("A", "B")), strict.refusal(("A", "C")), strict.pairs()
    ('', '', (2, 2))
    >>> strict.refusal(("A",))
    'with other sums it would say something about fewer than 2 sites alone, which isolation="strict" rules out'
    """

    def __init__(self, statements: Mapping[bytes, Statement], terms: Terms, schema: Schema) -> None:
        self.statements, self.terms, self.schema = dict(sorted(statements.items())), terms, schema
        self.strict = terms.isolation is Isolation.STRICT
        self.least = max(2, terms.min_contributors)
        """Sites that anything must be about, with strict."""
        self._alone = terms.method in ALONE or terms.effects in ALONE
        self._refusals = dict[frozenset[str], str]()  # each is asked for with every request
        self._reasons = dict[Vector, str]()
        self._holds = {site: _Held.of(said, schema) for site, said in self.statements.items() if not self.sits_out(site)}
        self._contributors = dict[frozenset[str], frozenset[bytes]]()

    def without(self, site: bytes) -> Census:
        """The census of the same study where a site is left out.

        >>> schema = Schema({"A": "continuous"})
        >>> said = {b"1": Statement(("A",), True, 10), b"2": Statement(("A",), True, 10)}
        >>> sorted(Census(said, Terms(min_cell=5), schema).without(b"1").contributors("A"))
        [b'2']
        """
        return Census({one: said for one, said in self.statements.items() if one != site}, self.terms, self.schema)

    def sits_out(self, site: bytes) -> bool:
        """True if the site contributes zeros to everything."""
        said = self.statements[site]
        return self.terms.shielded and (said.rows < self.terms.min_rows or not said.variables or (self.strict and not said.whole))

    def contributors(self, variables: Iterable[str]) -> frozenset[bytes]:
        """The sites that have values for all of ``variables``, do not keep them apart, and do not sit out."""
        wanted = frozenset(variables)
        if wanted not in self._contributors:
            self._contributors[wanted] = frozenset(site for site, held in self._holds.items() if held.has(wanted))
        return self._contributors[wanted]

    def keeping_apart(self, variables: Iterable[str]) -> frozenset[bytes]:
        """The sites that would contribute to a set if they did not keep some of its variables apart.

        >>> said = {b"1": Statement(("B", "C"), True, 10, ((0, 1),)), b"2": Statement(("B", "C"), True, 10)}
        >>> census = Census(said, Terms(min_cell=5), Schema({"B": "binary", "C": "binary"}))
        >>> census.keeping_apart("BC"), census.contributors("BC"), census.keeping_apart("B")
        (frozenset({b'1'}), frozenset({b'2'}), frozenset())
        """
        wanted = frozenset(variables)
        return frozenset(site for site, held in self._holds.items() if held.variables >= wanted) - self.contributors(wanted)

    def refusal(self, variables: Iterable[str]) -> str:
        """Why no sum over this set is made, not even of counts, or the empty string."""
        if not self.strict and not self._some_apart:
            return ""
        wanted = frozenset(variables)
        known = self._refusals.get(wanted)
        if known is None:
            known = self.too_few_left(wanted) if self._some_apart else ""
            if self.strict and not known:
                vector = self._vector(wanted)
                if vector not in self._reasons:  # many sets of variables are of the same sites
                    self._reasons[vector] = self._refusal(vector)
                known = self._reasons[vector]
            self._refusals[wanted] = known
        return known

    def too_few_left(self, variables: Iterable[str]) -> str:
        """Why too few sites contribute to a set, if it is because some keep its variables apart; the empty string else."""
        wanted = frozenset(variables)
        left, apart, limits = len(self.contributors(wanted)), len(self.keeping_apart(wanted)), self.terms.disclosure
        if not apart or left >= limits.min_contributors or limits.alone(left):
            return ""
        keep = "one site that has the variables keeps" if apart == 1 else f"{apart} sites that have the variables keep"
        return (
            f"{keep} them apart, since few rows have given levels of them together; that leaves {counted(left, 'site')}, and the study "
            f"asks for at least {limits.min_contributors}"
        )

    @cached_property
    def _some_apart(self) -> bool:
        return any(held.apart is not None for held in self._holds.values())

    def _refusal(self, vector: Vector) -> str:
        if vector in self._space:
            return ""
        sites = sum(self._weight(vector))
        if sites < self.least:
            return f'{"one site" if sites == 1 else f"{sites} sites"} would be summed over, and isolation="strict" asks for {self.least}'
        return f'with other sums it would say something about fewer than {self.least} sites alone, which isolation="strict" rules out'

    def pairs(self) -> tuple[int, int]:
        """How many pairs of variables may be summed over, and how many could be if only the number of sites counted.

        >>> schema = Schema({"A": "continuous", "B": "continuous"})
        >>> Census({b"1": Statement(("A", "B"), True, 10), b"2": Statement(("A", "B"), True, 10)}, Terms(min_cell=5), schema).pairs()
        (1, 1)
        """
        able = [pair for pair in combinations(self.schema, 2) if len(self.contributors(pair)) >= self.least]
        return sum(not any(self.refusal(names) for names in self._needed(pair)) for pair in able), len(able)

    def _needed(self, pair: tuple[str, str]) -> list[tuple[str, ...]]:
        """The sets that must be summed over to test a pair of variables."""
        return [pair, *((name,) for name in pair)] if self._alone else [pair]

    @cached_property
    def _types(self) -> dict[_Held, int]:
        """Sets of variables that sites have, with those that they keep apart, and how many sites have each."""
        found = dict[_Held, int]()
        for held in sorted(self._holds.values(), key=_Held.order):
            found[held] = found.get(held, 0) + 1
        return found

    def _vector(self, variables: Iterable[str]) -> Vector:
        wanted = frozenset(variables)
        return tuple(int(held.has(wanted)) for held in self._types)

    def _weight(self, vector: Vector) -> list[int]:
        return [weight for there, weight in zip(vector, self._types.values(), strict=True) if there]

    @cached_property
    def _space(self) -> Space:
        weights = [*self._types.values()]
        sets = self._candidates()
        sites = {vector: sum(self._weight(vector)) for vector in sets}
        single = {self._vector((name,)) for name in self.schema}
        orders = (
            sorted(sets, key=lambda vector: (-sites[vector], -sets[vector], vector)),
            sorted(sets, key=lambda vector: (-sets[vector], -sites[vector], vector)),
            sorted(sets, key=lambda vector: (vector not in single, -sites[vector], vector)),
        )
        pairs = [[self._vector(names) for names in self._needed(pair)] for pair in combinations(self.schema, 2)]
        found = list[tuple[tuple[int, int], Space]]()
        for order in dict.fromkeys(map(tuple, orders)):  # mostly they are the same
            space = Space(weights, self.least)
            allowed = {vector for vector in order if space.join(vector)}
            found.append(((sum(allowed.issuperset(needed) for needed in pairs), len(allowed)), space))
        return max(found, key=lambda one: one[0])[1]  # the first, where they are as good

    def _candidates(self) -> dict[Vector, int]:
        """The sets of sites that have some variables in common and are enough of them, each with how many variables that are."""
        if self._some_apart:
            return self._candidates_apart()
        single = {self._vector((name,)) for name in self.schema}
        found, last = dict[Vector, int](), sorted(single)
        while last and len(found) < MOST_SETS:
            new = set[Vector]()
            for vector in last:
                if vector not in found and sum(self._weight(vector)) >= self.least and len(found) < MOST_SETS:
                    common = [held for held, there in zip(self._types, vector, strict=True) if there]
                    found[vector] = len(frozenset.intersection(*(held.variables for held in common)))
                    new.update(tuple(a & b for a, b in zip(vector, other, strict=True)) for other in single)
            last = sorted(new - found.keys())
        return found

    def _candidates_apart(self) -> dict[Vector, int]:
        """The same where sites keep variables apart: who contributes to a set does not follow from who contributes to its variables."""
        found, tried = dict[Vector, int](), 0
        for size in range(1, len(self.schema) + 1):
            for names in combinations(self.schema, size):
                vector = self._vector(names)
                tried += 1
                if sum(self._weight(vector)) >= self.least:
                    found[vector] = size
                if len(found) >= MOST_SETS or tried >= MOST_TRIED:
                    return found
        return found


class _Held(NamedTuple):
    """What a site contributes: its variables, and those of them that it keeps apart."""

    variables: frozenset[str]
    apart: Apart | None

    @classmethod
    def of(cls, said: Statement, schema: Schema) -> _Held:
        return cls(frozenset(said.variables), said.kept_apart(schema))

    def has(self, wanted: frozenset[str]) -> bool:
        """True if the site contributes to a set."""
        return self.variables >= wanted and not (self.apart is not None and self.apart.parts(wanted))

    def order(self) -> tuple[list[str], list[list[str]], int]:
        """By which they are sorted, the same everywhere."""
        apart = self.apart
        return sorted(self.variables), [] if apart is None else sorted(map(sorted, apart.sets)), 0 if apart is None else apart.most


def apply(shielded: Shielded, census: Census, site: bytes) -> Table:
    """The table that answers in this run: the shielded one, or an empty one if the site sits out.

    >>> import polars as pl
    >>> from consilience.disclosure.shield import shield
    >>> schema = Schema({"A": "continuous"})
    >>> mine = shield(Table(pl.DataFrame({"A": [1.0, 2.0]}), schema, "muenster"), Terms(min_cell=5), 5)
    >>> apply(mine, Census({b"1": mine.statement}, Terms(min_cell=5), schema), b"1").n_rows
    0
    """
    if census.sits_out(site) and shielded.table.n_rows:
        return shielded.table.subset(np.zeros(0, dtype=np.intp))
    return shielded.table
