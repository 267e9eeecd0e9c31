"""What the aggregated cross-products say: which columns are estimable, and Gaussian fits without iteration.

The Gram matrix of all columns, centred at the sites, is the design with site effects swept out. Its rank is therefore the rank of
the design minus the number of sites, and differences of ranks are degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from consilience.glm.kernel import Floats

__all__ = ["COLLINEAR", "estimable", "gaussian_loglik", "least_squares", "residual_sum"]

COLLINEAR = 1e-11
"""A column whose variance is explained by the columns before it up to this share counts as collinear.

Columns that are collinear exactly leave 1e-15 to 3e-14 by rounding (10³ to 10⁶ rows, also with strong correlations), and a column that adds
noise of 3e-6 of its standard deviation leaves 1e-11. In between there is nothing that data mean. R's ``lm`` takes 1e-7 of the norm, 1e-14
here, but works on the columns themselves: a Gram matrix has squared what they have lost.
"""


def estimable(gram: Floats, columns: Sequence[int]) -> list[int]:
    """Those of ``columns`` that are not a combination of columns before them (a sweep in the given order).

    >>> X = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -2.0, -1.0]])
    >>> estimable(X.T @ X, [0, 1, 2])
    [0, 2]
    """
    # A sweep in the given order, and neither a pivoted factorisation nor singular values. Those are more accurate, but choose their own
    # columns: both nested models must drop the same ones, or df = rank - rank would compare two different bases.
    kept: list[int] = []
    scale = np.sqrt(np.maximum(np.diag(gram), 0.0))
    inverse = np.divide(1.0, scale, out=np.zeros_like(scale), where=scale > 0)
    correlation = gram * inverse[:, None] * inverse[None, :]  # a constant column has a zero row here, and is never kept
    order = np.array(columns, dtype=np.intp)
    left = correlation[order]  # less what the kept columns explain
    for i, j in enumerate(columns):
        if left[i, j] > COLLINEAR:
            row = left[i] / np.sqrt(left[i, j])  # of the Cholesky factor
            left[i + 1 :] -= row[order[i + 1 :], None] * row
            kept.append(j)
    return kept


def residual_sum(gram: Floats, response: int, columns: Sequence[int], ridge: float = 0.0) -> float:
    """Residual sum of squares of one column regressed on others (all estimable), from the Gram matrix.

    ``ridge`` penalises slopes per standard deviation of their column, so that the result does not depend on units.

    >>> X = np.array([[1.0, 1.0], [0.0, 1.0], [-1.0, -2.0]])
    >>> round(residual_sum(X.T @ X, 1, [0]), 12)
    1.5
    """
    total = float(gram[response, response])
    if not columns or total <= 0:
        return max(total, 0.0)
    index = list(columns)
    scale = np.sqrt(gram[index, index])
    correlation = gram[np.ix_(index, index)] / np.outer(scale, scale)
    target = gram[index, response] / scale
    # explained = 2b't - b'Rb rather than b't: the same at the least-squares b, still right with a ridge, and an error in b counts squared
    slopes = np.linalg.solve(correlation + ridge * np.eye(len(index)), target)
    explained = 2.0 * float(slopes @ target) - float(slopes @ correlation @ slopes)
    return max(total - explained, 0.0)  # a perfect fit may come out at -1e-16 of the total


def least_squares(gram: Floats, response: int, columns: Sequence[int], target: Floats | None = None, ridge: float = 0.0) -> Floats:
    """The slopes of one column on others (all estimable), in their own units; or the solution for another right-hand side.

    The ridge is as above.

    >>> X = np.array([[1.0, 1.0], [0.0, 1.0], [-1.0, -2.0]])
    >>> least_squares(X.T @ X, 1, [0])
    array([1.5])
    """
    index = list(columns)
    scale = np.sqrt(gram[index, index])
    correlation = gram[np.ix_(index, index)] / np.outer(scale, scale)
    right = gram[index, response] if target is None else target
    slopes: Floats = np.linalg.solve(correlation + ridge * np.eye(len(index)), right / scale) / scale
    return slopes


def gaussian_loglik(rss: float, n: float) -> float:
    """Log-likelihood of a Gaussian model at its maximum-likelihood variance RSS/n (the paper's appendix C).

    >>> round(gaussian_loglik(2.0, 2.0), 6)
    -2.837877
    """
    return float(-0.5 * n * (np.log(2.0 * np.pi * rss / n) + 1.0))
