"""The page as a whole: one file, which asks for nothing else and runs no code but its own.

The policy in its head names the hashes of its style and its script. A browser that honours it runs no other, loads nothing and sends
nothing, even if some text had slipped through unescaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from consilience.graph.drawing.shapes import STYLE
from consilience.graph.drawing.svg import Positions
from consilience.iod.report import sections
from consilience.iod.report.effects import effects_section
from consilience.iod.report.graphs import common_positions, graph_list, local_graphs, summary_section
from consilience.iod.report.html import Html, el, join, listed
from consilience.iod.report.linear import linear_models
from consilience.iod.report.reading import reading
from consilience.iod.report.resampled import how_sure_section
from consilience.iod.report.sentences import title

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["Section", "asset", "document", "in_sections", "render", "write_report"]


class Section(NamedTuple):
    """A part of a page: the name that links lead to, its heading, and what stands in it."""

    name: str
    title: str
    body: Html


def write_report(found: Discovery, path: str | Path) -> None:
    """Write a discovery as one HTML page.

    >>> import tempfile
    >>> import consilience as cs
    >>> found = cs.discover(cs.Oracle(cs.PAG.parse("A o-> C, B o-> C"), datasets=["ABC"]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(found, Path(folder) / "report.html")
    ...     (Path(folder) / "report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    Path(path).write_text(render(found), encoding="utf-8")


def render(found: Discovery, positions: Positions | None = None) -> str:
    """A discovery as the text of an HTML page; with ``positions``, where somebody has found them before."""
    return document(title(found), _sections(found, common_positions(found) if positions is None else positions), STYLE)


def in_sections(parts: Iterable[Section]) -> Html:
    """Sections with their headings, one after the other.

    >>> in_sections([Section("a", "First", el("p", "x"))])
    '<section id="a" aria-labelledby="a-title"><h2 id="a-title">First</h2><p>x</p></section>'
    """
    return join(
        el("section", el("h2", part.title, id=f"{part.name}-title"), part.body, id=part.name, aria_labelledby=f"{part.name}-title")
        for part in parts
    )


def document(called: str, parts: Sequence[Section], more_style: str = "") -> str:
    """A whole page of sections: one file with its contents, its style and its script."""
    contents = listed(el("a", part.title, href=f"#{part.name}") for part in parts)
    style, script = Html(asset("page.css") + asset("parts.css") + more_style), Html(asset("tables.js") + asset("page.js"))
    page = el(
        "html",
        el(
            "head",
            el("meta", charset="utf-8"),
            el("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
            el("meta", name="viewport", content="width=device-width, initial-scale=1"),
            el("meta", name="referrer", content="no-referrer"),
            el("meta", name="color-scheme", content="light dark"),
            el("title", called),
            el("style", style),
        ),
        el(
            "body",
            el("a", "Skip to the result", href="#main", class_="skip"),
            el("header", el("h1", called)),
            el("nav", el("h2", "Contents", id="contents"), contents, aria_labelledby="contents"),
            el("main", in_sections(parts), id="main"),
            el("script", script),
        ),
        lang="en",
    )
    return f"<!doctype html>\n{page}\n"


def _sections(found: Discovery, positions: Positions) -> list[Section]:
    parts = [
        Section("result", "Result", sections.overview(found)),
        Section("data", "Data sets", sections.data_sets(found)),
        Section("summary", "Summary of all graphs", summary_section(found, positions)),
        *([Section("sure", "How sure", how_sure_section(found, positions))] if found.stability is not None else []),
        *([Section("effects", "What would change", effects_section(found))] if found.effects else []),
        Section("graphs", "The graphs, best first", graph_list(found, positions)),
        Section("local", "Each data set alone", local_graphs(found, positions)),
        Section("conflicts", "Conflicts and what was overruled", sections.conflicts(found)),
    ]
    if found.knowledge is not None:
        parts.append(Section("knowledge", "Background knowledge", sections.knowledge(found)))
    return [
        *parts,
        Section("tests", "Tests", sections.tests(found)),
        Section("linear", "Do the linear models hold?", linear_models(found)),
        Section("disclosed", "What left each site", sections.disclosed(found)),
        Section("settings", "Settings and versions", sections.settings(found)),
        Section("reading", "How to read this page", reading()),
    ]


def asset(name: str) -> Html:
    """A file of this room. ``parts.css`` and ``tables.js`` are what other pages with the same parts need."""
    return Html(resources.files("consilience.iod.report").joinpath(name).read_text(encoding="utf-8"))


def _policy(style: str, script: str) -> str:
    """Nothing but this style and this script."""
    return f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
