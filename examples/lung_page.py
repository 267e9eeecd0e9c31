"""The page on the lung study: `python examples/lung.py --page docs/lung.md`. Numbers and what depends on them come from the table."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars as pl
from lung import DAYS, institutions, read
from study.decisions import Answers, ask, decisions_picture, decisions_table, neutral_questions
from study.edges import diagnosis_sentence, edges_between, edges_of, edges_table, graph_picture, variants_table
from study.effects import effects_sentence, effects_table
from study.sureness import found_again, marks_sentence, resampled, stability_table, sure_edges
from study.words import Steps, anchored, counted, left_sentence, lift_time_limits, listed, table, versions_sentence

import consilience as cs
from consilience.iod.summary import percent

__all__ = ["Study", "run", "sections", "write"]

FISHER = "Fisher's method"
DISCLOSURE = "rules on disclosure as over a network (`min_cell=5`)"
ALONE = 3
"""So many of the largest institutions are looked at alone."""
ABOUT = {
    "age": "years",
    "sex": "as recorded",
    "ECOG": "what the patient can still do, by the physician: 0 is all; one patient with 3 counts as 2",
    "Karnofsky (physician)": "the same on a scale to 100, by the physician: 100 is all",
    "Karnofsky (patient)": "the same by the patient",
    "calories": "eaten at meals",
    "weight loss": "in half a year, pounds",
    "early death": f"within {DAYS} days",
}


@dataclass
class Study:
    """All that the page tells: the table, the sites, what they find together, and the same questions answered in several ways."""

    frame: pl.DataFrame
    clients: list[cs.Client]
    server: cs.Server
    found: cs.Discovery
    questions: list[cs.Question]
    seed: int
    answers: dict[str, Answers] = field(default_factory=dict)
    graphs: dict[str, cs.Discovery] = field(default_factory=dict)
    variants: dict[str, cs.Discovery] = field(default_factory=dict)

    @property
    def is_resampled(self) -> bool:
        """False where no copies were asked for."""
        return self.found.stability is not None and self.found.stability.done > 0


def run(known: cs.Knowledge, *, alpha: float, bootstrap: int, seed: int, steps: Steps, compare: bool = True) -> Study:
    """All of it. Without resampled copies, and without a comparison with what else could be done, it takes seconds."""
    frame = read()
    clients = institutions(frame, seed=seed)
    server = cs.Server(clients)
    options: dict[str, Any] = {"alpha": alpha, "knowledge": known}
    steps.step("the institutions together")
    found = cs.discover(server, **options, effects=["* -> *"], bootstrap=bootstrap, leave_one_out=bootstrap > 0, progress=steps)
    made = Study(frame, clients, server, found, neutral_questions(server.variables), seed)
    if compare:
        _compare(made, options, steps)
    return made


def _compare(made: Study, options: dict[str, Any], steps: Steps) -> None:
    """The same questions and graphs, by others and otherwise."""
    clients, alpha = made.clients, options["alpha"]
    alone = {f"{client.name} alone": cs.pooled([client], diagnostics=False) for client in clients[:ALONE]}
    tests: dict[str, cs.CITest] = {"together": cs.Server(clients, diagnostics=False), FISHER: cs.fisher(clients), **alone}
    for name, test in tests.items():
        steps.step(f"{len(made.questions):,} questions: {name}")
        made.answers[name] = ask(name, test, made.questions, alpha)
    for name in (FISHER, next(iter(alone))):
        steps.step(f"graphs: {name}")
        made.graphs[name] = cs.discover(tests[name], **options)
    ways: dict[str, dict[str, Any]] = {
        'random intercepts (`site_effects="random"`)': {"site_effects": "random"},
        "one intercept for all institutions": {"site_effects": "none"},
        'residuals where linear models do not hold (`method="auto"`)': {"method": "auto"},
        DISCLOSURE: {"min_cell": 5},
        "α = 0.01": {},
    }
    for name, how in ways.items():
        steps.step(f"otherwise: {name}")
        made.variants[name] = cs.discover(cs.Server(clients, **how), **(options | ({} if how else {"alpha": 0.01})))


def sections(made: Study) -> dict[str, str]:
    """The page, by headings."""
    return {
        "The institutions": the_study(made),
        "What is found": together(made),
        "Against one institution and Fisher's method": compared(made),
        "How stable it is": stable(made),
        "Effects, and what may be said": said(made),
        "How it was made": colophon(made),
    }


def page(made: Study) -> str:
    """The whole page."""
    intro = f"""
Where [the heart study](heart.md) has four hospitals that measure different things, this one has many small ones that measure the same:
{made.frame.height} patients with advanced lung cancer, seen at {len(made.clients)} institutions of the North Central Cancer Treatment Group
(Loprinzi et al. 1994, *Journal of Clinical Oncology* 12:601–607). The table comes with the package lifelines and says where each patient
was seen: the sites are real, and nothing was split for this page."""
    return anchored("Many small sites and the lung", intro, sections(made))


def the_study(made: Study) -> str:
    """Who, and what was measured."""
    rows = []
    for name, about in ABOUT.items():
        variable = made.server.schema[name]
        missing = made.frame[name].null_count() / made.frame.height
        rows.append([name, variable.kind.value, ", ".join(variable.levels) or "numbers", about, percent(missing)])
    sizes = sorted((client.frame.height for client in made.clients), reverse=True)
    few = sum(size < 10 for size in sizes)
    lost = made.frame["early death"].null_count()
    return f"""
{made.clients[0].name.capitalize()} has {sizes[0]} patients, the smallest {sizes[-1]}; {few} of {len(sizes)} have fewer than ten. One more
patient, whose institution is not on record, is left out. Early death is unknown for {counted(lost, "patient")} who were lost from sight
before; for a longer time it would be unknown for more.

{table(("variable", "kind", "levels", "what it is", "missing"), rows)}
Age and sex are exogenous. Tests are at α = {made.found.alpha:g}. {diagnosis_sentence(made.found, "institutions")}
"""


def together(made: Study) -> str:
    """The graphs."""
    return f"""
**{made.found.headline}**

![What the institutions find: solid lines are in all graphs, dashed in some; thick lines are found again in copies](images/lung-graph.svg)
"""


def compared(made: Study) -> str:
    """Against one institution and Fisher's method."""
    ours, *others = made.answers.values()
    fisher = made.answers[FISHER]
    lost, gained = edges_between(made.found, made.graphs[FISHER])
    alone = next(name for name in made.graphs if name != FISHER)
    missing, edges = len(edges_between(made.found, made.graphs[alone])[0]), len(edges_of(made.found))
    return f"""
Every pair given every set of at most two of the others, {len(made.questions):,} questions: asked of all institutions together, of
{FISHER} over their own tests, and of each of the {ALONE} largest alone
([what the columns are](heart.md#against-each-hospital-alone-and-fishers-method)).

{decisions_table(ours, others)}
![How each analysis decides the questions, beside all institutions together](images/lung-decisions.svg)

{FISHER} rejects {fisher.rejected} independences, the same rows together {ours.rejected}. It combines what each institution sees by
itself: a handful of patients see next to nothing, and their p-value counts all the same. The graphs:

{edges_table(made.found, made.graphs)}
{FISHER} loses {listed(lost, "no edge")} and gains {listed(gained, "none")}; {alone} lacks {missing} of {edges} edges.
"""


def stable(made: Study) -> str:
    """Copies, institutions left out, and other ways to do it."""
    otherwise = f"Done otherwise:\n\n{variants_table(made.found, made.variants)}\n{_rules(made)}"
    if not made.is_resampled:
        return f"No resampled copies were made. {otherwise}"
    stability = resampled(made.found)
    again, drawn = found_again(made.found)
    hanging, sites = stability.hanging(), len(made.clients)
    return f"""
Over {stability.done} resampled copies, {again} of {drawn} edges that most graphs have are found again in nine of ten or more. *Gone
without* counts institutions without which most graphs lack the edge ([how to read it](stability.md)).

{stability_table(made.found, [client.name for client in made.clients])}
{marks_sentence(made.found)} Without {len(hanging)} of {sites} institutions, each by itself, an edge is gone. {_suspect(made)}

{otherwise}

In all graphs, in nine of ten copies, without any one institution and in every line of the table there is
{listed(sure_edges(made.found, made.variants), "no edge")}.
"""


def _suspect(made: Study) -> str:
    """The institution that disagrees with the others, if there is one."""
    name = resampled(made.found).suspect
    if name is None:
        return "No institution is so far from the others that it is named."
    rows = next(client.frame.height for client in made.clients if client.name == name)
    return f"The one that says something else than the others is {name}, which has {counted(rows, 'patient')}."


def _rules(made: Study) -> str:
    """What the rules of a network cost."""
    strict = made.variants[DISCLOSURE]
    out = [words for words in strict.settings.get("withheld", ()) if "sits out" in words]
    most, of = strict.tests["n"].max(), made.found.tests["n"].max()
    return (
        f"With the [rules](disclosure.md) that hold over a network, {len(out)} of {len(made.clients)} institutions sit out, since sums "
        f"over so few rows would tell of patients, and the largest test has {most} rows instead of {of}. So small sites had better be "
        "joined into larger ones by whoever may see their rows, before a study begins."
    )


def said(made: Study) -> str:
    """Effects, and what they are worth."""
    return f"""
{effects_sentence(made.found)} With a number, where a graph gives one (in bold what its interval tells apart from nothing):

{effects_table(made.found)}
That two scales of one thing go together is a check, and no discovery: a physician who writes down ECOG and Karnofsky has one judgement,
and neither score causes the other. “Cause” is no word for two readings of one thing, whatever an arrow or a row of the table says. Patients
were well enough to answer a questionnaire; those who were lost from sight early are in no test of death; stage and treatment are not in
the table. So nothing here is an effect that a clinician could use. What may be said is which pairs go together whatever else of the table
is given, and how sure that is; the institutions found it without showing a row.
"""


def colophon(made: Study) -> str:
    """Command, versions, seed."""
    copies = 0 if made.found.stability is None else made.found.stability.asked
    return f"""
<!-- run by tests/iod/test_lung.py -->
```sh
python examples/lung.py --page docs/lung.md --alpha {made.found.alpha:g} --bootstrap {copies} --seed {made.seed}
```

It takes about five minutes on one core. {versions_sentence(made.found, made.seed, {"lifelines (its table)": version("lifelines")})}
{left_sentence(made.found, "institution")}
"""


def write(out: Path, known: cs.Knowledge, *, alpha: float, bootstrap: int, seed: int) -> None:
    """Run the study, draw the pictures, write the page."""
    lift_time_limits()
    steps = Steps()
    made = run(known, alpha=alpha, bootstrap=bootstrap, seed=seed, steps=steps)
    images = out.parent / "images"
    graph_picture(made.found, images / "lung-graph.svg", "What eighteen institutions have in common")
    together_, *others = made.answers.values()
    decisions_picture(together_, others, images / "lung-decisions.svg")
    out.write_text(page(made), encoding="utf-8")
    steps.end(f"written to {out}, pictures to {images}")
