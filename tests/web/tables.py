"""Three hospitals with different files, made from a seed: one with columns that no study wants, one broken, one spelled its own way."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from consilience.web.trial_tables import STUDY, synthetic_tables

__all__ = ["MARKER", "STUDY", "Hospitals", "traces", "write_hospitals"]

MARKER = 203.4471
"""A blood pressure of one patient at every site, found nowhere else: where it is, data are."""


@dataclass(frozen=True)
class Hospitals:
    """The files of the three sites, the study's file, and what one of them looks like when it is whole."""

    muenster: Path
    marburg: Path
    mainz: Path
    whole: str
    study: Path

    @property
    def folders(self) -> dict[str, Path]:
        return {name: self.study.parent / name for name in ("muenster", "marburg", "mainz")}


def write_hospitals(folder: Path, rows: int = 1800) -> Hospitals:
    """Münster's file has numbers of patients and dates in it, Marburg's last row was cut off, Mainz' is not in its folder and has
    levels written another way.
    """
    made = synthetic_tables(rows)
    frames = {name: _marked(frame) for name, frame in made.frames.items()}
    paths = {name: folder / name / f"{name}.csv" for name in frames}
    paths["mainz"] = folder / "elsewhere" / "mainz.csv"
    (folder / "mainz").mkdir(parents=True)
    for path in paths.values():
        path.parent.mkdir(parents=True)
    n = frames["muenster"].height
    more = [
        pl.Series("patient", [f"MS{100000 + 7 * i}" for i in range(n)]),
        pl.Series("visit", [f"2021-03-{1 + i % 28:02}" for i in range(n)]),
    ]
    frames["muenster"].with_columns(more).write_csv(paths["muenster"])
    whole = frames["marburg"].write_csv()
    paths["marburg"].write_text(whole + "61.5,1", encoding="utf-8")
    spelled = {"none": "None given", "ace inhibitor": "ACE inhibitor", "beta blocker": "Beta blocker", "calcium blocker": "calcium blocker"}
    frames["mainz"].with_columns(pl.col("drug").replace_strict(spelled), pl.col("stroke").replace_strict({0: "no", 1: "yes"})).write_csv(
        paths["mainz"]
    )
    study = folder / "study.toml"
    study.write_text(_study(), encoding="utf-8")
    return Hospitals(paths["muenster"], paths["marburg"], paths["mainz"], whole, study)


def _marked(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.when(pl.int_range(pl.len()) == 3).then(pl.lit(MARKER)).otherwise(pl.col("sbp")).alias("sbp"))


def _study() -> str:
    held = [["age", "sbp", "stroke", "disability"], ["age", "sbp", "stroke", "disability", "drug"], ["age", "sbp", "stroke", "drug"]]
    lines = ['name = "Stroke, three hospitals"', f"datasets = {json.dumps(held)}", "", "[variables]"]
    for variable in STUDY.values():
        levels = f", levels = {json.dumps(variable.levels)}" if variable.levels else ""
        lines.append(f'{variable.name} = {{ kind = "{variable.kind.value}"{levels} }}')
    return "\n".join(lines) + "\n"


def traces(*folders: Path, marker: float = MARKER) -> list[Path]:
    """Files in which the marker is, as text or as a number of eight or four bytes."""
    shapes = (str(marker).encode(), struct.pack("<d", marker), struct.pack("<f", marker), str(marker).encode("utf-16-le"))
    found = []
    for folder in folders:
        for path in folder.rglob("*"):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                if any(shape in content for shape in shapes):
                    found.append(path)
    return found
