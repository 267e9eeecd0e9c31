"""What looks wrong between clients: facts are compared, and where tables may be copies, their rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

from consilience.data.checking.comparing import compare
from consilience.data.checking.sharing import twice
from consilience.data.checking.site import SiteFacts
from consilience.data.finding import Finding
from consilience.federation.site.client import Client

__all__ = ["across", "same_rows"]

SHARE = 0.5
"""Of the smaller table's rows: with more of them in another table, value for value, it is no chance."""
LEAST_CELLS = 3
"""Columns that two tables must share before equal rows say anything, one of them with many values."""
LEAST_VALUES = 20


def across(
    clients: Sequence[Client], variables: Collection[str] | None = None, known: Collection[Finding] = (), measured: Collection[str] = ()
) -> list[Finding]:
    """What looks wrong between clients, the gravest first; by the facts that they have, so it takes no time.

    Parameters
    ----------
    clients : sequence of Client
    variables : collection of str, optional
        The variables in use. By default all.
    known : collection of Finding, optional
        What was said before: a value in every row that looks like a code is not said twice.
    measured : collection of str, optional
        Variables whose unit the study declares.

    Returns
    -------
    list of Finding

    Examples
    --------
    >>> import polars as pl
    >>> a = Client("a", pl.DataFrame({"Age": [61.5, 70.1, 55.2]}))
    >>> b = Client("b", pl.DataFrame({"age": [60.5, 71.1, 54.2]}))
    >>> [finding.code for finding in across([a, b])]
    ['names', 'unshared', 'unshared']
    """
    said = {(f.columns, f.sites) for f in known}
    sites = [SiteFacts(c.name, c.facts, c.declarations, c.min_cell) for c in clients]
    found = (f for f in compare(sites, variables) if f.code != "constant-code" or (f.columns, f.sites) not in said)
    return [f for f in found if f.code != "units" or not _settled(f, clients, measured)]


def _settled(finding: Finding, clients: Sequence[Client], measured: Collection[str]) -> bool:
    """Whether sites say their units, so that tables are brought to one, or refused.

    A site that says none has the study's, if the study has one.
    """
    said = {client.name: client.plan.units for client in clients}
    silent = [site for site in finding.sites for name in finding.columns if name not in said[site]]
    return not silent or (len(silent) < len(finding.sites) and set(finding.columns) <= set(measured))


def same_rows(clients: Sequence[Client]) -> list[Finding]:
    """Pairs of clients of which one has many of the other's rows: a table under two names, or a part of one.

    Parameters
    ----------
    clients : sequence of Client

    Returns
    -------
    list of Finding

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"x": [i / 7 for i in range(50)], "y": list(range(50)), "z": [i % 3 for i in range(50)]})
    >>> [finding.code for finding in same_rows([Client("a", frame), Client("b", frame.reverse())])]
    ['same-rows']
    """
    return [finding for one, other in combinations(clients, 2) if (finding := _copies(one, other)) is not None]


def _copies(one: Client, other: Client) -> Finding | None:
    shared = [name for name in one.facts if name in other.facts and one.frame[name].dtype == other.frame[name].dtype]
    rich = any(min(one.facts[name].distinct, other.facts[name].distinct) >= LEAST_VALUES for name in shared)
    if len(shared) < LEAST_CELLS or not rich:
        return None
    small, large = sorted((one, other), key=lambda client: client.frame.height)
    few, many = (client.frame.select(shared).hash_rows(seed=1).unique() for client in (small, large))
    # rows that differ among themselves: of rows that repeat within one table, equal ones elsewhere say little
    both = few.is_in(many.implode()).sum()
    if both < LEAST_VALUES or both < SHARE * small.frame.height:
        return None
    equal = small.frame.height == large.frame.height and both == len(few) == len(many)
    rows = small.frame.height if equal else int(both)
    return twice(one.name, other.name, rows, small.frame.height)
