"""Bytes that are no messages: they end a connection, and nothing else."""

from __future__ import annotations

import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient, WebSocketTestSession

from consilience import errors
from consilience.protocol.framing import Assembler, decode, encode, frames
from consilience.protocol.handshake import (
    Challenge,
    Closing,
    Consent,
    Declare,
    DeclareAsk,
    DeclaredVariable,
    Declined,
    Hello,
    Proof,
    Proposal,
    Token,
    TokenAsk,
    Welcome,
    from_server,
    from_site,
)
from consilience.protocol.messages import Answer, Entered, KeyAsk, KeyOffer, KeySet, Refused, Round, RoundRequest
from consilience.protocol.survey import Survey
from consilience.secagg import Identity
from consilience.service import receiving
from consilience.service.contract import decode_contract
from consilience.service.invitation import read_invitation
from tests.service.helpers import Hand, bearer, closed_with, joined, new_study, serving

OFFER = KeyOffer(bytes(16), bytes(32), bytes(32), bytes(64), b"study", bytes(32), b"")
VALID = [
    Hello(bytes(32), bytes(32)),
    Proof(bytes(64), bytes(32)),
    Challenge(bytes(32), bytes(32), 7, bytes(64)),
    Welcome("s", "t", "u", "open"),
    Declare((DeclaredVariable("A", "continuous", (), False, False, "", ""),)),
    DeclareAsk(),
    Consent(bytes(32), bytes(64)),
    Declined("no"),
    Proposal(b"x"),
    Token("t", 1),
    TokenAsk(),
    Closing("finished", ""),
    KeyAsk(bytes(16)),
    OFFER,
    KeySet(bytes(16), (OFFER,)),
    Entered(bytes(16)),
    Answer(bytes(16), 1, bytes(32)),
    Refused("RefusalError", "no"),
    Round(RoundRequest(bytes(16), 0, bytes(32), Survey((("A", "B"),)))),
]


@st.composite
def mangled(draw: st.DrawFn) -> bytes:
    """A valid message, with bytes changed, cut, doubled or put in."""
    data = bytearray(encode(draw(st.sampled_from(VALID))))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        match draw(st.integers(0, 3)):
            case 0:
                data[at : at + 1] = bytes([draw(st.integers(0, 255))])
            case 1:
                del data[at : at + draw(st.integers(1, 8))]
            case 2:
                data[at:at] = draw(st.binary(min_size=1, max_size=8))
            case _:
                data += data[at : at + 16]
    return bytes(data)


PLAIN: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=8) | st.binary(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
TAGS = [msgspec.structs.asdict(m) | {"type": m.__struct_config__.tag} for m in VALID]
FIELDS = st.sampled_from(["run", "round", "data", "type", "keys", "nonce", "x"])
CHANGES = st.dictionaries(FIELDS, PLAIN, max_size=2)
TYPED = st.builds(lambda base, extra: msgspec.msgpack.encode(base | extra), st.sampled_from(TAGS), CHANGES)
DEEP = st.integers(100, 5000).map(lambda n: b"\x81\xa4type" + b"\x91" * n + b"\xc0")
LONG = st.sampled_from([b"\xdf\xff\xff\xff\xff", b"\xdd\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff", b"\xdb\xff\xff\xff\xff"])
MALFORMED = st.one_of(st.binary(max_size=200), mangled(), PLAIN.map(msgspec.msgpack.encode), TYPED, DEEP, LONG)
MANY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.slow
@given(data=MALFORMED)
@MANY
def test_any_bytes_are_a_message_or_refused_in_words(data: bytes) -> None:
    for decoder in (from_site, from_server):
        try:
            message = decode(data, decoder)
        except errors.MessageFormatError:
            continue
        assert type(message) in {type(m) for m in VALID}
    for read in (decode_contract, lambda d: read_invitation(d.decode("latin-1"))):
        with pytest.raises(errors.ConsilienceError):
            read(data)  # type: ignore[operator]


@pytest.mark.slow
@given(pieces=st.lists(st.binary(max_size=64), max_size=12), limit=st.integers(0, 200))
@settings(max_examples=300, deadline=None)
def test_any_frames_are_a_message_or_refused(pieces: list[bytes], limit: int) -> None:
    assembler, kept = Assembler(limit), 0
    try:
        for piece in pieces:
            whole = assembler.feed(piece)
            kept = kept + len(piece) - 1 if whole is None else 0
            assert whole is None or len(whole) <= limit
            assert kept <= limit
    except errors.ProtocolError:
        return


@given(data=st.binary(max_size=3000))
@settings(max_examples=100, deadline=None)
def test_frames_and_assembler_are_inverse(data: bytes) -> None:
    assembler = Assembler(3000)
    assert [assembler.feed(frame) for frame in frames(data)][-1] == data


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[TestClient, str, Identity]]:
    folder: Path = tmp_path_factory.mktemp("server")
    with serving(folder, join_burst=10**6) as client:
        ada = bearer(client)
        study = new_study(client, ada)
        yield client, study, joined(client, ada, study, "one")


@pytest.mark.slow
@given(data=MALFORMED, flag=st.sampled_from([b"\x00", b"\x01", b"\x02", b""]))
@MANY
def test_no_bytes_from_outside_do_more_than_end_their_connection(place: tuple[TestClient, str, Identity], data: bytes, flag: bytes) -> None:
    client, study, _ = place
    with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
        hand = Hand(socket, study)
        socket.send_bytes(flag + data)
        first = socket.receive()
        if first["type"] == "websocket.close":
            assert first["code"] == 4403
        else:  # it was a hello
            socket.send_bytes(flag + data)
            assert closed_with(hand) == 4403


def _rest(socket: WebSocketTestSession, frame: bytes) -> bytes:
    """The message that begins with this frame. If more is to follow, it is sent: the server would wait for it, and rightly."""
    assembler = Assembler(1 << 20)
    whole = assembler.feed(frame)
    if whole is None:
        socket.send_bytes(b"\x00")
        whole = assembler.feed(b"\x00")
        assert whole is not None
    return whole


@pytest.mark.slow
@given(data=MALFORMED, flag=st.sampled_from([b"\x00", b"\x01", b"\x02", b""]))
@example(data=b"\x01more", flag=b"")
@settings(parent=MANY, max_examples=300)
def test_no_bytes_from_a_site_do_more_than_end_its_connection(place: tuple[TestClient, str, Identity], data: bytes, flag: bytes) -> None:
    client, study, identity = place
    with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
        hand = Hand(socket, study)
        assert isinstance(hand.prove(identity), Welcome)
        socket.send_bytes(flag + data)
        try:
            message = decode(_rest(socket, flag + data), from_site)
        except errors.ProtocolError:
            message = None
        if isinstance(message, TokenAsk):
            assert isinstance(hand.receive(), Token)
        elif not isinstance(message, Declined):
            assert closed_with(hand) == 4400
    assert client.get("/health").status_code == 200


def test_text_and_messages_that_are_too_long_end_the_connection(place: tuple[TestClient, str, Identity]) -> None:
    client, study, identity = place
    for act, code in (
        (lambda s: s.send_text("hello"), 4400),
        (lambda s: s.send_bytes(b"\x00" + bytes((1 << 20) + 1)), 1009),
        (lambda s: [s.send_bytes(b"\x01" + bytes(1 << 19)) for _ in range(3)], 1009),
    ):
        with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
            hand = Hand(socket, study)
            hand.prove(identity)
            act(socket)
            assert closed_with(hand) == code
    with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
        socket.send_bytes(b"\x00" + bytes(4097))
        assert closed_with(Hand(socket, study)) == 4403


@pytest.mark.parametrize("frame", [b"\x01more", b"\x01" + bytes(1000)])
def test_more_that_never_follows_ends_the_connection(
    place: tuple[TestClient, str, Identity], monkeypatch: pytest.MonkeyPatch, frame: bytes
) -> None:
    """It was waited for without end, with all that had come kept."""
    client, study, identity = place
    monkeypatch.setattr(receiving, "MESSAGE_SECONDS", 0.1)
    monkeypatch.setattr(receiving, "LEAST_RATE", 1e5)
    with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
        hand = Hand(socket, study)
        hand.prove(identity)
        time.sleep(0.3)  # between messages a site may be silent
        hand.send(TokenAsk())
        assert isinstance(hand.receive(), Token)
        socket.send_bytes(frame)
        assert closed_with(hand) == 4408
    assert client.get("/health").status_code == 200


def test_answers_that_nobody_asked_for_end_the_connection(place: tuple[TestClient, str, Identity]) -> None:
    client, study, identity = place
    for message in (
        Answer(bytes(16), 0, b""),
        Entered(b"r"),
        Refused("x", "y"),
        Hello(bytes(32), bytes(32)),
        Consent(bytes(32), bytes(64)),
    ):
        with client.websocket_connect(f"/api/v1/studies/{study}/site") as socket:
            hand = Hand(socket, study)
            hand.prove(identity)
            hand.send(message)
            assert closed_with(hand) == 4400


def test_a_bin_header_of_four_gigabytes_allocates_nothing() -> None:
    with pytest.raises(errors.MessageFormatError):
        decode(b"\x82\xa4type\xa6answer\xa4data\xc6" + struct.pack(">I", 2**32 - 1), from_site)
