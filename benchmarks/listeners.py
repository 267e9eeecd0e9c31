"""A study with thousands of listeners: how much longer does it take?

    python benchmarks/listeners.py --listeners 0 200 2000 --repeats 3

Listeners are event streams over TLS from one other process, sites are real agents. The middle of the repeats is shown, in seconds from the
last consent to the result, and in seconds of the server's processor.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.system.crowd import memory
from tests.system.listeners import run
from tests.system.processes import running


def main() -> None:
    """Print a table, one line a number of listeners."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listeners", type=int, nargs="+", default=[0, 200, 2000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--sites", type=int, default=3)
    options = parser.parse_args()
    most = str(max(options.listeners) + 500)
    with (
        tempfile.TemporaryDirectory() as name,
        running(Path(name), loading=True, max_connections=most, max_connections_per_address=most) as server,
    ):
        assert server.process is not None
        print(f"{'listeners':>9} {'seconds':>8} {'slower':>7} {'CPU s':>7} {'heard':>6} {'MiB':>6}")
        first = 0.0
        for number in options.listeners:
            runs = [run(server, Path(name) / f"{number}-{i}", number, options.sites) for i in range(options.repeats)]
            seconds, cpu = median(r.seconds for r in runs), median(r.cpu for r in runs)
            first = first or seconds
            heard, used = min(r.heard for r in runs), memory(server.process.pid) / 2**20
            print(f"{number:9d} {seconds:8.2f} {seconds / first:6.2f}x {cpu:7.2f} {heard:6d} {used:6.0f}", flush=True)


if __name__ == "__main__":
    main()
