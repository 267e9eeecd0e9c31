"""Studies that live, with real processes: sites that do not fit at first, that are left out, that withdraw; studies that are done again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from tempfile import TemporaryFile

import polars as pl
import pytest

import consilience as cs
from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.invitation import read_invitation
from tests.system.forking import fork
from tests.system.processes import Agent, Server, begin, declaration, enrol, environment, running, until, write_frames
from tests.system.proxy import delaying
from tests.system.test_equality import connected

pytestmark = pytest.mark.slow
FAR = 0.1
"""Seconds to a site that is to be lost under way: the rounds that are left take seconds, and nobody is in a hurry to stop it in time."""


def frames_of(sites: int) -> dict[str, pl.DataFrame]:
    found = cs.simulate.mixed_sites(n=80 * sites, sites=sites, seed=3)
    return {f"site{i}": frame.select("A", "C") for i, frame in enumerate(found.values())}


def as_owner(server: Server) -> dict[str, str]:
    """What the study's owner has in the environment."""
    return {"CONSILIENCE_SERVER_PUBLIC_URL": server.url, "CONSILIENCE_SERVER_CA": server.ca, "CONSILIENCE_SERVER_TOKEN": server.token}


def owner(server: Server, *words: str) -> subprocess.CompletedProcess[str]:
    """``consilience server study`` of the study's owner."""
    return program("server", "study", *words, **as_owner(server))


def program(*words: str, **around: str) -> subprocess.CompletedProcess[str]:
    """``consilience`` with these words, in a process of its own, to its end."""
    with TemporaryFile() as out, TemporaryFile() as err:
        code = fork(list(words), environment(**around), out.fileno(), err.fileno()).wait(60)
        texts = [(file.seek(0), file.read().decode())[1] for file in (out, err)]
    return subprocess.CompletedProcess(words, code, *texts)


def said(agent: Agent) -> str:
    return " ".join(agent.log.read_text().split())


def misfit(server: Server, study: str, agent: Agent, frames: dict[str, pl.DataFrame]) -> None:
    """A site comes with a level that the study does not have: it is told what, its study's owner only that."""
    frames[agent.name].with_columns(C=pl.lit("unheard of")).write_parquet(agent.data)
    agent.start()
    assert agent.wait(60) == 2
    assert "unheard of" in said(agent)
    assert "looked at anew" in said(agent)
    (told,) = until(lambda: [body for _, kind, body in server.events(study) if kind == "declined"])
    assert told == {"site": agent.name, "reason": "The site's data do not fit the study's schema."}
    assert server.state(study)[0] == "running"


def test_a_site_repairs_its_table_and_the_others_are_not_asked_again(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames = frames_of(3)
    study, (one, two, three) = enrol(server, folder, frames, declaration(frames))
    agents += [one.start(), two.start()]
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    misfit(server, study, three, frames)
    frames["site2"].write_parquet(three.data)
    agents.append(three.start())
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0] * 3
    assert [said(agent).count("agreed to ") for agent in (one, two, three)] == [1, 1, 1]
    assert set(server.result(study)["study"]["sites"]) == set(frames)


def test_the_owner_goes_on_without_a_site_and_all_others_are_asked_again(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames = frames_of(3)
    study, (one, two, three) = enrol(server, folder, frames, declaration(frames))
    agents += [one.start(), two.start()]
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    misfit(server, study, three, frames)
    until(lambda: all(site["consented"] for site in server.do("GET", f"/studies/{study}")["sites"] if site["name"] != "site2"))
    done = owner(server, "without", study, "site2")
    assert (done.returncode, done.stdout) == (0, "running\n"), done.stderr
    assert "asked for consent anew are site0, site1" in " ".join(done.stderr.split())
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0] * 2
    assert [said(agent).count("agreed to ") for agent in (one, two)] == [2, 2]
    assert "it is without 'site2'" in said(one)
    assert "subtracted" not in said(one), "with the first contract nothing was answered"
    assert server.result(study)["study"]["sites"] == ["site0", "site1"]


def test_whoever_waits_is_told_for_whom_and_a_table_is_looked_at_before_the_start(
    server: Server, folder: Path, agents: list[Agent]
) -> None:
    frames = frames_of(3)
    study, (one, two, three) = enrol(server, folder, frames, declaration(frames))
    with (folder / "watch.log").open("wb") as log:
        watching = begin(["server", "study", "watch", study], log, **as_owner(server))
    try:
        agents.append(one.start())
        until(lambda: "connected, waiting for 2 of 3 sites to connect: site1 (not connected), site2 (not connected)" in said(one))
        assert "the table fits what the study declares" in said(one)
        wrong = frames["site2"].with_columns(C=pl.lit("unheard of"))
        wrong.write_parquet(three.data)
        three.start()
        assert three.wait(60) == 2
        assert "unheard of" in said(three)
        found = until(lambda: next((s for s in server.do("GET", f"/studies/{study}")["sites"] if s["fits"] is False), None))
        assert found["name"] == "site2"
        until(lambda: "site2 (its table does not fit)" in said(one))
        frames["site2"].write_parquet(three.data)
        agents += [two.start(), three.start()]
        until(lambda: "connected, all 3 sites are there; the study begins when its owner starts it" in said(one))
        server.do("POST", f"/studies/{study}/start")
        assert server.wait(study) == "finished"
        assert [agent.wait(60) for agent in agents] == [0] * 3
        assert watching.wait(30) == 0
        told = " ".join((folder / "watch.log").read_text().split())
        for words in ("waiting for 2 of 3 sites to connect", "site2 (its table does not fit)", "all 3 sites are there", "sites to agree"):
            assert words in told, told
        assert "unheard of" not in told
    finally:
        watching.kill()


def test_whoever_starts_and_follows_a_study_has_its_result_though_the_server_was_killed_meanwhile(
    folder: Path, agents: list[Agent]
) -> None:
    frames = frames_of(2)
    with running(folder) as server:
        study, (one, two) = enrol(server, folder, frames, declaration(frames))
        agents.append(one.start())
        connected(server, study, 1)
        with (folder / "watch.log").open("wb") as log:
            watching = begin(["server", "study", "start", study, "--watch", "--out", str(folder / "out")], log, **as_owner(server))
        try:
            until(lambda: "consented" in (folder / "watch.log").read_text())  # and the other site is still to come
            server.kill()
            until(lambda: "It is asked again" in (folder / "watch.log").read_text())
            server.start()
            agents.append(two.start())
            assert server.wait(study) == "finished"
            assert watching.wait(90) == 0
        finally:
            watching.kill()
        told = [line.split()[0] for line in (folder / "watch.log").read_text().splitlines() if line.strip()]
        assert told.count("started") == told.count("finished") == 1, told
        assert json.loads((folder / "out" / "result.json").read_text()) == server.result(study)
        report = server.http.get(f"/api/v1/studies/{study}/documents/report.html", headers={"Authorization": f"Bearer {server.token}"})
        assert (folder / "out" / "report.html").read_text() == report.text


def test_a_study_is_done_again_from_its_tests_under_its_contract_or_as_a_copy(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames = frames_of(2)
    study, (one, two) = enrol(server, folder, frames, declaration(frames, return_seconds=1))
    agents += [one.start(), two.start()]
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0, 0]
    rounds = server.do("GET", f"/studies/{study}")["rounds"]
    # other decisions on the same tests: no site is there, and none is asked
    done = owner(server, "rerun", study, "--alpha", "0.999")
    assert done.returncode == 0, done.stderr
    other = done.stdout.strip()
    assert other != study
    assert "no site is asked" in " ".join(done.stderr.split())
    wanted, found = server.result(study), server.result(other)
    assert (found["alpha"], found["study"]["origin"], found["study"]["sites"]) == (0.999, study, ["site0", "site1"])
    assert [t["p_value"] for t in found["tests"]] == [t["p_value"] for t in wanted["tests"]]
    assert found["pags"] != wanted["pags"]
    assert server.do("GET", f"/studies/{study}")["rounds"] == rounds
    again = owner(server, "rerun", study)
    assert again.returncode == 2
    assert "would find the same again" in " ".join(again.stderr.split())
    # what sites are asked for is in their contract: a copy
    shown = server.do("POST", f"/studies/{study}/rerun", {"settings": {"min_rows": 20}})
    assert (shown["how"], shown["study"]["state"], shown["study"]["settings"]["min_rows"]) == ("copy", "draft", 20)
    assert owner(server, "copy", study, "--name", "once more").returncode == 0


def test_a_study_that_failed_runs_again_under_its_contract(server: Server, folder: Path, agents: list[Agent]) -> None:
    """A site vanishes and the study fails; when it is back, the study goes on: nobody is asked again, and the result is the same."""
    frames = cs.simulate.mixed_sites(n=240, sites=3, seed=3)
    body = declaration(frames, return_seconds=1, batching="levels")
    study, started = enrol(server, folder, frames, body)
    whole, others = enrol(server, folder / "whole", frames, body)
    with delaying(None, FAR) as line:
        agents += [agent.start() for agent in (*started[:2], *others)]
        agents.append(started[2].start(https_proxy=f"http://127.0.0.1:{line.port}"))
        connected(server, whole, 3)
        connected(server, study, 3)
        server.do("POST", f"/studies/{study}/start")
        until(lambda: server.do("GET", f"/studies/{study}")["tests"], pause=0.005)
        started[2].kill()
    assert server.wait(study) == "failed"
    made = server.do("GET", f"/studies/{study}")["tests"]
    assert made
    assert [agent.wait(60) for agent in started[:2]] == [3, 3]
    done = owner(server, "rerun", study)
    assert (done.returncode, done.stdout.strip()) == (0, study), done.stderr
    agents += [agent.start() for agent in started]
    assert server.wait(study) == "finished", server.state(study)
    server.do("POST", f"/studies/{whole}/start")
    assert server.wait(whole) == "finished"
    assert server.result(study)["tests"] == server.result(whole)["tests"]
    assert server.result(study)["pags"] == server.result(whole)["pags"]
    assert [said(agent).count("agreed to ") for agent in started] == [1, 1, 1]


def test_a_site_withdraws_while_the_study_runs_and_after_it(server: Server, folder: Path, agents: list[Agent]) -> None:
    """Its agent is at work in another process: it answers nothing more from the moment on in which its owner says so."""
    frames = cs.simulate.mixed_sites(n=240, sites=3, seed=3)
    study, started = enrol(server, folder, frames, declaration(frames))
    agents += [agent.start() for agent in started]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    until(lambda: server.do("GET", f"/studies/{study}")["rounds"], pause=0.005)
    assert started[0].process is not None
    os.kill(started[0].process.pid, signal.SIGSTOP)  # the run waits for it, and is not over before the other leaves
    gone = program("client", "withdraw", "--home", str(started[2].home), "--reason", "the table had a mistake")
    assert gone.returncode == 0, gone.stderr
    assert "answers nothing more in it" in " ".join(gone.stderr.split())
    os.kill(started[0].process.pid, signal.SIGCONT)
    ended = server.wait(study)
    left = (started[2].home / "studies" / study / "ledger.jsonl").read_text()
    if ended == "failed":
        assert "withdrew on" in server.state(study)[1]
        assert "the table had a mistake" in server.state(study)[1]
        assert started[2].wait(60) in (2, 3)
    else:  # it was over meanwhile
        (words,) = server.result(study)["study"]["withdrawn"]
        assert "the table had a mistake" in words
    again = program("client", "run", "--home", str(started[2].home), "--data", str(started[2].data))
    assert again.returncode == 2
    assert "withdrew from the study on" in " ".join(again.stderr.split())
    assert (started[2].home / "studies" / study / "ledger.jsonl").read_text() == left
    (told,) = [body for _, kind, body in server.events(study) if kind == "withdrew"]
    assert (told["site"], told["reason"]) == (started[2].name, "the table had a mistake")


def test_a_fourth_site_joins_a_copy_and_all_are_asked_again(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames = frames_of(4)
    three = dict(list(frames.items())[:3])
    study, started = enrol(server, folder, three, declaration(three))
    agents += [agent.start() for agent in started]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0] * 3
    done = owner(server, "copy", study, "--name", "with a fourth")
    assert done.returncode == 0, done.stderr
    other = done.stdout.strip()
    assert "no test is taken over" in " ".join(done.stderr.split())
    homes = {agent.name: agent.home for agent in started} | {"site3": folder / "home-site3"}
    write_frames(folder, frames)
    again = []
    for name, home in homes.items():
        text = server.do("POST", f"/studies/{other}/invitations", {"site": name})["invitation"]
        enter(Home(home), read_invitation(text))
        again.append(Agent(home, folder / f"{name}.parquet", name))
    server.do("POST", f"/studies/{other}/open")
    agents += [agent.start("--study", other) for agent in again]
    connected(server, other, 4)
    server.do("POST", f"/studies/{other}/start")
    assert server.wait(other) == "finished"
    assert [agent.wait(60) for agent in again] == [0] * 4
    assert server.result(other)["study"]["sites"] == sorted(frames)
    told = "has 'site3' besides, but else has the sites of the study"
    assert [told in said(agent) for agent in again] == [True, True, True, False]
    assert server.do("GET", f"/studies/{other}")["origin"] == study


def test_no_graph_is_the_same_words_and_the_same_exit_code_over_a_network_and_here(
    server: Server, folder: Path, agents: list[Agent]
) -> None:
    """What is known contradicts the tests, and nothing is to be given up: there is no graph."""
    frames = frames_of(2)
    study, started = enrol(server, folder, frames, declaration(frames, resolve="strict", required=["A *-* C"]))
    known = folder / "known.toml"
    known.write_text('required = ["A *-* C"]\n')
    files = [str(agent.data) for agent in started]
    here = program("discover", *files, "--resolve", "strict", "--knowledge", str(known))
    assert here.returncode == 3, here.stderr
    agents += [agent.start() for agent in started]
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    watched = owner(server, "watch", study)
    assert watched.returncode == 3, watched.stderr
    assert server.state(study)[0] == "finished"
    assert [agent.wait(60) for agent in agents] == [3, 3]
    headline = server.result(study)["headline"]
    assert watched.stdout.rstrip().splitlines()[-1] == headline
    for words in (here.stdout, *(agent.log.read_text() for agent in agents)):
        assert headline in " ".join(words.split())
