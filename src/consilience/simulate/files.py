"""A simulation as files: one CSV per site, a study file, and the truth, for trying things out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from consilience.settings.studyfile import write_study
from consilience.simulate.sites import Simulation

__all__ = ["write_files"]


def write_files(made: Simulation, folder: Path) -> list[Path]:
    """Write ``site1.csv`` …, ``study.toml``, ``truth.json`` and ``truth.svg``.

    Parameters
    ----------
    made : Simulation
        What to write.
    folder : Path
        Where; it is made if it is not there.

    Returns
    -------
    list of Path
        What was written, the study file first.

    Examples
    --------
    >>> import tempfile
    >>> from consilience.simulate.sites import from_graph
    >>> made = from_graph("A --> B", n=20, sites=2, seed=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_files(made, Path(folder))]
    ['study.toml', 'site1.csv', 'site2.csv', 'truth.json', 'truth.svg']
    """
    folder.mkdir(parents=True, exist_ok=True)
    study, truth, drawing = (folder / name for name in ("study.toml", "truth.json", "truth.svg"))
    files = {name: f"{name}.csv" for name in made.frames}
    for name, frame in made.frames.items():
        frame.write_csv(folder / files[name])
    datasets = tuple(dict.fromkeys(tuple(sorted(frame.columns)) for frame in made.frames.values()))
    comment = "A synthetic study. What it was made from is in truth.json."
    write_study(study, made.schema, files, comment, name="synthetic study", datasets=datasets)
    truth.write_text(json.dumps(_truth(made), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    drawing.write_text(made.pag.to_svg(title="The PAG that the data were made from"), encoding="utf-8")
    return [study, *(folder / file for file in files.values()), truth, drawing]


def _truth(made: Simulation) -> dict[str, Any]:
    """Graphs as text and coefficients as lists: a row per level of the parent, a column per linear predictor of the child."""
    model = made.model
    return {
        "pag": str(made.pag),
        "mag": str(made.mag),
        "dag": str(model.dag),
        "datasets": {name: list(frame.columns) for name, frame in made.frames.items()},
        "coefficients": {
            child: {parent: weights.tolist() for parent, weights in parents.items()}
            for child, parents in model.coefficients.items()
            if parents
        },
        "site_effects": {child: weights.tolist() for child, weights in model.shifts.items()},
    }
