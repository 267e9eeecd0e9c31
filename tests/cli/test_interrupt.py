"""Ctrl-C while graphs are sought: a real process, a real signal."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from consilience.cli.interrupt import Interruptible

# The command itself on tests that a graph answers, whose list has no end: long enough to be interrupted, without data.
PROGRAM = """
import sys
import consilience as cs
from consilience.cli import discovery, main
names = "ABCDEFGHIJKL"
truth = cs.MAG.parse(", ".join(f"{a} --> {b}" for a, b in zip(names, names[1:])))
oracle = cs.Oracle(truth, datasets=[names[k : k + 4] for k in (0, 3, 6, 8)])
discovery.clients_of = lambda *_: []
discovery.make_test = lambda *_: oracle
discovery.kinds_table = lambda *_: ""
real = discovery.discover
deaf = sys.argv.pop(1) == "deaf"  # a search that does not stop when it is asked to
def told(test, *, progress, stop, **options):
    def asked():
        if deaf and stop():
            print("asked", file=sys.stderr, flush=True)
        return stop() and not deaf
    def say(words):
        progress(words)
        if words.startswith("solving:"):
            print("searching", file=sys.stderr, flush=True)
    return real(test, progress=say, stop=asked, **options)
discovery.discover = told
sys.argv = ["consilience", "discover", "--limit", "1000000", "--time-limit", "600", *sys.argv[1:], "a.csv"]
main()
"""


def start(*options: str, deaf: bool = False) -> subprocess.Popen[str]:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "deaf" if deaf else "", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    wait_for(program, "searching")
    return program


def wait_for(program: subprocess.Popen[str], word: str) -> None:
    assert program.stderr is not None
    for line in program.stderr:
        if word in line:
            return
    raise AssertionError(f"it never said {word!r}: {program.communicate()}")


@pytest.mark.slow
@pytest.mark.parametrize("as_json", [False, True])
def test_the_first_stops_the_search_and_shows_what_was_found(tmp_path: Path, as_json: bool) -> None:
    program = start("--out", str(tmp_path), *(["--json"] if as_json else []))
    program.send_signal(signal.SIGINT)
    shown, _ = program.communicate(timeout=300)
    assert program.returncode == 130
    result = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert result["stopped"]
    assert not result["complete"]
    assert len(result["pags"]) >= 1
    assert "When the search was stopped" in result["headline"]
    assert result["headline"] in (json.loads(shown)["headline"] if as_json else shown)
    assert (tmp_path / "report.html").exists()


@pytest.mark.slow
def test_the_second_ends_the_program() -> None:
    program = start(deaf=True)
    program.send_signal(signal.SIGINT)
    wait_for(program, "asked")
    program.send_signal(signal.SIGINT)
    shown, _ = program.communicate(timeout=300)
    assert program.returncode == 130
    assert "decisions" not in shown


def test_before_the_search_there_is_nothing_to_keep() -> None:
    with Interruptible(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_during_the_search_it_is_heard_once_and_ends_the_second_time() -> None:
    heard: list[str] = []
    with Interruptible(lambda: heard.append("heard")) as interrupt:
        assert not interrupt.stop()
        signal.raise_signal(signal.SIGINT)
        assert interrupt.stop()
        assert heard == ["heard"]
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is not interrupt._interrupted
