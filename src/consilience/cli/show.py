"""Tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from rich.markup import escape
from rich.table import Table

from consilience.citest import CIResult, Diagnosis
from consilience.citest.size_words import levels_in_words
from consilience.cli.terminal import Terminal
from consilience.data.harmonise import Change, Summary
from consilience.data.judging import Standing
from consilience.federation import Client
from consilience.iod import Decision, Discovery
from consilience.iod.headline import Ended, condition, ended
from consilience.iod.report.pairs import Pairs
from consilience.iod.report.sentences import shared_edges
from consilience.iod.summary import ALL, SOME

__all__ = [
    "changes_table",
    "ended_early",
    "exit_code",
    "format_p",
    "kinds_table",
    "result_table",
    "sentence",
    "show_diagnostics",
    "show_discovery",
    "show_effects",
    "show_strength",
]

MOST_SHOWN = 20
"""PAGs that are printed; files and JSON have all of them."""
MOST_REASONS = 5
"""Stronger decisions that are named for one that was overruled; the report has all of them."""


def format_p(p: float) -> str:
    """A p-value for people.

    >>> format_p(0.03379), format_p(1e-30)
    ('0.0338', '<1e-15')
    """
    if p < 1e-15:
        return "<1e-15"
    return f"{p:.4f}" if p >= 1e-4 else f"{p:.1e}"


def changes_table(clients: Sequence[Client]) -> Table | None:
    """What the sites' plans did, a row for each column, before and after; None if nothing was done. It is for the owners of the data.

    >>> import polars as pl
    >>> found = changes_table([Client("a", pl.DataFrame({"chol": [201.0, -9.0]}), harmonise={"chol": {"missing": [-9]}})])
    >>> [list(column.cells) for column in found.columns]
    [['a'], ['chol'], ["'-9' made missing (1)"], ['-9 – 96 – 201'], ['201 – 201 – 201, 1 missing']]
    """
    table = Table(title="Changed by plans (numbers: least – median – greatest)", title_justify="left")
    for heading in ("site", "column", "done (values)", "before", "after"):
        table.add_column(heading)
    for client in clients:
        by_column: dict[str, list[Change]] = {}
        for change in client.changes:
            by_column.setdefault(change.column, []).append(change)
        for number, (column, changes) in enumerate(by_column.items()):
            done = "; ".join(f"{one.words} ({one.rows})" if one.before or one.after else one.words for one in changes)
            before = next((one.before for one in changes if one.before), None)
            after = next((one.after for one in reversed(changes) if one.after), None)
            cells = (client.name if number == 0 else "", column, done, _summed(before), _summed(after))
            table.add_row(*map(escape, cells))
        if by_column:
            table.add_section()
    return table if table.row_count else None


def _summed(found: Summary | None) -> str:
    return "" if found is None else found.said().replace(" (least, median, greatest)", "")


def kinds_table(clients: Sequence[Client], names: Sequence[str]) -> Table:
    """How each site's columns were read."""
    table = Table(title="Variables as read", title_justify="left")
    for heading in ("site", "variable", "kind", "because", "levels", "missing"):
        table.add_column(heading, justify="right" if heading == "missing" else "left")
    for client in clients:
        rows = {row["name"]: row for row in client.variables.iter_rows(named=True) if row["kind"] is not None}
        first = True
        for name in names:
            row = rows.get(name)
            site = client.name if first else ""
            first = False
            if row is None:
                table.add_row(escape(site), escape(name), "[dim]not measured[/]", "", "", "")
            else:
                levels = escape(" ".join(row["levels"]) + (f" (rare: {' '.join(row['rare'])})" if row["rare"] else ""))
                table.add_row(escape(site), escape(name), row["kind"], row["because"], levels, str(row["missing"]))
        table.add_section()
    table.caption, table.caption_justify = escape(_left_out(clients)) or None, "left"
    return table


def _left_out(clients: Sequence[Client]) -> str:
    """Columns that are no variables, in one line; empty if there are none."""
    reasons: dict[str, str] = {}
    for client in clients:
        reasons |= {v.name: v.reason for v in client.verdicts.values() if v.standing is Standing.EXCLUDED}
    return "" if not reasons else "left out: " + ", ".join(f"{name!r} ({reason})" for name, reason in reasons.items())


def result_table(result: CIResult, method: str) -> Table:
    """One result with both directions."""
    given = f" | {', '.join(result.given)}" if result.given else ""
    verdict = f"p = {format_p(result.p_value)}" if result.informative else f"not informative: {result.reason}"
    caption = f"{method}: {verdict}; n = {result.n}, sites = {result.contributors}, rounds = {result.rounds}"
    if not result.converged:
        caption += "; NOT CONVERGED"
    table = Table(title=escape(f"{result.x} ⫫ {result.y}{given}"), title_justify="left", caption=escape(caption), caption_justify="left")
    for heading in ("response", "statistic", "df", "p", "log-lik. without", "log-lik. with", "size (95 % interval)", "note"):
        table.add_column(heading, justify="left" if heading in ("response", "size (95 % interval)", "note") else "right")
    for d in result.directions:
        alone = math.isnan(d.p_value)  # the site that did the test keeps them
        note = (
            d.reason
            or ("one site alone; it tells a rounded p-value" if alone else "")
            or ("perfectly predicted level" if d.separated else "products of residuals" if d.symmetric else "")
        )
        table.add_row(
            escape(f"{d.predictor}, {d.response}" if d.symmetric else d.response),
            "" if alone else f"{d.statistic:.4f}",
            str(d.df),
            "" if alone else format_p(d.p_value),
            "" if alone or d.symmetric else f"{d.loglik_restricted:.2f}",
            "" if alone or d.symmetric else f"{d.loglik_unrestricted:.2f}",
            escape(levels_in_words(d.sizes)),
            escape(note),
        )
    if not result.directions:
        table.add_row("[dim]only combined p-values[/]", "", "", format_p(result.p_value), "", "", "", "")
    return table


def sentence(found: Diagnosis) -> str:
    """What is said on linear models, as a sentence of its own.

    >>> sentence(Diagnosis(80, 80, 12))
    'In 12 of 80 tests the linear model does not hold: use --method residual.'
    """
    words = found.said("--method residual")
    return f"{words[0].upper()}{words[1:]}."


def show_strength(result: CIResult, console: Terminal) -> None:
    """How strong, as a sentence."""
    words = result.in_words()
    if words:
        plain = words.startswith(("higher ", "no clear "))  # else it begins with a name, which stays as it is
        console.print(escape(f"{words[0].upper() if plain else words[0]}{words[1:]}."), highlight=False, soft_wrap=True)


def show_diagnostics(result: CIResult, console: Terminal) -> None:
    """Whether the linear models of one test hold, and what speaks against them."""
    console.print(sentence(Diagnosis.of([result.linear_p], [result.method])), highlight=False, soft_wrap=True)
    found = result.diagnostics
    if found is not None and found.linear_p is not None:
        made = (("curvature", found.curvature_p), ("variance", found.variance_p), ("slopes of sites", found.slopes_p))
        words = ", ".join(f"{name} p = {format_p(p)}" for name, p in made if p is not None)
        share = "" if found.i_squared is None else f" (I² = {found.i_squared:.0%})"
        console.print(f"Against it: {words}{share}.", highlight=False, soft_wrap=True)


def show_discovery(found: Discovery, console: Terminal) -> None:
    """What was found in a sentence, local PAGs, the list of PAGs as edges in text, and what is to be said about them."""
    console.print(f"[bold]{escape(found.headline)}[/] ({found.tests.height} tests at {found.alpha:g})\n", highlight=False, soft_wrap=True)
    for held, pag in zip(found.datasets, found.local_pags, strict=True):
        console.print(f"[bold]data set {escape(', '.join(held))}[/]: {escape(str(pag))}", highlight=False)
    console.print(f"{sentence(found.diagnosis)}", highlight=False, soft_wrap=True)
    if found.pags:
        console.print()
    for number, pag in enumerate(found.pags[:MOST_SHOWN], start=1):
        console.print(f"{number:3d}  {escape(str(pag))}", highlight=False)
    if len(found.pags) > MOST_SHOWN:
        console.print(f"     … and {len(found.pags) - MOST_SHOWN} more; --out or --json has all of them", highlight=False)
    if len(found.pags) > 1 or (found.pags and not found.complete):
        whole = "In all graphs" if found.complete else "In all graphs, listed or not"
        console.print(f"\n[bold]{whole}, {condition(found)}[/]: {escape(shared_edges(found))}", highlight=False)
    elif found.pags and found.overruled:
        console.print(f"\nThis is so {condition(found)}.", highlight=False)
    _show_strengths(found, console)
    if found.stability is not None:
        console.print(f"\n[bold]How sure[/]: {escape(' '.join(found.stability.in_words()))}", highlight=False, soft_wrap=True)
    show_effects(found, console)
    _show_decisions("These decisions cannot hold together; without any one of them they could:", found.conflicts, console)
    _show_decisions("Overruled:", found.overruled, console, found.resolution.reasons)
    for words in _ways_out(found):
        console.print(f"\n{words}", highlight=False)


def _show_strengths(found: Discovery, console: Terminal) -> None:
    """How strong the edges are that all or some graphs have."""
    told = Pairs(found)
    stories = [told.story(x, y) for x, y in told.pairs()]
    strong = [(story, story.strong) for story in stories if story.strong is not None and story.status in (ALL, SOME)]
    if strong:
        console.print("\n[bold]How strong[/] (an association, not a cause):", highlight=False)
    for story, said in strong[:MOST_SHOWN]:
        console.print(f"  - {escape(f'{story.x} – {story.y}: {said.all_words}')}", highlight=False, soft_wrap=True)
    if len(strong) > MOST_SHOWN:
        console.print(f"    … and {len(strong) - MOST_SHOWN} more", highlight=False)


def show_effects(found: Discovery, console: Terminal) -> None:
    """What would change, by each graph for itself."""
    if found.effects:
        console.print("\n[bold]What would change[/]:", highlight=False)
    for one in found.effects[:MOST_SHOWN]:
        console.print(f"  - {escape(one.in_words())}", highlight=False, soft_wrap=True)
    if len(found.effects) > MOST_SHOWN:
        console.print(f"    … and {len(found.effects) - MOST_SHOWN} more; --out or --json has all of them", highlight=False)


def ended_early(found: Discovery) -> bool:
    """True if somebody stopped the search before it was done."""
    return ended(found) is Ended.STOPPED


def exit_code(found: Discovery) -> int:
    """130 if somebody stopped the search before it was done, whatever was found; else 0 if there are graphs, and 3 if there is none."""
    return 130 if ended_early(found) else 0 if found.pags else 3


def _ways_out(found: Discovery) -> list[str]:
    """What to do about a result that was cut short, or is empty."""
    words = []
    if ended(found) is Ended.TIME:
        words.append("--time-limit SECONDS gives the search more time.")
    if ended(found) is Ended.LIMIT:
        words.append("--limit NUMBER lists more graphs.")
    if found.conflicts and not found.pags and found.complete and found.engine != "iod":
        words.append("--resolve auto keeps the strongest decisions, and finds the graphs that agree with these.")
    return words


def _show_decisions(
    title: str, decisions: Sequence[Decision], console: Terminal, reasons: Mapping[Decision, Sequence[Decision]] | None = None
) -> None:
    if decisions:
        console.print(f"\n[bold]{title}[/]", highlight=False)
        for decision in decisions[:MOST_SHOWN]:
            console.print(f"  - {escape(decision.text)}", highlight=False)
            stronger = (reasons or {}).get(decision, ())
            for number, one in enumerate(stronger[:MOST_REASONS]):
                console.print(f"      {'against' if number == 0 else '    and'} {escape(one.text)}", highlight=False)
            if len(stronger) > MOST_REASONS:
                console.print(f"          and {len(stronger) - MOST_REASONS} more", highlight=False)
        if len(decisions) > MOST_SHOWN:
            console.print(f"    … and {len(decisions) - MOST_SHOWN} more", highlight=False)
