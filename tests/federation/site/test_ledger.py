"""What a site's owner can read: every message that left the site, in words, with totals that are true."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import FrozenInstanceError, asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience import errors
from consilience.citest.question import Question
from consilience.cli.app import app
from consilience.federation.site.ledger import Ledger, LedgerLine
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.products import Products
from consilience.protocol.survey import Survey
from tests.federation.helpers import LOGIT, Spy, Wire, lose, mixed_clients, mixed_frames, point, refused, tap

COLUMNS = ["time", "study", "run", "round", "what", "numbers", "bytes", "masked_with", "refused", "digest", "total_numbers", "total_bytes"]
OPTIONS: dict[str, dict[str, Any]] = {
    "profiled": {},
    "none": {"site_effects": "none"},
    "fisher": {"method": "fisher"},
    "unmasked": {"masking": False},
}


def size(reply: Any) -> int:
    return len(reply) if isinstance(reply, bytes) else int(reply.nbytes)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_every_answer_is_in_the_ledger_with_its_size(options: dict[str, Any]) -> None:
    """Line by line what the transport took from that client: no more, no less, nothing twice."""
    clients = mixed_clients(3, absent={2: ["B"]})
    server = cs.Server(clients, **options)
    sent, spy = tap(server), Spy(server)
    server.test_all(max_given=1)
    for client in clients:
        lines, replies = client.record.entries, sent[client.name]
        assert len(lines) == len(replies) == server.rounds
        assert [line.bytes for line in lines] == [size(reply) for reply in replies]
        assert [line.numbers for line in lines] == [size(reply) // (8 if "masking" in options else 16) for reply in replies]
        assert [line.what for line in lines] == [request.words() for request, *_ in spy.seen]
        assert [line.round for line in lines] == list(range(server.rounds))
        assert {line.masked_with for line in lines} == {0 if "masking" in options else 2}
        assert {line.refused for line in lines} == {""}
        assert len({(line.study, line.run) for line in lines}) == 1
        totals = client.record.totals()
        assert totals == {
            "messages": server.rounds,
            "numbers": sum(line.numbers for line in lines),
            "bytes": sum(map(size, replies)),
            "refused": 0,
        }


def test_totals_of_all_clients_are_what_the_server_counted() -> None:
    """All that travels is requests and answers. Requests are the same with and without masks; answers are half as long without."""
    clients = mixed_clients(3)
    answers, requests = [], []
    for server in (cs.Server(clients), cs.Server(clients, masking=False)):
        before = sum(c.record.totals()["bytes"] for c in clients)
        server.test_all(max_given=1)
        answers.append(sum(c.record.totals()["bytes"] for c in clients) - before)
        requests.append(server.bytes - answers[-1])
    assert answers[0] == 2 * answers[1] > 0
    assert requests[0] == requests[1] > 0


def test_a_site_that_contributes_nothing_sends_as_much_as_the_others() -> None:
    clients = mixed_clients(3, absent={2: list("BCDE")})
    cs.Server(clients).test_all(max_given=1)
    assert len({json.dumps(c.record.totals()) for c in clients}) == 1


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (Survey((("A", "B"), ("C",))), ["2 variable sets", "how many rows"]),
        (Survey((("A",),), ("A", "B")), ["1 variable set;", "spread of 2 variables"]),
        (Locate(("A", "B"), {}), ["numbers of rows and sums", "2 variables", "A, B"]),
        (Products((("A", "B"), ("C",)), {}), ["level counts", "cross-products", "2 variable sets", "A, B", "C"]),
        (Products((), {}, alone=(Question("A", "B"),)), ["rounded p-value of 1 test", "one site alone"]),
        (Products((("A", "C"),), {}, alone=(Question("A", "B"),) * 2), ["cross-products of 1 variable set", "rounded p-values of 2 tests"]),
        (LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL), ["own p-values", "1 test"]),
        (
            Evaluate(1, (LOGIT, LOGIT), SiteEffects.PROFILED, Ordinal.PROPORTIONAL, 2, {}),
            ["log-likelihood", "score", "information", "2 models", "of C"],
        ),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else "",
)
def test_words_say_what_leaves(request_: Any, words: list[str]) -> None:
    said = request_.words()
    for word in words:
        assert word in said
    assert "1 models" not in said
    assert "1 tests" not in said


def test_an_empty_request_has_words_too() -> None:
    wire = Wire.open(mixed_clients(2))
    for body in (Survey(()), Products((), {}), wire.evaluate()):
        wire.send(body)
    assert all(entry.what for entry in wire.clients[0].record.entries)


def test_words_name_the_variables_of_a_test() -> None:
    clients = mixed_clients(2)
    cs.Server(clients).test("A", "C", ["D", "E"])
    said = " ".join(entry.what for entry in clients[0].record.entries)
    assert "A, C, D, E" in said
    assert "B" not in said


def test_refusals_are_lines_with_nothing_sent() -> None:
    wire = Wire.open(mixed_clients(2))
    client = wire.clients[0]
    wire.send(Survey((("A",),)))
    with refused(client, errors.DisclosureError):
        wire.send(Products((("A", "B"),), {}))
    with refused(client, errors.OutsideSchemaError):
        wire.send(Survey((("Q",),)))
    wire.send(Survey((("B",),)))
    frame = client.ledger
    assert frame["refused"].str.starts_with("DisclosureError: ").to_list() == [False, True, False, False]
    assert frame["total_numbers"].to_list() == [2, 2, 2, 4]
    assert frame["total_bytes"].to_list() == [32, 32, 32, 64]
    assert client.record.totals() == {"messages": 2, "numbers": 4, "bytes": 64, "refused": 2}


def test_a_refused_line_says_what_was_asked() -> None:
    wire = Wire.open(mixed_clients(2))
    model = ModelAsk("C", ("B",), ("B", "C"), (0,), (0, 1), point(1.0))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(wire.evaluate(model))
    line = wire.clients[0].record.entries[-1]
    assert line.what == wire.evaluate(model).words()
    assert (line.round, line.masked_with) == (0, 1)


def test_frame_has_its_columns_also_when_empty() -> None:
    (client,) = mixed_clients(1)
    assert client.ledger.columns == COLUMNS
    assert client.ledger.height == 0
    types = client.ledger.schema
    cs.Server([client]).test("A", "C")
    assert client.ledger.height > 0
    assert client.ledger.schema == types


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -(2**63)])
def test_no_request_makes_the_ledger_unreadable(number: int) -> None:
    """A message's integers have 64 bits, with a sign or without."""
    wire = Wire.open(mixed_clients(2))
    with suppress(errors.RoundNumberError):
        wire.send(Survey((("A",),)), round=number)
    assert wire.clients[0].ledger.height == 1
    assert json.loads(wire.clients[0].record.lines())["what"]


def test_entries_are_added_never_changed() -> None:
    ledger = Ledger(clock=lambda: datetime(2026, 1, 31, 12, 30, tzinfo=UTC))
    ledger.add("study", "run", 0, "counts", 6, 96, masked_with=2)
    entries = ledger.entries
    assert isinstance(entries, tuple)
    assert entries[0] == LedgerLine("2026-01-31T12:30:00.000+00:00", "study", "run", 0, "counts", 6, 96, 2)
    with pytest.raises(FrozenInstanceError):
        entries[0].numbers = 0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        ledger.entries = ()  # type: ignore[misc]
    ledger.frame()[0, "numbers"] = 0
    ledger.add("study", "run", 1, "counts", 1, 16, masked_with=2)
    assert ledger.entries[:1] == entries
    assert len(entries) == 1
    assert not [name for name in dir(ledger) if any(word in name for word in ("remove", "clear", "delete", "pop", "reset"))]


def test_one_ledger_holds_all_studies_of_a_client() -> None:
    clients = mixed_clients(2)
    first, second = cs.Server(clients), cs.fisher(clients)
    first.test("A", "C")
    kept = clients[0].record.entries
    second.test("A", "C")
    assert clients[0].record.entries[: len(kept)] == kept
    assert len({entry.study for entry in clients[0].record.entries}) == 2
    times = [entry.time for entry in clients[0].record.entries]
    assert times == sorted(times)
    assert all(datetime.fromisoformat(time).tzinfo is not None for time in times)


def test_a_run_with_fewer_sites_says_so() -> None:
    clients = mixed_clients(4)
    server = cs.Server(clients)
    lose(server, 0, at=1)
    server.test("A", "B")
    masked = [(entry.run, entry.masked_with) for entry in clients[1].record.entries]
    assert [others for _, others in masked] == sorted((others for _, others in masked), reverse=True)
    assert {others for _, others in masked} == {3, 2}
    assert len({run for run, _ in masked}) == 2
    assert {entry.masked_with for entry in clients[0].record.entries} == {3}


def test_json_lines_come_back_as_they_were(tmp_path: Path) -> None:
    wire = Wire.open([cs.Client('münster, "söhne"\n', mixed_frames(1)[0]), *mixed_clients(1, seed=8)])
    client = wire.clients[0]
    wire.send(Survey((("A",),)))
    with refused(client, errors.OutsideSchemaError):
        wire.send(Survey((('ü "\n',),)))
    path = tmp_path / "ledger.jsonl"
    client.record.write(path)
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [LedgerLine(**json.loads(line)) for line in lines] == list(client.record.entries)
    first = json.loads(client.record.lines(site=client.name).splitlines()[0])
    assert list(first.items()) == [("site", client.name), *asdict(client.record.entries[0]).items()]


@pytest.mark.parametrize("options", [[], ["--method", "fisher"], ["--site-effects", "none"]], ids=str)
def test_the_command_line_writes_the_ledger_of_every_site(tmp_path: Path, options: list[str]) -> None:
    files = []
    for i, frame in enumerate(mixed_frames(3, absent={2: ["E"]})):
        files.append(tmp_path / f"clinic{i}.csv")
        frame.write_csv(files[-1])
    ledger = tmp_path / "ledger.jsonl"
    arguments = ["test", "C", "E", *map(str, files), "--given", "A", "--ledger", str(ledger), "--json", *options]
    found = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert found.exit_code == 0
    lines = [json.loads(line) for line in ledger.read_text(encoding="utf-8").splitlines()]
    assert list(dict.fromkeys(line["site"] for line in lines)) == ["clinic0", "clinic1", "clinic2"]
    per_site = pl.DataFrame(lines).group_by("site").agg(pl.len(), pl.col("bytes").sum(), pl.col("masked_with").unique())
    assert per_site.select("len", "bytes").n_unique() == 1
    assert per_site["masked_with"].to_list() == [[2], [2], [2]]
    assert json.loads(found.stdout)["rounds"] <= per_site["len"][0]
    assert all(line["numbers"] * 16 == line["bytes"] > 0 and not line["refused"] for line in lines)


def test_the_command_line_writes_the_ledger_of_a_test_without_an_answer(tmp_path: Path) -> None:
    files = []
    for i, frame in enumerate(mixed_frames(2, absent={0: ["B"], 1: ["D"]})):
        files.append(tmp_path / f"clinic{i}.csv")
        frame.write_csv(files[-1])
    ledger = tmp_path / "ledger.jsonl"
    found = CliRunner().invoke(app, ["test", "B", "D", *map(str, files), "--ledger", str(ledger)], catch_exceptions=False)
    assert found.exit_code == 3
    assert len(ledger.read_text(encoding="utf-8").splitlines()) == 2  # one survey each
