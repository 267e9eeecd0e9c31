"""The page on the heart study, on its data: what they are, what hospitals lack, how hospitals differ."""

from __future__ import annotations

import polars as pl
from heart import LACKS, NAMES, measured
from heart_study import Study
from study.edges import diagnosis_sentence, pair_text
from study.words import listed, p_text, table

from consilience.iod.summary import percent

__all__ = ["differing", "lacking", "the_study"]

OTHERS = {"trestbps": "resting pressure", "fbs": "fasting sugar", "restecg": "resting ECG", "slope": "ST slope", "ca": "vessels"}
"""Columns of the files that the study does not use."""
ABOUT = {
    "age": "years",
    "sex": "as recorded",
    "chest pain": "what the patient reports",
    "cholesterol": "in serum, mg/dl",
    "max heart rate": "reached in the exercise test, beats a minute",
    "exercise angina": "1 if the exercise test brought on angina",
    "ST depression": "in the exercise test against rest, mm",
    "thallium scan": "how blood reaches the heart muscle",
    "disease": "1 if a major vessel is narrowed by more than half, by angiography",
}
SHOWN = {"chest pain": "asymptomatic", "thallium scan": "reversible defect", "sex": "male"}
"""Of variables with levels, the one whose share is told."""
FEW_MISSING = 10
"""Missing values of a variable at a hospital from which on it is told who has them."""


def the_study(made: Study) -> str:
    """Who, what, and how it was read."""
    rows = []
    for column, name in NAMES.items():
        variable = made.server.schema[name]
        rows.append([name, f"`{column}`", variable.kind.value, ", ".join(variable.levels) or "numbers", ABOUT[name]])
    who = ", ".join(f"{name} {frame.height}" for name, frame in made.frames.items())
    return f"""
Patients who underwent coronary angiography in the 1980s: at the Cleveland Clinic Foundation and the V.A. Medical Center in Long Beach
(principal investigator of both: Robert Detrano), the Hungarian Institute of Cardiology in Budapest (Andras Janosi), and the University
Hospitals of Zurich (William Steinbrunn) and Basel (Matthias Pfisterer), which have one file together
([UCI Heart Disease](https://doi.org/10.24432/C52P4X); Detrano et al. 1989, *American Journal of Cardiology* 64:304–310). Rows: {who}.

Of the fourteen columns of the files {len(NAMES)} are used: who the patient is, what the exercise test and the scan show, cholesterol, and
the diagnosis. The choice is ours: more variables make graphs that no page can show, and other variables make other graphs. Some were
tried before this page was written; one such choice is [below](#how-stable-it-is).

{table(("variable", "column", "kind", "levels", "what it is"), rows)}
Disease is 1 for every degree of narrowing that the files tell apart, since Budapest has two degrees only. Age and sex are
[exogenous](knowledge.md): nothing in the study causes them, and nothing hidden causes one of them and something else. Tests are at
α = {made.found.alpha:g}.
"""


def lacking(made: Study) -> str:
    """Missing values, by column and hospital; and whose they are."""
    rows = []
    for name in (*NAMES.values(), *OTHERS):
        shares = [frame[name].null_count() / frame.height for frame in made.frames.values()]
        cells = [f"**{percent(share)}**" if share > LACKS else percent(share) for share in shares]
        rows.append([OTHERS.get(name, name), *cells, "yes" if name in NAMES.values() else "no"])
    absent = {site: [name for name in NAMES.values() if name not in measured(frame)] for site, frame in made.frames.items()}
    lacks = listed([f"{listed(names)} at {site}" for site, names in absent.items() if names], "nothing")
    only = [pair_text(pair) for pair in made.at_one_alone()]
    alone = f" The pair {listed(only)} is measured at one hospital alone." if len(only) == 1 else ""
    alone = f" One hospital alone measures {listed(only)}." if len(only) > 1 else alone
    sizes = made.found.tests["n"]
    quotes = "\n>\n".join(f"> {words}" for words in made.doubts)
    return f"""
The share of missing values. In bold where it is more than {LACKS:.0%}: the hospital then counts as one that does not measure the variable.

{table(("column", *made.frames, "used"), rows)}
So what is not measured is {lacks}.{alone} A test is over the rows that have all of its variables, at the hospitals that measure them: here
over {sizes.min()} to {sizes.max()} rows, {sizes.median():.0f} in the median.

**Zeros that are no values.** {_zero_counts(made)} Nobody has no cholesterol in the blood: it was not measured. Of files with these zeros
the program says, before anything runs:

{quotes}

Here they are missing values. What they would have done:

{_zeros_table(made)}
{_zeros_sentence(made)}

**Who is missing.** Tests leave out rows that lack a value. That is right if values are missing by chance, or for reasons that a test
conditions on. Each hospital can look at its own:

{_missing_table(made)}
{_missing_sentence(made)} What is found of such a variable is found among those in whom it was measured.
"""


def _zero_counts(made: Study) -> str:
    absent = {site: frame["cholesterol"].null_count() for site, frame in made.frames.items()}
    told = [f"{n} of {made.frames[site].height} patients at {site}" for site, n in absent.items() if n]
    return f"Cholesterol is absent, or 0, in the files of {listed(told)}." if told else "Cholesterol is there for every patient."


def _zeros_table(made: Study) -> str:
    rows = []
    for how, result in made.zeros.items():
        size = result.size
        told = "" if size is None else f"{size.estimate:+.2f} ({size.low:+.2f} to {size.high:+.2f})".replace("-", "−")
        rows.append([how, f"{result.n}", p_text(result.p_value), told])
    return table(("zeros are taken", "rows", "p of cholesterol ⫫ disease", "cholesterol of the diseased against others, in SD"), rows)


def _zeros_sentence(made: Study) -> str:
    estimates = [result.size.estimate for result in made.zeros.values() if result.size is not None]
    if estimates and min(estimates) < 0.0 < max(estimates):
        return "A code for “missing” turns the association round."
    return "The sign is the same each time, the size is not."


def _missing(made: Study) -> list[tuple[str, str, int, float, float]]:
    """By hospital and variable: how many values are missing, the share of diseased among them, and among the others."""
    found = []
    for site, frame in made.frames.items():
        for name in measured(frame):
            gone = frame[name].is_null()
            if name != "disease" and gone.sum() >= FEW_MISSING:
                found.append((site, name, int(gone.sum()), _mean(frame.filter(gone)["disease"]), _mean(frame.filter(~gone)["disease"])))
    return found


def _missing_table(made: Study) -> str:
    rows = [[who, what, f"{n}", f"{gone:.0%}", f"{there:.0%}"] for who, what, n, gone, there in _missing(made)]
    return table(("hospital", "variable", "missing", "diseased where it is missing", "diseased where it is measured"), rows)


def _missing_sentence(made: Study) -> str:
    apart = [(abs(gone - there), who, what) for who, what, _, gone, there in _missing(made)]
    if not apart:
        return f"No variable that a hospital measures lacks {FEW_MISSING} values or more."
    most, who, what = max(apart)
    return f"The two shares differ by up to {100 * most:.0f} percentage points ({what} at {who})."


def _mean(column: pl.Series) -> float:
    return float(column.mean() or 0.0)  # type: ignore[arg-type]


def differing(made: Study) -> str:
    """Means and shares by hospital, and what an intercept for each hospital does."""
    rows = [["patients", *(f"{frame.height}" for frame in made.frames.values())]]
    for name in NAMES.values():
        title = f"{name} = {SHOWN[name]}" if name in SHOWN else name
        rows.append([title, *(_described(frame, name) for frame in made.frames.values())])
    own = made.together
    how = made.one_intercept.against(own)
    return f"""
Means with standard deviations, and shares, as each hospital could tell them of itself:

{table(("variable", *made.frames), rows)}
Where one hospital's patients are older *and* sicker than another's, age and disease go together over both, even if they do so at neither.
So every model has an intercept for each hospital, which never leaves it and is [profiled out](statistics.md#site-effects): patients are
compared with patients of the same hospital. Of {len(made.questions):,} questions (every pair, given at most two others) that rejects
{own.rejected}. One intercept for all rejects {how["added"]} others, which differences between hospitals make, and misses
{how["missed"]}, which they hide.
{_unconditional(made)}
An intercept lets hospitals differ in level, not in how variables go together. {diagnosis_sentence(made.found, "hospitals")} So all of it
was [done otherwise](#how-stable-it-is), too.
"""


def _unconditional(made: Study) -> str:
    """Pairs that are decided otherwise with one intercept, given nothing."""
    answers = zip(made.questions, made.together.p_values, made.one_intercept.p_values, strict=True)
    alpha, pairs = made.found.alpha, [(q, own, one) for q, own, one in answers if not q.given and own is not None and one is not None]
    rows = [[f"{q.x} and {q.y}", p_text(own), p_text(one)] for q, own, one in pairs if (own <= alpha) != (one <= alpha)]
    if not rows:
        return ""
    head = ("pair", "p with an intercept for each hospital", "p with one for all")
    return f"Of the {len(pairs)} pairs, given nothing, {len(rows)} are decided otherwise:\n\n{table(head, rows)}"


def _described(frame: pl.DataFrame, name: str) -> str:
    if name not in measured(frame):
        return ""
    column = frame[name].drop_nulls()
    if name in SHOWN:
        return f"{_mean(column == SHOWN[name]):.0%}"
    if column.dtype == pl.Boolean:
        return f"{_mean(column):.0%}"
    return f"{_mean(column):.1f} ({float(column.std() or 0.0):.1f})"  # type: ignore[arg-type]
