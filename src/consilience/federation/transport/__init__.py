"""What carries requests to the sites and brings sums back.

======== ==================================================================================================
base     the interface, and what every transport does alike: which counts the sites of a run have been told
local    sites in this process
remote   sites at the other end of connections; the connections themselves are somebody else's (``Links``)
journal  any transport, with every sum written down before it is used, so that a run can go on after a crash
======== ==================================================================================================
"""

from consilience.federation.transport.base import Stated, Transport
from consilience.federation.transport.journal import Journal, JournalEntry, Journalled, ListJournal
from consilience.federation.transport.local import LocalTransport
from consilience.federation.transport.remote import Heard, Links, Lost, RemoteTransport

__all__ = [
    "Heard",
    "Journal",
    "JournalEntry",
    "Journalled",
    "Links",
    "ListJournal",
    "LocalTransport",
    "Lost",
    "RemoteTransport",
    "Stated",
    "Transport",
]
