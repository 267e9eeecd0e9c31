"""Consent of real agents that nobody sits at: by policy, by digest, and what neither covers. Each attack worked with a bare ``--yes``."""

from __future__ import annotations

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import consilience as cs
from consilience.service.agent import Home
from consilience.service.agent import join as enter
from consilience.service.invitation import read_invitation
from tests.code_blocks import lines_on
from tests.system.processes import PROGRAM, Agent, Server, declaration, enrol, environment, write_frames
from tests.system.test_equality import connected

pytestmark = pytest.mark.slow
ATTACK = {"site_effects": "joint", "allow_joint": True, "on_dropout": "restart", "min_rows": 1}


def frames_of(sites: int) -> dict[str, pl.DataFrame]:
    found = cs.simulate.mixed_sites(n=80 * sites, sites=sites, seed=3)
    return {f"site{i}": frame.select("A", "C") for i, frame in enumerate(found.values())}


def client(agent: Agent, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [*PROGRAM, "client", "run", "--home", str(agent.home), "--data", str(agent.data), *words]
    return subprocess.run(command, env=environment(**more), capture_output=True, text=True, check=False)


def drafted(
    server: Server, folder: Path, frames: dict[str, pl.DataFrame], homes: dict[str, Path], **settings: Any
) -> tuple[str, list[Agent]]:
    """A draft that sites have joined, with homes that they may have had before."""
    study = server.do("POST", "/studies", declaration(frames, **settings))["id"]
    paths, agents = write_frames(folder / study, frames), []
    for name in frames:
        text = server.do("POST", f"/studies/{study}/invitations", {"site": name})["invitation"]
        home = homes.setdefault(name, folder / f"home-{name}")
        enter(Home(home), read_invitation(text))
        agents.append(Agent(home, paths[name], name))
    return study, agents


def untouched(agent: Agent, study: str) -> bool:
    own = agent.home / "studies" / study
    return not (own / "contract.msgpack").exists() and (own / "ledger.jsonl").read_text() == ""


def test_what_the_owner_edits_after_the_dry_run_nobody_has_agreed_to(server: Server, folder: Path, agents: list[Agent]) -> None:
    """The attack: joint, restart and min_rows = 1 after everybody has looked. With a bare --yes all sites consented."""
    frames = frames_of(3)
    study, (one, two, three) = drafted(server, folder, frames, {})
    policy = folder / "policy.toml"
    policy.write_text("min_rows = 10\n")
    dry = client(one, "--dry-run", "--policy", str(policy))
    assert dry.returncode == 0, dry.stderr
    assert "would agree to it" in dry.stdout
    (digest,) = re.findall(r"digest, as it stands now: ([0-9a-f]{64})", dry.stdout)
    assert digest == server.do("GET", f"/studies/{study}")["contract"], "the owner sees the same"
    for name in frames:
        assert f"site '{name}': " in dry.stdout
    bare = client(one, "--yes")
    assert bare.returncode == 2
    assert "needs a policy" in bare.stderr
    assert "consilience client policy --write" in " ".join(bare.stderr.split())
    body = declaration(frames, **ATTACK)
    server.do("PUT", f"/studies/{study}", body)
    server.do("POST", f"/studies/{study}/open")
    assert server.do("GET", f"/studies/{study}")["contract"] != digest
    again = client(one, "--dry-run", "--policy", str(policy))
    assert "would not agree to it" in again.stdout
    agents += [one.start("--consent", digest, yes=False), two.start("--policy", str(policy), "--yes", yes=False)]
    agents += [three.start("--consent", digest, "--policy", str(policy), yes=False)]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    assert [agent.wait(60) for agent in agents] == [2, 2, 2]
    assert server.state(study)[0] == "running", "it waits for other answers"
    server.do("POST", f"/studies/{study}/cancel")
    for agent in agents:
        assert untouched(agent, study)
    said = " ".join(two.log.read_text().split())
    assert all(rule in said for rule in ("min_rows must be at least 10", "site_effects may be", "on_dropout may be stop"))
    assert f"agreed was to {digest}" in " ".join(one.log.read_text().split())


def test_a_study_that_is_what_it_was_runs_by_digest_and_by_policy(server: Server, folder: Path, agents: list[Agent]) -> None:
    frames = frames_of(2)
    study, (one, two) = drafted(server, folder, frames, {})
    (digest,) = re.findall(r"digest, as it stands now: ([0-9a-f]{64})", client(one, "--dry-run").stdout)
    server.do("POST", f"/studies/{study}/open")
    policy = folder / "policy.toml"
    policy.write_text("max_variables = 2\n")
    agents += [one.start("--consent", digest, yes=False), two.start("--policy", str(policy), "--yes", yes=False)]
    connected(server, study, 2)
    server.do("POST", f"/studies/{study}/start")
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0, 0]
    assert f"agreed to {digest} by digest {digest}" in " ".join(one.log.read_text().split())
    shown = subprocess.run(
        [*PROGRAM, "client", "status", "--home", str(two.home), "--json"], env=environment(), capture_output=True, text=True, check=True
    )
    assert '"by": "policy ' in shown.stdout


def test_the_lines_of_the_documentation_as_somebody_types_them(
    server: Server, folder: Path, agents: list[Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the name of the home is added, and that is the one which is taken where none is said."""
    monkeypatch.chdir(folder)
    frames = dict(zip(("muenster", "marburg", "mainz"), frames_of(3).values(), strict=True))
    homes = {"muenster": folder / "consilience-site"}
    study, (muenster, *others) = drafted(server, folder, frames, homes, min_contributors=3, min_rows=20, max_given=3)
    frames["muenster"].write_csv(folder / "muenster.csv")
    server.do("POST", f"/studies/{study}/open")
    *before, last = (line.split()[1:] for line in lines_on("docs/site.md", "consilience client"))
    said = [subprocess.run([*PROGRAM, *words], env=environment(), capture_output=True, text=True, check=False) for words in before]
    assert [done.returncode for done in said] == [0, 0, 0], [done.stderr for done in said]
    assert hashlib.sha256((folder / "policy.toml").read_bytes()).hexdigest() in said[1].stdout
    assert "would agree to it" in said[2].stdout
    assert last[:4] == ["client", "run", "--data", "muenster.csv"]
    muenster.data = folder / "muenster.csv"
    agents += [muenster.start(*last[4:], yes=False), *(other.start() for other in others)]
    connected(server, study, 3)
    server.do("POST", f"/studies/{study}/start")
    assert server.wait(study) == "finished"
    assert [agent.wait(60) for agent in agents] == [0, 0, 0]


def test_the_same_study_without_one_site_is_not_agreed_to_unless_it_is_named(server: Server, folder: Path, agents: list[Agent]) -> None:
    """The attack: the difference of the two studies is the third site's part. With a bare --yes it was done, and nobody was told."""
    frames, homes = frames_of(3), dict[str, Path]()
    first, started = drafted(server, folder, frames, homes)
    server.do("POST", f"/studies/{first}/open")
    agents += [agent.start() for agent in started]
    connected(server, first, 3)
    server.do("POST", f"/studies/{first}/start")
    assert server.wait(first) == "finished"
    assert [agent.wait(60) for agent in agents] == [0] * 3
    fewer = dict(list(frames.items())[:2])
    second, (one, two) = drafted(server, folder, fewer, homes, alpha=0.01)
    dry = client(one, "--study", second, "--dry-run")
    assert "This study is without 'site2'" in " ".join(dry.stdout.split()), dry.stdout + dry.stderr
    server.do("POST", f"/studies/{second}/open")
    digest = server.do("GET", f"/studies/{second}")["contract"]
    policy = folder / "policy.toml"
    policy.write_text("")
    for words in (["--consent", digest], ["--policy", str(policy), "--yes"]):
        tried, (one, two) = (second, (one, two)) if words[0] == "--consent" else drafted(server, folder, fewer, homes)
        if tried != second:
            server.do("POST", f"/studies/{tried}/open")
        agents += [one.start("--study", tried, *words, yes=False), two.start("--study", tried)]
        connected(server, tried, 2)
        server.do("POST", f"/studies/{tried}/start")
        assert agents[-2].wait(60) == 2
        server.do("POST", f"/studies/{tried}/cancel")
        assert untouched(one, tried)
        assert "sums over A, C of 'site2' alone" in " ".join(one.log.read_text().split())
        agents[-1].wait(60)
    third, (one, two) = drafted(server, folder, fewer, homes)
    server.do("POST", f"/studies/{third}/open")
    digest = server.do("GET", f"/studies/{third}")["contract"]
    agents += [one.start("--study", third, "--consent", digest, "--allow-subtraction", yes=False), two.start("--study", third)]
    connected(server, third, 2)
    server.do("POST", f"/studies/{third}/start")
    assert server.wait(third) == "finished"


def test_levels_leave_by_the_digest_of_these_words_and_of_no_others(server: Server, folder: Path, agents: list[Agent]) -> None:
    """A table that has got another level since the words were shown tells nothing."""
    frames = frames_of(2)
    study, (one, _) = enrol(server, folder, frames, {"name": "queried"})
    dry = client(one, "--dry-run")
    (digest,) = re.findall(r"digest of these words: ([0-9a-f]{64})", dry.stdout)
    assert one.told() == ("--send-names-and-levels", digest)
    frames["site0"].with_columns(pl.col("C") + 1).write_parquet(one.data)
    agents.append(one.start("--send-names-and-levels", digest))
    assert one.wait(60) == 2
    assert "are sent in the open: nothing has left" in " ".join(one.log.read_text().split())
    assert not any(site["declared"] for site in server.do("GET", f"/studies/{study}")["sites"])
