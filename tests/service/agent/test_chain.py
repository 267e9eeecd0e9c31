"""A ledger that was changed says so, and which line; one that was not is evidence."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from consilience import errors
from consilience.cli.app import app
from consilience.federation.site.ledger import Ledger
from consilience.secagg import Identity
from consilience.service.agent import Home
from consilience.service.agent.home import DiskLedger
from consilience.service.chain import link
from consilience.service.invitation import Invitation
from tests.service.agent.sites import SERVER, STUDY

ME, OTHER = Identity.generate(), Identity.generate()


def add(ledger: Ledger, number: int, what: str = "sums") -> None:
    ledger.add(STUDY, "aabbccdd", number, what, 1, 16, masked_with=2, digest="00" * 32)


def written(path: Path, lines: int = 4) -> Path:
    ledger = DiskLedger(path / "ledger.jsonl", ME)
    for number in range(lines):
        add(ledger, number)
    return path / "ledger.jsonl"


def test_a_ledger_of_several_processes_is_one_chain(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    for number in range(3):
        add(DiskLedger(file, ME), number)
    ledger = DiskLedger(file, ME)
    add(ledger, 3)
    assert ledger.verify().said == "4 lines, chained from line 1 on, each signed by this site"
    assert ledger.lines().encode() == file.read_bytes(), "what is handed on is what is on disk"
    assert len({json.loads(line)["previous"] for line in file.read_text().splitlines()}) == 4


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("key", ["numbers", "what", "digest", "refused", "time"])
def test_a_line_that_was_changed_is_found_when_the_ledger_is_opened(tmp_path: Path, place: int, key: str) -> None:
    """Before there was a chain, any line could be rewritten, and nobody would have known."""
    file = written(tmp_path)
    lines = file.read_text().splitlines()
    told = json.loads(lines[place])
    told[key] = 0 if key == "numbers" else "changed"
    lines[place] = json.dumps(told)
    file.write_text("\n".join(lines) + "\n")
    with pytest.raises(errors.RecordsError, match=f"line {place + 2} is damaged: it does not follow line {place + 1}"):
        DiskLedger(file)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_line_that_is_gone_is_found(tmp_path: Path, place: int) -> None:
    file = written(tmp_path)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))
    with pytest.raises(errors.RecordsError, match=f"line {place + 1} is damaged: it does not follow"):
        DiskLedger(file)


def test_the_last_line_and_a_chain_made_anew_are_found_by_the_signature(tmp_path: Path) -> None:
    file = written(tmp_path)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:3], lines[3].replace('"numbers": 1', '"numbers": 0')]) + "\n")
    with pytest.raises(errors.RecordsError, match="line 4 is damaged: it is not signed by this site"):
        DiskLedger(file, ME)
    forged = written(tmp_path / "forged")
    forged.unlink()
    add(DiskLedger(forged, OTHER), 0)
    with pytest.raises(errors.RecordsError, match="line 1 is damaged: it is not signed"):
        DiskLedger(forged, ME)


def test_every_signature_is_looked_at_on_request(tmp_path: Path) -> None:
    """A line of another's hand under the site's own: opening looks at the last signature, which vouches for it; the check at each."""
    file = tmp_path / "ledger.jsonl"
    add(DiskLedger(file, OTHER), 0)
    first, entry = file.read_bytes(), DiskLedger(file).entries[0]
    file.write_bytes(first + link(entry, sha256(first[:-1]).hexdigest(), ME) + b"\n")
    ledger = DiskLedger(file, ME)
    with pytest.raises(errors.RecordsError, match="line 1 is damaged: it is not signed"):
        ledger.verify()


def test_an_old_ledger_is_read_and_its_chain_begins_where_it_begins(tmp_path: Path) -> None:
    file = tmp_path / "ledger.jsonl"
    old = Ledger()
    for number in range(2):
        add(old, number)
    old_lines = [{k: v for k, v in json.loads(line).items() if k != "digest"} for line in old.lines().splitlines()]
    file.write_text("".join(json.dumps(line) + "\n" for line in old_lines))
    assert DiskLedger(file, ME).verify().said == "2 lines, none of them chained or signed: former versions wrote them"
    add(DiskLedger(file, ME), 2)
    found = DiskLedger(file, ME)
    assert found.verify().said.endswith("each signed by this site; the 2 before it are of a former version, and fixed by its digest")
    assert [entry.round for entry in found.entries] == [0, 1, 2]
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b'"numbers": 1', b'"numbers": 2', 1))  # from now on these, too, cannot be changed
    with pytest.raises(errors.RecordsError, match="line 3 is damaged: it does not follow line 2"):
        DiskLedger(file)
    file.write_bytes(whole + json.dumps(old_lines[0]).encode() + b"\n")
    with pytest.raises(errors.RecordsError, match="line 4 is damaged: it is not chained, and line 3 is"):
        DiskLedger(file)


def test_a_torn_end_is_cut_off_and_the_chain_goes_on(tmp_path: Path) -> None:
    file = written(tmp_path)
    whole = file.read_bytes()
    for cut in range(len(whole) - 40, len(whole)):
        file.write_bytes(whole[:cut])
        assert len(DiskLedger(file, ME).entries) == 3
    add(DiskLedger(file, ME), 9)
    assert DiskLedger(file, ME).verify().said.startswith("4 lines")


def test_nobody_adds_to_a_ledger_without_signing(tmp_path: Path) -> None:
    with pytest.raises(errors.RecordsError, match="Nothing was sent"):
        add(DiskLedger(tmp_path / "ledger.jsonl"), 0)


def test_the_command_verifies_and_names_the_line(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = home.enter(Invitation("https://study.example", STUDY, "site0", bytes(32), SERVER.public_bytes))
    ledger = folder.ledger(home.identity())
    for number in range(3):
        add(ledger, number)
    run, words = CliRunner(), ["client", "ledger", "--home", str(tmp_path)]
    found = run.invoke(app, [*words, "--verify"])
    assert (found.exit_code, found.output.strip()) == (0, "3 lines, chained from line 1 on, each signed by this site")
    assert run.invoke(app, [*words, "--json"]).output == (folder.path / "ledger.jsonl").read_text()
    file = folder.path / "ledger.jsonl"
    file.write_text(file.read_text().replace('"round": 1', '"round": 7'))
    for more in ([], ["--verify"], ["--json"]):
        found = run.invoke(app, [*words, *more])
        assert isinstance(found.exception, errors.RecordsError)
        assert "line 3 is damaged" in str(found.exception)
