"""The table of tests, cut to what an address asks for: some words, a variable, a decision, an order, a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from consilience.frames import pl
from consilience.iod.discovery import Discovery
from consilience.iod.report.html import Html, el, join
from consilience.iod.report.tables import CI_COLUMNS, DECISIONS, Column, ci_rows, table
from consilience.iod.wording import counted
from consilience.web.pages.result.links import Links

__all__ = ["Listing"]

PER_PAGE = 600
"""Tests on a page; with no more than these in all, a script sorts and searches on the page."""
SORTED = {"x": "x", "y": "y", "given": "given", "p": "p_value", "decision": "decision", "strength": "strength", "size": "size"}
SORTED |= {"rows": "n", "sites": "contributors", "linear": "linear_p", "note": "reason"}
"""Names of orders in an address, in the order of the columns, and the columns of the tests that they mean."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Which tests are listed. What an address has that is none of its words is taken as nothing said."""

    found: Discovery
    words: str = ""
    variable: str = ""
    pair: tuple[str, str] | None = None
    decision: str = ""
    sort: str = ""
    down: bool = False
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str], found: Discovery, pair: tuple[str, str] | None) -> Listing:
        """The listing that an address asks for."""
        names = sorted({name for held in found.datasets for name in held})
        variable, page = query.get("variable", ""), query.get("page", "")
        return cls(
            found=found,
            words=query.get("words", "").strip()[:80],
            variable=variable if variable.isascii() and variable.isdigit() and len(variable) < 5 and int(variable) < len(names) else "",
            pair=pair,
            decision=query.get("decision", "") if query.get("decision") in DECISIONS else "",
            sort=query.get("sort", "") if query.get("sort") in SORTED else "",
            down=query.get("order") == "down",
            page=int(page) if page.isascii() and page.isdigit() and 0 < len(page) < 6 else 1,
        )

    @property
    def names(self) -> list[str]:
        """The variables, in the order in which the form numbers them."""
        return sorted({name for held in self.found.datasets for name in held})

    @property
    def checked(self) -> bool:
        """True if it was looked at for any test whether linear models hold."""
        return self.found.tests["linear_p"].null_count() < self.found.tests.height

    @property
    def sized(self) -> bool:
        """True if it is known of any test how strong the two go together."""
        return self.found.tests["strength"].null_count() < self.found.tests.height

    @property
    def whole(self) -> bool:
        """True if all tests are on the page, so that a script can search among them."""
        return self.found.tests.height <= PER_PAGE and self.pair is None

    @property
    def query(self) -> dict[str, str]:
        """What was asked for, without order and page."""
        return {"words": self.words, "variable": self.variable, "decision": self.decision}

    def chosen(self) -> pl.DataFrame:
        """The tests that are asked for, in their order, with what was decided."""
        return self._ordered().filter("shown").drop("shown")

    def _marked(self) -> pl.DataFrame:
        """All tests, with what was decided and whether they are asked for."""
        told = pl.when(pl.col("p_value") > self.found.alpha).then(pl.lit(DECISIONS[0])).otherwise(pl.lit(DECISIONS[1]))
        tests = self.found.tests.with_columns(decision=pl.when("informative").then(told).otherwise(pl.lit(DECISIONS[2])))
        held = pl.concat_list("x", "y", "given")
        shown: list[pl.Expr] = [pl.lit(True)]
        if self.pair is not None:
            shown.append(pl.col("x").is_in(self.pair) & pl.col("y").is_in(self.pair))
        if self.variable:
            shown.append(held.list.contains(self.names[int(self.variable)]))
        if self.decision:
            shown.append(pl.col("decision") == self.decision)
        text = pl.concat_str(held.list.join(" "), "decision", "reason", separator=" ", ignore_nulls=True).str.to_lowercase()
        shown += [text.str.contains(word, literal=True) for word in self.words.lower().split()]
        return tests.with_columns(shown=pl.all_horizontal(shown))

    def _ordered(self) -> pl.DataFrame:
        tests = self._marked()
        by: Any = pl.col("given").list.len()
        if self.sort == "given":
            return tests.sort(by, pl.col("given").list.join(", "), descending=self.down, maintain_order=True)
        if not self.sort:
            return tests.sort(by, maintain_order=True)
        # a p-value of a test that could not tell is none, and comes last in either order
        key = pl.when("informative").then(pl.col("p_value")) if self.sort == "p" else pl.col(SORTED[self.sort])
        return tests.sort(key, descending=self.down, nulls_last=True, maintain_order=True)

    def html(self, links: Links) -> tuple[Html, int]:
        """The table, and how many tests there are to turn pages through."""
        tests = self._ordered()
        count = int(tests["shown"].sum())
        if self.whole:  # all are there, so that a script can search among them; those that are not asked for are hidden
            rows, part = ci_rows(self.found, tests, tests["shown"].to_list()), ""
        else:
            start = (self.page - 1) * PER_PAGE
            rows = ci_rows(self.found, tests.filter("shown")[start : start + PER_PAGE])
            part = "" if len(rows) == count else f", {min(start + 1, count):,} to {start + len(rows):,} of them here"
        caption = f"{counted(self.found.tests.height if self.whole else count, 'test')} at α = {self.found.alpha:g}{part}"
        columns = [self._head(column, name, links) for column, name in zip(CI_COLUMNS, SORTED, strict=True)]
        made = table(columns, rows, caption=caption, name="ci", sortable=self.whole, ordered=self._order())
        return made, len(rows) if self.whole else count

    def _order(self) -> dict[int, str]:
        return {list(SORTED).index(self.sort): "descending" if self.down else "ascending"} if self.sort else {}

    def _head(self, column: Column, name: str, links: Links) -> Column:
        """The head of a column, which leads to the same table in its order."""
        down = "down" if self.sort == name and not self.down else ""
        pair = {} if self.pair is None else {"pair": self._pair()}
        link = el("a", column.head, href=links.to("tests", **self.query, **pair, sort=name, order=down))
        return Column(join([link]), column.number)

    def _pair(self) -> str:
        return "" if self.pair is None else "-".join(str(self.names.index(name)) for name in sorted(self.pair))
