"""All requests, a line each. What is not in here cannot be asked."""

from __future__ import annotations

from consilience.protocol.diagnose import Diagnose
from consilience.protocol.evaluate import Evaluate
from consilience.protocol.grid import Grid
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.mean_products import MeanProducts
from consilience.protocol.place import Place
from consilience.protocol.products import Products
from consilience.protocol.refit import Refit
from consilience.protocol.residual_products import ResidualProducts
from consilience.protocol.standardise import Standardise
from consilience.protocol.survey import Survey

__all__ = ["AnyRequest"]

AnyRequest = (
    Survey  # first of all: who can contribute
    | Locate
    | Products
    | Refit  # where cross-products have lost digits
    | Evaluate
    | Diagnose
    | Standardise  # effects, at fitted models
    | LocalTests
    | Place  # and so on: tests of residuals
    | Grid
    | MeanProducts
    | ResidualProducts
)
"""What a message may carry: the decoder picks the class by its tag, and refuses every other tag."""
