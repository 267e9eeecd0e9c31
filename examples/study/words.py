"""Words and tables of a page, and what is said on the terminal while it is made."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence

import consilience as cs
from consilience.iod import clock

__all__ = ["Steps", "anchored", "counted", "left_sentence", "lift_time_limits", "listed", "p_text", "table", "upper", "versions_sentence"]


class StandingClock:
    """A clock on which no time passes."""

    @staticmethod
    def monotonic() -> float:
        """Always the same."""
        return 0.0


def lift_time_limits() -> None:
    """No search of this process ends for its time: a page must not depend on who writes it where. Limits on numbers of graphs stay."""
    clock.time = StandingClock()  # type: ignore[assignment]


class Steps:
    """Says on the terminal what is being done and since when, at most once a second: a page takes minutes."""

    def __init__(self) -> None:
        self._start, self._last = time.perf_counter(), float("-inf")

    def __call__(self, words: str) -> None:
        """One of many steps: said if a second has passed since the last."""
        if time.perf_counter() - self._last >= 1.0:
            self.step(words)

    def step(self, words: str) -> None:
        """A step that is always said."""
        self._last = time.perf_counter()
        print(f"[{self._last - self._start:5.0f} s] {words}", file=sys.stderr, flush=True)

    def end(self, words: str) -> None:
        """The last one, with the processor's time for all of it."""
        self.step(f"{words}; {time.process_time():.0f} s of processor time")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown.

    >>> print(table(["edge", "share"], [["A – B", "90%"]]), end="")
    | edge | share |
    |---|---|
    | A – B | 90% |
    """
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def listed(words: Sequence[str], none: str = "none") -> str:
    """Several things in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"]), listed([])
    ('a', 'a, b and c', 'none')
    """
    return none if not words else words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "edge"), counted(0, "edge"), counted(1200, "copy", "copies")
    ('1 edge', 'no edge', '1,200 copies')
    """
    return f"no {noun}" if n == 0 else f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def p_text(p: float) -> str:
    """A p-value for people.

    >>> p_text(0.0123), p_text(3.2e-9), p_text(0.84)
    ('0.012', '3e-09', '0.84')
    """
    return f"{p:.0e}" if p < 1e-4 else f"{p:.2g}"


def upper(text: str) -> str:
    """With a capital letter."""
    return text[:1].upper() + text[1:]


def anchored(title: str, intro: str, parts: Mapping[str, str]) -> str:
    """A page of sections, with a list of them at its top."""
    links = "".join(f"- [{name}](#{_anchor(name)})\n" for name in parts)
    return f"# {title}\n\n{intro.strip()}\n\n{links}\n" + "\n".join(f"## {name}\n\n{text.strip()}\n" for name, text in parts.items())


def _anchor(title: str) -> str:
    """As the site makes anchors of headings.

    >>> _anchor("Against Fisher's method")
    'against-fishers-method'
    """
    return "".join(c for c in title.lower().replace(" ", "-") if c.isalnum() or c == "-")


def versions_sentence(found: cs.Discovery, seed: int, more: Mapping[str, str] | None = None) -> str:
    """With what it was made."""
    return f"Made with {', '.join(f'{name} {number}' for name, number in (found.versions | dict(more or {})).items())}; seed {seed}."


def left_sentence(found: cs.Discovery, called: str) -> str:
    """What left the sites, by their own ledgers."""
    assert found.disclosed is not None
    numbers = sorted(set(found.disclosed["numbers"].to_list()))
    messages = max(found.disclosed["messages"].to_list())
    told = f"{numbers[-1]:,}" if len(numbers) == 1 else f"{numbers[0]:,} to {numbers[-1]:,}"
    return f"For the search and its repetitions each {called} sent {messages:,} messages with {told} masked numbers, and no row."
