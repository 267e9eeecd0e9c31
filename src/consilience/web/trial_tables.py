"""The tables of a trial: three hospitals made up, or a table of one's own, dealt out to three sites."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consilience.data.kinds import Kind, Variable
from consilience.data.profile import TableProfile, profile_table
from consilience.data.schema import Schema
from consilience.data.sources import load
from consilience.errors import OptionError
from consilience.frames import pl
from consilience.settings.studyfile import StudyFile
from consilience.simulate import mixed_sites

__all__ = ["SITES", "TrialTables", "own_tables", "synthetic_tables"]

SITES = ("muenster", "marburg", "mainz")
NAMES = {"A": "age", "B": "sbp", "C": "stroke", "D": "disability", "E": "drug"}
DRUGS = {"p": "none", "q": "ace inhibitor", "r": "beta blocker", "s": "calcium blocker"}
ABSENT = {0: ["E"], 2: ["D"]}
STUDY = Schema(
    [
        Variable("age", Kind.CONTINUOUS),
        Variable("sbp", Kind.CONTINUOUS),
        Variable("stroke", Kind.BINARY, ("0", "1")),
        Variable("disability", Kind.ORDINAL, ("1", "2", "3", "4")),
        Variable("drug", Kind.MULTINOMIAL, tuple(sorted(DRUGS.values()))),
    ]
)
TIERS = (("age",), ("sbp", "stroke", "disability", "drug"))
"""Nothing makes anybody older: what is known before the data is part of a study, and so of a trial."""
NO_VARIABLE = ("identifier", "date", "constant")
FEWEST = 4
"""With fewer variables no site goes without one: too little would be left to find."""


@dataclass(frozen=True, slots=True)
class TrialTables:
    """What the sites of a trial hold, the study that fits it, and where it comes from.

    Examples
    --------
    >>> made = synthetic_tables()
    >>> {name: frame.width for name, frame in made.frames.items()}
    {'muenster': 4, 'marburg': 5, 'mainz': 4}
    """

    frames: dict[str, pl.DataFrame]
    study: StudyFile
    words: str


def synthetic_tables(rows: int = 1800, seed: int = 1) -> TrialTables:
    """Three hospitals that nobody was a patient of: the demonstration's data under names that mean something.

    >>> synthetic_tables(90).frames["mainz"].columns
    ['age', 'sbp', 'stroke', 'drug']
    """
    made = mixed_sites(n=rows, sites=3, seed=seed, missing=0.02, absent=ABSENT)
    frames = {site: _as_patients(frame) for site, frame in zip(SITES, made.values(), strict=True)}
    words = (
        "The data are made up: age → sbp → stroke, age → disability ← stroke, sbp → drug. "
        f"{SITES[0]} does not know drugs, {SITES[2]} no disability."
    )
    return TrialTables(frames, _study("Trial with made-up patients", STUDY, frames, tiers=TIERS), words)


def _as_patients(frame: pl.DataFrame) -> pl.DataFrame:
    # the same data but for their units: an interval scale's zero and unit change no test
    frame = frame.rename({old: new for old, new in NAMES.items() if old in frame.columns})
    changes = [(pl.col("age") * 11 + 62).round(1), (pl.col("sbp") * 14 + 138).round(0), pl.col("stroke").cast(pl.Int8)]
    if "drug" in frame.columns:
        changes.append(pl.col("drug").replace_strict(DRUGS))
    return frame.with_columns(changes)


def own_tables(file: Path) -> TrialTables:
    r"""A table of one's own, its rows dealt out in turn to three sites; each goes without another variable if there are enough of them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "own.csv"
    ...     _ = file.write_text("x,y\n" + "\n".join(f"{i}.5,{i % 7}.5" for i in range(60)))
    ...     {name: frame.shape for name, frame in own_tables(file).frames.items()}
    {'muenster': (20, 2), 'marburg': (20, 2), 'mainz': (20, 2)}
    """
    whole = load(file, "the trial").frame
    profile = profile_table(whole)
    variables = [c.name for c in profile.columns if c.usable and not {sign.code for sign in c.signs} & set(NO_VARIABLE)]
    if len(variables) < 2 or whole.height < len(SITES) * 10:
        raise OptionError(
            f"A trial needs at least two columns that can be variables, and {len(SITES) * 10} rows; {str(file)!r} has "
            f"{len(variables)} and {whole.height}."
        )
    frames = {}
    for k, site in enumerate(SITES):
        gone = [variables[k % len(variables)]] if len(variables) >= FEWEST else []
        frames[site] = whole.gather_every(len(SITES), k).drop(gone)
    lacking = " Each site goes without another variable." if len(variables) >= FEWEST else ""
    words = f"The data are yours: the rows of {file.name}, dealt out in turn.{lacking} The copies are deleted at the end."
    return TrialTables(frames, _study(f"Trial with {file.name}", _schema(profile, variables), frames), words)


def _schema(profile: TableProfile, variables: list[str]) -> Schema:
    found = []
    for name in variables:
        kind = profile[name].kind
        assert kind is not None
        found.append(Variable(name, kind, tuple(level.label for level in profile[name].levels)))
    return Schema(found)


def _study(name: str, schema: Schema, frames: dict[str, pl.DataFrame], **settings: Any) -> StudyFile:
    datasets = tuple(dict.fromkeys(tuple(sorted(set(frame.columns) & set(schema))) for frame in frames.values()))
    return StudyFile(schema, datasets=datasets, settings=settings, name=name)
