"""What was looked at, how it stands, and the sentence to send to whoever can change it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Sign", "Standing", "good", "in_the_way", "notice", "obstacle"]


class Standing(StrEnum):
    """How something stands."""

    GOOD = "good"
    """As it should be."""
    NOTICE = "notice"
    """It works, and somebody should know."""
    OBSTACLE = "obstacle"
    """It stands in the way."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One thing that was looked at.

    Attributes
    ----------
    about : str
        What it is, in a word or two: ``"proxy"``, ``"clock"``, ….
    standing : Standing
        How it stands.
    words : str
        What was seen, as whole sentences.
    ask : str
        What to write to the department that runs this machine and its network, or to whom it says; empty where nothing is to be asked.

    Examples
    --------
    >>> obstacle("port", "Port 80 is taken.", "Please free port 80.").standing
    <Standing.OBSTACLE: 'obstacle'>
    """

    about: str
    standing: Standing
    words: str
    ask: str = ""

    def to_dict(self) -> dict[str, str]:
        """For JSON."""
        return {"about": self.about, "standing": self.standing.value, "words": self.words, "ask": self.ask}


def good(about: str, words: str) -> Sign:
    """Something that is as it should be."""
    return Sign(about, Standing.GOOD, words)


def notice(about: str, words: str, ask: str) -> Sign:
    """Something that works, and that somebody should know of."""
    return Sign(about, Standing.NOTICE, words, ask)


def obstacle(about: str, words: str, ask: str) -> Sign:
    """Something that stands in the way."""
    return Sign(about, Standing.OBSTACLE, words, ask)


def in_the_way(signs: Iterable[Sign]) -> list[Sign]:
    """Those that stand in the way.

    >>> in_the_way([good("disk", "There is room.")])
    []
    """
    return [sign for sign in signs if sign.standing is Standing.OBSTACLE]
