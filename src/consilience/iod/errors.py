"""Answers that no decision can rest on."""

from __future__ import annotations

from consilience.errors import ConsilienceError

__all__ = ["PValueError"]


class PValueError(ConsilienceError):
    """A CI test answered with something that is no p-value."""
