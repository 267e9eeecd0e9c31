"""Clients, the server and what carries messages between them."""

from consilience.federation.client import Client
from consilience.federation.federated import FederatedTest
from consilience.federation.server import Server, fisher, pooled

__all__ = ["Client", "FederatedTest", "Server", "fisher", "pooled"]
