"""Statements that are none."""

from __future__ import annotations

from consilience.errors import ProtocolError

__all__ = ["StatementError"]


class StatementError(ProtocolError):
    """Bytes that are not the statement of a site of this study."""
