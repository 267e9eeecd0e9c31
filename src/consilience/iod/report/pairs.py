"""Two variables, joined or not: in how many graphs they are, which marks are certain and why, and which tests decided it.

Whatever shows an edge or a missing edge takes its words from here: the report, and the pages of the apps. A sentence is said only where it
is true whatever cut the search short: what holds in every graph comes from the summary, what was counted from the list.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from consilience.citest.result import size_from_row
from consilience.citest.size_words import strength_in_words
from consilience.graph.marks import NONE
from consilience.iod.effects import Effects
from consilience.iod.effects_words import effects_in_words
from consilience.iod.report.how_strong import Strong, how_strong
from consilience.iod.report.how_sure import HowSure, Sure
from consilience.iod.report.html import Html
from consilience.iod.report.intervals import size_plot, size_scales
from consilience.iod.report.reasons import Asked, Reasons
from consilience.iod.report.sentences import isolated, left_open
from consilience.iod.report.tables import DECISIONS, decision_of, note_of
from consilience.iod.summary import ALL, EITHER, MARKS, NO, SOME
from consilience.iod.wording import counted

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery
    from consilience.iod.evidence import Decision

__all__ = ["Fact", "Pairs", "Story", "in_a_row"]

FEW = 2
"""Stronger decisions that are told with an overruled one; often it clashes with dozens taken together."""
NO_PLOT = Html("")
MARK_WORDS = {"arrow": "an arrowhead", "tail": "a tail", "circle": "a circle"}


class Fact(NamedTuple):
    """Something that is said of a pair, under a short name; a small plot may stand beside the words."""

    term: str
    words: str
    plot: Html = NO_PLOT


@dataclass(frozen=True, slots=True)
class Story:
    """All that is said of a pair.

    ``status`` is "all", "some", "none" or "unknown", and "nothing" where there is no graph; ``often`` says it in few words. ``count`` is
    the number of listed graphs that join the two. ``strong`` says how strong, where it is known, and ``plot`` is its interval; ``sure``
    says how sure, where somebody has resampled.
    """

    x: str
    y: str
    status: str
    often: str
    count: int
    facts: tuple[Fact, ...]
    tests: tuple[Asked, ...]
    strong: Strong | None = None
    sure: Sure | None = None
    plot: Html = NO_PLOT

    @property
    def strength(self) -> str:
        """Sign and strength in few words; a dash where they are not known."""
        return "–" if self.strong is None else strength_in_words(self.strong.test.sign, self.strong.test.strength)


class Pairs:
    """The stories of all pairs of a discovery.

    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D"), datasets=["ABC", "BCD"]))
    >>> told = Pairs(found).story("C", "A")
    >>> told.x, told.y, told.often
    ('A', 'C', 'all 2')
    >>> [fact.words for fact in told.facts if fact.term == "At C"]
    ['An arrowhead in every graph: C is not a cause of A. Why: A and B are independent (p = 1), and both are joined to C.']
    """

    def __init__(self, found: Discovery) -> None:
        self.found = found
        self.labels = found.summary.labels
        self._place = {name: place for place, name in enumerate(self.labels)}
        self._rows: dict[tuple[str, str], dict[str, Any]] = {(row["x"], row["y"]): row for row in found.summary.frame.iter_rows(named=True)}
        self._listed = _counts(found, self.labels)
        self._tests = _tests(found)
        self._missing: dict[frozenset[str], int] = defaultdict(int)
        for x, y in found.missing.select("x", "y").iter_rows():
            self._missing[frozenset((x, y))] += 1
        self._told: dict[tuple[str, str], Story] = {}
        self._reasons = Reasons(found, self._rows, self._tests)
        self._effects: dict[frozenset[str], list[Effects]] = defaultdict(list)
        for one in found.effects:
            self._effects[frozenset((one.x, one.y))].append(one)
        self.sure = HowSure(found.stability)
        self.scales = size_scales(found.tests)

    def pairs(self) -> Iterable[tuple[str, str]]:
        """Every pair, by sorted names."""
        return self._rows.keys()

    def story(self, x: str, y: str) -> Story:
        """What is said of two variables, in either order; ``KeyError`` if one of them is unknown."""
        x, y = sorted((x, y))
        if (x, y) not in self._told:
            self._told[x, y] = self._story(x, y)
        return self._told[x, y]

    def _story(self, x: str, y: str) -> Story:
        row = self._rows[x, y]
        tests = tuple(self._tests.get(frozenset((x, y)), ()))
        count = len(self.found.pags) - int(self._listed[NONE, self._place[x], self._place[y]])
        often, words = _often(self.found, row["edge"], count)
        facts = [Fact("Joined", words)]
        strong = how_strong(x, y, tests)
        sure = self.sure.of(x, y)
        if sure is not None:
            facts.append(Fact("How sure", sure.words))
        plot = NO_PLOT if strong is None else size_plot(self.scales, strong.test.size)
        if strong is not None:
            facts.append(Fact("How strong", strong.words, plot))
            facts += [Fact("Given nothing", strong.plain)] if strong.plain else []
        facts += [Fact(f"Effect on {one.y}", effects_in_words(one)) for one in self._effects.get(frozenset((x, y)), ())]
        if left_open(self.found, x, y):
            facts.append(Fact("Marks", "Both were declared exogenous: why they go together is not asked here."))
        elif self.found.pags:
            facts += self._ends(row)
            facts += _causes(row)
        facts += self._data_sets(x, y, tests)
        facts += self._trouble(x, y)
        return Story(x, y, row["edge"] if self.found.pags else "nothing", often, count, tuple(facts), tests, strong, sure, plot)

    def _ends(self, row: dict[str, Any]) -> list[Fact]:
        """What is known of the mark at either end."""
        if row["edge"] == NO:
            return []
        return [Fact(f"At {row[end]}", self._mark(row, end)) for end in "xy"]

    def _mark(self, row: dict[str, Any], end: str) -> str:
        here, there = (row["x"], row["y"]) if end == "x" else (row["y"], row["x"])
        shared = row[f"mark_at_{end}"]
        if shared in ("arrow", "tail"):
            every = row["edge"] == ALL
            why = f" {self._reasons.why(here, there, shared)}" if every else ""
            here, there = isolated(here), isolated(there)
            where = "in every graph" if every else "wherever they are joined"
            if shared == "arrow":
                means = f"{here} is not a cause of {there}"
            else:
                means = f"{here} is a cause of {there}, directly or through others"
                means += " (or of who is in the data)" if self.found.selection_bias else ""
            return f"{MARK_WORDS[shared].capitalize()} {where}: {means}{'' if every else ' there'}.{why}"
        listed = self._listed_marks(here, there)
        here, there = isolated(here), isolated(there)
        if shared == EITHER:
            if self.found.complete and len(listed) == 1:
                return f"{listed[0].capitalize()}: the tests leave open whether {here} is a cause of {there}."
            if self.found.complete:
                return f"Left open: {in_a_row(listed)}."
            return f"Left open: an arrowhead in some structures that agree with the decisions, a tail in others.{_of_the_list(listed)}"
        return f"Not known.{_of_the_list(listed)}"

    def _listed_marks(self, here: str, there: str) -> list[str]:
        """The marks at an end in the graphs of the list, with how many have each if there are several."""
        i, j = self._place[there], self._place[here]
        counts = {name: int(self._listed[mark, i, j]) for name, mark in MARKS.items()}
        seen = {name: count for name, count in counts.items() if count}
        if len(seen) == 1:
            return [MARK_WORDS[name] for name in seen]
        return [f"{MARK_WORDS[name]} in {counted(count, 'graph')}" for name, count in seen.items()]

    def _data_sets(self, x: str, y: str, tests: Sequence[Asked]) -> list[Fact]:
        found = self.found
        together = [k for k, held in enumerate(found.datasets) if x in held and y in held]
        if not together:
            return [Fact("Data", "No data set has both. What is said of them follows from tests of other pairs.")]
        facts = []
        for k in together:
            held = set(found.datasets[k])
            own = [test for test in tests if set(test.given) <= held]
            joined = found.local_pags[k].mark(x, y) != NONE
            facts.append(Fact(f"Data set {k + 1}", _alone(own, joined=joined)))
        return facts

    def _trouble(self, x: str, y: str) -> list[Fact]:
        """What was overruled, contradicts something or was never asked."""
        pair, reasons = {x, y}, self.found.resolution.reasons
        facts = [
            Fact("Overruled", f"{decision.text}.{_clash(reasons.get(decision, ()))}")
            for decision in self.found.overruled
            if {decision.x, decision.y} == pair
        ]
        facts += [
            Fact("In conflict", f"{decision.text}, which cannot hold together with other decisions.")
            for decision in self.found.conflicts
            if {decision.x, decision.y} == pair and decision not in self.found.overruled
        ]
        missing = self._missing.get(frozenset(pair), 0)
        if missing:
            were = "was" if missing == 1 else "were"
            facts.append(Fact("Never asked", f"{counted(missing, 'question')} about them {were} never asked: unknown, not independent."))
        return facts


def _counts(found: Discovery, labels: tuple[str, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How many graphs of the list have which mark at j on the edge i–j, by mark."""
    counts = np.zeros((4, len(labels), len(labels)), dtype=np.int64)
    for pag in found.pags:
        marks = pag.marks if pag.labels == labels else pag.reordered(labels).marks
        for mark in range(4):
            counts[mark] += marks == mark
    return counts


def _tests(found: Discovery) -> dict[frozenset[str], list[Asked]]:
    tests: dict[frozenset[str], list[Asked]] = defaultdict(list)
    for row in found.tests.iter_rows(named=True):
        decision = decision_of(row["p_value"], found.alpha, informative=row["informative"] and row["converged"])
        note = note_of(row["reason"], converged=row["converged"])
        told = row["sign"], row["strength"], size_from_row(row), row["size_levels"] or ""
        one = Asked(tuple(row["given"]), row["p_value"], decision, row["n"], row["contributors"], note, *told)
        tests[frozenset((row["x"], row["y"]))].append(one)
    for asked in tests.values():
        asked.sort(key=lambda test: len(test.given))
    return tests


def _often(found: Discovery, status: str, count: int) -> tuple[str, str]:
    """In how many graphs two variables are joined, in few words and in a sentence."""
    n = len(found.pags)
    if not n:
        return "–", "There is no graph that could tell."
    if found.complete and n == 1:
        return ("yes", "Joined in the one graph.") if count else ("no", "Not joined in the one graph.")
    if found.complete:
        if count in (0, n):
            return (f"all {n:,}", f"Joined in all {n:,} graphs.") if count else ("none", f"Joined in none of the {n:,} graphs.")
        return f"{count:,} of {n:,}", f"Joined in {count:,} of {n:,} graphs."
    listed = f"in the one graph that is listed: {'joined' if count else 'not joined'}" if n == 1 else f"in {count:,} of the {n:,} listed"
    if status == ALL:
        return "all", "Joined in every graph, listed or not."
    if status == NO:
        return "none", "Joined in no graph, listed or not."
    if status == SOME:
        return "some", f"Joined in some graphs and not in others; {listed}."
    return "not known", f"Whether all, some or no graphs join them is not known; {listed}."


def _of_the_list(listed: Sequence[str]) -> str:
    return f" Among the graphs that are listed: {in_a_row(listed)}." if listed else ""


def _clash(stronger: Sequence[Decision]) -> str:
    """What an overruled decision cannot hold together with; where that is much, how much."""
    if not stronger:
        return ""
    if len(stronger) > FEW:
        return f" It cannot hold together with {len(stronger):,} stronger decisions; the list of conflicts has them."
    return f" It cannot hold together with: {'; '.join(one.text for one in stronger)}."


def _causes(row: dict[str, Any]) -> list[Fact]:
    """Who causes whom along any path, where no edge says it."""
    said = []
    for cause, effect, end, status in (("x", "y", "x", row["x_causes_y"]), ("y", "x", "y", row["y_causes_x"])):
        by_edge = row["edge"] == ALL and row[f"mark_at_{end}"] in ("arrow", "tail")
        if status in (ALL, NO) and not by_edge:
            said.append((isolated(row[cause]), isolated(row[effect]), status))
    if [status for *_, status in said] == [NO, NO]:
        return [Fact("Causes", "In no graph is either a cause of the other, not even through others.")]
    return [
        Fact("Causes", f"{a} is a cause of {b} in every graph, directly or through others.")
        if status == ALL
        else Fact("Causes", f"In no graph is {a} a cause of {b}, not even through others.")
        for a, b, status in said
    ]


def _alone(tests: Sequence[Asked], *, joined: bool) -> str:
    """What one data set says of a pair, with the tests that its variables allow."""
    verb = "Joins them" if joined else "Does not join them"
    told = {name: [test for test in tests if test.decision == name] for name in DECISIONS}
    independent, dependent, silent = (told[name] for name in DECISIONS)
    if not tests:
        return f"{verb}; no test of these two was made."
    parts = []
    if independent:
        best = max(independent, key=lambda test: (-len(test.given), test.p_value or 0.0))
        one = f"independent{best.condition} ({best.words})"
        parts.append(one if len(independent) == 1 else f"{one}, and in {counted(len(independent) - 1, 'other test')}")
    if dependent:
        weakest = max(dependent, key=lambda test: test.p_value or 0.0)
        if len(dependent) == 1:
            parts.append(f"dependent{weakest.condition} ({weakest.words})")
        else:
            all_ = "all " if not independent and not silent else ""
            given = weakest.condition or " given nothing"
            parts.append(f"dependent in {all_}{len(dependent):,} tests, the weakest{given} ({weakest.words})")
    if silent:
        parts.append(f"{counted(len(silent), 'test')} could not tell")
    return f"{verb}: {'; '.join(parts)}."


def in_a_row(words: Sequence[str], between: str = ", ") -> str:
    """Words with commas.

    >>> in_a_row(["a", "b"])
    'a, b'
    """
    return between.join(words)
