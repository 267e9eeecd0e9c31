"""Resampling as users meet it: rounds, repetition, stopping, sites that vanish, what is said."""

from __future__ import annotations

import pytest

import consilience as cs
from consilience.errors import OptionError
from consilience.iod.stability import Stability
from tests.federation.helpers import mixed_clients, mixed_frames


def seeded(sites: int, columns: str = "ABC", seed: int = 5) -> list[cs.Client]:
    return [cs.Client(f"site{k}", f.select(list(columns)), seed=1) for k, f in enumerate(mixed_frames(sites, seed))]


def test_shares_add_up_and_come_back_from_json() -> None:
    found = cs.discover(seeded(2), bootstrap=6)
    stability = found.stability
    assert stability is not None
    assert (stability.asked, stability.done, stability.stopped) == (6, 6, False)
    for row in stability.edges.iter_rows(named=True):
        for end in "xy":
            assert sum(row[f"{end}_{mark}"] for mark in ("arrow", "tail", "circle")) == pytest.approx(row["share"])
        assert stability.share(row["y"], row["x"]) == row["share"]
    assert stability.tests.height == found.tests.height
    assert (stability.tests["answered"] == 6).all()
    again = cs.Discovery.from_dict(found.to_dict()).stability
    assert again is not None
    assert again.to_dict() == stability.to_dict()
    assert again.in_words() == stability.in_words()
    assert Stability.from_dict(stability.to_dict()).consensus == stability.consensus
    with pytest.raises(KeyError, match="not two variables"):
        stability.share("A", "Z")


def test_a_seed_repeats_the_draws_and_without_one_they_differ() -> None:
    one, two = (cs.discover(seeded(2), bootstrap=4).stability for _ in range(2))
    other = cs.discover(mixed_clients(2, columns="ABC"), bootstrap=4).stability
    assert one is not None
    assert two is not None
    assert other is not None
    assert one.to_dict() == two.to_dict()
    assert one.tests["p_median"].to_list() != other.tests["p_median"].to_list()


def test_a_discovery_without_replicates_says_nothing_of_stability() -> None:
    found = cs.discover(seeded(2))
    assert found.stability is None
    assert cs.Discovery.from_dict(found.to_dict()).stability is None


def test_who_cannot_resample_is_told() -> None:
    with pytest.raises(OptionError, match="Oracle does not have"):
        cs.discover(cs.Oracle(cs.PAG.parse("A o-o B"), datasets=["AB"]), bootstrap=10)
    with pytest.raises(OptionError, match="bootstrap"):
        cs.discover(seeded(2), bootstrap=-1)


@pytest.mark.slow
def test_rounds_do_not_grow_with_replicates() -> None:
    clients = seeded(3, "ABCD")
    plain = cs.Server(clients)
    cs.discover(plain)
    found = cs.discover(cs.Server(clients), bootstrap=20).stability
    assert found is not None
    assert found.rounds <= 2 * plain.rounds


def test_who_stops_keeps_what_is_finished() -> None:
    said: list[str] = []

    def stop() -> bool:
        return any(words.startswith("resampling: graphs of copy 3") for words in said)

    found = cs.discover(seeded(2), bootstrap=8, progress=said.append, stop=stop).stability
    assert found is not None
    assert (found.asked, found.done) == (8, 3)
    assert found.stopped
    assert "3 of 8 resampled copies" in found.in_words()[0]


class Cancelled(Exception):
    pass


def test_who_cancels_is_heard() -> None:
    def progress(words: str) -> None:
        if words.startswith("resampling"):
            raise Cancelled

    with pytest.raises(Cancelled):
        cs.discover(seeded(2), bootstrap=3, progress=progress)


def test_a_site_that_vanishes_is_left_out_of_what_is_still_to_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in tests of the rows themselves: the others go on, each replicate from where it stood."""
    clients = seeded(4, "ABC")
    server = cs.Server(clients)
    transport = server._transport
    asked, ask = [0], transport.ask

    def lose(request, announced):  # type: ignore[no-untyped-def]
        asked[0] += type(request).__name__ == "Resampled"
        if asked[0] == 3 and "site3" in transport.names:
            from consilience.federation.errors import ClientGoneError  # noqa: PLC0415

            raise ClientGoneError("site3")
        return ask(request, announced)

    monkeypatch.setattr(transport, "ask", lose)
    found = cs.discover(server, bootstrap=3).stability
    assert found is not None
    assert found.done == 3
    assert server.participants == ("site0", "site1", "site2")


def test_the_ledger_says_what_left() -> None:
    clients = seeded(2)
    cs.discover(cs.Server(clients), bootstrap=5)
    words = [line for line in clients[0].ledger["what"].to_list() if "resampled" in line]
    assert words[0].startswith("for 5 resampled copies of its rows: whether and with how many rows")
    assert any("log-likelihood" in line for line in words)
