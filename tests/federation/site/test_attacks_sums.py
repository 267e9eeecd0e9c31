"""A server that wants the difference of two sums, or a sum over too few.

Every refusal is a typed error with exactly one line in the site's ledger, and nothing has left the site then.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from consilience import errors
from consilience.citest.question import Question
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.evaluate import ModelAsk
from consilience.protocol.local_tests import LocalTests
from consilience.protocol.locate import Locate
from consilience.protocol.messages import Announced
from consilience.protocol.products import Products
from consilience.settings.choices import SingleSite
from tests.federation.helpers import LOGIT, ROWS, Wire, mixed_clients, mixed_frames, point, refused, unmasked
from tests.federation.site.attacks import PRODUCTS, change, terms_of

# the same question twice


def test_a_question_may_be_repeated_with_the_same_sites(three: Wire) -> None:
    """It is the same sum: nothing new is said."""
    told = [three.everywhere("A", "C")]
    first, again = three.total(three.evaluate(LOGIT), told), three.total(three.evaluate(LOGIT), told)
    np.testing.assert_allclose(first, again, rtol=1e-4)  # a search over intercepts begins where the last one ended
    three.begin(three.participants, b"run 2")
    three.total(three.evaluate(LOGIT), told)


def shrink(three: Wire) -> list[Announced]:
    """Answer with three sites, lose one."""
    three.total(three.evaluate(LOGIT), [three.everywhere("A", "C")])
    three.begin(three.participants[:2], b"run 2")
    return [Announced(("A", "C"), 2, 2 * ROWS)]


def test_a_question_is_not_repeated_with_fewer_sites(three: Wire) -> None:
    """The difference of the two sums would be the missing site's numbers."""
    told = shrink(three)
    for participant in (0, 1):
        with refused(three.clients[participant], errors.RepeatedQuestionError):
            three.send(three.evaluate(LOGIT), told, to=participant)
    others = [change(LOGIT, beta=point(0.5)), LOGIT]
    with refused(three.clients[0], errors.RepeatedQuestionError):
        three.send(three.evaluate(*others), told)


def test_with_fewer_sites_a_fit_goes_on_at_another_point(three: Wire) -> None:
    told = shrink(three)
    model = change(LOGIT, beta=point(0.26))
    assert len(three.send(three.evaluate(model), told)) == three.length(three.evaluate(model))


def test_what_a_run_of_three_was_asked_a_later_run_of_two_is_not_after_one_more(three: Wire) -> None:
    """The memory outlives runs, and a repetition with all sites does not wipe it."""
    told = [three.everywhere("A", "C")]
    three.total(three.evaluate(LOGIT), told)
    three.begin(three.participants, b"run 2")
    three.total(three.evaluate(LOGIT), told)
    three.begin(three.participants[1:], b"run 3")
    with refused(three.clients[1], errors.RepeatedQuestionError):
        three.send(three.evaluate(LOGIT), [Announced(("A", "C"), 2, 2 * ROWS)], to=1)


TWO = ModelAsk("C", ("A", "B"), ("A", "B", "C"), (0, 1), (0, 1), point(0.25, 0.0))
GUISES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "minus zero": ({"beta": point(0.25, -0.0)}, {}),
    "a logit has no barrier": ({"mu": 0.5}, {}),
    "the sample in another order": ({"sample": ("C", "B", "A")}, {}),
    "the predictors in another order": ({"predictors": ("B", "A"), "beta": point(0.0, 0.25)}, {}),
    "another unit": ({"beta": point(0.25 * 2**8, 0.0)}, {"exponents": {"A": 8}}),
}


@pytest.mark.parametrize("guise", GUISES)
def test_the_same_question_in_another_guise_is_the_same_question(three: Wire, guise: str) -> None:
    """Each of these has the log-likelihood of the first question: asked with one site fewer, it gives the missing one's."""
    changes, coding = GUISES[guise]
    three.total(three.evaluate(TWO), [three.everywhere("A", "B", "C")])
    three.begin(three.participants[:2], b"run 2")
    model = change(TWO, **changes)
    with pytest.raises(errors.RefusalError):
        three.send(three.evaluate(model, **coding), [Announced(model.sample, 2, 2 * ROWS)])


# sums over too few


@pytest.mark.parametrize(
    ("announced", "words"),
    [
        (None, "announced first"),
        (Announced(("A", "B", "C"), 2, 80), "announced first"),
        (Announced(("A", "B"), 1, 40), "only one site"),
        (Announced(("A", "B"), 0, 0), "cannot be"),
        (Announced(("A", "B"), -1, 80), "cannot be"),
        (Announced(("A", "B"), 3, 120), "cannot be"),
        (Announced(("A", "B"), 2, ROWS - 1), "cannot be"),
        (Announced(("A", "B"), 2, ROWS), "cannot be"),
        (Announced(("A", "B"), 2, -(2**62)), "cannot be"),
    ],
    ids=str,
)
@pytest.mark.parametrize("body", [PRODUCTS, "evaluate"], ids=["products", "evaluate"])
def test_no_sum_that_was_not_announced_or_cannot_be(wire: Wire, announced: Announced | None, words: str, body: Any) -> None:
    if body == "evaluate":
        body = wire.evaluate(change(LOGIT, predictors=("A",)))
        announced = announced and change(
            announced, variables=tuple(sorted("C" if v == "B" else "B" if v == "C" else v for v in announced.variables))
        )
    with refused(wire.clients[0], errors.FalseCountsError if words == "cannot be" else errors.DisclosureError) as caught:
        wire.send(body, [] if announced is None else [announced])
    assert words in str(caught.value)


def test_a_set_has_one_name(wire: Wire) -> None:
    """In other orders it could be announced with other counts."""
    with refused(wire.clients[0], errors.OutsideSchemaError):
        wire.send(PRODUCTS, [Announced(("B", "A"), 2, 80)])


def test_no_sum_below_the_studys_limits() -> None:
    for contributors, rows in ((2, 130), (3, 129)):
        wire = Wire.open(mixed_clients(3), min_contributors=3, min_rows=130)
        with refused(wire.clients[0], errors.DisclosureError):
            wire.send(PRODUCTS, [Announced(("A", "B"), contributors, rows)])
    wire = Wire.open(mixed_clients(3), min_contributors=3, min_rows=130)
    wire.send(PRODUCTS, [Announced(("A", "B"), 3, 130)])
    with refused(wire.clients[0], errors.FalseCountsError):  # one run, one count
        wire.send(PRODUCTS, [Announced(("A", "B"), 3, 131)])


def test_nothing_alone_that_several_sites_can_do(wire: Wire) -> None:
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(Products((), {}, alone=(Question("A", "B"),)), [wire.everywhere("A", "B")])


@pytest.mark.parametrize(
    "body",
    [Products((), {}, alone=(Question("A", "B"),)), LocalTests((Question("A", "B"),), Ordinal.PROPORTIONAL)],
    ids=["alone", "fisher"],
)
def test_nothing_alone_where_the_study_refuses(body: Any) -> None:
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}), single_site=SingleSite.REFUSE, **terms_of(body))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body, [Announced(("A", "B"), 1, ROWS)])


@pytest.mark.parametrize(
    "body",
    [
        Products((("A", "B"),), {}),
        Products((("A", "B"),), {}, alone=(Question("A", "B"),)),
        Products((("A", "B"),), {}, alone=(Question("B", "A"),)),
    ],
    ids=["products", "products under cover of the test alone", "the same, turned round"],
)
def test_what_one_site_has_alone_leaves_it_as_statistics_only(body: Products) -> None:
    """Else the sum is that site's cross-products, since all others send zeros."""
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(body, [Announced(("A", "B"), 1, ROWS)])


def test_a_model_of_one_site_is_never_evaluated() -> None:
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    model = change(LOGIT, predictors=("B",), sample=("B", "C"))
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(wire.evaluate(model), [Announced(("B", "C"), 1, ROWS)])


def test_no_location_of_what_one_site_has_alone() -> None:
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}), effects=SiteEffects.NONE)
    with refused(wire.clients[0], errors.DisclosureError):
        wire.send(Locate(("B",), {}), [Announced(("B",), 1, ROWS)])


def test_a_site_without_the_rows_knows_that_not_all_contribute() -> None:
    """Only that site can see the lie, and by refusing it protects the one whose numbers the sum would be."""
    wire = Wire.open(mixed_clients(2, absent={1: ["B"]}))
    with refused(wire.clients[1], errors.FalseCountsError):
        wire.send(PRODUCTS, [Announced(("A", "B"), 2, 2 * ROWS)], to=1)


def test_announcements_end_with_their_run(three: Wire) -> None:
    three.send(PRODUCTS, [three.everywhere("A", "B")])
    three.begin(three.participants[:2], b"run 2")
    with refused(three.clients[0], errors.DisclosureError):
        three.send(PRODUCTS)


def test_an_announcement_holds_for_the_rest_of_the_run(wire: Wire) -> None:
    wire.send(PRODUCTS, [wire.everywhere("A", "B")])
    assert len(wire.send(PRODUCTS)) == wire.length(PRODUCTS)


def test_sites_that_are_told_different_things_in_one_round_give_noise() -> None:
    """Sent to ask for something they do not have, all but one site would add zeros, and the sum be that one's numbers."""
    wire = Wire.open(mixed_clients(3, absent={1: ["B"], 2: ["B"]}))
    wanted, empty = Products((("A", "C"),), {}), Products((("B", "C"),), {})
    to_one = wire.request(wanted, [wire.everywhere("A", "C")])
    to_others = change(to_one, body=empty, announced=(Announced(("B", "C"), 2, 3 * ROWS),))
    found = unmasked([wire.participants[0].answer(to_one), *(p.answer(to_others) for p in wire.participants[1:])])
    frame = mixed_frames(3)[0]
    own = [ROWS, ROWS - frame["C"].sum(), frame["C"].sum()]
    assert not np.allclose(found[:3], own), "the sum is one site's counts"
