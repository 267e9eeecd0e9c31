"""Numbers in words, for the sentences about a result."""

from __future__ import annotations

__all__ = ["counted", "format_p", "format_weight"]


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number of things.

    >>> counted(1, "graph"), counted(1200, "graph"), counted(0, "entry", "entries")
    ('1 graph', '1,200 graphs', '0 entries')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def format_p(p: float) -> str:
    """A p-value for people.

    >>> format_p(0.03379), format_p(0.000012), format_p(1e-30), format_p(1.0)
    ('0.034', '1.2 × 10⁻⁵', '< 10⁻¹⁵', '1')
    """
    if p < 1e-15:
        return "< 10⁻¹⁵"
    if p >= 0.9995:
        return "1" if p == 1.0 else "> 0.999"
    if p >= 0.00095:
        return f"{p:.3f}"
    digits, power = f"{p:.1e}".split("e-")
    return f"{digits} × 10⁻{''.join('⁰¹²³⁴⁵⁶⁷⁸⁹'[int(d)] for d in power.lstrip('0'))}"


def format_weight(weight: float) -> str:
    """The weight of decisions for people.

    >>> format_weight(0.183), format_weight(31.42), format_weight(61234.5)
    ('0.183', '31.4', '61,234')
    """
    return f"{weight:.3g}" if weight < 1000 else f"{weight:,.0f}"
