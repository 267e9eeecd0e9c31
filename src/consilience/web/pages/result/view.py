"""A chosen graph: its lines and their legend, its table of edges, and what is said of every pair of variables.

Nothing is computed here that the discovery does not say; the words about pairs are those of ``iod.report.pairs``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple

from markupsafe import Markup

from consilience.citest.size_words import levels_in_words, strength_in_words
from consilience.graph.drawing.lettering import legible
from consilience.graph.drawing.shapes import DOTTED, OPEN, Line
from consilience.graph.drawing.svg import Positions, draw
from consilience.graph.marks import ARROW, TAIL, Mark
from consilience.graph.mixed import Edge
from consilience.graph.text import edge_symbol
from consilience.iod.discovery import Discovery
from consilience.iod.report.how_sure import Sure, sure_cell
from consilience.iod.report.html import Html
from consilience.iod.report.legends import graph_legend
from consilience.iod.report.pairs import Fact, Pairs, Story
from consilience.iod.report.sentences import edge_sentence, left_open
from consilience.iod.summary import NO, UNKNOWN
from consilience.iod.summary_drawing import by_share, share_legend, summary_legend, summary_lines
from consilience.iod.wording import counted, format_p
from consilience.web.pages.result.choice import Choice, Kind
from consilience.web.pages.result.difference import Difference

__all__ = ["Gap", "Row", "View"]

MOST_UNKNOWN = 25
"""Edges of which nothing is known that a drawing has; more of them would hide the others."""
ROOM, LARGEST = (600.0, 460.0), 1.5
"""Pixels that a drawing on a page may fill before it is shown larger than it is, and how much larger it may be."""
NOTHING = Markup("")
MOST_TESTS = 12
"""Tests of a pair that the panel lists; the page of all tests has the others."""


@dataclass(frozen=True, slots=True)
class Row:
    """An edge in the table: its ends, the sign between them, in how many graphs, what it says, how strong with a plot, and how sure."""

    pair: str
    a: str
    sign: str
    b: str
    often: str
    words: str
    status: str
    strength: str = "–"
    strong: str = ""
    plot: Markup = NOTHING
    sure: Sure | None = None
    cell: Markup = NOTHING


class Gap(NamedTuple):
    """Two variables that a drawing does not join. What is said of them is in its details, made when somebody asks: there are hundreds."""

    pair: str
    a: str
    b: str


class View:
    """What is shown of a discovery.

    ``labels`` are the variables of the drawing; pairs are named by the places of their variables in ``names``, those of the whole study.
    """

    def __init__(self, found: Discovery, pairs: Pairs, choice: Choice) -> None:
        self.found, self.pairs, self.choice = found, pairs, choice
        self.names = pairs.labels
        self._drawn: tuple[Positions, str] | None = None
        self._place = {name: place for place, name in enumerate(self.names)}
        first, second = choice.first, choice.second
        self.difference = None if second is None else Difference(first, first.graph(found), second, second.graph(found))
        if self.difference is not None:
            self.labels = self.difference.labels
        else:
            self.labels = self.names if first.kind is Kind.SUMMARY else tuple(sorted(first.graph(found).labels))

    @property
    def title(self) -> str:
        """What the drawing is called."""
        ref, n = self.choice.first, len(self.found.pags)
        if self.difference is not None:
            return self.difference.title
        if ref.kind is Kind.GRAPH:
            return f"Graph {ref.number:,} of {n:,}" + ("" if self.found.complete else " listed")
        if ref.kind is Kind.LOCAL:
            return ref.name
        if not n:
            return "No graph to sum up"
        return (
            f"Summary of {'all ' if n > 1 else ''}{counted(n, 'graph')}" if self.found.complete else "Summary of all graphs, listed or not"
        )

    @cached_property
    def lines(self) -> list[Line]:
        """The edges as they are drawn: the surer by resampling, the thicker."""
        if self.difference is not None:
            return self.difference.lines
        return self._plain_lines if self.choice.first.kind is Kind.LOCAL else by_share(self._plain_lines, self.pairs.sure.shares)

    @property
    def _plain_lines(self) -> list[Line]:
        if self.choice.first.kind is Kind.SUMMARY:
            drawn = summary_lines(self.found.summary) if self.found.pags else []
            return [line for line in drawn if line.pattern != DOTTED] if self.unknown else drawn
        return [Line(edge.a, edge.b, edge.at_a, edge.at_b, str(edge)) for edge in self.choice.first.graph(self.found).edges]

    @cached_property
    def unknown(self) -> int:
        """Pairs of which nobody knows whether graphs join them, where they are so many that the drawing leaves them out."""
        if self.difference is not None or self.choice.first.kind is not Kind.SUMMARY:
            return 0
        count = self.found.summary.frame["edge"].to_list().count(UNKNOWN)
        return count if count > MOST_UNKNOWN else 0

    @cached_property
    def legend(self) -> list[Line | str]:
        """What the lines say."""
        if self.difference is not None:
            return self.difference.legend
        if self.choice.first.kind is Kind.LOCAL:  # copies of one data set alone were not looked at
            return graph_legend(self.lines)
        return [*self._plain_legend, *share_legend(self.lines, self.pairs.sure.shares)]

    @property
    def _plain_legend(self) -> list[Line | str]:
        if self.choice.first.kind is not Kind.SUMMARY:
            return graph_legend(self.lines)
        if not self.found.pags:
            return ["No graph was found."]
        # how often, and where they differ, as in any drawing of a summary; the marks on which they agree are told one by one
        told = summary_legend(self.found.summary, self.lines) if self.lines or not self.unknown else []
        said = [entry for entry in told if isinstance(entry, str) or _how_often(entry)]
        if self.unknown:
            said.append(f"Not drawn: {counted(self.unknown, 'pair')} of which it is not known whether graphs join them.")
        agreed = [line for line in self.lines if OPEN not in (line.at_a, line.at_b)]
        return [*said, *(graph_legend(agreed) if agreed else [])]

    def svg(self, positions: Positions, *, legend: bool = False, embedded: bool = True, background: str = "") -> str:
        """The drawing. ``background`` paints one, for pictures that leave the page; ``embedded`` ones of few variables are larger."""
        plain = embedded and not legend and not background
        if plain and self._drawn is not None and self._drawn[0] is positions:
            return self._drawn[1]
        words = "; ".join(line.words for line in self.lines) or "No edges"
        said = (self.title, f"{self.title}: {words}", f"{words}.")
        entries = self.legend if legend else ()
        picture = draw(self.labels, self.lines, said, positions=positions, legend=entries, embedded=embedded, enlarge=False)
        if background:
            return _painted(picture, background)
        if plain:
            picture = _enlarged(picture)
            self._drawn = self._drawn or (positions, picture)
        return picture

    @cached_property
    def rows(self) -> list[Row]:
        """The edges, as rows of a table."""
        return [self._row(line) for line in self.lines]

    @cached_property
    def gaps(self) -> list[Gap]:
        """The pairs that the drawing does not join."""
        joined = self._line_of.keys()
        return [Gap(self.pair(x, y), x, y) for x, y in combinations(sorted(self.labels), 2) if frozenset((x, y)) not in joined]

    def pair(self, x: str, y: str) -> str:
        """The name of a pair in addresses and in scripts."""
        i, j = sorted((self._place[x], self._place[y]))
        return f"{i}-{j}"

    def pair_named(self, text: str) -> tuple[str, str] | None:
        """The pair of that name, if it is one of this drawing."""
        first, _, second = text.partition("-")
        if not (first.isascii() and second.isascii() and first.isdigit() and second.isdigit() and len(text) < 12):
            return None
        i, j = int(first), int(second)
        if not i < j < len(self.names) or not {self.names[i], self.names[j]} <= set(self.labels):
            return None
        return self.names[i], self.names[j]

    def details(self, x: str, y: str) -> dict[str, Any]:
        """All that is said of a pair, as plain types: what the panel shows, with a script and without."""
        story = self.pairs.story(x, y)
        line = self._line_of.get(frozenset((x, y)))
        tests = [
            {
                "given": list(test.given),
                "p": "–" if test.decision == "uninformative" or test.p_value is None else format_p(test.p_value),
                "decision": test.decision,
                "strength": strength_in_words(test.sign, test.strength) or "–",
                "size": test.levels if test.size is None else levels_in_words([test.size]),
                "n": f"{test.n:,}",
                "note": test.note,
            }
            for test in story.tests[:MOST_TESTS]
        ]
        facts = [Fact(self._here, self._shown(line, story)), *story.facts]
        ends = [x, y] if line is None else [line.a, line.b]
        return {
            "pair": self.pair(x, y),
            "ends": [legible(end) for end in ends],
            "sign": "" if line is None else _sign(line),
            "gap": "" if line is not None else "not known" if self.unknown and story.status == UNKNOWN else "no edge",
            "facts": [{"term": fact.term, "words": fact.words} | ({"plot": _drawn(fact.plot)} if fact.plot else {}) for fact in facts],
            "tests": tests,
            "more": len(story.tests) - len(tests),
        }

    @cached_property
    def _line_of(self) -> dict[frozenset[str], Line]:
        return {frozenset((line.a, line.b)): line for line in self.lines}

    def to_dict(self, positions: Positions) -> dict[str, Any]:
        """What the script of the page needs: every pair of the drawing with its words, and where all variables of the study stand."""
        return {
            "title": self.title,
            "names": [legible(name) for name in self.names],  # as the drawing has them
            "positions": {legible(name): list(positions[name]) for name in self.names},
            "pairs": {self.pair(x, y): self.details(x, y) for x, y in combinations(sorted(self.labels), 2)},
        }

    @property
    def _here(self) -> str:
        """The term under which the panel says what the drawing itself has."""
        if self.difference is not None:
            return "The two graphs"
        ref = self.choice.first
        return "This graph" if ref.kind is Kind.LOCAL else ref.name

    def _shown(self, line: Line | None, story: Story) -> str:
        if self.difference is not None:
            return self.difference.words(story.x, story.y)
        if line is not None:
            return self._says(line)
        if self.choice.first.kind is Kind.SUMMARY:
            if not self.found.pags:
                return "There is no graph."
            return "No graph joins them." if story.status == NO else "It is not known whether graphs join them."
        return "No edge: given some of the other variables, or none, they are independent."

    def _row(self, line: Line) -> Row:
        story = self.pairs.story(line.a, line.b)
        status = self.difference.status(line) if self.difference is not None else story.status
        return Row(
            self.pair(line.a, line.b), line.a, _sign(line), line.b, story.often, self._says(line), status, *_strong(story), *_sure(story)
        )

    def _says(self, line: Line) -> str:
        """What a line says, in a sentence."""
        if self.difference is not None:
            return self.difference.words(line.a, line.b)
        if left_open(self.found, line.a, line.b):
            return "Both were declared exogenous: why they go together is not asked here."
        if OPEN not in (line.at_a, line.at_b):
            often = {"all": "", "some": "Where they are joined: ", "unknown": "If they are joined: "}
            before = often.get(self._status(line), "") if self.choice.first.kind is Kind.SUMMARY else ""
            edge = Edge(line.a, line.b, Mark(line.at_a), Mark(line.at_b))
            said = edge_sentence(edge, selection=self.found.selection_bias)
            general = before and not said.startswith((line.a, line.b))  # "Neither causes …": no name, so it need not stand first
            return f"{before}{said[0].lower()}{said[1:]}" if general else f"{before}{said}"
        return self._half_open(line)

    def _half_open(self, line: Line) -> str:
        """A line of the summary on whose marks graphs differ, or whose marks are not known."""
        where = {"all": "", "some": "Where they are joined, ", "unknown": "If they are joined, "}[self._status(line)]
        known = [(a, b, mark) for a, b, mark in ((line.a, line.b, line.at_a), (line.b, line.a, line.at_b)) if mark in (ARROW, TAIL)]
        said = [f"{a} is {'not ' if mark == ARROW else ''}a cause of {b}" for a, b, mark in known]
        rest = f"{'the rest is' if said else 'the marks are'} left open{'' if self._all_known else ' or not known'}"
        text = f"{where}{'; '.join([*said, rest])}."
        return text[0].upper() + text[1:] if not said or where else text

    @cached_property
    def _all_known(self) -> bool:
        return self.found.summary.complete

    def _status(self, line: Line) -> str:
        return self.pairs.story(line.a, line.b).status


def _strong(story: Story) -> tuple[str, str, Markup]:
    """How strong, in few words, in sentences, and as a plot."""
    return story.strength, "" if story.strong is None else story.strong.all_words, _drawn(story.plot)


def _sure(story: Story) -> tuple[Sure | None, Markup]:
    """How sure, in words, and as a cell of the table."""
    return story.sure, _drawn(sure_cell(story.sure))


def _drawn(plot: Html) -> Markup:
    return Markup(plot)  # noqa: S704  of the type Html only, which is escaped where it is made


def _how_often(entry: Line) -> bool:
    return entry.at_a == TAIL and entry.at_b in (TAIL, OPEN)


def _sign(line: Line) -> str:
    """The sign between the ends of an edge, "?" where graphs differ on the mark."""
    left = "?" if line.at_a == OPEN else edge_symbol(line.at_a, TAIL)[0]
    right = "?" if line.at_b == OPEN else edge_symbol(TAIL, line.at_b)[-1]
    return f"{left}-{right}"


def _extent(picture: str) -> list[str]:
    """The left, the top, the width and the height of a picture's view."""
    return picture.partition('viewBox="')[2].partition('"')[0].split()


def _enlarged(picture: str) -> str:
    """A small picture, as large as there is room for on a page, and no more than half as large again."""
    _, _, wide, high = _extent(picture)
    scale = max(1.0, min(ROOM[0] / float(wide), ROOM[1] / float(high), LARGEST))
    size = f'width="{scale * float(wide):.2f}" height="{scale * float(high):.2f}"'
    return picture.replace(f'width="{wide}" height="{high}"', size, 1)


def _painted(picture: str, colour: str) -> str:
    """The picture on a sheet of this colour, as large as its view."""
    head, _, rest = picture.partition("</desc>")
    left, top, wide, high = _extent(head)
    return f'{head}</desc><rect x="{left}" y="{top}" width="{wide}" height="{high}" fill="{colour}"/>{rest}'
