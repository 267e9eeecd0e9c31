"""A result as files in a folder."""

from __future__ import annotations

import json
from pathlib import Path

from consilience.errors import OptionError
from consilience.graph import PAG
from consilience.graph.drawing.svg import Positions
from consilience.iod import Discovery
from consilience.iod.report.effects import effects_frame
from consilience.iod.report.graphs import common_positions
from consilience.sheets import frame_csv

__all__ = ["prepare_folder", "write_result"]

MOST_DRAWN = 100
"""PAGs that are drawn, best first; the JSON has all of them."""


def prepare_folder(out: Path) -> None:
    """Make the folder before any work is done, so that none is lost for want of it."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"--out is a folder that exists or can be made; got {out} ({error.strerror}).") from error


def write_result(found: Discovery, out: Path) -> None:
    """The report, drawings of the summary, all PAGs and local PAGs, the whole result as JSON, its tables as CSV."""
    found.to_html(out / "report.html")
    positions = common_positions(found)
    (out / "summary.svg").write_text(found.summary.to_svg(positions=positions), encoding="utf-8")
    _draw(found.pags[:MOST_DRAWN], out, "pag", positions)
    _draw(found.local_pags, out, "local", positions)
    (out / "result.json").write_text(json.dumps(found.to_dict(), indent=2, ensure_ascii=False), encoding="utf-8")
    frames = {"tests": found.tests, **({} if found.stability is None else found.stability.frames())}
    effects = effects_frame(found)
    frames |= {} if effects is None else {"effects": effects}
    for name, frame in frames.items():
        (out / f"{name}.csv").write_text(frame_csv(frame), encoding="utf-8")


def _draw(pags: tuple[PAG, ...], out: Path, name: str, positions: Positions) -> None:
    width = len(str(len(pags)))
    for number, pag in enumerate(pags, start=1):
        own = {label: positions[label] for label in pag.labels}
        (out / f"{name}-{number:0{width}d}.svg").write_text(pag.to_svg(positions=own), encoding="utf-8")
