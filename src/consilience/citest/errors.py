"""Questions that have no meaning."""

from __future__ import annotations

from consilience.errors import QuestionError

__all__ = ["ConditioningError", "SameVariableError"]


class SameVariableError(QuestionError):
    """X and Y are one variable."""


class ConditioningError(QuestionError):
    """X or Y is in its own conditioning set, or a variable is there twice."""
