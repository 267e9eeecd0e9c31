"""The same questions, asked in several ways: who rejects which independences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from study.pictures import BLUE, ORANGE, PALE, SKY, pyplot, save
from study.words import table

import consilience as cs
from consilience.citest.question import all_questions

__all__ = ["Answers", "ask", "decisions_picture", "decisions_table", "neutral_questions"]

MOST_GIVEN = 2
"""Every pair is asked about given every set of so many others: which questions there are depends on no analysis."""


@dataclass(frozen=True)
class Answers:
    """What one analysis decides: for every question True if it rejects independence, None if it cannot answer; and its p-values."""

    name: str
    rejects: tuple[bool | None, ...]
    p_values: tuple[float | None, ...]

    @property
    def rejected(self) -> int:
        """How many independences are rejected."""
        return sum(one is True for one in self.rejects)

    def called(self, name: str) -> Answers:
        """The same under another name."""
        return replace(self, name=name)

    def against(self, other: Answers) -> dict[str, int]:
        """How decisions compare with another's.

        >>> Answers("a", (True, False, False, None), ()).against(Answers("b", (True, True, False, True), ()))
        {'both reject': 1, 'neither': 1, 'missed': 1, 'added': 0, 'silent': 1}
        """
        pairs = list(zip(self.rejects, other.rejects, strict=True))
        return {
            "both reject": sum(mine is True and theirs is True for mine, theirs in pairs),
            "neither": sum(mine is False and theirs is not True for mine, theirs in pairs),
            "missed": sum(mine is False and theirs is True for mine, theirs in pairs),
            "added": sum(mine is True and theirs is not True for mine, theirs in pairs),
            "silent": sum(mine is None for mine, _ in pairs),
        }

    def alike(self, other: Answers) -> int:
        """How many decisions are the same."""
        how = self.against(other)
        return how["both reject"] + how["neither"]


def neutral_questions(variables: Iterable[str]) -> list[cs.Question]:
    """Every pair given every set of at most two others.

    >>> len(neutral_questions("ABCD"))
    24
    """
    return all_questions(sorted(variables), MOST_GIVEN)


def ask(name: str, test: cs.CITest, questions: Sequence[cs.Question], alpha: float) -> Answers:
    """Answer the questions as far as this analysis can: one site alone cannot where it lacks a variable, or where too few rows are left."""
    held = set(test.variables)
    able = [place for place, q in enumerate(questions) if {q.x, q.y, *q.given} <= held]
    p_values: list[float | None] = [None] * len(questions)
    for place, result in zip(able, test.test_many([questions[place] for place in able]), strict=True):
        p_values[place] = result.p_value if result.informative else None
    return Answers(name, tuple(None if p is None else p <= alpha for p in p_values), tuple(p_values))


def decisions_table(together: Answers, others: Sequence[Answers]) -> str:
    """How many rejections, and how they compare with those of all sites together."""
    rows = [[f"**{together.name}**", f"**{together.rejected:,}**", "", "", "", f"{together.against(together)['silent']}"]]
    for one in others:
        how = one.against(together)
        rows.append([one.name, f"{one.rejected:,}", f"{one.alike(together):,}", f"{how['missed']}", f"{how['added']}", f"{how['silent']}"])
    return table(("analysis", "rejects", "decides alike", "misses", "adds", "cannot answer"), rows)


def decisions_picture(together: Answers, others: Sequence[Answers], path: Path) -> None:
    """The same as bars."""
    plt = pyplot(path.stem)
    parts = {
        "both reject": (BLUE, "rejects, as together"),
        "neither": (SKY, "does not, as together"),
        "missed": (ORANGE, "misses what is found together"),
        "added": ("black", "rejects what is not found together"),
        "silent": (PALE, "cannot answer"),
    }
    shown, asked = [together, *others], len(together.rejects)
    figure, axes = plt.subplots(figsize=(7.4, 1.3 + 0.36 * len(shown)))
    left = [0] * len(shown)
    for part, (colour, label) in parts.items():
        widths = [one.against(together)[part] for one in shown]
        axes.barh([one.name for one in shown], widths, left=left, color=colour, label=label, height=0.72)
        for y, (start, width) in enumerate(zip(left, widths, strict=True)):
            if width >= 0.04 * asked:
                ink = "black" if part in ("neither", "silent") else "white"
                axes.text(start + width / 2, y, f"{width}", ha="center", va="center", fontsize=8, color=ink)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.invert_yaxis()
    axes.set(xlim=(0, asked), xlabel=f"{asked:,} questions")
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    figure.legend(loc="lower center", ncols=3, frameon=False, fontsize=8)
    figure.tight_layout(rect=(0, 0.5 / figure.get_figheight(), 1, 1))
    save(figure, path)
