"""A box in the way of a site: it relays the server's handshake, then speaks as the server, with sites of its own making as the others."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from websockets.exceptions import ConnectionClosed

from consilience.data.schema import Schema
from consilience.federation import Client
from consilience.federation.site.half import SiteHalf
from consilience.protocol.framing import decode as read
from consilience.protocol.framing import encode, frames
from consilience.protocol.handshake import Proposal, Welcome, from_site
from consilience.protocol.messages import Announced, Answer, Entered, KeyAsk, KeyOffer, KeySet, Round, RoundRequest
from consilience.protocol.products import Products
from consilience.protocol.states import SiteState, Standing
from consilience.protocol.survey import Survey
from consilience.secagg import RingVector, Roster, decode, total
from consilience.service.contract import Contract, Member
from consilience.service.settings import specs_of
from consilience.settings import NetworkSettings
from tests.system.wire import Wire, connect, listening

RUN = b"a run of the box"
SET = ("A", "C")


def sybils(schema: Schema, n: int = 2, rows: int = 20) -> list[Client]:
    """Sites that nobody has: the box knows their rows, and so their part of every sum."""
    draw = np.random.default_rng(1)
    levels = list(schema["C"].levels)
    frame = pl.DataFrame({"A": draw.normal(size=rows), "C": [levels[i % len(levels)] for i in range(rows)]})
    return [Client(f"sybil{i}", frame, kinds={"C": schema["C"].kind.value}) for i in range(n)]


class Box:
    """Relays a site's hello and the server's challenge; with ``whole`` the proof and what the server says to it as well.

    Then it proposes a contract of its own, and takes the site's part out of two sums. ``recovered`` is what it has learnt: the site's rows,
    and how many of them have each level of C.
    """

    def __init__(self, study: str, site: str, identity: bytes, schema: Schema, upstream: str, *, whole: bool) -> None:
        self.study, self.site, self.schema, self.upstream, self.whole = study, site, schema, upstream, whole
        self.others = sybils(schema)
        members = [Member(site, identity), *(Member(c.name, c.identity.public_bytes) for c in self.others)]
        self.contract = Contract(study, "trial", specs_of(schema), (SET,), NetworkSettings(), tuple(members))
        self.welcomes = 0
        self.recovered: dict[str, Any] | None = None
        self.refused: Exception | None = None

    def handle(self, near: Wire) -> None:
        """One connection of the site."""
        with suppress(ConnectionClosed), self._server() as far:
            far.send(near.recv())
            near.send(far.recv())
            proof = near.recv()
            if self.whole:
                far.send(proof)
                try:
                    near.send(far.recv())
                except ConnectionClosed as error:  # as the server ends it, so it ends for the site
                    near.close(error.rcvd.code if error.rcvd else 1011, "no")
                    return
                self.welcomes += 1
            else:
                self._say(near, Welcome(self.site, self.study, "trial", "running"))
            self._speak(near)

    def _server(self) -> Wire:
        url, context = f"{self.upstream}/api/v1/studies/{self.study}/site", None
        if url.startswith("wss"):
            context = ssl.create_default_context()
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        return connect(url, context)

    def _say(self, near: Wire, message: Any) -> None:
        for frame in frames(encode(message)):
            near.send(frame)

    def _ask(self, near: Wire, message: Any, wanted: type) -> Any:
        self._say(near, message)
        reply = read(near.recv(30)[1:], from_site)
        assert isinstance(reply, wanted), reply
        return reply

    def _speak(self, near: Wire) -> None:
        self._say(near, Proposal(self.contract.encoded()))
        near.recv(30)  # the consent
        halves: list[SiteHalf] = [
            c.join(self.study, self.schema, self.contract.terms, self.contract.fingerprints.values(), state=SiteState(Standing.CONSENTED))
            for c in self.others
        ]
        keys = [self._ask(near, KeyAsk(RUN), KeyOffer), *(half.respond(KeyAsk(RUN)) for half in halves)]
        self._ask(near, KeySet(RUN, tuple(keys)), Entered)
        for half in halves:
            half.respond(KeySet(RUN, tuple(keys)))
        roster = Roster(RUN, [key.signed().fingerprint for key in keys]).digest
        known = sum(c.frame.height for c in self.others)
        rows = round(float(self._sum(near, halves, RoundRequest(RUN, 0, roster, Survey((SET,))))[1])) - known
        told = (Announced(SET, len(keys), rows + known),)
        request = RoundRequest(RUN, 1, roster, Products((SET,), {"A": 0}), told)
        levels = self._sum(near, halves, request)[1 : 1 + len(self.schema["C"].levels)]
        own = sum(np.array([(c.frame["C"] == level).sum() for level in self.schema["C"].levels]) for c in self.others)
        self.recovered = {"rows": rows, "levels": np.rint(levels - own).astype(int).tolist()}

    def _sum(self, near: Wire, halves: Sequence[SiteHalf], request: RoundRequest) -> Any:
        answers = [self._ask(near, Round(request), Answer), *(half.respond(Round(request)) for half in halves)]
        return decode(total(RingVector.from_bytes(answer.data) for answer in answers))


@contextmanager
def standing(box: Box, folder: Path, certificate: str, key: str) -> Iterator[int]:
    """The box at work, with a certificate; its port."""
    (folder / "box.crt").write_text(certificate)
    (folder / "box.key").write_text(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "box.crt", folder / "box.key")
    with listening(box.handle, context) as port:
        yield port
