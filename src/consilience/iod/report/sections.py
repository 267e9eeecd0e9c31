"""The sections of the page that are words and small tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from consilience.iod.evidence import Decision, Source
from consilience.iod.headline import Ended, all_agree, condition, ended
from consilience.iod.report.effects import effect_in_short
from consilience.iod.report.how_sure import sure_in_short
from consilience.iod.report.html import Html, el, join, label, labels, listed
from consilience.iod.report.linear import sentence
from consilience.iod.report.sentences import certain, edges_in_words
from consilience.iod.report.tables import Column, ci_table, decision_counts, table
from consilience.iod.wording import counted, format_weight
from consilience.settings.choices import Resolve

if TYPE_CHECKING:  # a Discovery writes itself with these modules
    from consilience.iod.discovery import Discovery

__all__ = ["about_tests", "conflicts", "data_sets", "disclosed", "knowledge", "overview", "settings", "tests"]

MOST_SENTENCES, MOST_EFFECTS = 40, 5
MOST_MISSING = 200
"""Questions that are listed; the result as JSON has all of them."""


def overview(found: Discovery) -> Html:
    """The result in words and in a few figures."""
    variables = {name for held in found.datasets for name in held}
    n = len(found.pags)
    figures = [(f"{n:,}{'' if found.complete or not n else '+'}", "graph" if n == 1 and found.complete else "graphs")]
    if n and "unknown" not in found.summary.frame["edge"]:
        every = found.summary.frame["edge"].to_list().count("all")
        figures.append((f"{every:,}", "edge in all of them" if every == 1 else "edges in all of them"))
    for count, noun in ((len(found.datasets), "data set"), (len(variables), "variable"), (found.tests.height, "test")):
        figures.append((f"{count:,}", noun if count == 1 else f"{noun}s"))
    facts = el("ul", *(el("li", el("strong", figure), " ", words) for figure, words in figures), class_="figures")
    parts = [el("p", el("strong", found.headline), " ", edges_in_words(found), class_="lead"), facts]
    sentences = certain(found)
    if sentences:
        parts += [el("h3", f"What follows, {condition(found)}"), listed(sentences[:MOST_SENTENCES])]
    if len(sentences) > MOST_SENTENCES:
        parts.append(el("p", f"The summary has {len(sentences) - MOST_SENTENCES} more.", class_="cut"))
    if found.stability is not None:
        parts.append(
            el("p", el("strong", "How sure: "), sure_in_short(found.stability), " ", el("a", "More on how sure", href="#sure"), ".")
        )
    if found.effects:
        parts.append(_effects(found))
    if found.conflicts or found.overruled:
        words = "Which decisions were overruled, and why: " if found.overruled else "Which decisions cannot hold together: "
        parts.append(el("p", words, el("a", "Conflicts and what was overruled", href="#conflicts"), "."))
    parts.append(el("p", "New to these graphs? ", el("a", "How to read this page", href="#reading"), "."))
    return join(parts)


def _effects(found: Discovery) -> Html:
    """Some of the effects that were asked for, in few words: those with a number first."""
    numbers_first = sorted(found.effects, key=lambda one: not one.ranges)
    told = [join([label(one.x), " → ", label(one.y), ": ", effect_in_short(one), "."]) for one in numbers_first[:MOST_EFFECTS]]
    more = len(found.effects) - len(told)
    told += [join([el("a", f"{counted(more, 'more effect')}", href="#effects"), "."])] if more > 0 else []
    return join([el("h3", "What would change"), listed(told)])


def data_sets(found: Discovery) -> Html:
    """Which data set has which variable."""
    names = sorted({name for held in found.datasets for name in held})
    held_or_not = {True: _cell("●", "yes"), False: _cell("·", "no")}
    rows = []
    for name in names:
        has = [name in held for held in found.datasets]
        cells = (held_or_not[one] for one in has)
        rows.append(el("tr", el("th", label(name), scope="row"), *cells, el("td", str(sum(has)), class_="number")))
    columns = [Column("variable"), *(Column(f"set {number}") for number in range(1, len(found.datasets) + 1)), Column("in", number=True)]
    never = _never_together(found, names)
    text = f"{counted(len(found.datasets), 'data set')} with {counted(len(names), 'variable')} in all."
    if never:
        text += f" {counted(never, 'pair')} of variables {'is' if never == 1 else 'are'} in no data set together: no test has seen both."
    return join([el("p", text), table(columns, rows, caption="Who has what", sortable=False, name="matrix")])


def _cell(sign: str, words: str) -> Html:
    return el("td", el("span", sign, aria_hidden="true"), el("span", words, class_="unseen"), class_=words)


def _never_together(found: Discovery, names: Sequence[str]) -> int:
    together = {(x, y) for held in found.datasets for x in held for y in held if x < y}
    return len(names) * (len(names) - 1) // 2 - len(together)


def conflicts(found: Discovery) -> Html:
    """Decisions that cannot hold together, and those that were given up, with the stronger ones each clashes with."""
    parts: list[Html] = []
    if found.conflicts:
        known = any(decision.kind is Source.KNOWLEDGE for decision in found.conflicts)
        wrong = "At least one of them is wrong" + (", or what is known is." if known else ".")
        parts += [
            el("p", f"These cannot hold together; without any one of them, the others can. {wrong}"),
            _decisions(found.conflicts),
        ]
    if found.overruled:
        parts += [el("h3", "Overruled"), el("p", _why_overruled(found)), _overruled(found)]
    elif found.conflicts and not found.pags:
        parts.append(el("p", "With ", el("code", 'resolve="auto"'), " the strongest decisions are kept, and graphs are found for these."))
    if not parts:
        if all_agree(found):
            words = "None: some graph agrees with all decisions."
        elif ended(found) is Ended.NOTHING and not found.pags:
            words = "None was found, though no graph agrees with everything: there was no time to look for the reason."
        else:
            words = "None was found in the time; there may be some."
        parts.append(el("p", words))
    return join(parts)


def _why_overruled(found: Discovery) -> str:
    if found.resolution.how is Resolve.OPTIMAL and found.resolution.proved:
        return "Given up, by all graphs or by some: of all ways to make the other decisions agree, these cost the least evidence."
    if found.resolution.how is Resolve.OPTIMAL:
        return "Given up, by all graphs or by some. There was no time to prove that this is the least."
    return (
        "Decisions were considered in the order of their weight, and each was kept if some graph agrees with it and with all kept "
        "before. These were not. None was tested again: it gave way to stronger evidence, which may be wrong as well."
    )


def _overruled(found: Discovery) -> Html:
    """What gave way, how much it weighs, and to what."""
    rows = []
    for decision in found.overruled:
        stronger = found.resolution.reasons.get(decision, ())
        weight = "–" if decision.weight is None else format_weight(decision.weight)
        cells = (
            el("td", decision.text),
            el("td", weight, class_="number", data_value=decision.weight),
            el("td", listed(one.text for one in stronger) if stronger else "–"),
        )
        rows.append(el("tr", *cells))
    columns = [Column("decision"), Column("weight", number=True), Column("cannot hold together with")]
    return table(columns, rows, caption=f"{counted(len(rows), 'decision')} overruled", name="overruled")


def _decisions(decisions: Iterable[Decision]) -> Html:
    return listed(
        join([decision.text, None if decision.weight is None else el("span", f" weight {decision.weight:.3g}", class_="score")])
        for decision in decisions
    )


def knowledge(found: Discovery) -> Html:
    """What was known before."""
    lines = [] if found.knowledge is None else found.knowledge.lines()
    if not lines:
        return el("p", "None was given.")
    where = (
        "The graphs over all variables obey it, and have the marks that follow from it. Those of each data set alone know nothing of it."
    )
    return join([listed(lines), el("p", where)])


def tests(found: Discovery) -> Html:
    """All CI tests."""
    return join([about_tests(found), ci_table(found)])


def about_tests(found: Discovery) -> Html:
    """How many tests there are, what they decide, and what was never asked."""
    words = ", ".join(f"{count:,} {decision}" for decision, count in decision_counts(found).items() if count)
    text = (
        f"{counted(found.tests.height, 'test')}: {words or 'none'}. A pair is taken as independent, given other variables, where the "
        f"p-value is above α = {found.alpha:g}. A test that the data cannot answer is uninformative; it counts neither way."
    )
    return join([el("p", text), el("p", sentence(found)), _missing(found)])


def _missing(found: Discovery) -> Html | None:
    """What the search needed and nobody had asked."""
    count = found.missing.height
    if not count:
        return None
    rows = [
        join([label(x), " ⫫ ", label(y), join([" | ", labels(given)]) if given else None])
        for x, y, given in found.missing.head(MOST_MISSING).iter_rows()
    ]
    words = f"{counted(count, 'question')} that this result needs {'was' if count == 1 else 'were'} never asked"
    cut = "" if count <= MOST_MISSING else f"; the first {MOST_MISSING}"
    return el("details", el("summary", f"{words}: unknown, not independent{cut}"), listed(rows, class_="columns"))


def disclosed(found: Discovery) -> Html:
    """What left each site."""
    if found.disclosed is None:
        return el("p", "The test kept no ledger: its data were in one place, or it asked a known graph.")
    numeric = [dtype.is_numeric() for dtype in found.disclosed.dtypes]
    rows = []
    for row in found.disclosed.iter_rows():
        cells = (
            el("td", f"{value:,}", class_="number", data_value=value) if number and value is not None else el("td", str(value or "–"))
            for value, number in zip(row, numeric, strict=True)
        )
        rows.append(el("tr", *cells))
    columns = [Column(name, number=number) for name, number in zip(found.disclosed.columns, numeric, strict=True)]
    text = (
        "Rows never leave a site; sums over rows do. Where they are masked, only their total over all sites can be read. "
        "Each site's ledger has every message in words."
    )
    lines = found.settings.get("withheld", ())
    told = [el("p", "What the study's rules on disclosure kept out of its sums:"), listed(lines)] if lines else []
    return join([el("p", text), *told, table(columns, rows, caption="Totals from the sites' ledgers", name="ledgers")])


def settings(found: Discovery) -> Html:
    """How it was done, and with which software."""
    options: dict[str, object] = {
        "engine": found.engine,
        "variant": found.variant,
        "alpha": found.alpha,
        "resolve": found.resolve,
        "max_given": "no limit" if found.max_given is None else found.max_given,
        "selection_bias": found.selection_bias,
    }
    # what was withheld stands where what left is told
    options |= {name: value for name, value in found.settings.items() if name not in (*options, "withheld")}
    options |= {"candidates": found.candidates}
    seconds = {name: f"{value:.2f}" for name, value in found.timings.items()}
    parts = (_pairs("Settings", options), _pairs("Versions", found.versions), _pairs("Seconds", seconds))
    return el("div", *parts, class_="pairs")


def _pairs(caption: str, values: Mapping[str, object]) -> Html | None:
    if not values:
        return None
    rows = [el("tr", el("th", name, scope="row"), el("td", _plain(value))) for name, value in values.items()]
    return table([Column("name"), Column("value")], rows, caption=caption, sortable=False)


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int):
        return f"{value:,}"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple | set | frozenset) else str(value)
