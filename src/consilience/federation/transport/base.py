"""The interface between the federated test and whatever carries its requests, and the contract that comes with it.

The test above knows :meth:`Transport.ask`, :meth:`Transport.drop` and :attr:`Transport.names`. It never sees a single site's vector: a
transport returns sums. Every transport passes the suite in ``tests/federation/transport/conformance.py``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from consilience.glm.kernel import Floats
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.messages import Announced

__all__ = ["Fingerprints", "Stated", "Transport"]


Fingerprints = Mapping[str, bytes]


class Stated(NamedTuple):
    """What a site states of itself, signed with its key for a run: its name, its fingerprint, its statement as bytes."""

    name: str
    site: bytes
    statement: bytes


class Transport(ABC):
    """Carries a request to every site and returns the sum of their answers.

    **All or nothing.** A round is answered by every site of :attr:`names`, or it has no result: no sum over some of them is ever returned.
    A site's own answer is not kept once it is summed, and none is shown to the caller.

    **Errors.** A site that does not answer, and is not coming back, is a ``ClientGoneError`` with its name; the round is lost, and
    :meth:`drop` of that site must come before the next :meth:`ask`. A site that refuses is its ``RefusalError`` (or the error of key
    exchange or ring that it stands for), under the same name in process and over a network; the other sites may have answered by then,
    and the study cannot go on with the same request. What came over a connection and is not in order is a ``ProtocolError``. Any other
    exception is a defect. After an error no answer to the lost round is outstanding: it cannot be mistaken for one to the next.

    **Runs.** Keys are exchanged when the first request is asked or the sites' statements are, which travel with the keys and cost no round,
    and again whenever the set of sites changes or a connection was lost.
    Within a run the numbers of rounds increase, and each announced count is told once; a new run tells them anew. The same request asked
    again after a loss gets the same sum to the last bit, under other masks.

    **Concurrency.** Calls come from one thread at a time; a transport need not lock. :attr:`names`, :attr:`rounds` and :attr:`bytes` may
    be read from any thread, and are never behind the last call that returned.

    **Cancellation.** There is no cancel: a call that must not wait any longer is ended from below, by whoever owns the connections, who
    makes it raise. Whatever it raises, what the transport knows is as after an error, and the caller may go on or give up.

    **Closing.** A transport owns nothing that needs closing: neither sockets nor threads nor files. Who made the connections or the
    journal closes them, after the last call has returned. A transport that is dropped half-way leaves the sites in a run that nobody
    asks anything of; they begin the next one when they are asked for keys.
    """

    rounds: int = 0
    """Rounds asked so far, those without a result included."""
    bytes: int = 0
    """Bytes that a network has carried, or would have: a request to each site, a vector back from each."""

    @abstractmethod
    def ask(self, request: AnyRequest, announced: Sequence[Announced]) -> Floats:
        """One round: the sum over sites of the answers to ``request``.

        Parameters
        ----------
        request
            What every site is asked.
        announced
            The counts of every variable set that the request sums over. Sites are told each of them once in a run.

        Returns
        -------
        numpy.ndarray
            The sum, of ``request.length(schema)`` numbers.

        Raises
        ------
        ClientGoneError
            A site does not answer any more.
        RefusalError, SecureAggregationError
            A site refuses; its words are in the message.
        ProtocolError
            What a site sent is not in order.
        """

    def statements(self) -> tuple[Stated, ...]:
        """What each of :attr:`names` states of itself; keys are exchanged first if no run is under way. The same in a whole study.

        Returns
        -------
        tuple of Stated
            None at all from a transport that has no statements, where a study has no rules that need them.

        Raises
        ------
        ClientGoneError
            A site is not there.
        """
        return ()

    @abstractmethod
    def drop(self, client: str) -> None:
        """Go on without a site, under fresh keys. Nothing is sent; the next :meth:`ask` begins a new run with the others.

        Parameters
        ----------
        client
            One of :attr:`names`.
        """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The sites that take part, in an order that does not change within a run."""

    @property
    def fingerprints(self) -> Fingerprints:
        """The fingerprints of those sites, by name: how requests name a site. None from a transport whose sites have no identities."""
        return {}
