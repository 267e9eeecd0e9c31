"""Gaussian fits whose residual sum of squares is lost as a difference of cross-products: summed directly, at slopes that are sent.

TSS - explained has an error of some 1e-16 TSS, more where slopes are large because columns are nearly collinear. Where little is left of
TSS, that error is what is left. Residuals at given slopes have all their digits; slopes that are a little off cost their error squared, and
X'r says by how much, so that one round is enough and two are rare.
"""

from __future__ import annotations

import numpy as np

from consilience.data.design import ModelSpec
from consilience.federation.exchange.likelihood import Sketch, gaussian_fit
from consilience.federation.exchange.sums import Sums
from consilience.glm.gram import least_squares
from consilience.glm.kernel import Floats
from consilience.glm.solver import Fit
from consilience.protocol.products import ProductsTotal
from consilience.protocol.refit import LineSums

__all__ = ["Refinement", "worn"]

DIGIT = 1e-15
"""Rounding of a cross-product over a million rows, as a share of it."""
HARMLESS = 1e-8
"""An error of a statistic below this is left: it is a hundredth of what any two ways to compute one differ by."""
ENOUGH = 1e-4
"""A step that still takes more than this share from the residual sum of squares is followed by another round."""
NEAR = 2.0**-26
"""How far from the best slopes a fit asks after a site was lost, as a share: never at the same point as before."""
EXACT_RESIDUALS = 1e-24
"""Residuals of which this share of the total is left are rounding of the numbers themselves: the response is a function of the others."""


def worn(model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> bool:
    """True if the residual sum of squares of a Gaussian model, as a difference, may be off by more than a statistic can bear."""
    if shape.shape is not None or not shape.varies or shape.rank == 0 or sums.options.ridge > 0.0:
        return False
    columns, response = _places(model, shape, found)
    total = float(found.gram[response, response])
    slopes = least_squares(found.gram, response, columns)
    scale = np.sqrt(found.gram[columns, columns] / total)
    rss = max(total - float(slopes @ found.gram[columns, response]), DIGIT * total)
    return DIGIT * (1.0 + float(np.sum((slopes * scale) ** 2))) * found.n * total / rss > HARMLESS


class Refinement:
    """One model's slopes, round by round: send :attr:`slopes`, :meth:`tell` the sums, until :attr:`fit` is there."""

    def __init__(self, model: ModelSpec, shape: Sketch, found: ProductsTotal, sums: Sums) -> None:
        self._columns, self._response = _places(model, shape, found)
        self._model, self._found, self._sums, self._rounds = model, found, sums, 0
        self.slopes: Floats = least_squares(found.gram, self._response, self._columns)
        if sums.restarted:
            self.slopes = self.slopes * (1.0 + NEAR * sums.options.n_sites)
        self.fit: Fit | None = None

    def tell(self, sums: LineSums) -> None:
        """Take the sums at :attr:`slopes`; the best slopes are one step away."""
        n = max(self._found.n, 1.0)
        about_mean = sums.total**2 / n  # zero but for common locations, where the intercept is here
        squares = sums.squares - about_mean
        products = sums.products - sums.columns * (sums.total / n)
        gram = self._found.gram
        total = float(gram[self._response, self._response])
        # as a difference from the intercept's part, an exact fit leaves the rounding of that part, of either sign
        exact = max(EXACT_RESIDUALS, DIGIT * about_mean / total)
        step = least_squares(gram, self._response, self._columns, products)
        gain = float(products @ step)
        self._rounds += 1
        if gain > ENOUGH * squares and self._rounds < 4 and squares > exact * total:
            self.slopes = self.slopes + step
            return
        self.fit = gaussian_fit(self._model, self._found, max(squares - gain, 0.0), self._sums, exact)


def _places(model: ModelSpec, shape: Sketch, found: ProductsTotal) -> tuple[list[int], int]:
    positions = [i for name in model.predictors for i in found.columns[name]]
    (response,) = found.columns[model.response]
    return [positions[j] for j in shape.keep], response
