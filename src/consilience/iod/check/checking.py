"""The check: what each table is taken for, what looks wrong in it and between sites, which pairs can be tested, how long it takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consilience.data.checking.comparing import by_gravity
from consilience.data.finding import Asker, Finding, Grade
from consilience.data.judging import in_common
from consilience.errors import StudyError
from consilience.federation import Client
from consilience.federation.checking import across, same_rows
from consilience.federation.overlap import Fate, Overlap, overlap_of
from consilience.frames import pl
from consilience.iod.check.estimate import Estimate, estimate_of
from consilience.settings import DEFAULTS
from consilience.wording import counted

__all__ = ["Check", "SiteCheck", "check"]

MOST_PAIRS = 4
"""Pairs that are named in a sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class SiteCheck:
    """One site: its rows, what its columns are taken for and why, and what was noticed, the gravest first."""

    name: str
    rows: int
    variables: pl.DataFrame
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Check:
    """What was found before anything runs.

    Attributes
    ----------
    sites : tuple of SiteCheck
        Each site by itself.
    across : tuple of Finding
        What was found between sites, the gravest first.
    pairs : Overlap
        Which pairs of variables can be tested, and by how many sites.
    estimate : Estimate or None
        How many tests and rounds a discovery asks for and how long they take; None if nothing can be tested, or nobody wanted to know.

    Examples
    --------
    >>> import consilience as cs
    >>> sites = cs.simulate.mixed_sites(n=600, sites=2, seed=1)
    >>> found = cs.check([cs.Client(name, frame) for name, frame in sites.items()], estimate=False)
    >>> found.ok, len(found.pairs.pairs)
    (True, 10)
    """

    sites: tuple[SiteCheck, ...]
    across: tuple[Finding, ...]
    pairs: Overlap
    estimate: Estimate | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, the gravest first."""
        return tuple(by_gravity([*self.across, *(finding for site in self.sites for finding in site.findings)]))

    @property
    def ok(self) -> bool:
        """True if nothing is refused. Doubtful things do not stop anybody."""
        return not any(finding.grade.stops for finding in self.findings)

    @property
    def headline(self) -> str:
        """How many findings there are of which grade."""
        counts = {grade: sum(f.grade is grade for f in self.findings) for grade in (Grade.REFUSED, Grade.DOUBTFUL, Grade.NOTICE)}
        words = f"{counts[Grade.REFUSED]} refused, {counts[Grade.DOUBTFUL]} doubtful, {counted(counts[Grade.NOTICE], 'notice')}"
        return f"{counted(len(self.sites), 'site')}, {counted(len(self.pairs.names), 'variable')}: {words}."

    def to_dict(self) -> dict[str, Any]:
        """For JSON: plain values only, ways out in the words of the command line.

        Returns
        -------
        dict
            ``ok``, ``headline``, ``sites``, ``across``, ``pairs`` and ``estimate``.
        """
        return {
            "ok": self.ok,
            "headline": self.headline,
            "sites": [
                {"name": s.name, "rows": s.rows, "variables": s.variables.to_dicts(), "findings": [_plain(f) for f in s.findings]}
                for s in self.sites
            ],
            "across": [_plain(f) for f in self.across],
            "pairs": [{"x": p.x, "y": p.y, "sites": p.count, "fate": p.fate.value} for p in self.pairs.pairs],
            "estimate": None if self.estimate is None else self.estimate.to_dict(),
        }

    def to_html(self, path: str | Path) -> None:
        """Write the check as one HTML page, which asks for nothing else.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        from consilience.iod.check.page import render  # noqa: PLC0415  a page needs drawings, and a check does not

        Path(path).write_text(render(self), encoding="utf-8")

    def _repr_html_(self) -> str:
        from consilience.iod.check.page import body  # noqa: PLC0415

        return body(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield self.headline
        for heading, findings in ((f"{s.name} ({counted(s.rows, 'row')})", s.findings) for s in self.sites):
            yield f"\n{heading}"
            yield from _said(findings)
        if len(self.sites) > 1:
            yield "\nBetween sites"
            yield from _said(self.across)
        if self.estimate is not None:
            yield f"\nA discovery: {self.estimate}"


def _said(findings: Sequence[Finding]) -> Iterator[str]:
    yield from (f"  {finding.grade.value}: {finding.said(Asker.PYTHON)}" for finding in findings)
    if not findings:
        yield "  nothing to say"


def _plain(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "grade": finding.grade.value,
        "words": finding.words,
        "columns": list(finding.columns),
        "sites": list(finding.sites),
        "ways_out": [remedy.said(Asker.COMMAND) for remedy in finding.remedies],
    }


def check(clients: Iterable[Client], *, estimate: bool = True) -> Check:
    """Look at the tables of several sites before anything runs.

    Parameters
    ----------
    clients : iterable of Client
        The sites.
    estimate : bool
        Measure how long a test takes, which takes about a second itself.

    Returns
    -------
    Check
        Findings with the ways out, for each site and between them; ``print`` it, or write it with ``to_html``.

    Raises
    ------
    StudyError
        If there are no clients, or two of one name.

    See Also
    --------
    discover : what it is a check for.

    Examples
    --------
    >>> import consilience as cs
    >>> import polars as pl
    >>> a = cs.Client("a", pl.DataFrame({"age": [61.5, 70.2, 58.0], "sex": ["M", "F", "F"]}))
    >>> b = cs.Client("b", pl.DataFrame({"age": [55.1, 48.5, 63.3], "sex": ["male", "female", "male"]}))
    >>> found = cs.check([a, b], estimate=False)
    >>> found.ok, found.findings[0].code
    (False, 'spelling-conflict')
    """
    clients = tuple(clients)
    names = [client.name for client in clients]
    if not names or len(set(names)) < len(names):
        raise StudyError(f"A check needs at least one client, each with a name of its own; got {names}.")
    sites = tuple(SiteCheck(c.name, c.frame.height, c.variables, tuple(by_gravity(c.findings))) for c in clients)
    pairs = _pairs(clients)
    return Check(sites, tuple(by_gravity(_between(clients, pairs))), pairs, estimate_of(clients) if estimate else None)


def _between(clients: Sequence[Client], pairs: Overlap) -> list[Finding]:
    if len(clients) < 2:
        return []
    own = {finding for client in clients for finding in client.findings}
    common = [f for f in in_common({c.name: c.verdicts for c in clients}).findings if f not in own]
    # of a value in every row each site has said by itself that it is one
    compared = [f for f in across(clients, known=common) if f.code != "constant-here"]
    copies = [] if any(f.code == "same-rows" for f in compared) else same_rows(clients)
    return [*common, *compared, *copies, *_fates(pairs)]


def _pairs(clients: Sequence[Client]) -> Overlap:
    held = [set(client.declarations) for client in clients]
    return overlap_of(sorted(set().union(*held)), held, DEFAULTS, by_site=True)


def _fates(pairs: Overlap) -> list[Finding]:
    never, alone = pairs.of(Fate.NEVER), pairs.of(Fate.ALONE)
    said = (
        ("pairs-never", never, "no site has both: no test is made of them, and only other pairs can tell about them"),
        ("pairs-alone", alone, "one site alone has both: it tests them by itself"),
    )
    found = []
    for code, which, words in said:
        if which:
            named = ", ".join(f"{p.x!r} and {p.y!r}" for p in which[:MOST_PAIRS])
            more = f", and {len(which) - MOST_PAIRS} more" if len(which) > MOST_PAIRS else ""
            columns = tuple(sorted({name for p in which for name in (p.x, p.y)}))
            found.append(Finding(code, Grade.NOTICE, f"Of {counted(len(which), 'pair')} {words} ({named}{more}).", columns))
    return found
