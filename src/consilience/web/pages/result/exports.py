"""A drawing or a graph as a file: SVG, DOT, Tetrad, pcalg, CSV, JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from consilience.frames import pl
from consilience.graph.drawing.svg import Positions
from consilience.graph.graphs import PAG
from consilience.iod.report.effects import effects_frame
from consilience.sheets import frame_csv, guarded, to_csv
from consilience.web.pages.result.choice import Kind
from consilience.web.pages.result.view import Row, View

__all__ = ["EXPORTS", "Export", "exports_of", "plain_names"]


class Export(NamedTuple):
    """A kind of file: its name, what it is called, its type, what makes it, whether it takes one graph with its own marks, and for which
    results there is one.
    """

    name: str
    title: str
    media_type: str
    make: Callable[[View, Positions], str]
    graph: bool = False
    there: Callable[[View], bool] = lambda _: True


def _svg(view: View, positions: Positions) -> str:
    return view.svg(positions, legend=True, embedded=False)


def _sheet(view: View, positions: Positions) -> str:
    """For a picture of dots: on white, whatever scheme the reader has."""
    return view.svg(positions, legend=True, background="#ffffff")


def _graph(view: View) -> PAG:
    return view.choice.first.graph(view.found)


def _dot(view: View, _: Positions) -> str:
    return _graph(view).to_dot()


def _tetrad(view: View, _: Positions) -> str:
    graph = _graph(view)
    return PAG.from_matrix(graph.to_matrix(), plain_names(graph.labels)).to_tetrad()


def _amat(view: View, _: Positions) -> str:
    """Pcalg's ``amat``: in R, ``as.matrix(read.csv(file, row.names = 1, check.names = FALSE))``."""
    graph = _graph(view)
    labels = [guarded(label) for label in graph.labels]
    return to_csv([["", *labels], *([label, *row] for label, row in zip(labels, graph.to_matrix().tolist(), strict=True))])


def _edges(view: View, _: Positions) -> str:
    head = ["from", "edge", "to", "graphs", "meaning", "strength", "how strong", "share over copies", "how sure"]
    # the marks between two names are ours, and no formula in any spreadsheet; a minus is one that spreadsheets read
    rows = (
        [guarded(row.a), row.sign, guarded(row.b), row.often, guarded(row.words), row.strength.replace("−", "-"), guarded(row.strong)]
        + (["", ""] if row.sure is None else [row.sure.share, guarded(row.sure.words)])
        for row in view.rows
    )
    return to_csv([head, *rows])


def _edge(row: Row) -> dict[str, object]:
    told: dict[str, object] = {"from": row.a, "edge": row.sign, "to": row.b, "graphs": row.often, "meaning": row.words}
    sure = {} if row.sure is None else {"share_over_copies": row.sure.share, "how_sure": row.sure.words}
    return told | {"how_strong": row.strong} | sure


def _json(view: View, _: Positions) -> str:
    told: dict[str, object] = {"title": view.title, "alpha": view.found.alpha, "labels": list(view.labels)}
    told["edges"] = [_edge(row) for row in view.rows]
    if view.found.effects:
        told["effects"] = [one.to_dict() for one in view.found.effects]
    if view.choice.second is None and view.choice.first.kind is not Kind.SUMMARY:
        graph = _graph(view)
        told |= {"labels": list(graph.labels), "matrix": graph.to_matrix().tolist()}
    return json.dumps(told, ensure_ascii=False, indent=1, allow_nan=False)


def _frames(view: View) -> dict[str, pl.DataFrame]:
    """The tables there are besides the tests: how sure, and what would change."""
    effects = effects_frame(view.found)
    sure = {} if view.found.stability is None else view.found.stability.frames()
    return sure | ({} if effects is None else {"effects": effects})


def _frame(name: str, title: str) -> Export:
    kind = "text/csv; charset=utf-8"
    return Export(f"{name}.csv", title, kind, lambda view, _: frame_csv(_frames(view)[name]), there=lambda view: name in _frames(view))


EXPORTS = {
    one.name: one
    for one in (
        Export("svg", "SVG with legend", "image/svg+xml", _svg),
        Export("sheet.svg", "", "image/svg+xml", _sheet),
        Export("dot", "DOT (Graphviz)", "text/vnd.graphviz; charset=utf-8", _dot, graph=True),
        Export("tetrad.txt", "Tetrad", "text/plain; charset=utf-8", _tetrad, graph=True),
        Export("amat.csv", "pcalg (amat, CSV)", "text/csv; charset=utf-8", _amat, graph=True),
        Export("edges.csv", "Edges (CSV)", "text/csv; charset=utf-8", _edges),
        _frame("sure", "How sure: edges (CSV)"),
        _frame("copies", "How sure: tests (CSV)"),
        _frame("sites", "Without each site (CSV)"),
        _frame("without", "Without each site: edges (CSV)"),
        _frame("effects", "Effects (CSV)"),
        Export("json", "JSON", "application/json", _json),
    )
}
"""What may be exported, by the end of the file's name. The sheet is what a browser makes a PNG of."""


def exports_of(view: View) -> list[Export]:
    """What a drawing may be exported as: marks that differ from graph to graph have no word in other programs' formats."""
    one = view.choice.second is None and view.choice.first.kind is not Kind.SUMMARY
    return [export for export in EXPORTS.values() if export.title and (one or not export.graph) and export.there(view)]


def plain_names(labels: Sequence[str]) -> list[str]:
    """Names that Tetrad can read: no blanks, commas or semicolons; still all different.

    >>> plain_names(["blood pressure", "blood_pressure", "age"])
    ['blood_pressure', 'blood_pressure_2', 'age']
    """
    taken: set[str] = set()
    names = []
    for label in labels:
        plain = name = re.sub(r"[\s;,]+", "_", label).strip("_") or "_"
        number = 1
        while name in taken:
            number += 1
            name = f"{plain}_{number}"
        taken.add(name)
        names.append(name)
    return names
