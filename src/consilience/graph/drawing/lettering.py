"""Labels as they stand in a picture: broken into lines, measured, and escaped.

The text of labels is the user's: it goes into a picture or a page through :func:`escaped` only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from consilience.showing import escaped, legible

__all__ = ["FONT", "LINE", "escaped", "half_sizes", "legible", "lines_of", "text_width"]

Floats: TypeAlias = NDArray[np.float64]

FONT, LINE = 14.0, 17.0
"""Height of letters and of lines."""
WIDEST, MOST_LINES = 150.0, 5
"""Longer labels are broken into lines, and cut off after the last."""
PADDING = (10.0, 6.5)
"""Between text and border."""

_WIDTHS = {
    letter: share
    for letters, share in (
        ("'ijl|", 0.24), (" !,./:;I[\\]ft", 0.28), ('"()-`r*^', 0.36), ("Jcksvxyz", 0.5), ("+<=>~FTZ", 0.61), ("&ABEKPSVXY", 0.67),
        ("CDHNRUw", 0.73), ("GOQ", 0.78), ("Mm%", 0.86), ("W@", 1.0),
    )
    for letter in letters
}  # fmt: skip
"""Widths of letters in Arial and the fonts made to replace it, in heights of a letter; 0.56 for those not listed."""
_LONGEST = 500  # letters of a label that are looked at; fewer than that fill its lines
_WORDS = re.compile(r"\s+|[^\s_\-/.,;:]+[_\-/.,;:]*|[_\-/.,;:]+")
"""Pieces of a label between which a line may end."""


def lines_of(label: str) -> list[str]:
    """A label in lines of about the same length, broken between words if possible.

    >>> lines_of("Age"), lines_of("Physical activity (hours a week)")
    (['Age'], ['Physical activity', '(hours a week)'])
    """
    return list(_lines_of(label))


@lru_cache(maxsize=1024)  # a report draws the same variables in every graph
def _lines_of(label: str) -> tuple[str, ...]:
    shown = legible(" ".join(label.split()) or "␣")[:_LONGEST]
    total = text_width(shown)
    widest = max(WIDEST, min(1.7 * WIDEST, total / (MOST_LINES - 1)))
    lines = _broken(shown, widest)
    longest = max(text_width(word) for word in _WORDS.findall(shown))
    # The narrowest that takes no more lines: filled from the left, the last line would be one short word.
    for share in np.linspace(1.0 / len(lines), 1.0, 9):
        tighter = _broken(shown, min(max(share * total, longest, 40.0), widest))
        if len(tighter) <= len(lines):
            lines = tighter
            break
    return tuple(lines if len(lines) <= MOST_LINES else [*lines[: MOST_LINES - 1], lines[MOST_LINES - 1] + "…"])


def _broken(text: str, widest: float) -> list[str]:
    lines = [""]
    for word in _WORDS.findall(text):
        if text_width(lines[-1] + word.rstrip()) > widest and lines[-1].strip():
            lines.append("")
        for cluster in _clusters(word) if text_width(word) > widest else [word]:
            if lines[-1] and text_width(lines[-1] + cluster.rstrip()) > widest:
                lines.append("")
            lines[-1] = (lines[-1] + cluster).lstrip()
    return [line.rstrip() for line in lines if line.strip()]


def _clusters(text: str) -> Iterator[str]:
    """Characters that are seen as one, such as a letter with its accents or a compound emoji."""
    cluster = ""
    for letter in text:
        joins = unicodedata.category(letter) in {"Mn", "Mc", "Me", "Cf", "Sk"} and ord(letter) > 127
        flag = _is_regional(letter) and len(cluster) == 1 and _is_regional(cluster)
        if cluster and not joins and not flag and not cluster.endswith("\u200d"):
            yield cluster
            cluster = ""
        cluster += letter
    if cluster:
        yield cluster


def _is_regional(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def text_width(text: str) -> float:
    """About how wide a line of text is, in pixels.

    >>> text_width("Age") < text_width("AGE")
    True
    """
    # Five per cent of slack: the fonts that stand in for Arial are not as wide to the last pixel, and text must not leave its box.
    return 1.05 * FONT * sum(max(map(_share, cluster)) for cluster in _clusters(text))


def _share(letter: str) -> float:
    if letter < "\x7f":
        return _WIDTHS.get(letter, 0.56)
    if unicodedata.east_asian_width(letter) in {"W", "F"} or letter == "\ufe0f":
        return 1.35 if letter >= "\U0001f000" or letter == "\ufe0f" else 1.0
    return 0.72 if unicodedata.category(letter) in {"Lu", "So", "Sm"} else 0.6


def half_sizes(texts: Sequence[Sequence[str]], adjacent: NDArray[np.bool_]) -> Floats:
    """Half the width and height of boxes around texts: at least as wide as high, and with room for the marks of all edges.

    >>> half_sizes([["A"], ["Blood", "pressure"]], np.zeros((2, 2), dtype=bool))[:, 1].tolist()
    [15.0, 23.5]
    """
    high = np.array([0.5 * LINE * len(lines) + PADDING[1] for lines in texts])
    wide = np.maximum([0.5 * max(map(text_width, lines)) + PADDING[0] for lines in texts], high)
    more = np.maximum(np.minimum(3.2 * adjacent.sum(axis=1), 32.0) - 0.5 * (wide + high), 0.0)
    return np.round(np.stack([wide + more, high + more], axis=1), 1)
