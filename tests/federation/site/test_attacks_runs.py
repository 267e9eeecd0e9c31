"""A server that repeats rounds, changes who takes part, or forges keys.

Every refusal is a typed error with exactly one line in the site's ledger, and nothing has left the site then.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from consilience import errors
from consilience.federation.site.half import SiteHalf
from consilience.glm.kernel import Floats
from consilience.protocol.survey import Survey
from consilience.secagg import Binding, Identity, RunKey, SignedKey
from consilience.secagg.agreement import _signed_context
from consilience.settings.choices import Dropout
from tests.federation.helpers import Wire, mixed_clients, refused
from tests.federation.site.attacks import PRODUCTS, SURVEY

# rounds


@pytest.mark.parametrize("number", [7, 6, 0], ids=["the same", "the one before", "the first, which was skipped"])
def test_a_round_is_answered_once_and_never_out_of_order(wire: Wire, number: int) -> None:
    wire.send(SURVEY, round=7)
    with refused(wire.clients[0], errors.RepeatedRoundError):
        wire.send(SURVEY, round=number)
    assert len(wire.send(SURVEY, round=8)) == wire.length(SURVEY)


@pytest.mark.parametrize("number", [-1, 2**64, 2**70])
def test_a_round_has_a_number_of_64_bits(wire: Wire, number: int) -> None:
    with refused(wire.clients[0], errors.RoundNumberError):
        wire.send(SURVEY, round=number)


def test_a_round_that_was_refused_is_used_up(wire: Wire) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(PRODUCTS, round=3)
    with refused(wire.clients[0], errors.RepeatedRoundError):
        wire.send(SURVEY, round=3)


def enter_and_ask_again(wire: Wire, body: Survey) -> bytes | Floats:
    wire.participants[0].enter(wire.run, wire.keys)
    return wire.send(body, round=0)


def test_entering_a_run_twice_does_not_open_its_rounds_again(wire: Wire) -> None:
    """Same keys, same round, same masks: two answers under one mask differ by what they hide."""
    wire.send(Survey((("A", "B"),)), round=0)
    with pytest.raises(errors.ConsilienceError):
        enter_and_ask_again(wire, Survey((("D",),)))


def test_a_runs_id_is_used_once(wire: Wire) -> None:
    """A fresh key under an old id, with the others' old keys, would be another way to open its rounds again."""
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].offer(wire.run)


def test_a_run_that_was_left_is_not_entered_again(three: Wire) -> None:
    old, keys = three.run, three.keys
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.WrongRosterError):
        three.participants[0].enter(old, keys[:2])


# rosters


@pytest.mark.parametrize(
    "changes",
    [{"roster": bytes(32)}, {"roster": b""}, {"run": b"run 2"}, {"run": b""}],
    ids=["another digest", "no digest", "another run", "no run"],
)
def test_a_request_for_other_sites_than_the_keys_were_of(wire: Wire, changes: dict[str, bytes]) -> None:
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.send(SURVEY, **changes)


def test_the_digest_of_an_earlier_run_is_of_no_use(three: Wire) -> None:
    old = {"run": three.run, "roster": three.digest}
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.WrongRosterError):
        three.send(SURVEY, **old)


def test_nothing_is_answered_before_keys_are_exchanged() -> None:
    wire = Wire(mixed_clients(2))
    with refused(wire.clients[0], errors.OutOfTurnError):
        wire.send(SURVEY)


def offers(wire: Wire, run: bytes = b"run 1") -> list[SignedKey]:
    return [p.offer(run) for p in wire.participants]


def stranger(run: bytes = b"run 1") -> SignedKey:
    return RunKey.generate(Identity.generate(), run, Binding(b"study", bytes(32))).signed


@pytest.mark.parametrize(
    "tamper",
    [
        lambda keys: [*keys, stranger()],
        lambda keys: [*keys[:2], stranger()],
        lambda keys: keys[:2],
        lambda keys: keys[1:],
        lambda keys: keys[:1],
        lambda keys: [],
    ],
    ids=["a site more", "a stranger for a site", "a site fewer", "without the own key", "alone", "nobody"],
)
def test_the_first_run_is_of_exactly_the_sites_agreed_on(tamper: Callable[[list[SignedKey]], list[SignedKey]]) -> None:
    wire = Wire(mixed_clients(3))
    keys = offers(wire)
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 1", tamper(keys))
    with refused(wire.clients[0], errors.OutOfTurnError):  # and the run has not begun
        wire.send(SURVEY)


def test_a_site_that_left_may_not_come_back(three: Wire) -> None:
    three.begin(three.participants[:2], b"run 2")
    keys = offers(three, b"run 3")
    with refused(three.clients[0], errors.WrongRosterError):
        three.participants[0].enter(b"run 3", keys)


def test_a_site_does_not_stay_behind_alone(three: Wire) -> None:
    keys = offers(three, b"run 2")
    with refused(three.clients[0], errors.WrongRosterError):
        three.participants[0].enter(b"run 2", keys[:1])


def test_not_fewer_sites_than_a_sum_needs() -> None:
    wire = Wire.open(mixed_clients(3), min_contributors=3)
    keys = offers(wire, b"run 2")
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 2", keys[:2])


def test_a_study_that_stops_has_no_smaller_run() -> None:
    wire = Wire.open(mixed_clients(3), on_dropout=Dropout.STOP)
    keys = offers(wire, b"run 2")
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 2", keys[:2])


def test_a_run_whose_key_was_never_offered(wire: Wire) -> None:
    keys = [wire.keys[0], wire.participants[1].offer(b"run 2")]
    with refused(wire.clients[0], errors.WrongRosterError):
        wire.participants[0].enter(b"run 2", keys)


def of_low_order(key: SignedKey, participant: SiteHalf) -> SignedKey:
    """A site that signs a point with which every secret is zero."""
    point = bytes(32)
    signature = participant.identity.sign(_signed_context(b"run 1", point, key.binding, key.statement))
    return replace(key, x25519=point, signature=signature)


def swapped(key: SignedKey) -> SignedKey:
    """The server's own X25519 key under a site's identity and signature: the classical man in the middle."""
    own = X25519PrivateKey.generate().public_key().public_bytes_raw()
    return replace(key, x25519=own)


@pytest.mark.parametrize(
    ("forge", "error"),
    [
        (lambda key, _: swapped(key), errors.BadSignatureError),
        (lambda key, _: replace(key, signature=bytes(64)), errors.BadSignatureError),
        (lambda key, _: replace(key, run_id=b"run 0"), errors.BadSignatureError),
        (lambda key, _: replace(key, statement=b"more"), errors.BadSignatureError),
        (lambda key, _: replace(key, binding=Binding(key.binding.study, bytes(32))), errors.BadSignatureError),
        (lambda _, p: p.offer(b"run 0"), errors.WrongRunError),
        (of_low_order, errors.WeakKeyError),
    ],
    ids=["swapped key", "no signature", "run id changed", "statement changed", "binding changed", "key of another run", "low-order point"],
)
def test_a_forged_key_is_found_out(forge: Callable[[SignedKey, SiteHalf], SignedKey], error: type[Exception]) -> None:
    wire = Wire(mixed_clients(2))
    keys = offers(wire)
    forged = forge(keys[1], wire.participants[1])
    with refused(wire.clients[0], error):
        wire.participants[0].enter(b"run 1", [keys[0], forged])


def test_one_site_twice_in_a_run(wire: Wire) -> None:
    keys = [*offers(wire, b"run 2"), RunKey.generate(wire.clients[1].identity, b"run 2", wire.keys[1].binding).signed]
    with refused(wire.clients[0], errors.RepeatedSiteError):
        wire.participants[0].enter(b"run 2", keys)
