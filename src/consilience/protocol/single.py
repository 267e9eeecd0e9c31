"""All requests about rows as a site has them, a line each; what may be asked of resampled rows is the same."""

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

__all__ = ["SingleRequest"]

SingleRequest = (
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
"""What is asked of one table."""
