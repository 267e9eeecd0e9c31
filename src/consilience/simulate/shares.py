"""Shares of replications, and how sure they are."""

from __future__ import annotations

import math

__all__ = ["wilson"]


def wilson(hits: int, tries: int) -> dict[str, float]:
    """Wilson's 95% interval of a share.

    >>> {name: round(bound, 3) for name, bound in wilson(8, 10).items()}
    {'low': 0.49, 'high': 0.943}
    >>> wilson(0, 25)["low"], wilson(25, 25)["high"]
    (0.0, 1.0)
    """
    z, share = 1.959963984540054, hits / tries
    centre, half = share + z * z / (2 * tries), z * math.sqrt(share * (1 - share) / tries + z * z / (4 * tries * tries))
    scale = 1 + z * z / tries
    # of none and of all the ends are 0 and 1, which rounding would miss by a last digit: "0% (<1% to 13%)"
    return {"low": (centre - half) / scale if hits else 0.0, "high": (centre + half) / scale if hits < tries else 1.0}
