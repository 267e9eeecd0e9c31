"""The check as one HTML page: a section for each site, one between sites, the pairs, the estimate. Made of the report's own parts."""

from __future__ import annotations

from collections.abc import Sequence

from consilience.data.finding import Asker, Finding
from consilience.federation.overlap import Overlap
from consilience.iod.check.checking import Check, SiteCheck
from consilience.iod.report.html import Html, el, join, label, labels, listed
from consilience.iod.report.page import Section, document, in_sections
from consilience.iod.report.tables import Column, table
from consilience.wording import counted

__all__ = ["body", "render"]

_COLUMNS = (
    Column("column"),
    Column("kind"),
    Column("verdict"),
    Column("because"),
    Column("levels"),
    Column("rare"),
    Column("missing", number=True),
)
MOST_LEVELS = 12
"""Levels in a cell; a column with more says how many more."""


def render(found: Check) -> str:
    """The check as the text of an HTML page."""
    return document("Check before a discovery", _parts(found))


def body(found: Check) -> Html:
    """Its sections without the page around them, for a notebook."""
    return in_sections(_parts(found))


def _parts(found: Check) -> list[Section]:
    parts = [Section("all", "Overview", _overview(found))]
    if len(found.sites) > 1:
        parts.append(Section("between", "Between sites", _findings(found.across)))
    parts += [Section(f"site-{i}", f"Site {site.name}", _site(site)) for i, site in enumerate(found.sites, start=1)]
    return [*parts, Section("pairs", "Pairs of variables", _pairs(found.pairs))]


def _overview(found: Check) -> Html:
    stop = "Nothing stands in the way." if found.ok else "What is refused must be decided before it is used."
    words = [el("p", f"{found.headline} {stop}", class_="lead")]
    if found.estimate is not None:
        words.append(el("p", f"A discovery with these data: {found.estimate}"))
    return join(words)


def _findings(findings: Sequence[Finding]) -> Html:
    if not findings:
        return el("p", "Nothing to say.")
    return listed([_finding(finding) for finding in findings])


def _finding(finding: Finding) -> Html:
    ways = [el("code", remedy.said(Asker.COMMAND)) for remedy in finding.remedies]
    out = join([" The way out: ", join(ways, ", or "), "."]) if ways else None
    return join([el("strong", f"{finding.grade.value}: "), finding.words, out])


def _site(site: SiteCheck) -> Html:
    rows = [
        el(
            "tr",
            el("td", label(row["name"])),
            el("td", row["kind"] or "–"),
            el("td", row["verdict"]),
            el("td", row["because"]),
            el("td", _levels(row["levels"])),
            el("td", _levels(row["rare"])),
            el("td", f"{row['missing']:,}", class_="number", data_value=row["missing"]),
        )
        for row in site.variables.iter_rows(named=True)
    ]
    shown = table(_COLUMNS, rows, caption=f"{site.name}: {counted(len(rows), 'column')}, {counted(site.rows, 'row')}")
    return join([_findings(site.findings), shown])


def _levels(levels: Sequence[str]) -> Html:
    more = f", and {len(levels) - MOST_LEVELS} more" if len(levels) > MOST_LEVELS else None
    return join([labels(levels[:MOST_LEVELS]), more])


def _pairs(pairs: Overlap) -> Html:
    rows = [
        el("tr", el("td", label(p.x)), el("td", label(p.y)), el("td", str(p.count), class_="number"), el("td", p.fate.value))
        for p in pairs.pairs
    ]
    columns = (Column("x"), Column("y"), Column("sites with both", number=True), Column("tested"))
    return table(columns, rows, caption=counted(len(rows), "pair"))
