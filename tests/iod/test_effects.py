"""Effects over a list of graphs: what each says, which sets are used, and what is said where there is no telling."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.citest.effect import Estimate
from consilience.errors import OptionError, QuestionError, StudyError
from consilience.iod.effects import Effects, GraphEffect
from consilience.iod.errors import NobodyToAskError
from consilience.iod.estimating import MOST_PAIRS, pairs_of
from consilience.service.result_files import plain

CONFOUNDED = cs.PAG.parse("I o-> X, C o-> X, C o-> Y, X --> Y")
"""X --> Y is visible, since I is joined with X and not with Y; C is adjusted for."""
WITHOUT = cs.PAG.parse("I o-> X, X --> Y, C o-> Y")
REVERSED = cs.PAG.parse("I o-o X, C o-> Y, X <-> Y")
HIDDEN = cs.PAG.parse("C o-o X, X o-o Y, I o-o Y")


def frame(seed: int, n: int, **lost: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    i, c = rng.normal(size=n), rng.normal(size=n) + seed
    x = 0.7 * i + 0.8 * (c - seed) + rng.normal(size=n)
    made = pl.DataFrame({"I": i, "C": c, "X": x, "Y": (0.5 * x + 0.6 * (c - seed) + rng.logistic(size=n) > 0).astype(int)})
    return made.with_columns(pl.when(pl.int_range(pl.len()) < k).then(None).otherwise(pl.col(name)).alias(name) for name, k in lost.items())


@cache
def server() -> cs.Server:
    return cs.Server([cs.Client("a", frame(1, 400)), cs.Client("b", frame(2, 600))])


@cache
def found() -> cs.Discovery:
    return cs.discover(server())


def over(*pags: cs.PAG, complete: bool = True, test: object = None) -> cs.Discovery:
    """A discovery with these graphs, over the same sites."""
    asked = server() if test is None else test
    return replace(found(), pags=pags, scores=(0.0,) * len(pags), complete=complete, _contradicted=(), _test=asked)


def test_what_is_found_keeps_whom_to_ask() -> None:
    effects = found().effect("Y", "X")
    assert effects.says[0].identification == "zero"
    assert found().redecide(alpha=0.01).effect("X", "Y").listed == len(found().redecide(alpha=0.01).pags)


def test_an_identified_effect_is_that_of_the_server() -> None:
    (say,) = over(CONFOUNDED).effect("X", "Y").says
    assert (say.identification, say.share, say.graphs) == ("adjusted", 1.0, (0,))
    assert say.estimate == server().effect("X", "Y", ["C"])
    assert say.known


def test_every_graph_says_its_own_and_shares_add_up() -> None:
    effects = over(CONFOUNDED, WITHOUT, REVERSED, HIDDEN, CONFOUNDED).effect("X", "Y")
    said = [(say.identification, say.graphs, say.estimate and say.estimate.given) for say in effects.says]
    assert said[0] == ("adjusted", (0, 4), ("C",))
    assert said[1] == ("adjusted", (1,), ())
    assert said[2][:2] == ("zero", (2,))
    assert said[3][:2] == ("hidden cause", (3,))
    assert sum(say.share for say in effects.says) == pytest.approx(1.0)
    assert [estimate.given for estimate in effects.estimates] == [("C",), ()]
    (one,) = effects.ranges
    estimates = [estimate.contrasts[0].estimate for estimate in effects.estimates]
    assert (one.least, one.most) == (0.0, max(estimates))
    assert one.high == max(estimate.contrasts[0].high for estimate in effects.estimates)


def test_it_is_said_in_words() -> None:
    words = over(CONFOUNDED, REVERSED, HIDDEN, complete=False).effect("X", "Y").in_words()
    assert "in 1 of 3 graphs, adjusted for C, Y = 1 in " in words
    assert "in 1 of 3 graphs it is zero, since X is no possible cause of Y" in words
    assert "in 1 of 3 graphs it is not identifiable: the edge X o-o Y leaves open" in words
    assert "Over all graphs that say, Y = 1: from 0.0 to +" in words
    assert words.endswith("The list of graphs is not complete: graphs that are not on it may say something else.")


def test_what_is_not_identified_is_called_an_association() -> None:
    effects = over(HIDDEN).effect("X", "Y")
    assert not effects.known
    assert effects.in_words().startswith("No effect of X on Y can be told. In the only graph it is not identifiable: ")
    assert effects.in_words().endswith("What the data show of the two is an association.")
    assert effects.estimates == ()


def test_of_several_sets_the_one_over_most_rows_is_used() -> None:
    """Both C and D block the one path; D is missing in many rows."""
    pag = cs.PAG.parse("I o-> X, D o-> X, C o-> Y, X --> Y, C <-> D")
    frames = [frame(seed, 400).with_columns(D=pl.col("C") + pl.Series(np.random.default_rng(9).normal(size=400))) for seed in (1, 2)]
    gaps = [one.with_columns(D=pl.when(pl.int_range(pl.len()) < 150).then(None).otherwise(pl.col("D"))) for one in frames]
    test = cs.Server([cs.Client("a", gaps[0]), cs.Client("b", gaps[1])])
    effects = replace(over(pag, test=test), datasets=(("C", "D", "I", "X", "Y"),)).effect("X", "Y")
    assert set(effects.graphs[0].sets) == {("C",), ("D",)}
    assert effects.graphs[0].used == ("C",)
    assert [(estimate.given, estimate.n) for estimate in effects.others] == [(("D",), 500)]


def test_of_as_many_rows_the_shorter_interval_is_used() -> None:
    """D is a noisy copy of the cause C of Y: to adjust for C explains more of Y."""
    pag = cs.PAG.parse("I o-> X, D o-> X, C o-> Y, X --> Y, C <-> D")
    frames = [frame(seed, 400).with_columns(D=pl.col("C") + pl.Series(np.random.default_rng(9).normal(size=400))) for seed in (1, 2)]
    test = cs.Server([cs.Client("a", frames[0]), cs.Client("b", frames[1])])
    effects = replace(over(pag, test=test), datasets=(("C", "D", "I", "X", "Y"),)).effect("X", "Y")
    widths = {estimate.given: estimate.width for estimate in (*effects.estimates, *effects.others)}
    assert effects.graphs[0].used == min(widths, key=widths.__getitem__)


def test_a_set_that_no_two_sites_measure_is_said_so() -> None:
    test = cs.Server([cs.Client("a", frame(1, 400)), cs.Client("b", frame(2, 600).drop("C"))])
    effects = over(CONFOUNDED, test=test).effect("X", "Y")
    (say,) = effects.says
    assert say.estimate is not None
    assert "only one site measures these variables together" in say.estimate.reason
    assert not effects.known
    assert "there is no estimate" in effects.in_words()


def test_sets_that_nobody_measures_together() -> None:
    effects = replace(over(CONFOUNDED), datasets=(("I", "X", "Y"), ("C", "X"))).effect("X", "Y")
    assert effects.says[0].identification == "not together"


def test_without_sites_it_is_said_what_to_do() -> None:
    for told in (over(CONFOUNDED, test=cs.Oracle(CONFOUNDED)), cs.Discovery.from_dict(plain(over(CONFOUNDED).to_dict()))):
        with pytest.raises(NobodyToAskError, match=r'effects=\["x -> y", …\]'):
            told.effect("X", "Y")
        assert told.effect("Y", "X").says[0].identification == "zero"


def test_fishers_method_tells_no_sums() -> None:
    test = cs.fisher([cs.Client("a", frame(1, 400)), cs.Client("b", frame(2, 600))])
    with pytest.raises(StudyError, match="method='fisher'"):
        over(CONFOUNDED, test=test).effect("X", "Y")


def test_stored_effects_come_back_and_are_not_asked_again() -> None:
    effects = over(CONFOUNDED, WITHOUT, REVERSED, HIDDEN).effect("X", "Y")
    told = replace(over(CONFOUNDED, WITHOUT, REVERSED, HIDDEN), effects=(effects,))
    again = cs.Discovery.from_dict(json.loads(json.dumps(plain(told.to_dict()), allow_nan=False)))
    assert again.effects == (effects,)
    assert again.effect("X", "Y") == effects
    page = again.to_html()
    assert "share of graphs" in page
    assert "X → Y" in page


def test_the_table_has_a_row_for_every_contrast_and_every_reason() -> None:
    frame_ = over(CONFOUNDED, REVERSED, HIDDEN).effect("X", "Y").frame()
    assert frame_["identification"].to_list() == ["adjusted", "zero", "hidden cause"]
    assert frame_["given"].to_list() == [["C"], None, None]
    assert frame_["estimate"].null_count() == 2
    assert frame_["reason"].to_list()[0] == ""


def test_names_are_escaped_on_pages() -> None:
    told = Effects("<b>", "&", (GraphEffect("zero"), GraphEffect("adjusted", ((),), ())), (Estimate("<b>", "&", (), 9, 2, reason="<i>"),))
    page = told._repr_html_()
    assert "<b>" not in page
    assert "&lt;b&gt; → &amp;" in page
    assert "<i>" not in page


def test_no_graph_says_nothing() -> None:
    effects = over().effect("X", "Y")
    assert effects.in_words() == "There is no graph, and so nothing to say of the effect of X on Y."
    assert effects.frame().height == 0


@pytest.mark.parametrize("pair", [("X", "X"), ("X", "Q")])
def test_strange_pairs_are_refused(pair: tuple[str, str]) -> None:
    with pytest.raises(QuestionError):
        found().effect(*pair)


def test_pairs_are_read_and_bounded() -> None:
    names = [f"v{k:02}" for k in range(12)]
    assert pairs_of(["* -> v01"], names) == [(name, "v01") for name in names if name != "v01"]
    assert len(pairs_of(["* -> *"], names[:10])) == 90
    with pytest.raises(OptionError, match=f"At most {MOST_PAIRS} effects"):
        pairs_of(["* -> *"], names)


@pytest.mark.parametrize("strange", ["XY", ["X"], ["X -> Y -> C"], [("X", "Y", "C")], [5], ['"X -> Y']])
def test_what_is_no_effect_is_refused(strange: object) -> None:
    with pytest.raises(OptionError, match=r"such as|as in JSON"):
        cs.discover(server(), effects=strange)  # type: ignore[arg-type]


def test_effects_that_are_asked_for_beforehand_are_in_the_result() -> None:
    told = cs.discover(server(), effects=["X -> Y", ("Y", "X")])
    assert [(one.x, one.y) for one in told.effects] == [("X", "Y"), ("Y", "X")]
    assert told.effects[0] == found().effect("X", "Y")


def test_what_is_decided_again_knows_what_was_asked_before() -> None:
    """Other graphs may call for other sets, which nobody has asked for."""
    told = replace(over(CONFOUNDED), effects=(over(CONFOUNDED).effect("X", "Y"),))
    again = cs.Discovery.from_dict(plain(told.to_dict())).redecide()
    estimates = [say.estimate for say in again.effects[0].says if say.estimate is not None]
    assert all(one.known or one.reason == "nobody has asked this" for one in estimates)
    assert told.redecide(ask=server()).effects[0] == replace(found(), effects=()).effect("X", "Y")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["residual", "auto"])
def test_with_every_method_effects_are_adjusted_by_regression(method: str) -> None:
    test = cs.Server([cs.Client("a", frame(1, 400)), cs.Client("b", frame(2, 600))], method=method)
    test.test("X", "Y", ["C"])
    assert test.effect("X", "Y", ["C"]).contrasts[0].estimate == pytest.approx(server().effect("X", "Y", ["C"]).contrasts[0].estimate)
