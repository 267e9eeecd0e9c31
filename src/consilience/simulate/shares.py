"""Shares of replications, and how sure they are."""

from __future__ import annotations

import math

__all__ = ["wilson"]


def wilson(hits: int, tries: int) -> dict[str, float]:
    """Wilson's 95% interval of a share.

    >>> {name: round(bound, 3) for name, bound in wilson(8, 10).items()}
    {'low': 0.49, 'high': 0.943}
    """
    z, share = 1.959963984540054, hits / tries
    centre, half = share + z * z / (2 * tries), z * math.sqrt(share * (1 - share) / tries + z * z / (4 * tries * tries))
    scale = 1 + z * z / tries
    return {"low": max(0.0, (centre - half) / scale), "high": min(1.0, (centre + half) / scale)}
