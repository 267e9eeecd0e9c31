"""A discovery over loopback and TLS against the same discovery in process, for several numbers of sites; and with a delay on the wire.

    python benchmarks/service_latency.py

Every site is a process of its own. The bound is 1.5 times the in-process time plus 5 ms per round and site. With a delay, all tests go out
together (``batching="all"``) or level by level.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.processes import Server, declaration, enrol, running
from tests.system.proxy import delaying
from tests.system.test_equality import connected, frames_of, in_process, seconds_of


def over_network(
    server: Server, folder: Path, frames: Mapping[str, pl.DataFrame], delay: float = 0.0, **settings: Any
) -> tuple[dict[str, Any], float]:
    """The result and its seconds."""
    study, agents = enrol(server, folder, frames, declaration(frames, **settings))
    with delaying(server.port, delay) as proxy:
        for agent in agents:
            if delay:
                file = agent.home / "studies" / study / "study.json"
                file.write_text(file.read_text().replace(f":{server.port}", f":{proxy.port}"))
            agent.start()
        try:
            connected(server, study, len(agents))
            server.do("POST", f"/studies/{study}/start")
            server.wait(study, 300)
            return server.result(study), seconds_of(server, study)
        finally:
            for agent in agents:
                agent.kill()


def main() -> None:
    """Print two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=int, nargs="*", default=[4, 8, 12])
    parser.add_argument("--rows", type=int, default=150)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, running(Path(name), loading=True, join_burst="100000") as server:
        print(f"{'sites':>5} {'rounds':>6} {'in process':>10} {'network':>8} {'bound':>6} {'same bits':>9}")
        for sites in options.sites:
            frames = frames_of(sites, rows=options.rows)
            wanted, rounds, local = in_process(frames)
            found, seconds = over_network(server, Path(name) / str(sites), frames)
            same = all(found[part] == wanted[part] for part in ("pags", "local_pags", "tests"))
            bound = 1.5 * local + 0.005 * rounds * sites
            print(f"{sites:5d} {rounds:6d} {local:10.2f} {seconds:8.2f} {bound:6.2f} {same!s:>9}", flush=True)
        print(f"\n{'delay ms':>8} {'batching':>8} {'rounds':>6} {'seconds':>8} {'20 x (delay + compute)':>22}")
        frames = {f"site{i}": frame for i, frame in enumerate(frames_of(3, rows=200).values())}
        _, rounds, local = in_process(frames)
        for batching in ("all", "levels"):
            found, seconds = over_network(server, Path(name) / batching, frames, delay=0.05, batching=batching)
            bound = 20 * (0.05 + local / rounds)
            print(f"{50:8d} {batching:>8} {found['study']['rounds']:6d} {seconds:8.2f} {bound:22.2f}", flush=True)


if __name__ == "__main__":
    main()
