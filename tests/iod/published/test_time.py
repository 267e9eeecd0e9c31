"""``engine="iod"`` keeps its time limit, hears who stops or cancels it, and says truly what it has."""

from __future__ import annotations

import time
from multiprocessing import active_children

import pytest

import consilience as cs
from consilience.graph import latent_projection

SECONDS = 0.5
SLACK = 4.0
"""For one graph, for the local graphs and a busy machine; without a limit the search below takes hours."""


def hard() -> cs.Oracle:
    """Eight causes of C, each in a data set with C alone: the first skeleton has more orientations than anybody can look at."""
    causes = [f"V{i}" for i in range(8)]
    dag = cs.DAG.parse(", ".join(f"{name} --> C" for name in causes))
    return cs.Oracle(latent_projection(dag, [*causes, "C"]), datasets=[["C", name] for name in causes])


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_time_limit_is_kept_and_the_result_says_so(jobs: int) -> None:
    others, begin = set(active_children()), time.monotonic()  # of tests that ran before
    found = cs.discover(hard(), engine="iod", time_limit=SECONDS, limit=None, jobs=jobs)
    assert time.monotonic() - begin < SECONDS + SLACK + 4.0 * (jobs > 1)  # processes take a while to start
    assert not found.complete
    assert "When the time limit of 0.5 s was reached" in found.headline
    assert set(active_children()) <= others


def test_what_was_found_in_time_is_right() -> None:
    """A list that was cut short is a part of the whole list, and nothing else is claimed."""
    oracle = cs.Oracle(cs.PAG.parse("A o-> C, B o-> C, C --> D, D --> E"), datasets=["ABCD", "BCDE"])
    whole = cs.discover(oracle, engine="iod", time_limit=None)
    assert whole.complete
    part = cs.discover(oracle, engine="iod", time_limit=0.0)
    assert set(map(str, part.pags)) <= set(map(str, whole.pags))
    assert not part.complete
    assert part.headline.startswith("When the time limit of 0 s was reached, no graph had been found")


def test_who_stops_it_is_heard_and_who_cancels_it_too() -> None:
    begin = time.monotonic()
    found = cs.discover(hard(), engine="iod", time_limit=None, limit=None, stop=lambda: time.monotonic() - begin > SECONDS)
    assert time.monotonic() - begin < SECONDS + SLACK
    assert found.stopped
    assert "When the search was stopped" in found.headline

    def cancel(words: str) -> None:
        if words.startswith("validating"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cs.discover(hard(), engine="iod", time_limit=None, progress=cancel)
