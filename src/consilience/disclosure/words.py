"""Every sentence about disclosure, from one place: the contract, the dry run, the consent and the result say the same.

Lines are plain text: names of variables, levels and sites stand in them as they are, and whoever shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consilience.data.table import Table
from consilience.disclosure.cells import TIMES
from consilience.disclosure.census import Census
from consilience.disclosure.fold import Limits
from consilience.disclosure.patterns import columns_of, patterns_of
from consilience.disclosure.resampling import LEAST, Draws
from consilience.disclosure.shield import Shielded
from consilience.disclosure.statement import Statement
from consilience.settings.choices import Cells, Dropout, Isolation, Method, SingleSite, SiteEffects
from consilience.settings.effects import effect_text
from consilience.settings.terms import Terms
from consilience.wording import counted

__all__ = ["EFFECTS_WARNING", "contract_lines", "in_words", "result_lines", "site_lines"]

MOST_LINES = 12
"""Groups of rows, levels or variable sets that are named one by one."""

SUMS = "how many they are, how many have each level, squares and products of their columns, how well models fit them"
"""What a sum over rows is."""
SOLVED = (
    "where few sites are in a sum, say two to four, how many rows each of them has, and how many have each level, can be solved for, if "
    "not which site it is: counts are whole numbers, and their squares, divided by the site's rows, are summed as well"
)
"""What adding and subtracting cannot do, and more can, whatever the isolation (tests/disclosure/test_what_remains.py)."""
EFFECTS_WARNING = (
    "For every effect the sites sum, besides what a test of the two takes: what a fitted model predicts for their rows if one variable "
    "were set to each of its values, with gradients and products; of a continuous outcome, squares of residuals times products of columns."
)
"""What an effect discloses."""
STATED = (
    "every site states to all others and to the server which variables it contributes, whether it lacks values of them, and whether it has "
    "enough rows (min_rows); it states the same in the whole study"
)
"""What everybody sees of every site where there are rules."""


def contract_lines(terms: Terms) -> list[str]:
    """What limits hold in a study, and what each of them means.

    >>> for line in contract_lines(Terms(min_cell=5))[:4:3]:
    ...     print(line)
    no sum over fewer than 2 sites, but for answers to tests that one site alone can do, and none over fewer than 10 rows
    how many sites and rows there are for a variable set is summed in any case
    """
    alone = terms.single_site is SingleSite.LOCAL and terms.min_contributors > 1
    but = ", but for answers to tests that one site alone can do," if alone else ""
    limits = (
        f"no sum over fewer than {counted(terms.min_contributors, 'site')}{but} and none over fewer than {counted(terms.min_rows, 'row')}"
    )
    told = [_alone(terms), _gone(terms), *_replicates(terms), *_effects(terms)]
    if not terms.shielded:
        return [
            limits,
            *told,
            "how many sites and rows there are for a variable set is summed in any case",
            "single rows are not protected: sums over two variable sets may differ by one row, which can be worked out (min_cell=1)",
            "small counts of levels are not protected, be they of one site or of all (min_cell=1)",
            "what can be worked out by subtracting sums may be about one site alone (isolation='aggregate')",
        ]
    return [limits, *told, *(_strict if terms.isolation is Isolation.STRICT else _aggregate)(terms), STATED, *_rest(terms)]


def _alone(terms: Terms) -> str:
    if terms.min_contributors == 1:
        return "what one site alone can test is summed like any other test"
    if terms.single_site is SingleSite.REFUSE:
        return "what one site alone can test is not answered (single_site='refuse')"
    return (
        "what one site alone can test is answered by it with a p-value of three digits, degrees of freedom and whether its models could be "
        "fitted; no statistic leaves it (single_site='local')"
    )


def _effects(terms: Terms) -> list[str]:
    """What leaves sites for effects, where a study over a network asks for some."""
    if not terms.estimates:
        return []
    asked = [effect_text(*pair) for pair in terms.estimates]
    more = f" and {len(asked) - MOST_LINES} more" if len(asked) > MOST_LINES else ""
    models = (
        "; their models are regressions, so that sums of such models are made although tests are of residuals"
        if terms.method is Method.RESIDUAL
        else ""
    )
    sets = "adjusted for sets of variables that the graphs found call for"
    return [
        f"when graphs are found, effects are estimated ({'; '.join(asked[:MOST_LINES])}{more}), {sets}, in the rounds of a test and one "
        f"more{models}",
        f"{EFFECTS_WARNING[0].lower()}{EFFECTS_WARNING[1:].rstrip('.')}; the estimates are in the result that all participants get",
    ]


def _gone(terms: Terms) -> str:
    if terms.on_dropout is Dropout.STOP:
        return "if a site is gone for good, the study stops (on_dropout='stop')"
    return "if a site is gone for good, sums are made again with the others (on_dropout='restart')"


def _replicates(terms: Terms) -> list[str]:
    """What is told of other rows than those as they are: of resampled copies, and of all sites but one."""
    lines = []
    if terms.bootstrap:
        lines.append(
            f"the same sums are made of {terms.bootstrap} resampled copies of each site's rows; which rows stand in a copy, and how often, "
            f"only the site knows (bootstrap={terms.bootstrap})"
        )
        if terms.shielded:
            lines.append(
                f"rows of levels or groups with fewer than {LEAST} rows at a site are not drawn and stand once in every copy; a copy that "
                f"breaks a limit is drawn again; and no site makes more different copies than half the rows of the rarest level or group "
                f"that it draws: from more of them rows could be solved for"
            )
    if terms.leave_one_out:
        lines.append(
            "the same sums are made without each of the sites: the difference is that site's part of every sum (leave_one_out=True)"
        )
    return lines


def _aggregate(terms: Terms) -> list[str]:
    rows = counted(max(terms.min_rows, terms.min_cell), "row")
    return [
        "how many sites and rows there are for a variable set is summed in any case",
        f"every site takes part with groups of at least {rows} that have values of the same variables; rows of smaller groups lose "
        f"values until they are like others, or are left out; a site with fewer rows sits out (min_rows)",
        _cells(terms),
        *_joint_cells(terms),
        f"by subtracting sums over different variables, sums over at least {rows} of one site alone may be worked out; every site sees "
        f"before it agrees which they are for it (isolation='aggregate')",
    ]


def _strict(terms: Terms) -> list[str]:
    least = max(2, terms.min_contributors)
    return [
        f"every site takes part with rows that have values of all variables that it contributes, at least "
        f"{max(terms.min_rows, terms.min_cell)} of them, or sits out (min_rows); it does not contribute what is the same in all of them",
        _cells(terms),
        *_joint_cells(terms),
        f"whatever can be worked out by adding and subtracting sums is about at least {least} sites together; tests, and counts of rows, "
        f"that would tell about fewer are refused (isolation='strict')",
        "a site that passes on its own numbers takes its part away: then what is left is about so many sites fewer",
    ]


def _cells(terms: Terms) -> str:
    if terms.min_cell == 1:
        return "small counts of levels at one site are not protected by a rule of their own (min_cell=1)"
    return (
        f"no count from 1 to {terms.min_cell - 1} of a level's rows at one site can be worked out: the site leaves out rows or values, so "
        f"that there is none (min_cell={terms.min_cell}; a site may ask for more)"
    )


def _joint_cells(terms: Terms) -> list[str]:
    """What holds for rows with given levels of several variables together, where there is a rule on them."""
    if terms.cells is not Cells.REFUSE:
        return []
    return [
        f"no site tells of 1 to {terms.min_cell - 1} of its rows that have given levels of two or more variables together: it stays out of "
        f"sums over variables that such rows have, or should have if two of the variables were independent, and states to all which "
        f"variables these are (cells='refuse')"
    ]


def _rest(terms: Terms) -> list[str]:
    """What no rule covers."""
    strict = terms.isolation is Isolation.STRICT
    joint = (
        "not covered: counts of rows by the levels of two or more variables together, which may be small"
        + (", over all sites of a sum" * strict)
        + "; a site may stay out of such sums for itself (cells='told')"
        if terms.cells is Cells.TOLD
        else "not covered: small counts of rows by the levels of several variables that all tables of fewer of these variables leave no "
        "other choice for"
    )
    lines = [
        joint,
        "not covered: numbers that are the same in nearly all rows, or far from all others in a few: sums over many rows tell of these few",
        "not covered: other studies of the same rows, which may leave out others and differ from this one by few rows; a site's home "
        "remembers its own studies, and names it before consent",
    ]
    lines.append(f"not covered: {SOLVED}")
    if terms.method is Method.FISHER:
        lines.append(
            "not covered: a server that lies about how many sites can do a test can have the p-value of one of them, in three digits"
        )
    if terms.method in (Method.FEDCI, Method.AUTO) or terms.estimates:  # effects are of fitted models, whatever tests are
        lines += _models(terms)
    if terms.method in (Method.RESIDUAL, Method.AUTO):
        lines += _curves(terms, strict=strict)
    return lines


def _models(terms: Terms) -> list[str]:
    """What sums of fitted models may tell."""
    ways = []
    if terms.cells is Cells.TOLD:
        ways.append("alone in having its levels of two variables")
    if terms.min_cell == 1 or terms.effects is not SiteEffects.NONE:  # with one intercept, rows with two levels are counted
        ways.append("alone, among those with its levels of two variables, in what a model does not foresee")
    alone = (
        [f"not covered: a row that is {', or '.join(ways)}; models that have both, and a number, tell of that row's number"] if ways else []
    )
    if terms.min_cell == 1:
        return [
            "not covered: where a level is a function of a number, such as an age group and age, fitted models become steps, and tell of "
            "the few rows next to them; a server that does not follow the protocol can ask for steep models of its choice (min_cell=1)",
            *alone,
        ]
    return [
        f"where a level is a function of a number, such as an age group and age, fitted models become steps, and would tell of the few "
        f"rows next to them: a site sends random numbers in place of sums that are about fewer than {terms.min_cell} of its rows, and the "
        f"model is left out (min_cell={terms.min_cell}; of a level that fewer than {3 * terms.min_cell} rows have, a third is enough)",
        f"not covered: a server that does not follow the protocol can ask for models at many points of its choice; each sum is about "
        f"{terms.min_cell} rows or more, but all of them together may tell of single ones",
        *alone,
    ]


def _curves(terms: Terms, *, strict: bool) -> list[str]:
    """What sums with curves of numbers tell, and counts of rows along them."""
    alone = "" if strict else ", which may be those of one site"
    if terms.min_cell == 1:
        return [
            f"not covered: curves of numbers rest on few rows where few lie, and products with them tell of these few{alone}",
            "not covered: how many rows of all sites together lie between given values of a number; far out there may be few",
        ]
    least = terms.min_cell
    return [
        f"curves of a number, and products of columns, are about at least {least} rows of a site, wherever they are asked to bend: a site "
        f"with fewer rows there has coarser ones, or none (min_cell={least})",
        f"how many rows of all sites together lie between given values of a number is summed; no site counts 1 to {least - 1} rows between "
        f"two of them, but counts them with their neighbours (min_cell={least})",
        "not covered: in sums with lines and curves the rows that lie farthest out count most; at a small site one of them may count for "
        "more than half",
    ]


def site_lines(shielded: Shielded, terms: Terms, min_cell: int) -> list[str]:
    """What can be worked out about one site alone, what it leaves out and what it says to everybody: read by its owner before consent.

    ``min_cell`` is the one that the table was shielded with.

    >>> import polars as pl
    >>> from consilience.data.schema import Schema
    >>> from consilience.disclosure.shield import shield
    >>> table = Table(pl.DataFrame({"A": [0.5] * 32, "B": [1] * 30 + [0] * 2}), Schema({"A": "continuous", "B": "binary"}), "muenster")
    >>> print(*site_lines(shield(table, Terms(min_cell=5), 5), Terms(min_cell=5), 5)[-3:], sep=chr(10))
    left out at this site: 2 of 32 rows; 4 values in all
    left out: 2 rows with B = 0, a level that fewer than 5 rows of a group have
    everybody in the study sees that this site contributes A, B, that no value of these is missing, and that it has at least 10 rows
    """
    ruled = min_cell > 1 or terms.isolation is Isolation.STRICT
    told = [f"everybody in the study sees {in_words(shielded.statement, terms)}"] if terms.shielded else []
    if ruled and not shielded.table.names:
        about = ["nothing about this site's rows can be worked out: what the rules leave of them is too little to take part"]
    elif terms.isolation is Isolation.STRICT:
        about = [*_about_strict(shielded.table, terms), *_about_apart(shielded, min_cell)]
    elif not ruled:
        return [
            "sums over any of this site's rows may be worked out, down to a single row, where sums over different variables differ by it "
            "(min_cell=1)",
            *_drawn(shielded, terms, min_cell),
        ]
    else:
        about = _about(shielded, terms, min_cell)
    return [*about, *_drawn(shielded, terms, min_cell), *_left_out(shielded, min_cell), *told]


def _drawn(shielded: Shielded, terms: Terms, min_cell: int) -> list[str]:
    """What of a site's rows is drawn, and what leaving it out tells."""
    lines, table = [], shielded.table
    if terms.bootstrap and table.names:
        limits = Limits(max(terms.min_rows, min_cell), min_cell) if terms.shielded or min_cell > 1 else None
        draws = Draws(table, b"", limits, fixed=shielded.cells is Cells.REFUSE)
        drawn = int(draws.drawn.sum())
        copies = (
            f"{min(terms.bootstrap, draws.distinct or terms.bootstrap)} different copies are made" if drawn else "all copies are the same"
        )
        lines.append(
            f"of this site's {counted(table.n_rows, 'row')}, {drawn} are drawn anew for each copy, and the others stand in it; {copies}"
        )
    if terms.leave_one_out:
        lines.append("sums are made without this site, too: the difference is this site's part of every sum")
    return lines


def _about_strict(table: Table, terms: Terms) -> list[str]:
    least = max(2, terms.min_contributors)
    return [
        f"nothing about this site alone can be worked out by adding and subtracting sums: what can is about at least {least} sites",
        f"this site contributes {counted(table.n_rows, 'row')} with values of {', '.join(columns_of(table))}",
        "what it costs: rows that lack a value are left out, or variables that many rows lack, and some tests are refused; the result says "
        "how many",
        f"not covered: {least - 1} or more other sites that pass on their own numbers; what is left may be sums over this site's rows",
        f"not covered: {SOLVED}",
    ]


def _about(shielded: Shielded, terms: Terms, min_cell: int) -> list[str]:
    table = shielded.table
    groups = _groups(table)
    if len(groups) == 1:
        (names, rows), *_ = groups
        lines = [
            f"sums over all {rows} rows that this site contributes may be worked out, of the variables {', '.join(names)}: {SUMS}",
            "if another site contributes exactly these variables and lacks no values either, subtracting gives sums over both together; "
            "but that site, and whoever it passes its numbers on to, can take its own part away",
            f"with that site and without it: {SOLVED}",
        ]
    else:
        named = [f"a group of {rows} rows with values of {', '.join(names)}" for names, rows in groups[:MOST_LINES]]
        more = [f"… and {counted(len(groups) - MOST_LINES, 'group')} more"] if len(groups) > MOST_LINES else []
        lines = [
            f"this site's rows lack different values, so that sums over each of {len(groups)} groups of them may be worked out: {SUMS}",
            *named,
            *more,
            f"without subtracting, too: {SOLVED}",
        ]
    if terms.on_dropout is Dropout.RESTART:
        lines.append("if this site is gone during a run, sums are made again without it, and the difference is this site's part of them")
    lines += _about_apart(shielded, min_cell)
    if shielded.cells is Cells.TOLD and any(len([name for name in names if name in table.codes]) > 1 for names, _ in groups):
        lines.append(
            f"of these rows, how many have given levels of two or more variables together may be worked out too, also if they are fewer "
            f"than {min_cell}"
        )
    least = max(terms.min_rows, min_cell)
    return [*lines, f"no part of this site's rows with fewer than {least} rows can be told apart by adding and subtracting sums"]


def _about_apart(shielded: Shielded, min_cell: int) -> list[str]:
    """What a site stays out of, so that few rows with given levels of several variables are not told of."""
    if shielded.cells is not Cells.REFUSE:
        return []
    apart = shielded.table.apart
    if apart is None:
        return [
            f"this site has no cell of 1 to {min_cell - 1} rows with given levels of several variables together, nor should it have one"
        ]
    sets = sorted((sorted(one) for one in apart.sets), key=lambda one: (len(one), one))
    named = [f"this site stays out of all sums over {_together(one)}" for one in sets[:MOST_LINES]]
    if len(sets) > MOST_LINES:
        named.append(f"… and out of those over {counted(len(sets) - MOST_LINES, 'other set')} of variables")
    if apart.most:
        named.append(f"this site stays out of all sums over more than {apart.most} discrete variables, whose cells are too many to look at")
    return [
        f"how many of its rows have given levels of several variables together is not told where they are 1 to {min_cell - 1}, or should "
        f"be fewer than {TIMES * min_cell} if two of the variables were independent:",
        *named,
    ]


def _together(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]} together"


def _groups(table: Table) -> list[tuple[tuple[str, ...], int]]:
    """Variables and rows of every group, the largest first."""
    found = patterns_of(table)
    groups = [
        (tuple(name for name, there in zip(found.columns, has, strict=True) if there), int(rows))
        for has, rows in zip(found.has.tolist(), found.rows, strict=True)
        if any(has)
    ]
    return sorted(groups, key=lambda group: (-group[1], group[0]))


def _left_out(shielded: Shielded, min_cell: int) -> list[str]:
    if not shielded.values_left_out:
        return ["no row and no value of this site is left out by these rules"]
    schema, why = shielded.table.schema, shielded.left_out
    lines = [
        f"left out at this site: {shielded.rows_left_out} of {counted(shielded.rows_before, 'row')}; "
        f"{counted(shielded.values_left_out, 'value')} in all"
    ]
    lines += [
        f"left out: {counted(level.rows, 'row')} with {level.variable} = {schema[level.variable].levels[level.code]}, a level that fewer "
        f"than {min_cell} rows of a group have"
        for level in why.levels[:MOST_LINES]
    ]
    if len(why.levels) > MOST_LINES:
        rows = sum(level.rows for level in why.levels[MOST_LINES:])
        lines.append(f"left out: {counted(rows, 'row')} with {len(why.levels) - MOST_LINES} other levels, for the same reason")
    if why.others and not shielded.table.names:
        lines.append(f"left out: {counted(why.others, 'row')} that are too few to take part")
    elif why.others:
        lines.append(f"left out: {counted(why.others, 'row')} that lack values, as too few other rows do in the same way")
    if why.hidden:
        lines.append(f"left out: {counted(why.hidden, 'value')} of rows that stay, which count as missing")
    if why.variables and shielded.table.names:
        lines.append(f"not contributed, since nothing of them is left: {', '.join(why.variables)}")
    return lines


def in_words(said: Statement, terms: Terms) -> str:
    """What a statement says of its site, as a clause.

    >>> in_words(Statement(("A", "B"), True, 10), Terms(min_cell=5))
    'that this site contributes A, B, that no value of these is missing, and that it has at least 10 rows'
    >>> in_words(Statement((), True, 0), Terms(min_cell=5))
    'that this site sits out, since it has fewer than 10 rows to contribute'
    """
    if said.rows < terms.min_rows or not said.variables:
        return f"that this site sits out, since it has fewer than {terms.min_rows} rows to contribute"
    gaps = "that no value of these is missing" if said.whole else "that some values of these are missing"
    apart = ""
    if said.apart:
        apart = f", that few rows have given levels together of {counted(len(said.apart), 'set')} of them, which are named,"
    if said.most:
        apart = f"{apart.rstrip(',')}, that it is in no sum over more than {said.most} discrete variables,"
    return (
        f"that this site contributes {', '.join(said.variables)}, {gaps}{apart}{'' if apart else ','} and that it has at least "
        f"{counted(terms.min_rows, 'row')}"
    )


def result_lines(census: Census, names: Mapping[bytes, str], refused: Sequence[tuple[str, ...]] = ()) -> list[str]:
    """What the rules did to a study, from what everybody knows: sites that sit out, levels, and tests that were refused.

    ``names`` are those of sites by fingerprint; ``refused`` the variable sets of tests that strict ruled out.

    >>> from consilience.data.schema import Schema
    >>> from consilience.disclosure.statement import Statement
    >>> schema = Schema({"A": "continuous", "B": "continuous"})
    >>> said = {b"1": Statement(("A", "B"), True, 10), b"2": Statement((), True, 0)}
    >>> result_lines(Census(said, Terms(min_cell=5), schema), {b"1": "muenster", b"2": "bonn"})[0]
    'bonn sits out: fewer than 10 rows to contribute'
    """
    terms = census.terms
    if not terms.shielded:
        return []
    gaps = " or gaps in them" if terms.isolation is Isolation.STRICT else ""
    lines = [
        f"{names.get(site, site.hex()[:8])} sits out: fewer than {terms.min_rows} rows to contribute{gaps}"
        for site in census.statements
        if census.sits_out(site)
    ]
    if terms.min_cell > 1:
        lines.append(
            f"every site leaves out rows or values with levels that fewer than {terms.min_cell} of its rows have: a level that is so rare "
            f"at every site is in no sum"
        )
    few = [one for one in refused if census.too_few_left(one)]
    lines += [*_kept_apart(census, names), *_refused(few, "cells='refuse'")]
    if terms.isolation is not Isolation.STRICT:
        return lines
    may, could = census.pairs()
    lines.append(
        f"isolation='strict': {may} of the {counted(could, 'pair')} of variables that at least {census.least} sites contribute may be "
        f"tested; {counted(len(refused) - len(few), 'test')} refused for it"
    )
    return [*lines, *_refused([one for one in refused if one not in few])]


def _refused(refused: Sequence[tuple[str, ...]], rule: str = "") -> list[str]:
    """Which tests were refused, by their variables."""
    sets = sorted({tuple(sorted(one)) for one in refused}, key=lambda one: (len(one), one))
    lines = [f"{rule}: {counted(len(refused), 'test')} refused, since too few sites stay"] if rule and refused else []
    lines += [f"refused: tests over {', '.join(one)}" for one in sets[:MOST_LINES]]
    if len(sets) > MOST_LINES:
        lines.append(f"… and over {counted(len(sets) - MOST_LINES, 'other variable set')}")
    return lines


def _kept_apart(census: Census, names: Mapping[bytes, str]) -> list[str]:
    """Which sites stay out of which sums, since few of their rows have given levels together."""
    lines = []
    for site, said in census.statements.items():
        apart = said.kept_apart(census.schema)
        if apart is None or census.sits_out(site):
            continue
        sets = sorted((sorted(one) for one in apart.sets), key=lambda one: (len(one), one))
        over = "; ".join(map(_together, sets[:3])) + (f"; and {counted(len(sets) - 3, 'other set')} of variables" if len(sets) > 3 else "")
        name = names.get(site, site.hex()[:8])
        if sets:
            lines.append(
                f"{name} stays out of sums over {over}, since few of its rows have given levels of them together, or should have "
                f"(cells='refuse')"
            )
        if apart.most:
            lines.append(
                f"{name} stays out of sums over more than {apart.most} discrete variables, whose cells are too many to look at "
                f"(cells='refuse')"
            )
    return lines
