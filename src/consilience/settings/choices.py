"""Choices."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Dropout", "Method", "SingleSite"]


class Dropout(StrEnum):
    """What happens when a site vanishes: the batch restarts with the others, or the run stops."""

    RESTART = "restart"
    STOP = "stop"


class Method(StrEnum):
    """How sites are brought together: common models from sums, or combined p-values."""

    FEDCI = "fedci"
    FISHER = "fisher"


class SingleSite(StrEnum):
    """What happens to a test that exactly one site can do."""

    LOCAL = "local"
    REFUSE = "refuse"
