"""Who holds what: rows split over sites (horizontal), variables that only some sites measure (vertical)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from consilience.errors import OptionError
from consilience.options import check_number

__all__ = ["split_rows", "split_variables"]


def split_rows(n: int, sites: int) -> tuple[int, ...]:
    """Rows over sites, as evenly as possible, the first ones taking what is left over.

    Parameters
    ----------
    n : int
        Rows, at least one for each site.
    sites : int
        How many sites.

    Returns
    -------
    tuple of int
        Rows of each site.

    Examples
    --------
    >>> split_rows(500, 3)
    (167, 167, 166)
    """
    check_number("sites", sites, least=1)
    check_number("n", n, least=sites)
    each, rest = divmod(n, sites)
    return tuple(each + (k < rest) for k in range(sites))


def split_variables(variables: Sequence[str], exclusive: Iterable[str], sites: int) -> tuple[tuple[str, ...], ...]:
    """The variables of each site: the shared ones and one of the exclusive ones, in turn.

    Parameters
    ----------
    variables : sequence of str
        All variables.
    exclusive : iterable of str
        Variables that only some sites measure: none, or at least two.
    sites : int
        How many sites, at least as many as exclusive variables.

    Returns
    -------
    tuple of tuples of str
        The variables of each site.

    Raises
    ------
    OptionError
        If an exclusive variable is unknown, alone, there twice, or without a site.

    Examples
    --------
    >>> [''.join(held) for held in split_variables("ABCDE", exclusive="AE", sites=4)]
    ['ABCD', 'BCDE', 'ABCD', 'BCDE']
    """
    alone = tuple(exclusive)
    strange = [name for name in alone if name not in variables]
    if strange:
        raise OptionError(f"Exclusive variables are some of {', '.join(variables)}; got {strange[0]!r}.")
    if len(set(alone)) != len(alone) or len(alone) == 1:
        raise OptionError(f"Two or more different variables can be exclusive to some sites; got {list(alone)}.")
    if len(alone) > sites:
        raise OptionError(f"Every exclusive variable needs a site that measures it; got {len(alone)} for {sites} sites.")
    return tuple(tuple(v for v in variables if v not in alone or v == alone[k % len(alone)]) for k in range(sites))
