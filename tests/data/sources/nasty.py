"""Sixty and more files as hospitals have them, each made here, with what must be done with it. ``docs/reading-data.md`` has the table.

Most are one good table, forty patients with an age, a marker and a sex, written as some program or person would. ``python -m
tests.data.sources.nasty FOLDER`` writes them all, ``--table`` prints the table of the page.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

ROWS = 40
AGES = [round(40 + 37 * math.sin(1.7 * i) ** 2 + 0.1 * (i % 7), 1) for i in range(ROWS)]
MARKERS = [round(180 + 60 * math.sin(2.3 * i + 1), 2) for i in range(ROWS)]
SEXES = ["female" if (i * 7) % 3 else "male" for i in range(ROWS)]
GOOD = {"age": "continuous", "marker": "continuous", "sex": "multinomial"}
Cells = list[list[str]]


@dataclass(frozen=True, slots=True)
class Nasty:
    """A file: what it is called, what is special about it, its bytes, and what becomes of its columns.

    ``kinds`` has a column's kind, or ``excluded`` or ``refused``. ``error`` is a part of the message where the whole file is refused.
    ``codes`` are findings that must be there; ``age`` is what the first ages are.
    """

    name: str
    about: str
    content: bytes
    done: str
    kinds: dict[str, str] = field(default_factory=dict)
    error: str = ""
    codes: frozenset[str] = frozenset()
    age: tuple[float | None, ...] = ()


def cells(**more: Iterable[object]) -> Cells:
    """The good table as text, with further columns or others in place of its own; None takes a column away."""
    columns: dict[str, Iterable[object]] = {"age": AGES, "marker": MARKERS, "sex": SEXES} | more
    return [list(columns), *([str(value) for value in row] for row in zip(*columns.values(), strict=True))]


def written(table: Cells, separator: str = ",", end: str = "\n", quote: str = "") -> str:
    """As text; ``quote`` puts every field into quotation marks."""
    return "".join(separator.join(f"{quote}{cell}{quote}" for cell in row) + end for row in table)


def plain(table: Cells) -> bytes:
    """Commas, line feeds, UTF-8."""
    return written(table).encode()


def swapped(table: Cells, old: str, new: str) -> Cells:
    """Another sign in every cell but the header's."""
    return [table[0], *([cell.replace(old, new) for cell in row] for row in table[1:])]


def each(make: Callable[[int], object]) -> list[object]:
    """A column by row number."""
    return [make(i) for i in range(ROWS)]


def some(values: Iterable[object], other: object, every: int = 8) -> list[object]:
    """The values with another one in every eighth row."""
    return [other if i % every == 3 else value for i, value in enumerate(values)]


def corpus() -> tuple[Nasty, ...]:
    """All of them."""
    from tests.data.sources.nasty_files import FILES  # noqa: PLC0415 - they are made with what is above
    from tests.data.sources.nasty_values import VALUES  # noqa: PLC0415

    return (*FILES, *VALUES)


def table() -> str:
    """The table of the page."""
    lines = ["| file | what it is | what is done |", "|---|---|---|"]
    return "\n".join([*lines, *(f"| `{one.name}` | {one.about.replace('|', '&#124;')} | {one.done} |" for one in corpus())])


def main() -> None:
    """Write the files into a folder, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    if args.folder is not None:
        args.folder.mkdir(parents=True, exist_ok=True)
        for one in corpus():
            (args.folder / one.name).write_bytes(one.content)
    if args.table:
        sys.stdout.write(table() + "\n")


if __name__ == "__main__":
    main()
