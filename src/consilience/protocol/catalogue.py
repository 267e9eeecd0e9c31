"""All requests: those about one table, and bundles of them. What is not in here cannot be asked."""

from __future__ import annotations

from consilience.protocol.resampled import Resampled
from consilience.protocol.single import SingleRequest

__all__ = ["AnyRequest"]

AnyRequest = SingleRequest | Resampled
"""What a message may carry: the decoder picks the class by its tag, and refuses every other tag."""
