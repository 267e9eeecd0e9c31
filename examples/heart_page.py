"""The page on the heart study: `python examples/heart.py FOLDER --page docs/heart.md`.

Numbers, tables and pictures come from the files in the folder, and so do the sentences that depend on them. On the data: `heart_data.py`;
on what may be concluded: `heart_conclusions.py`.
"""

from __future__ import annotations

import math
from pathlib import Path

from heart import NAMES, measured
from heart_conclusions import conclusions
from heart_data import differing, lacking, the_study
from heart_study import FISHER, Study, run
from study.decisions import decisions_picture, decisions_table
from study.edges import edges_between, edges_of, edges_table, graph_picture, variants_table
from study.effects import effects_sentence, effects_table, ruled_out, untold
from study.sureness import found_again, marks_sentence, resampled, sites_table, stability_picture, stability_table, sure_edges
from study.words import Steps, anchored, counted, left_sentence, lift_time_limits, listed, p_text, table, upper, versions_sentence

import consilience as cs
from consilience.iod.evidence import Source

__all__ = ["page", "sections", "write"]


def sections(made: Study) -> dict[str, str]:
    """The page, by headings."""
    return {
        "In short": in_short(made),
        "The study": the_study(made),
        "What hospitals lack": lacking(made),
        "How hospitals differ": differing(made),
        "What is found together": together(made),
        "Against each hospital alone and Fisher's method": compared(made),
        "How stable it is": stable(made),
        "Which effects follow": effects(made),
        "What a clinician can and cannot conclude": conclusions(made),
        "How it was made": colophon(made),
    }


def page(made: Study) -> str:
    """The whole page."""
    rows = sum(frame.height for frame in made.frames.values())
    intro = f"""
A real study, from its files to what may be said of it: the UCI Heart Disease data, {rows} patients of four hospitals on two continents,
whose rows stay where they are. A script writes this page from the files in a folder, with its numbers, tables and pictures and the
sentences that depend on them: [the command](#how-it-was-made). A shorter one on many small sites: [the lung study](lung.md)."""
    return anchored("Four hospitals and the heart", intro, sections(made))


def in_short(made: Study) -> str:
    """What came out, in a few sentences."""
    found, fisher = made.found, made.others[0]
    have_all = [site for site, frame in made.frames.items() if len(measured(frame)) == len(NAMES)]
    measures = "measures" if len(have_all) < 2 else "measure"
    best = max(made.others[1:], key=lambda one: one.rejected)
    lines = [
        f"{len(NAMES)} variables are studied; {listed(have_all, 'no hospital')} {measures} all of them.",
        found.headline,
        f"Of {len(made.questions):,} questions, asked in every way, the hospitals together reject {made.together.rejected} independences. "
        f"{FISHER} rejects {fisher.rejected} and misses {fisher.against(made.together)['missed']} of those; {best.name}, "
        f"the most that one hospital finds, rejects {best.rejected}.",
    ]
    if made.is_resampled:
        again, drawn = found_again(found)
        lines.append(
            f"Of {drawn} edges that most graphs have, {again} are found again in nine of ten or more of {resampled(found).done} resampled "
            f"copies; {counted(len(sure_edges(found, made.as_good)), 'edge')} withstood all that was tried."
        )
    lines += [effects_sentence(found), "All of it is about patients who were sent for angiography in the 1980s, and no advice for anybody."]
    return "\n".join(f"- {line}" for line in lines)


def together(made: Study) -> str:
    """The graphs of all hospitals together."""
    return f"""
**{made.found.headline}** [What that means](reading.md).

![What four hospitals find: solid lines are in all graphs, dashed in some; thick lines are found again in copies](images/heart-graph.svg)

[How to read the marks](pags.md). A thick line is found again in resampled data, a thin one mostly is not
([how stable it is](#how-stable-it-is)).

{_overruled(made.found)}
"""


def _overruled(found: cs.Discovery) -> str:
    """What gave way: by number, and each dependence that the graphs deny."""
    if not found.overruled:
        return ""
    denied = [one for one in found.overruled if one.kind in (Source.ADJACENCY, Source.CONNECTION)]
    others = len(found.overruled) - len(denied)
    gave_way = f"{upper(counted(others, 'independence'))} and {counted(len(denied), 'dependence')} gave way to stronger decisions."
    if not denied:
        return f"{gave_way} Not to reject is never strong evidence."
    lines = [
        f"- {one.x} and {one.y}: p = {p_text(one.p_value or 0.0)} where it is weakest, given {listed(one.given, 'nothing')}"
        for one in denied
    ]
    return "\n".join([f"{gave_way} Not to reject is never strong evidence. What the graphs deny although the data show it:", "", *lines])


def compared(made: Study) -> str:
    """Against each hospital alone and against Fisher's method."""
    asked, ours, fisher = len(made.questions), made.together, made.others[0].against(made.together)
    lost, gained = edges_between(made.found, made.graphs[FISHER])
    lacks = [
        f"{site} alone lacks {len(edges_between(made.found, found)[0])} of {_could_have(made.found, found)}"
        for site, found in made.graphs.items()
        if site != FISHER
    ]
    return f"""
Every pair, given every set of at most two of the others: {asked:,} questions, which no analysis has chosen. *Together* is the federated
test, *Fisher's method* combines the p-values of the hospitals' own tests, and a hospital *alone* has its own rows. *Misses* counts
independences that are rejected together and not here, *adds* those that are rejected here and not together.

{decisions_table(ours, made.others)}
![How each analysis decides the questions, beside all hospitals together](images/heart-decisions.svg)

The same rows in one place, with the hospital as a factor, decide {made.pooled.alike(ours):,} of {asked:,} questions alike, and where two
hospitals or more measure the variables, p-values differ by less than {_difference(made)} of themselves. {FISHER} misses
{fisher["missed"]} dependences and adds {fisher["added"]}: it asks whether *some* hospital sees something, knows no direction on which
hospitals could agree, and each hospital that sees nothing makes the others count for less.

The graphs, each from its own tests. *Yes*: in all of them; otherwise the share of them that have the edge.

{edges_table(made.found, made.graphs)}
Of edges that more than half of the graphs have, {FISHER} loses {listed(lost, "none")} and gains {listed(gained, "none")}.
Of those between variables that it measures, {listed(lacks)}.
"""


def _could_have(ours: cs.Discovery, other: cs.Discovery) -> int:
    """How many of our edges are between variables that the other analysis knows."""
    return sum(ends <= set(other.summary.labels) for ends in edges_of(ours))


def _difference(made: Study) -> str:
    """The power of ten above all differences of federated from pooled p-values. One hospital alone tells three digits only: left out."""
    several = [made.sites_with((q.x, q.y, *q.given)) > 1 for q in made.questions]
    pairs = zip(made.together.p_values, made.pooled.p_values, several, strict=True)
    most = max((abs(a - b) / b for a, b, together_ in pairs if a and b and together_), default=0.0)
    return f"1e{math.ceil(math.log10(most))}" if most else "1e-15"


def stable(made: Study) -> str:
    """Copies, hospitals left out, and other ways to do it."""
    otherwise = f"""
**Done otherwise.** The same files, with one thing changed; in italics what is known to be worse, to see what it does. Edges are those that
more than half of the graphs have.

{variants_table(made.found, made.variants)}"""
    if not made.is_resampled:
        return f"No resampled copies were made.\n{otherwise}"
    stability, hospitals = resampled(made.found), list(made.frames)
    assert stability.sites is not None
    influence = dict(stability.sites.select("site", "influence").iter_rows())
    most = max(hospitals, key=lambda site: influence[site] or 0.0)
    named = f"{stability.suspect} is to be looked at" if stability.suspect else "none is so far from the others that it is named"
    cut = f" (in {stability.cut} of them the list of graphs was cut short)" if stability.cut else ""
    return f"""
**Other patients of the same hospitals.** The search was repeated in {stability.done} resampled copies of each hospital's rows{cut}. *In
copies* is the share of the edge over them; that of each mark at an end is in percent, and the three add up to it. *Gone without* names
hospitals without which most graphs lack the edge. [How far shares can be trusted](stability.md#are-shares-right).

{stability_table(made.found, hospitals)}
![How often each edge is found again in resampled copies](images/heart-stability.svg)

{marks_sentence(made.found)}

**Without each hospital.** *Influence* is about 1 where hospitals are alike, and larger the more the one that is left out differs from the
others ([how](stability.md#without-each-site)).

{sites_table(stability, hospitals, "hospital")}
{most} has the most, {influence[most] or 0.0:.1f}; {named}.
{otherwise}
In all graphs, in nine of ten copies, without any one hospital and in every line that is not in italics there is
{listed(sure_edges(made.found, made.as_good), "no edge")}.
"""


def effects(made: Study) -> str:
    """What the graphs identify, what not, and what they rule out."""
    found = made.found
    cannot = [[upper(why), "; ".join(which)] for why, which in untold(found.effects).items()]
    zero = [[x, ", ".join(ys)] for x, ys in ruled_out(found.effects).items()]
    return f"""
What would change if something were *set*, by each graph of the list ([how effects are estimated](effects.md)). {effects_sentence(found)}

A row says by how much an outcome would change if a variable were set to one value rather than another. It holds if the graph does, which
rests on {found.tests.height} tests, and on {counted(len(found.overruled), "decision")} being wrong. In bold what the interval tells apart
from nothing. That the graph may be wrong is in no interval: its [directions](#how-stable-it-is) are less sure than its edges.

{effects_table(found)}
**What cannot be told.** These are associations, and must not be called effects. What stands in the way, in most of the graphs:

{table(("what stands in the way", "no effect can be told of"), cannot)}
That age and sex are exogenous decided which graphs there are. That nothing hidden acts on them is in no mark of a graph, and so is not
used to identify their effects.

**What the graphs rule out.** No graph of the list has a way from the one to the other:

{table(("setting", "changes nothing of"), zero)}"""


def colophon(made: Study) -> str:
    """Command, versions, seed."""
    copies = 0 if made.found.stability is None else made.found.stability.asked
    return f"""
<!-- run by tests/iod/test_heart.py -->
```sh
python examples/heart.py FOLDER --page docs/heart.md --alpha {made.found.alpha:g} --bootstrap {copies} --seed {made.seed}
```

`FOLDER` has the four files, which are not part of the project; `examples/heart.py` says what they look like. It takes about ten minutes
on one core, and says meanwhile what it does. {versions_sentence(made.found, made.seed)} {left_sentence(made.found, "hospital")} Where the
files are at hand, tests hold the tables of this page against what the script makes.
"""


def write(folder: Path, out: Path, known: cs.Knowledge, *, alpha: float, bootstrap: int, seed: int) -> None:
    """Run the study, draw the pictures, write the page."""
    lift_time_limits()
    steps = Steps()
    made = run(folder, known, alpha=alpha, bootstrap=bootstrap, seed=seed, steps=steps)
    images = out.parent / "images"
    graph_picture(made.found, images / "heart-graph.svg", "What four hospitals have in common")
    decisions_picture(made.together, made.others, images / "heart-decisions.svg")
    if made.is_resampled:
        stability_picture(made.found, images / "heart-stability.svg")
    out.write_text(page(made), encoding="utf-8")
    steps.end(f"written to {out}, pictures to {images}")
