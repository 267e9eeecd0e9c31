"""How requests reach the sites and sums come back.

The test above knows one method, :meth:`Transport.ask`. It never sees a single site's vector: a transport returns sums.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import msgspec

from consilience.citest.requests import Request
from consilience.federation.client import Client
from consilience.glm.kernel import Floats

__all__ = ["LocalTransport", "Transport"]

_encoder = msgspec.msgpack.Encoder()


class Transport(ABC):
    """Carries a request to every site and returns the sum of their answers.

    ``rounds`` and ``bytes`` count what has been carried: a request to each site, a vector back from each.
    """

    rounds: int = 0
    bytes: int = 0

    @abstractmethod
    def ask(self, request: Request) -> Floats:
        """One round: the sum over sites of the answers to ``request``."""


class LocalTransport(Transport):
    """Sites in this process. What a network would carry is counted as if there were one."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self.clients = clients

    def ask(self, request: Request) -> Floats:
        self.rounds += 1
        self.bytes += len(self.clients) * len(_encoder.encode(request))
        total = self.clients[0].answer(request, 0)
        self.bytes += total.nbytes
        for site, client in enumerate(self.clients[1:], start=1):
            vector = client.answer(request, site)
            self.bytes += vector.nbytes
            total = total + vector
        return total
