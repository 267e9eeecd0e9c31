"""kill -9, in every phase: of the server, which goes on to the same bits; of a site, with and without return."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

import consilience as cs
from consilience.citest import CIResult
from consilience.cli.app import app
from consilience.federation.transport import JournalEntry
from tests.system.processes import Agent, Server, declaration, enrol, running, until
from tests.system.proxy import DelayingProxy, delaying
from tests.system.test_equality import assert_same, connected, frames_of, in_process

pytestmark = pytest.mark.slow
FRAMES = frames_of(3, rows=80)
DELAY = 0.02


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Server]:
    """A server that the test may kill."""
    with running(tmp_path / "own", heartbeat_seconds="1.5") as found:
        yield found


@pytest.fixture
def slow(mortal: Server) -> Iterator[DelayingProxy]:
    """Rounds that take long enough to be interrupted."""
    with delaying(mortal.port, DELAY) as proxy:
        yield proxy


def through(proxy: DelayingProxy, server: Server, agents: list[Agent]) -> list[Agent]:
    for agent in agents:
        for file in agent.home.glob("studies/*/study.json"):
            file.write_text(file.read_text().replace(f":{server.port}", f":{proxy.port}"))
    return agents


def rounds(server: Server, study: str) -> int:
    return int(server.sql("select rounds from studies where id = ?", study)[0][0])


def reached(server: Server, study: str, n: int) -> None:
    """Until a study has done ``n`` rounds, or is over."""
    until(lambda: rounds(server, study) >= n or server.state(study)[0] != "running", 60, 0.002)


def results(server: Server, study: str) -> dict[tuple[str, ...], bytes]:
    return {tuple(row[:3]): row[3] for row in server.sql("select x, y, given, result from results where study = ?", study)}


def test_a_server_killed_in_every_phase_finishes_with_the_same_bits(
    mortal: Server, slow: DelayingProxy, folder: Path, agents: list[Agent]
) -> None:
    server = mortal
    wanted, total, _ = in_process(FRAMES)
    study, joined = enrol(server, folder, FRAMES, declaration(FRAMES))
    through(slow, server, joined)
    agents += [agent.start() for agent in joined[:2]]

    def again() -> None:
        server.kill()
        server.start()

    connected(server, study, 2)
    again()  # open, sites waiting
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    until(lambda: server.sql("select count(*) from sites where study = ? and consent is not null", study)[0][0] == 2)
    again()  # running, one consent missing
    agents.append(joined[2].start())
    until(lambda: server.sql("select count(*) from sites where study = ? and consent is not null", study)[0][0] == 3)
    again()  # keys are being exchanged
    seen: dict[tuple[str, ...], bytes] = {}
    phases = [0, 1, 2, 3, 5, 8, total - 1, total]  # after the keys, the survey, the products, …, in later levels, at the end
    killed = 0
    for n in phases:
        until(lambda: any(kind == "run" for _, kind, _ in server.events(study)), 60, 0.002)
        reached(server, study, n)
        if server.state(study)[0] == "running":
            killed += 1
        server.kill()
        found = results(server, study)
        assert seen.items() <= found.items(), "a result was lost, or changed"
        seen = found
        server.start()
    assert server.wait(study, 90) == "finished"
    server.kill()
    server.start()  # finished, and still there
    assert_same(server.result(study), wanted)
    assert rounds(server, study) == total
    assert seen.items() <= results(server, study).items()
    assert server.sql("select count(*) from journal where study = ?", study) == [(0,)]
    assert killed >= 6
    assert [agent.wait(60) for agent in agents] == [0, 0, 0]
    for agent in agents:
        lines = [json.loads(line) for line in (agent.home / "studies" / study / "ledger.jsonl").read_text().splitlines()]
        assert not any(line["refused"] for line in lines)
        lines = [line for line in lines if line["masked_with"]]  # without what the site states of itself in every run
        assert total <= len(lines) <= total + killed + 1, "only rounds under way are asked again"


def left(folder: Path, sums: list[bytes]) -> int:
    """How many sums have a piece of two numbers in some file of a server's folder."""
    data = b"".join(file.read_bytes() for file in folder.rglob("*") if file.is_file())
    return sum(any(one[i : i + 16] in data for i in range(0, len(one) - 15, 8) if any(one[i : i + 16])) for one in sums)


@pytest.mark.parametrize("end", ["finished", "cancelled", "deleted"])
def test_sums_are_in_no_file_when_a_study_is_over(mortal: Server, slow: DelayingProxy, folder: Path, agents: list[Agent], end: str) -> None:
    """Also of a server that was killed on the way. And what sites say they sent is what it says it received."""
    server = mortal
    study, joined = enrol(server, folder, FRAMES, declaration(FRAMES))
    through(slow, server, joined)
    agents += [agent.start() for agent in joined]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    reached(server, study, 4)
    server.kill()
    sums = [msgspec.msgpack.decode(entry, type=JournalEntry).total for (entry,) in server.sql("select entry from journal")]
    sums = [one for one in sums if len(one) >= 16]
    assert len(sums) >= 3
    assert left(server.home, sums) == len(sums)
    server.start()
    if end == "finished":
        assert server.wait(study, 90) == "finished"
    else:
        server.do("POST", f"/studies/{study}/cancel")
    if end == "deleted":
        server.do("DELETE", f"/studies/{study}")
    until(lambda: left(server.home, sums) == 0, 10)
    server.kill()
    assert left(server.home, sums) == 0
    server.start()
    assert left(server.home, sums) == 0
    if end != "finished":
        return
    assert [agent.wait(60) for agent in agents] == [0, 0, 0]
    ledgers = [str(agent.home / "studies" / study / "ledger.jsonl") for agent in agents]
    words = ["server", "study", "audit", study, *ledgers, "--server", server.url, "--ca", server.ca]
    environment = {"CONSILIENCE_SERVER_TOKEN": server.token}
    told = CliRunner().invoke(app, [*words, "--json"], env=environment)
    found = json.loads(told.output)
    assert [(one["site"], one["differs"]) for one in found] == [(agent.name, []) for agent in agents]
    assert all(any("sent and received alike" in line for line in one["agrees"]) for one in found)
    assert told.exit_code == 0
    file = Path(ledgers[0])
    file.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:-2]))  # a site that would rather not have sent it
    told = CliRunner().invoke(app, words, env=environment)
    assert told.exit_code == 3
    assert "2 answers received, and not in the site's ledger" in told.output


def close_to(found: list[CIResult], wanted: dict[tuple[Any, ...], CIResult]) -> None:
    for result in found:
        same = wanted[result.x, result.y, result.given]
        assert (result.n, result.contributors, result.informative) == (same.n, same.contributors, same.informative)
        np.testing.assert_allclose(result.p_value, same.p_value, rtol=1e-5, atol=1e-9)


def test_a_site_killed_and_started_again_takes_part_to_the_end(
    mortal: Server, slow: DelayingProxy, folder: Path, agents: list[Agent]
) -> None:
    server = mortal
    wanted, total, _ = in_process(FRAMES)
    study, joined = enrol(server, folder, FRAMES, declaration(FRAMES, return_seconds=60))
    agents += [agent.start() for agent in through(slow, server, joined)]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    for n, victim in ((0, 0), (2, 1), (5, 2), (9, 0)):
        reached(server, study, n)
        agents[victim].kill()
        agents[victim].start("--no-insecure")  # consent is remembered: no terminal, and still no question
    assert server.wait(study, 90) == "finished"
    found = server.result(study)
    assert [p["edges"] for p in found["pags"]] == [p["edges"] for p in wanted["pags"]]
    for one, other in zip(found["tests"], wanted["tests"], strict=True):
        np.testing.assert_allclose(one["p_value"], other["p_value"], rtol=1e-5, atol=1e-10)
        assert {k: one[k] for k in ("x", "y", "given", "n")} == {k: other[k] for k in ("x", "y", "given", "n")}
    assert rounds(server, study) == total


@pytest.mark.parametrize("hang", [False, True], ids=["killed", "hanging"])
def test_a_site_that_does_not_come_back_stops_the_study_in_time(
    mortal: Server, slow: DelayingProxy, folder: Path, agents: list[Agent], hang: bool
) -> None:
    server = mortal
    study, joined = enrol(server, folder, FRAMES, declaration(FRAMES, return_seconds=2))
    agents += [agent.start() for agent in through(slow, server, joined)]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    reached(server, study, 8)
    assert agents[1].process is not None
    if hang:
        agents[1].process.send_signal(signal.SIGSTOP)
    else:
        agents[1].kill()
    begin = time.monotonic()
    assert server.wait(study, 60) == "failed"
    assert time.monotonic() - begin < 2 + 4 * 1.5 + 10  # its return, heartbeats, and a loaded machine
    message = server.state(study)[1]
    assert "'site01' does not answer any more" in message
    kept = [msgspec.msgpack.decode(b, type=CIResult) for b in results(server, study).values()]
    assert kept
    clients = [cs.Client(name, frame) for name, frame in FRAMES.items()]
    whole = {(r.x, r.y, r.given): r for r in cs.Server(clients, min_cell=5).test_many([(r.x, r.y, r.given) for r in kept])}
    close_to(kept, whole)
    assert [agents[i].wait(30) for i in (0, 2)] == [3, 3]


def test_a_site_that_does_not_come_back_is_left_out_where_all_consented_to_that(
    mortal: Server, slow: DelayingProxy, folder: Path, agents: list[Agent]
) -> None:
    server = mortal
    study, joined = enrol(server, folder, FRAMES, declaration(FRAMES, return_seconds=2, on_dropout="restart"))
    agents += [agent.start() for agent in through(slow, server, joined)]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    reached(server, study, 9)
    agents[1].kill()
    assert server.wait(study, 60) == "finished"
    found = [msgspec.msgpack.decode(b, type=CIResult) for b in results(server, study).values()]
    clients = [cs.Client(name, frame) for name, frame in FRAMES.items()]
    schema = cs.Server(clients).schema
    for members in ((0, 1, 2), (0, 2)):
        names = tuple(clients[i].name for i in members)
        own = [r for r in found if r.participants == names]
        assert own
        test = cs.Server([clients[i] for i in members], schema=schema, min_cell=5)
        close_to(own, {(r.x, r.y, r.given): r for r in test.test_many([(r.x, r.y, r.given) for r in own])})
    assert "is that site's part" in joined[0].log.read_text()
    assert server.result(study)["study"]["sites"] == ["site00", "site02"]
