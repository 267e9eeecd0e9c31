"""A study with thousands of listeners: how much longer does it take?

    python benchmarks/listeners.py --listeners 0 2000 --repeats 4

Listeners are event streams over TLS from one other process, sites are real agents. Studies with and without listeners take turns, since the
rest of the machine has its own days; of each kind the least and the middle are shown, in seconds from the last consent to the result, and
in seconds of the server's processor. Exit code 1 if the least with most listeners is more than half as much again as the first kind's, or
if a listener has not heard the end.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import memory
from tests.system.listeners import Run, run
from tests.system.processes import running

SLOWER = 1.5
SPARE = 500
"""Descriptors and connections for everything else."""


def main() -> int:
    """Print a line for each study, then a table, one line a number of listeners; 1 if a study is slowed too much."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listeners", type=int, nargs="+", default=[0, 2000])
    parser.add_argument("--repeats", type=int, default=4)
    parser.add_argument("--sites", type=int, default=3)
    options = parser.parse_args()
    most = max(options.listeners) + SPARE
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, most + SPARE)), hard))  # of the server, which is started from here
    runs: dict[int, list[Run]] = {number: [] for number in options.listeners}
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name), loading=True, max_connections=str(most), max_connections_per_address=str(most)) as server,
    ):
        assert server.process is not None
        run(server, Path(name) / "first", 0, options.sites)  # whose worker process is still to be started
        for i in range(options.repeats):
            for number, found in runs.items():
                one = run(server, Path(name) / f"{number}-{i}", number, options.sites)
                found.append(one)
                used = memory(server.process.pid) / 2**20
                print(
                    f"{number} listeners: {one.seconds:.2f} s, {one.cpu:.2f} s CPU, {one.heard} heard the end; {used:.0f} MiB", flush=True
                )
    return _told(runs)


def _told(runs: dict[int, list[Run]]) -> int:
    print(f"{'listeners':>9} {'least s':>8} {'slower':>7} {'middle s':>8} {'slower':>7} {'least CPU s':>11} {'heard':>6}")
    first = next(iter(runs.values()))
    base, middle = min(r.seconds for r in first), median(r.seconds for r in first)
    worst, deaf = 0.0, False
    for number, found in runs.items():
        least, usual, heard = min(r.seconds for r in found), median(r.seconds for r in found), min(r.heard for r in found)
        cpu = min(r.cpu for r in found)
        print(f"{number:9d} {least:8.2f} {least / base:6.2f}x {usual:8.2f} {usual / middle:6.2f}x {cpu:11.2f} {heard:6d}")
        worst, deaf = max(worst, least / base), deaf or heard < number
    return 1 if deaf or worst > SLOWER else 0


if __name__ == "__main__":
    sys.exit(main())
