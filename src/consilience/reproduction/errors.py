"""Results that do not belong to the study."""

from __future__ import annotations

from consilience.errors import ConsilienceError

__all__ = ["ForeignResultsError"]


class ForeignResultsError(ConsilienceError, ValueError):
    """A folder holds the results of another study, or of other code."""
