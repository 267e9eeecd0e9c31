"""What the attacks of a dishonest server have in common."""

from __future__ import annotations

from typing import Any

import msgspec

from consilience.citest.requests import LocalTests, Locate, Products, Survey
from consilience.federation.terms import Method
from consilience.glm.layout import SiteEffects

change = msgspec.structs.replace
SURVEY = Survey((("A", "B"),))
PRODUCTS = Products((("A", "B"),), {})


def terms_of(body: Any) -> dict[str, Any]:
    """Terms on which such a request is made."""
    if isinstance(body, LocalTests):
        return {"method": Method.FISHER}
    located = isinstance(body, Locate) or getattr(body, "locations", None) is not None
    return {"effects": SiteEffects.NONE} if located else {}
