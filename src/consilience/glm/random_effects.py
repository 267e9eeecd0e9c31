"""One site's answer under random site effects: its marginal log-likelihood, one term of the study's sum.

A site's intercepts are the common ones plus a draw from a normal law, which is integrated out at the site: in closed form for a Gaussian
response, by adaptive Gauss-Hermite quadrature for a logit and for proportional odds (one shift), by Laplace's approximation for a
multinomial response (a shift per logit). The common parameters are those of ``site_effects="none"`` and one standard deviation, the
last. An answer is a function of the point alone: what a site would predict for its own intercept stays there, and is not even kept.
"""

from __future__ import annotations

from consilience.glm.gaussian import Moments, gaussian_marginal
from consilience.glm.kernel import Floats, Kernel, ShiftedKernel
from consilience.glm.laplace import laplace_marginal
from consilience.glm.layout import Total
from consilience.glm.multinomial import Multinomial
from consilience.glm.quadrature import quadrature_marginal

__all__ = ["marginal"]


def marginal(kernel: Kernel | Moments, beta: Floats) -> Total:
    """The site's marginal log-likelihood at β with its score and information."""
    if isinstance(kernel, Moments):
        return gaussian_marginal(kernel, beta)
    if isinstance(kernel, ShiftedKernel):
        return quadrature_marginal(kernel, beta)
    if isinstance(kernel, Multinomial):
        return laplace_marginal(kernel, beta)
    raise TypeError(f"No marginal likelihood for {type(kernel).__name__}.")
