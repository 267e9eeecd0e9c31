"""Answers that no decision can rest on, and nobody to ask."""

from __future__ import annotations

from consilience.errors import ConsilienceError, StudyError

__all__ = ["NobodyToAskError", "PValueError"]


class PValueError(ConsilienceError):
    """A CI test answered with something that is no p-value."""


class NobodyToAskError(StudyError):
    """A result that was stored, or whose test knows no sums, is asked for a number that only sites can tell."""
