"""Levels that mean the same and are written in two ways: by case, space, punctuation, language or abbreviation.

Three rules, the surest first: the same letters; the same word of another language, or the same sign of a coding, in the list of
:mod:`~consilience.data.checking.vocabulary`; an abbreviation that can be one word only. What is on both lists in the same writing is never
questioned, and a difference that one site itself makes (``A+`` and ``A-``, ``low`` and ``Low``) is not levelled by the second and third.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache

from consilience.data.checking.vocabulary import SUBJECTS, Subject

__all__ = ["folded", "same_meaning", "spelled_twice"]

_GERMAN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_BETWEEN = re.compile(r"[\s_'’`\"()\[\]/,;:.]+")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")
_JOINED = re.compile(r"(?<=[^\W\d])[-–](?=[^\W\d])")
_ROMAN = re.compile(r"[ivxl]+")
_WORDS = {name: {word: meaning for meaning, words in subject.words.items() for word in words.split()} for name, subject in SUBJECTS.items()}
MOST_SHORT = 4
"""Letters of an abbreviation, at most: a longer word is one of its own."""
LEAST_LONG = 3
"""Letters of the word it stands for, at least: AB is a blood group, and not what A is short for."""


def folded(text: str) -> str:
    """What is left of a level or a name when case, accents, spaces and punctuation between words do not count.

    Signs that may mean something stay: those of numbers, comparisons, and a plus or minus at the end.

    >>> folded("Stage_II"), folded("männlich"), folded("Décédé"), folded(" 01 "), folded("A-"), folded("1.50")
    ('stageii', 'maennlich', 'decede', '1', 'a-', '1.5')
    """
    text = unicodedata.normalize("NFC", text).strip().casefold()
    if _NUMBER.fullmatch(text):
        return f"{float(text):.12g}"
    plain = unicodedata.normalize("NFKD", text.translate(_GERMAN))
    plain = "".join(sign for sign in plain if not unicodedata.combining(sign))
    return _BETWEEN.sub("", _JOINED.sub("", plain)) or text


def spelled_twice(levels: Iterable[str]) -> list[tuple[str, ...]]:
    """Levels of one column that differ by case, space or punctuation only, the groups in the order of their first level.

    >>> spelled_twice(["Yes", "no", "yes ", "No", "maybe"])
    [('Yes', 'yes '), ('no', 'No')]
    """
    groups: dict[str, list[str]] = {}
    for level in levels:
        groups.setdefault(folded(level), []).append(level)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def same_meaning(levels_a: Collection[str], levels_b: Collection[str]) -> Mapping[str, str] | None:
    """Which levels of the one list mean a level of the other that is written differently.

    Parameters
    ----------
    levels_a, levels_b : collection of str
        The levels of one variable at two sites.

    Returns
    -------
    mapping of str to str, or None
        From levels of the first to those of the second, wherever these differ in writing and not in meaning; None if there is none.

    Examples
    --------
    >>> same_meaning(["F", "M"], ["female", "male"])
    {'F': 'female', 'M': 'male'}
    >>> same_meaning(["ja", "nein"], ["Yes", "No", "unclear"])
    {'ja': 'Yes', 'nein': 'No'}
    >>> same_meaning(["A", "B"], ["AB", "B"]) is None
    True
    """
    ours, theirs = tuple(levels_a), tuple(levels_b)
    if set(ours) == set(theirs):  # what is on both lists in the same writing is never questioned
        return None
    found: dict[str, str] = {}
    for rule in (_by_letters, _by_meaning, _by_abbreviation):
        for one, other in rule(ours, theirs):
            if one not in found and (one not in theirs or other not in ours):
                found[one] = other
    return {level: found[level] for level in ours if level in found} or None


Levels = tuple[str, ...]
Pairs = list[tuple[str, str]]


def _by_letters(ours: Levels, theirs: Levels) -> Pairs:
    letters = {level: folded(level) for level in (*ours, *theirs)}
    own = {letters[level]: level for level in reversed(theirs)}
    # the same writing comes first: of "yes" and "Yes" there, "yes" here is the former
    return [(level, own[letters[level]]) for level in ours if letters[level] in own and level not in theirs] + [
        (one, other) for other in theirs if other not in ours for one in ours if one in theirs and letters[one] == letters[other]
    ]


def _by_meaning(ours: Levels, theirs: Levels) -> Pairs:
    found: Pairs = []
    others = _meanings(theirs)
    for subject, mine in _meanings(ours).items():
        back = {meaning: level for level, meaning in others.get(subject, {}).items()}
        found += [(level, back[meaning]) for level, meaning in mine.items() if back.get(meaning, level) != level]
    return found


@lru_cache(maxsize=256)  # every two sites are compared, and many have the same levels
def _meanings(levels: Levels) -> Mapping[str, Mapping[str, str]]:
    """What levels mean, by subject: those that have a meaning to themselves."""
    letters = {level: folded(level) for level in levels}
    found = {}
    for name, subject in SUBJECTS.items():
        coding, known = _coding(set(letters.values()), subject), _WORDS[name]
        meant = {level: meaning for level in levels if (meaning := coding.get(letters[level]) or known.get(letters[level]))}
        if meant:
            found[name] = {level: meaning for level, meaning in meant.items() if list(meant.values()).count(meaning) == 1}
    return found


def _coding(signs: set[str], subject: Subject) -> Mapping[str, str]:
    """The coding that levels are written in: the one that has most of them, at least two, and all of them if they are numbers."""
    fitting = [c for c in subject.codings if len(signs & set(c)) >= 2 and (not any(s.isdigit() for s in c) or signs <= set(c))]
    return max(fitting, key=lambda coding: len(signs & set(coding)), default={})


def _by_abbreviation(ours: Levels, theirs: Levels) -> Pairs:
    """Each short level of one list is the beginning of one long level of the other, and of no second one."""
    mine = [level for level in ours if level not in theirs]
    others = [level for level in theirs if level not in ours]
    forth = _abbreviated(mine, others)
    return list(forth.items()) if forth else [(long, short) for short, long in _abbreviated(others, mine).items()]


def _abbreviated(short: list[str], long: list[str]) -> dict[str, str]:
    words = {level: folded(level) for level in long}
    if not short or not all(word.isalpha() and len(word) >= LEAST_LONG and not _ROMAN.fullmatch(word) for word in words.values()):
        return {}
    found: dict[str, str] = {}
    for level in short:
        sign = folded(level)
        meant = [whole for whole, word in words.items() if word.startswith(sign) and word != sign]
        if not sign.isalpha() or len(sign) > MOST_SHORT or len(meant) != 1 or " " in meant[0].strip():
            return {}
        found[level] = meant[0]
    return found if len(set(found.values())) == len(found) else {}
