"""Settings that are one of a few words. Two of them, ``SiteEffects`` and ``Ordinal``, are properties of the models and stand there."""

from __future__ import annotations

from enum import StrEnum

from consilience.glm.layout import Ordinal, SiteEffects

__all__ = [
    "Alternatives",
    "Batching",
    "Cells",
    "Dropout",
    "Engine",
    "Isolation",
    "Method",
    "Ordinal",
    "Resolve",
    "SingleSite",
    "SiteEffects",
    "Variant",
]


class Method(StrEnum):
    """How sites are brought together: nested models from sums, combined p-values, or products of residuals.

    ``AUTO`` takes nested models where they hold, and products of residuals where they do not.
    """

    FEDCI = "fedci"
    FISHER = "fisher"
    RESIDUAL = "residual"
    AUTO = "auto"


class Alternatives(StrEnum):
    """What a test of residuals looks for: covariance, or any smooth dependence."""

    LINEAR = "linear"
    SMOOTH = "smooth"


class SingleSite(StrEnum):
    """What happens to a test that exactly one site can do."""

    LOCAL = "local"
    REFUSE = "refuse"


class Dropout(StrEnum):
    """What happens when a site vanishes: the batch restarts with the others, or the run stops."""

    RESTART = "restart"
    STOP = "stop"


class Isolation(StrEnum):
    """What may be derivable of one site alone: sums over many of its rows, which its owner has read of, or nothing."""

    AGGREGATE = "aggregate"
    STRICT = "strict"


class Cells(StrEnum):
    """Rows that have given levels of several variables together, where they are few: their owner is told of them, or they are in no sum."""

    TOLD = "told"
    REFUSE = "refuse"


class Engine(StrEnum):
    """How graphs are found."""

    EXACT = "exact"
    IOD = "iod"


class Resolve(StrEnum):
    """What to do about decisions that contradict each other: no graph, the strongest first, or those that overrule the least in all.

    ``AUTO`` is strict where the decisions agree, and strongest first where they do not.
    """

    AUTO = "auto"
    STRICT = "strict"
    STRONGEST = "strongest"
    OPTIMAL = "optimal"


class Variant(StrEnum):
    """Which local marks the union graph of the published algorithm takes over."""

    ORIGINAL = "original"
    COLLIDERS = "colliders"
    TRIPLES = "triples"


class Batching(StrEnum):
    """Which tests go out together: those of one level of the search, or all that any level could need."""

    LEVELS = "levels"
    ALL = "all"
