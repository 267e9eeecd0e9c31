"""What a round costs on FLARE's network, beside our own server and one process: the trial of ``docs/nvflare.md``, with real processes.

    python benchmarks/nvflare_latency.py

Seconds are those of the tests, from the first question to the last answer, as each result says itself; the least of several runs, and one
after the other, so that all have the same machine. What one process takes for the same tests is computing, and is taken off.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.flare import SITES, Federation, federated
from tests.system.processes import Server, enrol, running
from tests.system.test_equality import connected

import consilience as cs
from consilience.flare.names import CLIENT_KNOBS, SERVER_APP, SERVER_KNOBS, SITE_APP
from consilience.service.stored_test import StoredTest
from consilience.settings.studyfile import read_study

PARTS = ("pags", "local_pags", "tests")


def in_process(trial: Path) -> tuple[float, int]:
    """Seconds of the tests, and rounds."""
    study = read_study(trial / "study.toml")
    clients = [cs.Client(name, trial / f"site{k}.csv") for k, name in enumerate(SITES, 1)]
    server = cs.Server(clients, schema=study.schema, min_cell=5)
    found = cs.discover(StoredTest(server, lambda _results: None, lambda _done, _total: None))
    return found.timings["tests"], server.rounds


def on_our_server(server: Server, trial: Path, folder: Path) -> dict[str, Any]:
    """The result of the same study on a study server over TLS, each site a process."""
    frames = {name: pl.read_csv(trial / f"site{k}.csv") for k, name in enumerate(SITES, 1)}
    study, agents = enrol(server, folder, frames, read_study(trial / "study.toml").declaration())
    for agent in agents:
        agent.start()
    try:
        connected(server, study, len(agents))
        server.do("POST", f"/studies/{study}/start")
        server.wait(study, 300)
        return server.result(study)
    finally:
        for agent in agents:
            agent.kill()


def on_flare(federation: Federation, job: str) -> dict[str, Any]:
    """The result of a job."""
    found: dict[str, Any] = json.loads((federation.fetch(federation.submit(job)) / "result.json").read_text())
    return found


def without_knobs(federation: Federation) -> str:
    """The job as FLARE would run it by its defaults."""
    folder = federation.folder / "plain"
    shutil.copytree(federation.folder / "job", folder)
    apps = ((SERVER_APP, "config_fed_server.json", SERVER_KNOBS), (SITE_APP, "config_fed_client.json", CLIENT_KNOBS))
    for app, name, knobs in apps:
        file = folder / app / "config" / name
        file.write_text(json.dumps({key: value for key, value in json.loads(file.read_text()).items() if key not in knobs}))
    return folder.name


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="runs of each, of which the least counts; of FLARE's defaults there is one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, federated(Path(name)) as federation:
        trial = federation.folder / "trial"
        local, rounds = min(in_process(trial) for _ in range(options.runs))
        print(f"{'network':<34} {'rounds':>6} {'seconds':>8} {'a round':>9} {'overhead':>9} {'same bits':>9}")
        print(f"{'one process':<34} {rounds:6d} {local:8.2f} {1000 * local / rounds:6.0f} ms {0:6.0f} ms {'':>9}", flush=True)
        with running(federation.folder / "server", loading=True) as server:
            ours = [on_our_server(server, trial, federation.folder / f"ours{k}") for k in range(options.runs)]
        told = [("our server, TLS", ours)]
        told.append(("FLARE, as the job sets it", [on_flare(federation, "job") for _ in range(options.runs)]))
        told.append(("FLARE, by its defaults", [on_flare(federation, without_knobs(federation))]))
        for words, results in told:
            seconds = min(result["timings"]["tests"] for result in results)
            same = all(result[part] == ours[0][part] for result in results for part in PARTS)
            each, over = 1000 * seconds / rounds, 1000 * (seconds - local) / rounds
            print(f"{words:<34} {results[0]['study']['rounds']:6d} {seconds:8.2f} {each:6.0f} ms {over:6.0f} ms {same!s:>9}", flush=True)


if __name__ == "__main__":
    main()
