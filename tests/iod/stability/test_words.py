"""What is said of replicates stays true, whatever became of them."""

from __future__ import annotations

import pytest

from consilience.iod.report.how_sure import HowSure, sure_in_short
from consilience.iod.stability import Stability
from tests.iod.report.sured import EDGES, by_site, edge, frame, stable

NONE = "Of 30 resampled copies of the data none was finished before the search was stopped: how sure edges are is not known."
DONE = "The search was repeated in 30 resampled copies of the data."


def test_all_copies() -> None:
    found = stable()
    assert found.in_words() == [
        DONE,
        "Found again in nine of ten or more: age – pressure (97%).",
        "Found in some and not in others: age – smoker (60%).",
    ]
    assert sure_in_short(found) == (
        "Of 2 edges that more than half of the graphs have, 1 is found again in 90% or more of 30 resampled copies of the data; "
        "least sure is age – smoker (60%)."
    )
    assert HowSure(found).of("pressure", "age") == (
        0.97,
        "97%",
        "97% of the graphs join them, on average over 30 resampled copies of the data; at age a circle in 97%, at pressure an arrowhead in "
        "60%, a circle in 37%.",
        (),
    )


def test_no_copy_was_finished() -> None:
    found = stable(done=0, edges=stable().edges.clear(), tests=stable().tests.clear())
    assert found.in_words() == [NONE]
    assert sure_in_short(found) == NONE
    assert not HowSure(found).known
    assert HowSure(found).of("age", "pressure") is None
    assert found.frames() == {}


def test_somebody_stopped_it() -> None:
    found = stable(done=12)
    assert found.in_words()[0] == "The search was repeated in 12 of 30 resampled copies of the data, and was stopped then."
    assert "over 12 resampled copies" in HowSure(found).of("age", "pressure").words  # type: ignore[union-attr]
    assert "It was stopped after 12 of 30 copies." in sure_in_short(found)


def test_a_copy_without_a_graph_counts_nowhere() -> None:
    found = stable(empty=4)
    assert found.in_words()[1] == "In 4 of them no graph was found that agrees with the decisions; they count nowhere below."
    assert "over 26 resampled copies" in HowSure(found).of("age", "pressure").words  # type: ignore[union-attr]


def test_no_copy_has_a_graph() -> None:
    found = stable(empty=30, cut=2)
    words = [DONE, "In none of them a graph was found that agrees with the decisions: how sure edges are cannot be told."]
    assert found.in_words() == words
    assert sure_in_short(found) == " ".join(words)
    assert not HowSure(found).known


def test_lists_that_were_cut_short_are_told() -> None:
    words = "In 3 of them the list of graphs was cut short; shares are of the graphs that are listed."
    assert words in stable(cut=3).in_words()


@pytest.mark.parametrize(
    ("share", "begins", "ends"),
    [
        (1.0, "In all 30 resampled copies of the data every graph joins them;", "at pressure a circle in 100%."),
        (0.1 + 0.2 + 0.7, "In all 30 resampled copies of the data every graph joins them;", "at pressure a circle in 100%."),
        (0.999, ">99% of the graphs join them, on average over 30 resampled", "at pressure a circle in >99%."),
        (0.0, "In all 30 resampled copies of the data no graph joins them.", "no graph joins them."),
    ],
)
def test_only_what_never_fails_is_all(share: float, begins: str, ends: str) -> None:
    told = HowSure(stable(edges=frame(edge("age", "pressure", share, 1.0)))).of("age", "pressure")
    assert told is not None
    assert told.words.startswith(begins)
    assert told.words.endswith(ends)


def test_one_copy_is_one() -> None:
    assert stable(asked=1, done=1).in_words()[0] == "The search was repeated in 1 resampled copy of the data."
    told = HowSure(stable(asked=1, done=1)).of("age", "smoker")
    assert told is not None
    assert told.words.startswith("In the one resampled copy of the data 60% of the graphs join them")


def test_many_edges_are_counted_and_not_all_named() -> None:
    rows = [edge("age", f"v{k:02d}", 1.0, 1.0) for k in range(40)]
    (_, again) = stable(edges=frame(*rows)).in_words()
    assert again.endswith("age – v14 (100%), and 25 more.")


def test_a_site_that_stands_out_and_what_hangs_on_it() -> None:
    found = stable(**by_site())
    assert found.in_words()[3:] == [
        "The search was repeated without each of 2 sites.",
        "marburg says something else than the others: leaving it out changes sizes 3.0 times as much as leaving out so many rows does by "
        "chance. Look at its units, codes and columns.",
        "Without marburg age – smoker would not be there.",
    ]
    told = HowSure(found).of("age", "smoker")
    assert told is not None
    assert told.hangs == ("marburg",)
    assert told.words.endswith(" Without marburg they would not be joined.")
    assert sure_in_short(found).endswith("marburg says something else than the other sites. 1 edge hangs on one site.")
    assert set(found.frames()) == {"sure", "copies", "sites", "without"}


def test_sites_alone_without_copies() -> None:
    found = stable(asked=0, done=0, edges=stable().edges.clear(), tests=stable().tests.clear(), **by_site())
    assert found.in_words()[0] == "The search was repeated without each of 2 sites."
    assert HowSure(found).of("age", "smoker") == (None, "hangs on marburg", "Without marburg they would not be joined.", ("marburg",))
    assert HowSure(found).of("age", "pressure") is None
    assert sure_in_short(found) == "marburg says something else than the other sites. 1 edge hangs on one site."


def test_nothing_hangs_on_a_site_without_which_no_graph_was_found() -> None:
    found = stable(**by_site(graphs=0))
    assert found.hanging() == {}
    words = found.in_words()
    assert "Without marburg no graph was found that agrees with the decisions: of edges nothing is said." in words
    assert "No edge hangs on one of the other sites alone." in words
    assert "No edge hangs on one site alone." in stable(**by_site(without=1.0)).in_words()


def test_what_one_site_alone_can_answer_hangs_on_it() -> None:
    frames = by_site(without=1.0, sites=("marburg",))
    lost = frames["without"].with_columns(p_value=None).cast(dict(frames["without"].schema))
    words = stable(**frames | {"without": lost}).in_words()
    assert "The search was repeated without marburg." in words
    assert "Without marburg 3 tests cannot be answered: what they say hangs on it alone." in words
    assert not any(sentence.startswith("No edge hangs") for sentence in words)


def test_leaving_out_sites_was_stopped_before_one_was_finished() -> None:
    frames = {name: frame.clear() for name, frame in by_site().items()}
    words = "The search without each of the sites was stopped before one was finished: what hangs on one site is not known."
    assert stable(**frames).in_words()[-1] == words


def test_results_of_before_sites_were_left_out_are_read() -> None:
    told = stable().to_dict()
    for name in ("sites", "without", "edges_without"):
        del told[name]
    again = Stability.from_dict(told)
    assert again.sites is None
    assert again.in_words() == stable().in_words()
    assert len(EDGES) == again.edges.height


def test_an_edge_that_hangs_on_two_sites_is_one_edge() -> None:
    frames = by_site(sites=("mainz", "marburg"))
    both = frames["edges_without"].with_columns(share=0.0)
    found = stable(**frames | {"edges_without": both})
    assert sure_in_short(found).endswith("2 edges hang on one site.")
    told = HowSure(found).of("age", "smoker")
    assert told is not None
    assert told.hangs == ("mainz", "marburg")
