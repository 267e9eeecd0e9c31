"""Small tables as sites, for tests of what is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from consilience.data.checking.comparing import compare
from consilience.data.checking.site import SiteFacts
from consilience.data.facts import facts_of
from consilience.data.finding import Finding
from consilience.data.infer import declare

ROWS = 200


def site(name: str, columns: dict[str, Any], levels: dict[str, list[str]] | None = None) -> SiteFacts:
    """A site with these columns."""
    frame = pl.DataFrame(columns)
    return SiteFacts(name, facts_of(frame), declare(frame, name, None, levels))


def normal(mean: float, deviation: float, seed: int, rows: int = ROWS) -> np.ndarray:
    """Numbers of a law, the same for the same seed."""
    return np.random.default_rng(seed).normal(mean, deviation, rows)


def found(code: str, *sites: SiteFacts, variables: list[str] | None = None) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in compare(sites, variables) if finding.code == code]
