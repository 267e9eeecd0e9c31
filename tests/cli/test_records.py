"""What a study has on record, its archive and its end, at the command line against a server that really listens."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from typer.testing import CliRunner, Result

from consilience.cli.app import app
from consilience.federation.site.ledger import Ledger
from consilience.secagg import Identity
from consilience.service.agent import Home
from consilience.service.deleting import STAYS
from consilience.service.errors import ConfigurationError
from consilience.service.invitation import Invitation
from consilience.service.server.services import Services
from tests.service.helpers import PASSWORD, SERVER, make_app
from tests.service.whole_study import NAME, finished_study

Served = tuple[str, Services, str, dict[str, Ledger]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on a port, with a finished study."""
    made = make_app(tmp_path_factory.mktemp("server"), clock=time.time, login_burst=1000)
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen(64)
        server = uvicorn.Server(uvicorn.Config(made, log_level="warning", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [one]}, daemon=True)
        thread.start()
        end = time.monotonic() + 20.0
        while not server.started and time.monotonic() < end:
            time.sleep(0.01)
        contract, ledgers = finished_study(made.state.services)
        yield f"http://127.0.0.1:{one.getsockname()[1]}", made.state.services, contract.study, ledgers
        server.should_exit = True
        thread.join(10.0)


@cache
def token(url: str) -> str:
    words = ["server", "study", "login", "ada", "--password-stdin", "--server", url]
    return CliRunner().invoke(app, words, input=f"{PASSWORD}\n").output.strip()


def run(url: str, *words: str, **more: Any) -> Result:
    env = {"CONSILIENCE_SERVER_TOKEN": token(url), "CONSILIENCE_SERVER_PUBLIC_URL": url, "COLUMNS": "300"}
    return CliRunner().invoke(app, ["server", "study", *words], env=env, **more)


def test_tests_events_and_what_was_received(served: Served) -> None:
    url, services, study, ledgers = served
    shown = run(url, "tests", study)
    assert shown.exit_code == 0, shown.output
    results = services.store.runs.results(study)
    assert f"{len(results)} tests done" in shown.output
    assert len(json.loads(run(url, "tests", study, "--json").output)) == len(results)
    short = run(url, "tests", study, "--most", "2").output
    assert f"… and {sum(r.informative for r in results) - 2} more" in short
    events = run(url, "events", study).output.splitlines()
    assert [line.split()[4] for line in events][:2] == ["created", "joined"]
    assert events[-1].split()[4] == "finished"
    told = json.loads(run(url, "events", study, "--json").output)
    assert len(told) == len(events)
    assert len(json.loads(run(url, "events", study, "--json", "--after", str(told[2]["number"])).output)) == len(told) - 3
    totals = run(url, "received", study).output
    numbers = sum(entry.numbers for entry in ledgers["site0"].entries)
    assert f"{numbers:,}" in totals
    whole = json.loads(run(url, "received", study, "--json").output)
    assert whole["totals"][0]["numbers"] == numbers
    assert len(whole["heard"]) == sum(one["answers"] for one in whole["totals"])


def test_export_and_verify(served: Served, tmp_path: Path) -> None:
    url, _, study, _ = served
    file = tmp_path / "study.zip"
    done = run(url, "export", study, "--out", str(file))
    assert done.exit_code == 0, done.output
    assert str(file) in done.stdout
    assert SERVER.fingerprint_text in done.stderr
    assert isinstance(run(url, "export", study, "--out", str(file)).exception, ConfigurationError)
    found = CliRunner().invoke(app, ["server", "study", "verify", str(file), "--fingerprint", SERVER.fingerprint_text])
    assert found.exit_code == 0, found.output
    assert "'site1' consented" in found.output
    told = CliRunner().invoke(app, ["server", "study", "verify", str(file), "--json"])
    assert json.loads(told.output)["sound"] is True
    other = CliRunner().invoke(app, ["server", "study", "verify", str(file), "--fingerprint", Identity.generate().fingerprint_text])
    assert other.exit_code == 3
    assert "not by the server that was named" in other.output
    broken = tmp_path / "broken.zip"
    broken.write_bytes(file.read_bytes().replace(b"SHA256SUMS", b"SHA256SUMX"))
    assert CliRunner().invoke(app, ["server", "study", "verify", str(broken)]).exit_code != 0
    missing = CliRunner().invoke(app, ["server", "study", "verify", str(tmp_path / "nowhere.zip")])
    assert "cannot be read" in str(missing.exception)


def test_delete_says_what_stays_before_and_after(served: Served) -> None:
    url, services, _, _ = served
    study = finished_study(services)[0].study
    wrong = run(url, "delete", study, input="another\n")
    assert "Nothing was deleted" in str(wrong.exception)
    assert services.store.studies.get(study) is not None
    done = run(url, "delete", study, input=f"{NAME}\n")
    assert done.exit_code == 0, done.output
    assert done.stdout.endswith(f"deleted {study}\n")
    before, _, after = done.stderr.partition("Type the study's name")
    for line in STAYS:
        assert line in before
        assert line in after
    assert services.store.studies.get(study) is None
    other = finished_study(services)[0].study
    quiet = run(url, "delete", other, "--yes")
    assert quiet.exit_code == 0
    assert "Type" not in quiet.stderr
    assert services.store.studies.get(other) is None


def test_a_ledger_in_a_few_lines(tmp_path: Path) -> None:
    home = Home(tmp_path / "site")
    folder = home.enter(Invitation("https://study.example", "00112233aabbccdd", "muenster", bytes(32), bytes(32)))
    ledger = folder.ledger(home.identity())
    words = ["client", "ledger", "--home", str(tmp_path / "site"), "--summary"]
    empty = CliRunner().invoke(app, words, env={"COLUMNS": "300"})
    assert empty.output == "0 messages, 0 numbers, 0 bytes left this site; 0 refused\n"
    ledger.add(folder.joined.study, "", 0, "names and levels", 0, 50, masked_with=0)
    ledger.add(folder.joined.study, "aa", 0, "counts", 1200, 19200, masked_with=2)
    ledger.add(folder.joined.study, "aa", 1, "counts", 6, 96, masked_with=2)
    ledger.add(folder.joined.study, "bb", 0, "counts", 0, 0, masked_with=2, refused="DisclosureError: too few sites\x1b[2J")
    shown = CliRunner().invoke(app, words, env={"COLUMNS": "300"}).output
    first, *rest = shown.splitlines()
    assert first.startswith("3 messages, 1,206 numbers, 19,346 bytes left this site; 1 refused, from ")
    assert any("aa" in line and "1,206" in line for line in rest)
    assert any("before any" in line for line in rest)
    assert r"refused 1 time: DisclosureError: too few sites\x1b[2J" in shown
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).output)
    assert (told["site"], told["total"]["numbers"], [run["run"] for run in told["runs"]]) == ("muenster", 1206, ["", "aa", "bb"])
    assert told["refusals"] == {r"DisclosureError: too few sites\x1b[2J": 1}
