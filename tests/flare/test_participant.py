"""A site in a job: whose word counts, what is refused, and what is written down of it. The server is whoever sends bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from consilience.errors import ProtocolError
from consilience.flare.kit import SETTINGS_FILE
from consilience.flare.participant import CANNOT, folder_of
from consilience.protocol.errors import MessageSizeError
from consilience.protocol.framing import decode, encode
from consilience.protocol.handshake import Closing, Consent, DeclareAsk, Declined, Preview, Proposal, Token, Waiting, Welcome, from_site
from consilience.protocol.messages import KeyAsk, KeyOffer, Refused
from consilience.service.agent.home import Home
from consilience.service.contract import Contract
from consilience.service.errors import ChangedIdentityError, ConfigurationError
from consilience.service.invitation import Invitation
from tests.flare.trial import Trial

RUN = bytes(16)


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    found = Trial.at(tmp_path)
    yield found
    found.restart()


def asked(trial: Trial, message: msgspec.Struct, site: str = "mainz") -> Any:
    return decode(trial.participant(site).answer(encode(message)), from_site)


def proposal(contract: Contract) -> Proposal:
    return Proposal(contract.encoded())


def other(trial: Trial, **settings: Any) -> Contract:
    return msgspec.structs.replace(trial.contract, settings=msgspec.structs.replace(trial.contract.settings, **settings))


def test_the_digest_in_its_settings_agrees_and_nothing_else_does(trial: Trial) -> None:
    trial.agree()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)
    assert isinstance(asked(trial, KeyAsk(RUN)), KeyOffer)
    assert any("agreed to" in words for words in trial.said)


def test_without_anybody_to_ask_every_contract_is_declined_and_in_the_ledger(trial: Trial) -> None:
    assert isinstance(asked(trial, proposal(trial.contract)), Declined)
    (line,) = trial.ledger("mainz")
    assert line.numbers == 0
    assert "Nobody is here to be asked" in line.refused
    assert isinstance(asked(trial, KeyAsk(RUN)), Refused)


def test_another_contract_than_the_one_with_the_digest_is_declined(trial: Trial) -> None:
    trial.agree()
    assert isinstance(asked(trial, proposal(other(trial, min_rows=1))), Declined)
    assert "look at it again" in trial.ledger("mainz")[-1].refused


def test_another_contract_than_the_one_that_was_agreed_to_is_declined_in_every_job(trial: Trial) -> None:
    trial.agree()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)
    for _ in range(2):
        trial.restart()
        assert asked(trial, proposal(other(trial, min_rows=1))) == Declined(CANNOT)
        assert "not the one that this site's owner has consented to" in trial.ledger("mainz")[-1].refused
    trial.restart()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)


def test_a_second_study_has_no_place_in_a_job(trial: Trial) -> None:
    trial.agree()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)
    assert isinstance(asked(trial, proposal(msgspec.structs.replace(trial.contract, study="ffffffffffffffff"))), Declined)


def test_a_policy_agrees_where_the_settings_say_so(trial: Trial) -> None:
    local = trial.folder / "mainz" / "local"
    settings = (local / SETTINGS_FILE).read_text()
    (local / "policy.toml").write_text("min_rows = 50\n")
    (local / SETTINGS_FILE).write_text(settings + 'policy = "policy.toml"\nyes = true\n')
    assert isinstance(asked(trial, proposal(trial.contract)), Declined)
    assert "min_rows must be at least 50 by this site's policy" in trial.ledger("mainz")[-1].refused
    (local / "policy.toml").write_text("min_rows = 10\n")
    trial.restart()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)


def test_yes_without_a_policy_is_no_consent(trial: Trial) -> None:
    file = trial.folder / "mainz" / "local" / SETTINGS_FILE
    file.write_text(file.read_text() + "yes = true\n")
    assert asked(trial, proposal(trial.contract)) == Declined(CANNOT)
    assert any("policy" in words for words in trial.said)


def test_nothing_is_answered_before_a_contract(trial: Trial) -> None:
    assert isinstance(asked(trial.agree(), KeyAsk(RUN)), Refused)
    with pytest.raises(ProtocolError, match="agreed to no contract"):
        trial.participant("mainz").keep(b"{}")


@pytest.mark.parametrize("message", [Welcome("mainz", "0" * 16, "x", "y"), DeclareAsk(), Preview(b"", b""), Token("x", 1), Waiting((), ())])
def test_messages_of_a_study_server_have_no_place_in_a_job(trial: Trial, message: msgspec.Struct) -> None:
    trial.agree()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)
    with pytest.raises(ProtocolError):
        trial.participant("mainz").answer(encode(message))


def test_what_is_too_long_or_no_message_is_not_read(trial: Trial) -> None:
    file = trial.folder / "mainz" / "local" / SETTINGS_FILE
    file.write_text(file.read_text() + "max_message_bytes = 4096\n")
    with pytest.raises(MessageSizeError):
        trial.participant("mainz").answer(bytes(4097))
    with pytest.raises(ProtocolError):
        trial.participant("mainz").answer(b"\xc1")


def test_two_jobs_of_one_study_are_not_answered_at_once(trial: Trial) -> None:
    trial.agree()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)
    first = trial.participants.pop("mainz")
    assert asked(trial, proposal(trial.contract)) == Declined(CANNOT)
    assert any("Another process works with" in words for words in trial.said)
    first.close()
    assert isinstance(asked(trial, proposal(trial.contract)), Consent)


def test_a_table_that_does_not_fit_is_told_to_nobody(trial: Trial) -> None:
    """Its reason is in the site's own log, and not in the ledger, which is handed over for audits."""
    trial.agree()
    import polars as pl  # noqa: PLC0415

    pl.DataFrame({"A": ["secret-level"] * 60, "B": ["x"] * 60, "C": [True, False] * 30}).write_parquet(trial.folder / "mainz.parquet")
    reply = asked(trial, proposal(trial.contract))
    assert isinstance(reply, Declined)
    assert "secret-level" not in reply.reason
    assert all("secret-level" not in line.refused for line in trial.ledger("mainz"))


def test_the_end_of_a_study_is_heard(trial: Trial) -> None:
    trial.agree()
    asked(trial, proposal(trial.contract))
    assert trial.participant("mainz").answer(encode(Closing("finished", "one graph"))) == b""


def test_a_study_belongs_to_the_network_that_it_came_from(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.enter(Invitation("https://study.example", "0" * 16, "mainz", bytes(32), bytes(32)))
    with pytest.raises(ChangedIdentityError, match="memory of what was answered"):
        folder_of(home, "0" * 16, "mainz")
    assert folder_of(home, "1" * 16, "mainz").joined.url == "nvflare"
    with pytest.raises(ChangedIdentityError):
        folder_of(home, "1" * 16, "marburg")


def test_settings_that_are_not_there_are_said_to_be(trial: Trial) -> None:
    (trial.folder / "mainz" / "local" / SETTINGS_FILE).unlink()
    with pytest.raises(ConfigurationError, match="consilience nvflare site"):
        trial.participant("mainz")
