"""What an earlier study and a new one tell together: whose part, or the sums over which rows, the difference of the two is.

Sums of a study are over all its sites. Seen as vectors with a 1 for every site, the studies of a site span a space; if a new one brings a
vector into it whose entries are zero but for a few sites, these are singled out, though no sum of any study by itself was over so few. A
newcomer that no earlier study knew is cover for others only where there are at least ``min_contributors`` newcomers: anybody can bring one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import comb

import numpy as np

from consilience.federation.site.ledger import printable
from consilience.service.agent.earlier.marks import Marks
from consilience.service.agent.earlier.past import TookPart
from consilience.wording import counted

__all__ = ["Subtraction", "other_identities", "subtractions"]

MOST_LOOKED_AT = 5000
"""Sets of sites that are looked at for combinations of several earlier studies; beyond that, pairs of studies are what is looked at."""
MOST_NAMED = 8


@dataclass(frozen=True, slots=True)
class Subtraction:
    """One thing that becomes known: in words, with the contracts (as hex) of the earlier studies that it takes, and what it is about."""

    words: str
    earlier: tuple[str, ...]
    about: tuple[str, ...]

    @property
    def key(self) -> str:
        """Stands for it where a consent names it: the same whenever the same is asked."""
        return "|".join((*self.earlier, "", *self.about))


def subtractions(new: TookPart, earlier: Sequence[TookPart]) -> list[Subtraction]:
    """What ``new`` tells together with the earlier studies that count (:meth:`Past.counting`). Of its own contract only its table counts.

    >>> def study(contract, *sites, table="t", rows=100):
    ...     members = {site: site for site in sites}
    ...     return TookPart(study="", name=contract, server="", contract=contract, variables=("A", "B"), members=members,
    ...                     min_contributors=2, min_rows=10, marks=Marks(rows, table, {"A": table, "B": "t"}), time="2026-01-31T10:00:00")
    >>> first = study("first", "me", "ulm", "bonn")
    >>> [found.about for found in subtractions(study("second", "me", "ulm"), [first])]
    [('bonn',)]
    >>> subtractions(study("second", "me", "ulm", "bonn"), [first])
    []
    >>> [found.about for found in subtractions(study("second", "me", "ulm", "bonn", table="u", rows=101), [first])]
    [('rows', 'u')]
    """
    others = [took for took in earlier if took.contract != new.contract and _shared(took, new)]
    found = [one for took in others if (one := _pair(took, new)) is not None]
    found += _together(others, new, {one.about for one in found})
    same = [took for took in earlier if took.contract == new.contract]
    return found + [one for took in (*others, *same) if (one := _rows(took, new)) is not None]


def other_identities(new: TookPart, earlier: Sequence[TookPart]) -> list[str]:
    """Sites that had another identity in an earlier study, in words: another site under the same name, or the same with a new key."""
    found = {}
    for took in earlier:
        for name in sorted(set(took.members) & set(new.members)):
            if took.members[name] != new.members[name]:
                found[name] = (
                    f"{printable(repr(name))} had another fingerprint in {_called(took)}: it is another site under the same name, or has a "
                    f"new key. Compare the fingerprint with its owner, not through the server."
                )
    return list(found.values())


def _shared(took: TookPart, new: TookPart) -> list[str]:
    return sorted(set(took.variables) & set(new.variables))


def _least(*studies: TookPart) -> int:
    return max(2, *(took.min_contributors for took in studies))


def _named(studies: Sequence[TookPart], sites: Sequence[str]) -> str:
    names = {fingerprint: name for took in studies for name, fingerprint in took.members.items()}
    shown = [printable(repr(names[site])) for site in sites[:MOST_NAMED]]
    return ", ".join(shown) + (", …" if len(sites) > MOST_NAMED else "")


def _called(took: TookPart) -> str:
    return f"the study {printable(repr(took.name))} ({took.study} on {printable(took.server)}, agreed to on {took.time[:10]})"


def _pair(took: TookPart, new: TookPart) -> Subtraction | None:
    """Two studies whose sites are nearly the same."""
    least, gone, come = _least(took, new), sorted(took.sites - new.sites), sorted(new.sites - took.sites)
    if not (gone or come) or len(gone) >= least or len(come) >= least:
        return None
    told = [f"is without {_named([took], gone)}"] if gone else []
    told += [f"has {_named([new], come)} besides"] if come else []
    both = sorted({*gone, *come})
    words = (
        f"This study {' and '.join(told)}, but else has the sites of {_called(took)}: subtracted from each other, the two tell sums over "
        f"{', '.join(map(printable, _shared(took, new)))} of {_named([took, new], both)} alone, and that is {counted(len(both), 'site')}."
    )
    return Subtraction(words, (took.contract,), tuple(both))


def _together(others: Sequence[TookPart], new: TookPart, known: set[tuple[str, ...]]) -> list[Subtraction]:
    """Several earlier studies and this one, for each variable that it shares with some of them."""
    found: dict[tuple[str, ...], tuple[tuple[TookPart, ...], list[str]]] = {}
    looked: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for name in new.variables:
        studies = [took for took in others if name in took.variables]
        key = tuple(took.contract for took in studies)
        if len(studies) < 2:
            continue
        if key not in looked:
            looked[key] = _singled(studies, new)
        for sites in looked[key]:
            if not any(set(already) <= set(sites) for already in known):
                found.setdefault(sites, (_needed(studies, new, sites), []))[1].append(name)
    return [
        Subtraction(
            f"Added to and subtracted from {' and '.join(map(_called, studies))}, this study tells sums over "
            f"{', '.join(map(printable, names))} of {_named([*studies, new], sites)} alone, and that is {counted(len(sites), 'site')}.",
            tuple(took.contract for took in studies),
            sites,
        )
        for sites, (studies, names) in found.items()
    ]


def _candidates(old: Sequence[str], newcomers: Sequence[str], most: int) -> Iterator[tuple[str, ...]]:
    """The largest sets of sites that count as few."""
    many, few = min(most, len(old)), min(most, len(newcomers))
    return (first + second for first in combinations(old, many) for second in combinations(newcomers, few))


def _singled(studies: Sequence[TookPart], new: TookPart) -> list[tuple[str, ...]]:
    """The sets of few sites that the new study singles out together with the others, none of them part of another."""
    old = sorted(set(chain.from_iterable(took.sites for took in studies)))
    newcomers, most = sorted(new.sites - set(old)), _least(new, *studies) - 1
    if comb(len(old), min(most, len(old))) * comb(len(newcomers), min(most, len(newcomers))) > MOST_LOOKED_AT:
        return []
    found: list[tuple[str, ...]] = []
    for sites in _candidates(old, newcomers, most):
        if any(set(already) <= set(sites) for already in found) or not _singles(studies, new, sites):
            continue
        left = list(sites)
        for site in sites:  # what is not needed for it is not singled out
            fewer = [each for each in left if each != site]
            if fewer and _singles(studies, new, fewer):
                left = fewer
        found.append(tuple(left))
    return list(dict.fromkeys(found))


def _singles(studies: Sequence[TookPart], new: TookPart, sites: Sequence[str]) -> bool:
    """Whether the new study brings a combination whose entries are zero but for these sites."""
    return _within([*studies, new], sites) > _within(studies, sites)


def _within(studies: Sequence[TookPart], sites: Sequence[str]) -> int:
    """The dimension of the combinations of studies whose entries are zero but for these sites: by the rank of all others."""
    every = sorted(set(chain.from_iterable(took.sites for took in studies)))
    matrix = np.array([[float(site in took.sites) for site in every] for took in studies])
    outside = matrix[:, [site not in set(sites) for site in every]]
    return _rank(matrix) - _rank(outside)


def _rank(matrix: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(matrix)) if matrix.size else 0


def _needed(studies: Sequence[TookPart], new: TookPart, sites: Sequence[str]) -> tuple[TookPart, ...]:
    """The earlier studies without which these sites would not be singled out."""
    left = list(studies)
    for took in studies:
        fewer = [each for each in left if each is not took]
        if fewer and _singles(fewer, new, sites):
            left = fewer
    return tuple(left)


def _rows(took: TookPart, new: TookPart) -> Subtraction | None:
    """This site's own rows, where those that take part are not those of an earlier study of nearly the same sites, by few or by unknown.

    A table may have changed meanwhile; or it is the same, and the two studies leave out different rows of it. Without gaps, every sum of a
    study is over all its rows, so that a difference of at least ``min_rows`` in their number is one of at least so many rows. With fewer it
    may be one of a few: marks say that rows differ, not how many. With gaps, sums are over groups of rows, and one of the one study may
    differ from one of the other by few rows, whatever the tables differ by; unless one study's rows are one group, and the same rows as all
    groups of the other. In one and the same study any other rows are named.
    """
    then, now, names = took.marks, new.marks, sorted(set(took.marks.columns) & set(new.marks.columns))
    if max(len(took.sites - new.sites), len(new.sites - took.sites)) >= _least(took, new):
        return None
    if not names or not then.table or then.table == now.table:
        return None
    changed = _changed(then, now, names)
    if not changed and (then.whole or now.whole):
        return None
    fewest, difference = max(took.min_rows, new.min_rows), now.rows - then.rows
    again, many = took.contract == new.contract, then.whole and now.whole and abs(difference) >= fewest
    if many and not again:
        return None
    when = "in this study before" if again else f"in {_called(took)}"
    over = f"subtracted from each other, sums over {', '.join(map(printable, names))} tell about"
    few = "" if many else f", which may be fewer than {fewest}"
    how = f"{counted(abs(difference), 'row')} {'more' if difference > 0 else 'fewer'}" if difference else "other values in as many rows"
    if changed:
        words = f"Of this site's table, what takes part has {how} than it had {when}: {over} the rows that differ{few}."
    else:
        words = f"This site's rows lack other values than they did {when}: {over} rows that are in a group of one of them only{few}."
    return Subtraction(words, (took.contract,), ("rows", now.table))


def _changed(then: Marks, now: Marks, names: Sequence[str]) -> bool:
    """Whether the values of some variables are not what they were. Where others may have changed, these are looked at by themselves."""
    if set(then.columns) == set(now.columns) == set(names):
        return True
    return now.differs(then, names)
