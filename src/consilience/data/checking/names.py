"""Names at different sites that may be one variable: they differ by case, space or one letter, or mean the same substance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from consilience.data.checking.site import SiteFacts, holders, quoted
from consilience.data.checking.spelling import folded
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.harmonise.analytes import find_analyte

__all__ = ["near_names", "one_letter_apart"]

LEAST_LETTERS = 5
"""Shorter names differ by one letter and mean other things: hdl and ldl, sbp and dbp."""


def near_names(sites: Sequence[SiteFacts]) -> list[Finding]:
    """Pairs of names that no site has both of, and that may be one variable.

    What differs by case, spaces or underscores only is doubtful. What differs by one letter, or is another name of the same substance, is
    a notice: it may as well be meant.

    Parameters
    ----------
    sites : sequence of SiteFacts

    Returns
    -------
    list of Finding
        With the remedy to rename the column that fewer sites have.
    """
    held, found = holders(sites), []
    plain = {name: folded(name) for name in held}
    substances = {name: _substance(name) for name in held}
    for one, other in combinations(sorted(held), 2):
        mine, theirs = {s.name for s in held[one]}, {s.name for s in held[other]}
        if mine & theirs:
            continue
        if plain[one] == plain[other]:
            found.append(_finding(one, other, mine, theirs, Grade.DOUBTFUL, "The names differ by case, spaces or signs only"))
        elif one_letter_apart(plain[one], plain[other]):
            found.append(_finding(one, other, mine, theirs, Grade.NOTICE, "The names differ by one letter"))
        elif substances[one] and substances[one] == substances[other]:
            found.append(_finding(one, other, mine, theirs, Grade.NOTICE, f"Both are names for {substances[one]}"))
    return found


def _finding(one: str, other: str, mine: set[str], theirs: set[str], grade: Grade, why: str) -> Finding:
    if len(mine) < len(theirs):
        one, other, mine, theirs = other, one, theirs, mine
    words = f"{quoted(sorted(mine))} {'has' if len(mine) == 1 else 'have'} {one!r}, {quoted(sorted(theirs))} {other!r}. {why}: as they "
    words += "stand they are two variables, and no test brings them together."
    return Finding("names", grade, words, (one, other), tuple(sorted(mine | theirs)), (Remedy(Step.RENAME, other, one),))


def one_letter_apart(one: str, other: str) -> bool:
    """True if one letter is another one, too much, too few, or has changed its place with the next; not the first, nor a digit.

    >>> one_letter_apart("smoker", "smokr"), one_letter_apart("weight", "height"), one_letter_apart("visit1", "visit2")
    (True, False, False)
    """
    if min(len(one), len(other)) < LEAST_LETTERS or one == other or abs(len(one) - len(other)) > 1:
        return False
    start = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    back = next((i for i, (a, b) in enumerate(zip(one[::-1], other[::-1], strict=False)) if a != b), min(len(one), len(other)))
    changed = one[start : len(one) - back] + other[start : len(other) - back]
    if start == 0 or any(not sign.isalpha() for sign in changed):
        return False
    swapped = one[start : start + 2] == other[start : start + 2][::-1] and one[start + 2 :] == other[start + 2 :]
    return start + back >= max(len(one), len(other)) - 1 or swapped


def _substance(name: str) -> str:
    known = find_analyte(name)
    return "" if known is None else known.name
