"""The page on the heart study, on what may be concluded from it; sentences that depend on results are made from them."""

from __future__ import annotations

import polars as pl
from heart import LEVELS
from heart_study import SELECTION, Study
from study.edges import edge_text, edges_of
from study.effects import ruled_out
from study.sureness import sure_edges
from study.words import listed

__all__ = ["conclusions"]


def conclusions(made: Study) -> str:
    """What a clinician can and cannot conclude."""
    found = made.found
    sure = sure_edges(found, made.as_good) if made.is_resampled else []
    directed = [edge for edge in found.summary.edges() if " --> " in edge_text(edge) and edge_text(edge) in edges_of(found).values()]
    into, out = [edge.a for edge in directed if edge.b == "disease"], [edge.b for edge in directed if edge.a == "disease"]
    return f"""
**It can be concluded**, of patients like these at these hospitals in those years:

- that some pairs go together whatever else of the study is given: {listed(sure, "none that withstood all that was tried")}. Where one of
  a pair is the disease, the other says something of the vessels that nothing else in the study says.
{_more_together(made)}

**Under assumptions that no table here tests**, arrows have a meaning: that causes form no circle, that independences in the data are those
of the causes, and that decisions are right as far as they were kept. Then disease would act on {listed(out, "nothing here")}, and
{listed(into, "nothing here")} on disease. {_doubt(into)} Numbers in the table of effects are what would follow from the graphs; nobody has
seen it follow.

**It cannot be concluded:**

- **Anything about people who were not sent for angiography.** All patients here were, so all that is found is given that. Pain, exercise
  tests and risk factors lead to referral, and what leads to it is made to go together, or torn apart, among the referred. {_pain(made)}
  {_selection(made)}
- **That cholesterol does not matter, or that it does.** One hospital did not measure it, at others values are absent, and it was measured
  once, in patients who may have been treated for it. {_cholesterol(made)} That an edge is absent, or not stable, proves no absence.
- **What a treatment would do.** Nobody was treated at random. Medicines, smoking and family are not in the study.
- **How ill a patient is.** Risks in the table of effects are averages over these patients, and no score.
- **Much about women.** {_women(made)}
- **That missing values do no harm.** Those who lack them [are others](#what-hospitals-lack).
"""


def _more_together(made: Study) -> str:
    fisher, *alone = made.others
    most = max(one.rejected for one in alone)
    if made.together.rejected > max(most, fisher.rejected):
        return "- that the hospitals together see more than each of them, and more than their p-values combined."
    return "- how much the hospitals together see beyond each of them is [in a table](#against-each-hospital-alone-and-fishers-method)."


def _doubt(into: list[str]) -> str:
    if "max heart rate" not in into:
        return "Whether that is believable, physiology says, and not these data."
    return (
        "That a heart rate narrows vessels, no physiologist would say: fitness, medicines that slow the heart and the will to go on are "
        "not in the data, and decisions err. Who knows better can [say so](knowledge.md); a line of the table above does."
    )


def _pain(made: Study) -> str:
    """Diseased by kind of pain, and what that makes of an effect of disease on pain."""
    rows = pl.concat([frame.select("chest pain", "disease") for frame in made.frames.values()]).drop_nulls()
    kinds = LEVELS["chest pain"].values()
    shares = {kind: float(rows.filter(pl.col("chest pain") == kind)["disease"].mean() or 0.0) for kind in kinds}  # type: ignore[arg-type]
    told = [f"{share:.0%} of those with {kind}{'' if 'angina' in kind.split() else ' pain'}" for kind, share in shares.items()]
    told[-1] = f"{shares['asymptomatic']:.0%} of those without symptoms"
    if max(shares, key=lambda kind: shares[kind]) != "asymptomatic":
        return f"Diseased are {listed(told)}."
    effects = [one for one in made.found.effects if (one.x, one.y) == ("disease", "chest pain")]
    contrasts = [one for effect in effects for estimate in effect.estimates for one in estimate.contrasts if one.outcome == "asymptomatic"]
    seen = (
        f" So the “effect” of disease on having no symptoms in the table above, {100 * contrasts[0].estimate:+.0f} percentage points, is "
        "rather how patients were chosen than what disease does."
        if contrasts and contrasts[0].estimate > 0.0
        else ""
    )
    return (
        f"It can be seen: diseased are {listed(told)}. Outside, pain is a sign of disease; here those who have none were sent for other "
        f"reasons.{seen}"
    )


def _selection(made: Study) -> str:
    if SELECTION not in made.variants:
        return ""
    if set(made.variants[SELECTION].pags) == set(made.found.pags):
        return "A search that allows for selection has the same graphs: independences among those selected do not show it."
    return "A search that allows for selection has other graphs."


def _cholesterol(made: Study) -> str:
    if "disease" not in ruled_out(made.found.effects).get("cholesterol", []):
        return ""
    return (
        "That the graphs rule out an effect of it on disease is a warning against graphs: trials have since shown that lowering it saves "
        "lives (Scandinavian Simvastatin Survival Study 1994, *Lancet* 344:1383–1389)."
    )


def _women(made: Study) -> str:
    women = {site: int((frame["sex"] == "female").sum()) for site, frame in made.frames.items()}
    rows = sum(frame.height for frame in made.frames.values())
    least = min(women, key=lambda site: women[site])
    return f"They are {sum(women.values()) / rows:.0%} of the patients; at {least} they are {women[least]} of {made.frames[least].height}."
