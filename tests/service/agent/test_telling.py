"""Names and levels in the open: what the owner is asked, what a yes covers, and what no yes can send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.protocol.framing import encode
from consilience.protocol.handshake import Challenge, Declare, DeclareAsk, Declined, Welcome
from consilience.protocol.states import Standing
from consilience.service.agent import Site
from consilience.service.agent.telling import declared, digest_of_words, question, untold
from tests.service.agent.sites import CLIENTS, STUDY, folder_of, proposal, site_in, yes

PATIENTS = ["Ada Lovelace", "Carl Gauss", "Emmy Noether", "Sofia Kowalewski"]


def never(_lines: list[str], _warnings: list[str]) -> bool:
    raise AssertionError("nobody may be asked for this")


def client_of(**columns: Any) -> cs.Client:
    return cs.Client("site0", pl.DataFrame(columns), identity=CLIENTS[0].identity)


def welcomed(path: Path, client: cs.Client, tell: Any = yes, ask: Any = yes) -> Site:
    site = Site(client, folder_of(path), ask, tell=tell)
    site.state.moves(Challenge)
    site.handle(Welcome("site0", STUDY, "trial", "open"))
    return site


def test_the_owner_is_shown_every_name_and_level_that_is_sent(tmp_path: Path) -> None:
    seen: list[list[str]] = []
    client = client_of(age=[61.5, 70.0] * 50, sex=["f", "m"] * 50, stage=[1, 2, 3, 4] * 25)
    reply = welcomed(tmp_path, client, lambda lines, _: seen.append(lines) or True).handle(DeclareAsk())  # type: ignore[func-returns-value]
    assert isinstance(reply, Declare)
    (lines,) = seen
    assert "https://study.example" in lines[1]
    assert "all sites" in lines[1]
    for d in reply.variables:
        (line,) = (line for line in lines[2:] if line.startswith(f"{d.name}: "))
        assert all(repr(level) in line for level in d.levels)
    assert len(lines) == 2 + len(reply.variables)
    (entry,) = (tmp_path / "studies" / STUDY / "ledger.jsonl").read_text().splitlines()
    assert "3 variables, in the open: age, sex, stage" in json.loads(entry)["what"]


def test_agreeing_to_contracts_is_no_answer_to_this_question(tmp_path: Path) -> None:
    """As with --yes: who consents without being asked has not been shown the words."""
    site = site_in(tmp_path, yes)
    assert isinstance(site.handle(DeclareAsk()), Declined)
    assert "--send-names-and-levels" in str(site.failure)
    assert (tmp_path / "studies" / STUDY / "ledger.jsonl").exists() is False


def test_agreeing_to_tell_is_no_consent_to_a_contract(tmp_path: Path) -> None:
    site = site_in(tmp_path, lambda _lines, _warnings: False, tell=yes)
    assert isinstance(site.handle(DeclareAsk()), Declare)
    assert isinstance(site.handle(proposal()), Declined)


def test_a_no_sends_no_word_of_the_table(tmp_path: Path) -> None:
    client = client_of(age=[61.5, 70.0] * 50, ward=["cardiology", "oncology"] * 50)
    site = welcomed(tmp_path, client, lambda _lines, _warnings: False)
    reply = site.handle(DeclareAsk())
    assert isinstance(reply, Declined)
    sent = encode(reply)
    assert not any(word in sent for word in (b"cardiology", b"ward", b"age"))
    assert site.state.now is Standing.DECLINED
    assert "the study stays open" in str(site.failure)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("patient_name", [name for name in PATIENTS for _ in range(25)]),  # with several visits each, so that no level is rare
        ("who", [f"{PATIENTS[i % 4]} {i}" for i in range(100)]),  # each their own
        ("diagnosis", ["angina"] * 97 + ["Fabry disease"] * 3),  # three patients
        ("seen", ["2024-01-31", "2024-02-01"] * 50),
        ("finding", ["unremarkable", "shortness of breath after climbing stairs since March"] * 50),
    ],
)
def test_what_may_tell_who_somebody_is_never_leaves_whatever_the_owner_says(tmp_path: Path, column: str, values: list[str]) -> None:
    frame = pl.DataFrame({"age": [61.5, 70.0] * 50, column: pl.Series(values).cast(pl.Categorical)})
    client = cs.Client("site0", frame, identity=CLIENTS[0].identity)
    if column not in client.declarations:  # it was excluded when the table was read, and is not even a variable
        assert untold(client) == []
        assert not any(value.encode() in encode(declared(client)) for value in set(values))
        return
    site = welcomed(tmp_path, client, never)
    reply = site.handle(DeclareAsk())
    assert isinstance(reply, Declined)
    assert not any(value.encode() in encode(reply) for value in {*values, *PATIENTS, column})
    assert repr(column) in str(site.failure)
    assert "nothing has left it" in str(site.failure)
    assert "drop" in str(site.failure)


def test_numbers_and_frequent_levels_are_no_reason_to_refuse() -> None:
    client = client_of(age=[61.5 + i for i in range(100)], sex=["f", "m"] * 50, smoker=[0, 1] * 50, stage=["I", "II", "III", "IV"] * 25)
    assert untold(client) == []


def test_no_counts_are_told_with_the_kinds() -> None:
    """Reasons say how many different values there are."""
    reply = declared(client_of(age=[20 + i for i in range(60)] * 2, sex=["f", "m"] * 60))
    assert not any(any(sign.isdigit() for sign in d.reason) for d in reply.variables)


def test_declared_levels_are_no_cover_for_rare_ones() -> None:
    kept = pl.Series("d", ["a"] * 97 + ["b"] * 3).cast(pl.Enum(["a", "b", "c"]))
    client = cs.Client("site0", pl.DataFrame({"d": kept, "x": [1.5, 2.5] * 50}))
    (finding,) = untold(client)
    assert finding.code == "rare-told"
    with pytest.raises(errors.RefusalError, match="fewer than 5 rows"):
        declared(client)


def test_a_site_that_lowers_min_cell_still_tells_no_rare_level() -> None:
    """Over a network a site may be more careful than a study, not less."""
    frame = pl.DataFrame({"d": pl.Series(["a"] * 97 + ["b"] * 3), "x": [1.5, 2.5] * 50})
    (finding,) = untold(cs.Client("site0", frame, min_cell=0))
    assert finding.code == "rare-told"
    assert "fewer than 5 rows" in finding.words


def test_numbers_of_patients_are_names_too() -> None:
    """With twenty visits each, so that nothing about them is rare."""
    frame = pl.DataFrame({"patient_nr": [10231, 10877, 11002, 11950, 12044] * 20, "x": [1.5, 2.5] * 50, "note": [0, 1] * 50})
    client = cs.Client("site0", frame, kinds={"patient_nr": "multinomial"})
    assert [finding.columns for finding in untold(client)] == [("patient_nr",)], "yes and no are nobody's"


def test_the_digest_of_words_stands_for_these_words() -> None:
    lines = question(declared(client_of(sex=["f", "m"] * 50)), "https://study.example")
    assert digest_of_words(lines) != digest_of_words(question(declared(client_of(sex=["f", "w"] * 50)), "https://study.example"))
    assert digest_of_words(lines) != digest_of_words(question(declared(client_of(sex=["f", "m"] * 50)), "https://other.example"))
    assert digest_of_words(["a", "b"]) != digest_of_words(["ab"])


def test_what_is_shown_moves_no_cursor() -> None:
    lines = question(declared(client_of(sex=["f\x1b[2J", "m"] * 50)), "https://study.example")
    assert all(line.isprintable() for line in lines)
