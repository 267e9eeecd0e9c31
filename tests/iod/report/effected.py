"""A discovery with effects that were asked for: a number, zero and what cannot be told, over two or more graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from consilience.citest.effect import Contrast, Estimate
from consilience.iod import Discovery
from consilience.iod.effects import Effects, GraphEffect
from tests.iod.report.sized import sized

__all__ = ["CONTINUOUS", "HIDDEN", "RISK", "effected", "effects"]

RISK = Estimate(
    "smoker",
    "ill",
    ("age",),
    900,
    3,
    (Contrast("risk difference", 0.1, 0.02, 0.06, 0.14, "yes", "no", "1", 0.3, 0.2),),
    variance="model",
)
CONTINUOUS = Estimate(
    "age", "pressure", (), 1000, 2, (Contrast("mean difference", 4.0, 1.0, 2.0, 6.0),), 1e-4, 12.0, "years", "mmHg", "robust"
)
ZERO = GraphEffect("zero", words="smoker is no possible cause of ill: the effect is zero.")
HIDDEN = GraphEffect(
    "hidden cause", words="The effect of smoker on ill is not identifiable by adjustment: the edge smoker o-> ill leaves it open."
)
ADJUSTED = GraphEffect("adjusted", (("age",),), ("age",))


def effects(*graphs: GraphEffect, **changes: Any) -> Effects:
    """Of smoking on illness; by default one graph gives a number, one says zero and one leaves it open."""
    given = graphs or (ADJUSTED, ZERO, HIDDEN, HIDDEN)
    estimates = (RISK,) if ADJUSTED in given else ()
    return replace(Effects("smoker", "ill", given, estimates, listed=len(given)), **changes)


def effected(*told: Effects) -> Discovery:
    """The discovery of ``sized`` with these effects."""
    pressure = Effects("age", "pressure", (GraphEffect("adjusted", ((),), ()),), (CONTINUOUS,), listed=1)
    return replace(sized(), effects=told or (effects(), pressure))
