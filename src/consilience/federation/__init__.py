"""Clients, the server and what carries messages between them."""

from consilience.federation.client import Client
from consilience.federation.server import Server, fisher, pooled

__all__ = ["Client", "Server", "fisher", "pooled"]
