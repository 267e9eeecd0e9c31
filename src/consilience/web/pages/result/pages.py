"""What the pages of a result show."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.responses import HTMLResponse

from consilience.graph.drawing.legend import sample_picture
from consilience.graph.drawing.shapes import Line
from consilience.iod.discovery import Discovery
from consilience.iod.headline import condition
from consilience.iod.report import sections
from consilience.iod.report.effects import effects_section
from consilience.iod.report.how_sure import sure_in_short
from consilience.iod.report.html import Html, label
from consilience.iod.report.reading import reading
from consilience.iod.report.sentences import certain, edges_in_words
from consilience.iod.report.tables import DECISIONS
from consilience.iod.wording import counted, format_weight
from consilience.web.pages.result.choice import Choice, Kind, Ref
from consilience.web.pages.result.exports import exports_of, plain_names
from consilience.web.pages.result.links import Links
from consilience.web.pages.result.listing import PER_PAGE, Listing
from consilience.web.pages.result.prepared import Alpha, Prepared
from consilience.web.pages.result.source import ResultSource
from consilience.web.pages.result.view import View
from consilience.web.rendering import Link, render

__all__ = ["about_page", "conflicts_page", "effects_page", "graph_page", "sure_page", "tests_page"]

MOST_GRAPHS = 500
"""Graphs that can be chosen from a list; those behind are reached one by one."""
WIDE = 620.0
"""A drawing that is wider, in pixels, gets the whole width of the page."""


def graph_page(source: ResultSource, held: Prepared, view: View, links: Links, alpha: Alpha, pair: tuple[str, str] | None) -> HTMLResponse:
    """The drawing of a graph, its edges, and what is said of a pair."""
    found = held.found
    across = [held.positions[name][0] for name in view.labels]
    return render(
        "result/graph.html",
        **_frame(source, held, links, alpha, "graph"),
        view=view,
        drawing=_markup(Html(view.svg(held.positions))),
        wide=bool(across) and max(across) - min(across) > WIDE,
        legend=[_entry(entry) for entry in view.legend],
        notes=_notes(found, view),
        given_up=_given_up(found, view.choice),
        choices=_choices(found, view.choice),
        step=_steps(found, view.choice, links),
        details=None if pair is None else view.details(*pair),
        exports=exports_of(view),
        renamed=view.choice.first.kind is not Kind.SUMMARY and plain_names(view.labels) != list(view.labels),
        layout=source.layout_key,
        label=_label,
        follows=[_markup(one) for one in certain(found)],
        condition=condition(found),
        sure=sure_in_short(found.stability) if found.stability is not None else "",
        file=f"{source.study}-{view.choice.file}",
    )


def tests_page(source: ResultSource, held: Prepared, links: Links, alpha: Alpha, listing: Listing) -> HTMLResponse:
    """All tests, to be searched and sorted."""
    made, count = listing.html(links)
    last = max(1, -(-count // PER_PAGE))
    return render(
        "result/tests.html",
        **_frame(source, held, links, alpha, "tests"),
        listing=listing,
        table=_markup(made),
        text=_markup(sections.about_tests(held.found)),
        decisions=DECISIONS,
        last=last,
        label=_label,
    )


def sure_page(source: ResultSource, held: Prepared, links: Links, alpha: Alpha) -> HTMLResponse:
    """How sure the result is, as the study decided it: another level was not resampled."""
    return render(
        "result/sure.html",
        **_frame(source, held, links, alpha, "sure"),
        sure=_markup(held.sure),
    )


def effects_page(source: ResultSource, held: Prepared, links: Links, alpha: Alpha) -> HTMLResponse:
    """What would change if variables were set, by each graph for itself."""
    return render(
        "result/effects.html",
        **_frame(source, held, links, alpha, "effects"),
        effects=_markup(effects_section(held.found)),
        file=links.to("export/effects.csv") if held.found.effects else "",
    )


def conflicts_page(source: ResultSource, held: Prepared, links: Links, alpha: Alpha) -> HTMLResponse:
    """What contradicts what, what was overruled, and what was known."""
    return render(
        "result/conflicts.html",
        **_frame(source, held, links, alpha, "conflicts"),
        conflicts=_markup(sections.conflicts(held.found)),
        knowledge=None if held.found.knowledge is None else _markup(sections.knowledge(held.found)),
    )


def about_page(source: ResultSource, held: Prepared, links: Links, alpha: Alpha) -> HTMLResponse:
    """Data sets, what left each site, settings, files, and how to read graphs."""
    parts = (sections.data_sets, sections.disclosed, sections.settings)
    data, left, how = (_markup(part(held.found)) for part in parts)
    return render(
        "result/about.html",
        **_frame(source, held, links, alpha, "about"),
        files=source.files,
        data=data,
        left=left,
        settings=how,
        reading=_markup(reading()),
    )


def _frame(source: ResultSource, held: Prepared, links: Links, alpha: Alpha, page: str) -> dict[str, Any]:
    """What stands on all pages of a result."""
    found = held.found
    trouble = len(found.overruled) or len(found.conflicts)
    tabs = (
        Link("Graphs", links.to(), page == "graph"),
        Link("Tests", links.to("tests"), page == "tests", f"{found.tests.height:,}"),
        *([Link("How sure", links.to("sure"), page == "sure")] if held.own.stability is not None else []),
        *([Link("What would change", links.to("effects"), page == "effects", f"{len(found.effects):,}")] if found.effects else []),
        Link("Conflicts", links.to("conflicts"), page == "conflicts", f"{trouble:,}" if trouble else ""),
        Link("Data, settings, files", links.to("about"), page == "about"),
    )
    changed = held.changed() if held.again else 0
    return {
        "shell": source.shell,
        "crumbs": source.crumbs,
        "known": source.notes,
        "title": f"Result: {source.name}",
        "name": source.name,
        "tabs": tabs,
        "links": links,
        "found": found,
        "own_alpha": held.own.alpha,
        "again": held.again,
        "changed": f"{changed:,} of {counted(held.own.tests.height, 'test')} {'is' if changed == 1 else 'are'} decided otherwise",
        "missing": found.missing.height,
        "alpha": alpha,
        "troubles": [_Trouble("alpha", alpha.trouble)] if alpha.trouble else [],
        "headline": found.headline,
        "edges_in_words": edges_in_words(found),
    }


class _Trouble:
    """What is wrong with a field, as the error summary wants it."""

    def __init__(self, field: str, words: str) -> None:
        self.field, self.words = field, words


def _choices(found: Discovery, choice: Choice) -> dict[str, list[tuple[str, str]]]:
    """What can be shown, by group."""
    listed = [Ref(Kind.GRAPH, number) for number in range(1, min(len(found.pags), MOST_GRAPHS) + 1)]
    shown = [ref for ref in (choice.first, choice.second) if ref is not None and ref.kind is Kind.GRAPH]
    graphs = dict.fromkeys((*listed, *shown))
    local = [Ref(Kind.LOCAL, number) for number in range(1, len(found.local_pags) + 1)]
    return {
        "The graphs, best first": [(ref.text, ref.name) for ref in graphs],
        "Each data set alone": [(ref.text, ref.name) for ref in local],
    }


def _steps(found: Discovery, choice: Choice, links: Links) -> dict[str, Link | None]:
    """The graphs before and after, in the order of the list."""
    step: dict[str, Link | None] = {"before": None, "after": None}
    ref = choice.first
    if choice.second is not None or ref.kind is Kind.LOCAL:
        return step
    if ref.kind is Kind.GRAPH:
        before = Ref(Kind.GRAPH, ref.number - 1) if ref.number > 1 else Ref(Kind.SUMMARY)
        step["before"] = Link(before.name, links.show(Choice(before)))
    if ref.number < len(found.pags):
        after = Ref(Kind.GRAPH, ref.number + 1)
        step["after"] = Link(after.name, links.show(Choice(after)))
    return step


def _notes(found: Discovery, view: View) -> list[str]:
    """What else is to be said of the drawing as a whole."""
    ref = view.choice.first
    if view.difference is not None:
        return [view.difference.summary]
    if ref.kind is Kind.LOCAL:
        return ["What this data set says on its own: it knows nothing of the others, nor of what was known before."]
    if ref.kind is Kind.SUMMARY:
        return [f"What all graphs share is true {condition(found)}."] if found.pags else []
    score = found.scores[ref.number - 1]
    return ["It contradicts no test." if score == 0 else f"The tests that it contradicts weigh {format_weight(score)}."]


def _given_up(found: Discovery, choice: Choice) -> list[str]:
    """The decisions that the graph which is shown contradicts."""
    single = choice.second is None and choice.first.kind is Kind.GRAPH
    return [str(one) for one in found.contradicted(choice.first.number - 1)] if single else []


def _entry(entry: Line | str) -> tuple[Markup, str]:
    if isinstance(entry, str):
        return Markup(""), entry
    return _markup(Html(sample_picture(entry))), f"{entry.words[0].upper()}{entry.words[1:]}."


def _markup(made: Html) -> Markup:
    """What the report's functions made, as a template takes it. They escape whatever is not theirs."""
    return Markup(made)  # noqa: S704  of the type Html only, which is escaped where it is made


def _label(name: str) -> Markup:
    return _markup(label(name))
