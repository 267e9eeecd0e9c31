"""Many studies at the same time on one study server over TLS: are all results right, and does the server's memory stay?

    python benchmarks/service_load.py --studies 50 --sites 3 --waves 3

The server is one process; the sites are agents in two others. Every result is held against the in-process one, bit for bit.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import memory, wave
from tests.system.processes import running
from tests.system.test_equality import frames_of, in_process


def main() -> None:
    """Print a table, one line a wave."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=50)
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--waves", type=int, default=3)
    parser.add_argument("--rows", type=int, default=60)
    options = parser.parse_args()
    studies = [frames_of(options.sites, rows=options.rows, seed=seed) for seed in range(options.studies)]
    local = [in_process(frames) for frames in studies]
    wanted = [result for result, _, _ in local]
    print(f"{options.studies} studies of {options.sites} sites; in process, one after the other: {sum(s for *_, s in local):.1f} s")
    with tempfile.TemporaryDirectory() as name, running(Path(name), loading=True, join_burst="100000") as server:
        assert server.process is not None
        print(f"{'wave':>4} {'right':>7} {'seconds':>8} {'rounds/s':>9} {'peak MiB':>9} {'after MiB':>10}")
        print(f"{'idle':>4} {'':>7} {'':>8} {'':>9} {'':>9} {memory(server.process.pid) / 2**20:10.1f}")
        for number in range(1, options.waves + 1):
            found = wave(server, Path(name) / f"wave{number}", studies, wanted)
            rate = found.rounds / found.seconds
            right = f"{found.right}/{found.studies}"
            peak, after = found.peak / 2**20, found.after / 2**20
            print(f"{number:4d} {right:>7} {found.seconds:8.1f} {rate:9.0f} {peak:9.1f} {after:10.1f}", flush=True)


if __name__ == "__main__":
    main()
