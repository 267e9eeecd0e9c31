"""The version of the protocol: what one side says, the other understands if theirs is the same."""

from __future__ import annotations

__all__ = ["VERSION"]

VERSION = 4
"""Raised when a message, the length of an answer or the meaning of a number in it changes."""
