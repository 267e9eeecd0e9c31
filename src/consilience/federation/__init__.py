"""Federated tests: the two halves of a test, and what carries requests and sums between them.

==============  ============================================================================================
``exchange/``   the server's half: requests, sums, likelihood-ratio tests; no I/O
``site/``       the site's half: client, checks, answers, ledger
``transport/``  what lies between: in process, over connections, with a journal
``federated``   the federated test over any transport
``server``      sites in one Python program, as one test
``pooled``      all rows in one place, to compare with; ``pooled_residual`` for products of residuals
==============  ============================================================================================
"""

from consilience.federation.federated import FederatedTest
from consilience.federation.server import Server, fisher, pooled
from consilience.federation.site.client import Client

__all__ = ["Client", "FederatedTest", "Server", "fisher", "pooled"]
