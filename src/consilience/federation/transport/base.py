"""The interface between the federated test and whatever carries its requests.

The test above knows :meth:`Transport.ask`, :meth:`Transport.drop` and :attr:`Transport.names`. It never sees a single site's vector: a
transport returns sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from consilience.glm.kernel import Floats
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.messages import Announced

__all__ = ["Transport"]


class Transport(ABC):
    """Carries a request to every site and returns the sum of their answers.

    ``rounds`` and ``bytes`` count what has been carried: a request to each site, a vector back from each. A site that does not
    answer is a ``ClientGoneError``; the round is then lost, and :meth:`drop` must come before the next. A site that refuses is its
    ``RefusalError``. Calls come from one thread at a time.
    """

    rounds: int = 0
    bytes: int = 0

    @abstractmethod
    def ask(self, request: AnyRequest, announced: Sequence[Announced]) -> Floats:
        """One round: the sum over sites of the answers to ``request``.

        ``announced`` are the counts of every variable set that the request sums over. Sites are told each of them once in a run.
        """

    @abstractmethod
    def drop(self, client: str) -> None:
        """Go on without a site, under fresh keys."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The sites that take part."""
