"""What would leave the site: the lines of a rehearsal, by kind of message, and what each kind says about the data."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from consilience.federation.site.ledger import LedgerLine

__all__ = ["MessageKind", "Rehearsal", "kinds_of"]

KINDS = (
    (
        re.compile(r"^whether and with how many rows"),
        "Row counts",
        "For each set of variables: whether this site has enough complete rows, and how many. For numbers, the order of magnitude of their "
        "spread, so that sums are computed precisely enough.",
    ),
    (
        re.compile(r"^level counts and cross-products"),
        "Counts and cross-products",
        "How often levels occur together, and sums of products of numbers: what a correlation is computed from.",
    ),
    (
        re.compile(r"^log-likelihood"),
        "Steps of a regression",
        "How well a model fits this site's rows, and in which direction it would fit better: one number, a vector and a matrix a model.",
    ),
    (
        re.compile(r"^what \d+ models? miss"),
        "Whether models hold",
        "In which direction a fitted model would fit better if its lines could bend, and how far this site's slopes and variances are from "
        "those of all sites: sums over its rows, and once a model.",
    ),
    (
        re.compile(r"^numbers of rows and sums of"),
        "Counts and sums of numbers",
        "How many values a number has here and their sum, so that all sites measure from the same middle.",
    ),
    (
        re.compile(r"^own p-values|^statistics of"),
        "Tests of this site alone",
        "Results of tests, not numbers they are made of: p-values. Where only one site can do a test, its p-value has three digits.",
    ),
    (
        re.compile(r"^centre and spread|^how many rows lie|^counts of the levels"),
        "Where numbers lie",
        "The middle of a number's values here and how many lie between given values, so that curves bend where there are data; how often "
        "ordered levels occur.",
    ),
    (
        re.compile(r"^cross-products for smooth means"),
        "Cross-products of curves",
        "Sums of products of numbers and of curves through them, less what this site's own level and slopes explain: what the mean of a "
        "variable given others is computed from.",
    ),
    (
        re.compile(r"^products of residuals|^fourth moments"),
        "Products of residuals",
        "What is left of two variables when their means are taken away, multiplied and summed over rows or clusters; and squares of that.",
    ),
    (
        re.compile(r"^in the open, to all sites"),
        "What this site states",
        "Which of the study's variables it contributes, whether it lacks values of them, and whether it has enough rows. All sites and the "
        "server see it; it is not masked.",
    ),
    (
        re.compile(r"^names, kinds and levels"),
        "Names of variables",
        "Which variables this site measures, their kinds and their levels. These are not masked.",
    ),
)
OTHER = ("Other messages", "See the lines below.")


@dataclass(frozen=True, slots=True)
class MessageKind:
    """Messages of one kind: how many, and how much they hold."""

    title: str
    words: str
    messages: int
    numbers: int
    size: int


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """A dry run: its lines, and for which state of the desk it was made."""

    lines: tuple[LedgerLine, ...]
    of: object

    @property
    def numbers(self) -> int:
        """All numbers that would leave."""
        return sum(line.numbers for line in self.lines)

    @property
    def size(self) -> int:
        """All bytes that would leave."""
        return sum(line.bytes for line in self.lines)


def kinds_of(lines: Sequence[LedgerLine]) -> list[MessageKind]:
    """The lines by kind of message, in the order in which kinds first come up.

    >>> line = LedgerLine("", "s", "r", 0, "level counts and cross-products of 1 variable set (A, B)", 12, 192, 2)
    >>> [(kind.title, kind.messages, kind.numbers) for kind in kinds_of([line, line])]
    [('Counts and cross-products', 2, 24)]
    """
    found: dict[str, list[LedgerLine]] = {}
    words: dict[str, str] = {}
    for line in lines:
        title, said = next(((title, said) for pattern, title, said in KINDS if pattern.search(line.what)), OTHER)
        found.setdefault(title, []).append(line)
        words[title] = said
    return [
        MessageKind(title, words[title], len(held), sum(line.numbers for line in held), sum(line.bytes for line in held))
        for title, held in found.items()
    ]
