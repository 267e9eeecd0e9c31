"""The tests of the study server, the agent and their processes, many times in a row, with a busy loop on each core beside them.

What only a busy machine breaks (a wait that is too short, an order of events that nobody promised) shows here and nowhere else. Every pass
is printed with its counts and its time, and what failed in it; exit code 1 if any pass had a failure, an error or no test::

    python benchmarks/passes_under_load.py                  # 20 passes: two hours on two cores
    python benchmarks/passes_under_load.py --passes 1 tests/service
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("tests/service", "tests/system")


@contextmanager
def busy_cores() -> Iterator[int]:
    """A loop that never waits on every core that this process may use; ended with the block."""
    # they look for whoever started them now and then: where that was killed, they do not stay
    loop = """import os, sys
os.sched_setaffinity(0, {int(sys.argv[1])})
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(10**6): pass
"""
    loops = [subprocess.Popen([sys.executable, "-c", loop, str(core)]) for core in sorted(os.sched_getaffinity(0))]
    try:
        yield len(loops)
        assert all(loop.poll() is None for loop in loops), "a busy loop ended early: the load was not what it should be"
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def one_pass(parts: list[str], workers: int) -> tuple[bool, str, list[str]]:
    """Whether every test passed, pytest's closing line, and the lines that name what did not."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "--dist", "worksteal", "-p", "no:cacheprovider", *parts]
    # as make test has it: hundreds of processes load the same modules, which are compiled once
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    closing = next((line.strip("= ") for line in reversed(lines) if re.search(r"\d+ (passed|failed|error)", line)), "no test ran")
    named = [line for line in lines if line.startswith(("FAILED", "ERROR", "[gw")) or "Timeout" in line]
    if done.returncode:
        (ROOT / "build").mkdir(exist_ok=True)
        (ROOT / "build" / f"pass-{time.time_ns()}.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
    return done.returncode == 0, closing, named


def main() -> int:
    """Print a line for each pass, and one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help="folders or files of tests")
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--workers", type=int, default=6, help="processes that run tests; they share the cores with the loops")
    args = parser.parse_args()
    good = 0
    with busy_cores() as cores:
        print(
            f"{args.passes} passes of {' and '.join(args.parts)}, {args.workers} processes, beside a busy loop on each of {cores} cores",
            flush=True,
        )
        for k in range(1, args.passes + 1):
            passed, closing, named = one_pass(args.parts, args.workers)
            good += passed
            load = os.getloadavg()[0]
            print(f"pass {k}: {'pass' if passed else 'FAILED'}: {closing} (load {load:.1f})", *named, sep="\n  ", flush=True)
    print(f"{good} of {args.passes} passes without a failure")
    return 0 if good == args.passes else 1


if __name__ == "__main__":
    sys.exit(main())
