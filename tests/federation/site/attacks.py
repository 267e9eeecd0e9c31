"""What the attacks of a dishonest server have in common."""

from __future__ import annotations

from typing import Any

import msgspec

from consilience.glm.layout import SiteEffects
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from consilience.settings.choices import Method

change = msgspec.structs.replace
SURVEY = Survey((("A", "B"),))
PRODUCTS = Products((("A", "B"),), {})


def terms_of(body: Any) -> dict[str, Any]:
    """Terms on which such a request is made."""
    if isinstance(body, LocalTests):
        return {"method": Method.FISHER}
    located = isinstance(body, Locate) or getattr(body, "locations", None) is not None
    return {"effects": SiteEffects.NONE} if located else {}
