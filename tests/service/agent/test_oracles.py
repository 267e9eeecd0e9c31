"""Servers and owners that read a site's data off its refusals, one bit at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience.data.kinds import Kind
from consilience.data.schema import Schema
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.errors import WrongTermsError
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.handshake import MISFIT, Checked, Consent, Declined, Preview
from consilience.protocol.messages import Announced, Answer, KeyAsk, Refused
from consilience.protocol.states import Standing
from consilience.protocol.survey import Survey
from consilience.service.agent import Site
from consilience.service.agent.site import BARRED
from consilience.service.contract import Contract, Member
from consilience.service.settings import VariableSpec, specs_of
from consilience.settings import NetworkSettings
from tests.service.agent.sites import CLIENTS, MEMBERS, STUDY, ask, changed, folder_of, proposal, run_of, yes

OLDEST = 87
AGES = pl.DataFrame({"age": [float(20 + 3 * i) for i in range(20)] + [float(OLDEST)], "name": ["Ada", "Bob", "Eve"] * 7})
ME = CLIENTS[0].identity


def site_with(path: Path, frame: pl.DataFrame = AGES) -> Site:
    """A site that has been welcomed; started anew, as after every time it has declined."""
    site = Site(cs.Client("site0", frame, identity=ME), folder_of(path), yes)
    site.state.now = Standing.WELCOMED
    return site


def contract(**variables: VariableSpec) -> Contract:
    return changed(variables=tuple(variables.values()), datasets=(tuple(sorted(variables)),))


def ranged(high: float) -> Contract:
    return contract(age=VariableSpec("age", Kind.CONTINUOUS, (), "", 0.0, high))


def named(*levels: str) -> Contract:
    return contract(name=VariableSpec("name", Kind.MULTINOMIAL, levels))


def test_a_maximum_is_not_found_by_declaring_range_after_range(tmp_path: Path) -> None:
    """The study's owner declares a range that is one year longer each time. The first that is not declined has the oldest patient's age."""
    told: list[str] = []
    for high in range(60, OLDEST + 3):
        reply = site_with(tmp_path).handle(proposal(ranged(float(high))))
        assert isinstance(reply, Declined), f"the oldest is {high}"
        told.append(reply.reason)
    assert told == [MISFIT, *[BARRED] * (len(told) - 1)]


def test_names_are_not_guessed_one_by_one(tmp_path: Path) -> None:
    """All levels but one, for each that there may be: declined for as long as somebody has that one."""
    guesses = ("Ada", "Bob", "Eve", "Cy")
    told: list[str] = []
    for guess in guesses:
        reply = site_with(tmp_path).handle(proposal(named(*(one for one in guesses if one != guess))))
        assert isinstance(reply, Declined), f"they are {guesses[: guesses.index(guess)]}, and not {guess}"
        told.append(reply.reason)
    assert told == [MISFIT, *[BARRED] * 3]


def test_what_was_declined_is_remembered_and_told_to_the_owner_alone(tmp_path: Path) -> None:
    site = site_with(tmp_path)
    site.handle(proposal(named("Ada", "Bob")))
    assert "Eve" in str(site.failure)
    again = site_with(tmp_path)
    reply = again.handle(proposal(named("Ada", "Bob", "Eve")))
    assert isinstance(reply, Declined)
    assert "Eve" not in reply.reason
    assert "Eve" in str(again.failure)
    assert "client reconsider" in str(again.failure)
    lines = again._folder.ledger().entries
    assert [line.refused for line in lines] == [MISFIT]  # a ledger is handed over for an audit: before, Eve stood there
    assert again.handle(KeyAsk(b"run")).error == "OutOfTurnError"


def test_the_owner_allows_one_more_at_a_time(tmp_path: Path) -> None:
    site_with(tmp_path).handle(proposal(named("Ada", "Bob")))
    folder = folder_of(tmp_path)
    assert folder.reconsider() is not None
    assert folder.reconsider() is None  # nothing more to allow
    assert site_with(tmp_path).handle(proposal(named("Ada", "Eve"))).reason == MISFIT
    assert folder.fit is not None
    assert folder.fit.times == 2
    assert site_with(tmp_path).handle(proposal(named("Ada", "Bob", "Eve"))).reason == BARRED
    folder.reconsider()
    assert isinstance(site_with(tmp_path).handle(proposal(named("Ada", "Bob", "Eve"))), Consent)


def test_of_one_declaration_a_corrected_table_is_looked_at_again_and_the_same_table_says_the_same(tmp_path: Path) -> None:
    """A server can vary nothing in it: it learns that the table is wrong, once or ten times, and then that its owner has corrected it."""
    asked, wrong = named("Ada", "Bob", "Eve"), AGES.with_columns(name=pl.lit("Zoe"))
    for times in (1, 2, 3):
        declining = site_with(tmp_path, wrong)
        assert declining.handle(proposal(asked)).reason == MISFIT
        assert "Zoe" in str(declining.failure)
        assert "looked at anew" in declining.advice
        assert folder_of(tmp_path).fit.times == times  # type: ignore[union-attr]
    assert site_with(tmp_path, wrong).handle(proposal(named("Zoe", "Bob", "Eve"))).reason == BARRED
    assert isinstance(site_with(tmp_path).handle(proposal(asked)), Consent)


def test_a_site_that_has_agreed_and_comes_back_with_another_table_goes_on_with_the_right_one(tmp_path: Path) -> None:
    full = named("Ada", "Bob", "Eve")
    assert isinstance(site_with(tmp_path).handle(proposal(full)), Consent)
    other = site_with(tmp_path, AGES.with_columns(name=pl.lit("Zoe")))
    other.state.now = Standing.BOUND
    assert other.handle(proposal(full)).reason == MISFIT
    back = site_with(tmp_path)
    back.state.now = Standing.BOUND
    assert isinstance(back.handle(proposal(full)), Consent)


def test_an_owner_who_never_agrees_tells_no_maximum_either(tmp_path: Path) -> None:
    """The owner's no to a table that fits is another word than that it does not fit: range after range, the two told the oldest's age."""
    told: list[str] = []
    for high in range(OLDEST + 2, OLDEST - 3, -1):
        site = Site(cs.Client("site0", AGES, identity=ME), folder_of(tmp_path), lambda *_: False)
        site.state.now = Standing.WELCOMED
        told.append(site.handle(proposal(ranged(float(high)))).reason)
    assert "does not agree" in told[0]
    assert set(told[1:]) == {BARRED}


def shown(declared: Contract) -> Preview:
    return Preview(msgspec.structs.replace(declared, members=()).encoded())


def test_what_an_open_study_shows_is_looked_at_before_anybody_agrees(tmp_path: Path) -> None:
    asked = ranged(float(OLDEST))
    site = site_with(tmp_path)
    reply = site.handle(shown(asked))
    assert reply == Checked(asked.declaration, fits=True)
    assert (site.state.now, folder_of(tmp_path).contract) == (Standing.WELCOMED, None), "nothing is agreed to"
    assert not site._folder.ledger().entries
    assert isinstance(site.handle(proposal(asked)), Consent)
    assert site.handle(shown(asked)) == reply  # a preview may come after the proposal
    with pytest.raises(WrongTermsError):
        site.handle(shown(ranged(86.0)))


def test_a_table_that_does_not_fit_is_told_when_the_site_connects_and_not_what(tmp_path: Path) -> None:
    site = site_with(tmp_path)
    assert site.handle(shown(ranged(60.0))) == Checked(ranged(60.0).declaration, fits=False)
    assert "has 7 of 21 values outside" in str(site.failure)
    assert "looked at anew" in site.advice
    assert [line.refused for line in site._folder.ledger().entries] == [MISFIT]
    small = site_with(tmp_path, AGES.filter(pl.col("age") < 60))
    assert small.handle(shown(ranged(60.0))).fits


def test_previews_tell_no_maximum_either(tmp_path: Path) -> None:
    """Without anybody's consent, a server could show range after range."""
    first = site_with(tmp_path).handle(shown(ranged(100.0)))
    assert first.fits
    for high in range(OLDEST - 2, OLDEST + 3):
        reply = site_with(tmp_path).handle(shown(ranged(float(high))))
        assert reply == Declined(BARRED), f"{high}: {reply}"
        assert site_with(tmp_path).handle(proposal(ranged(float(high)))).reason == BARRED


FEWER = MEMBERS[:2]


def test_a_contract_with_a_site_fewer_takes_the_place_of_one_that_nothing_was_answered_to(tmp_path: Path) -> None:
    shown: list[list[str]] = []

    def asks(_lines: list[str], warnings: list[str]) -> bool:
        shown.append(warnings)
        return True

    whole = contract(age=VariableSpec("age", Kind.CONTINUOUS))
    site = Site(cs.Client("site0", AGES, identity=ME), folder_of(tmp_path), asks)
    site.state.now = Standing.WELCOMED
    assert isinstance(site.handle(proposal(whole)), Consent)
    reply = site.handle(proposal(whole.without("site2")))
    assert isinstance(reply, Consent)
    assert reply.digest == whole.without("site2").digest
    assert len(shown) == 2, "asked again: who takes part is what sums are over"
    assert "it is without 'site2'" in shown[1][0]
    assert not any("subtracted" in words for words in shown[1]), "of the first there are no sums"
    assert folder_of(tmp_path).contract == whole.without("site2")
    with pytest.raises(WrongTermsError):  # and never back
        site.handle(proposal(whole))


@pytest.mark.parametrize(
    "other",
    [
        contract(age=VariableSpec("age", Kind.CONTINUOUS, (), "", 0.0, 86.0)).without("site2"),  # would tell whether it fits
        msgspec.structs.replace(contract(age=VariableSpec("age", Kind.CONTINUOUS)), settings=NetworkSettings(min_rows=2), members=FEWER),
        contract(age=VariableSpec("age", Kind.CONTINUOUS), name=VariableSpec("name", Kind.MULTINOMIAL, ("Ada",))).without("site2"),
        msgspec.structs.replace(contract(age=VariableSpec("age", Kind.CONTINUOUS)), members=(*FEWER, Member("site9", bytes(32)))),
    ],
    ids=["a range", "settings", "a variable more", "another site"],
)
def test_no_other_contract_takes_its_place(tmp_path: Path, other: Contract) -> None:
    site = site_with(tmp_path)
    assert isinstance(site.handle(proposal(contract(age=VariableSpec("age", Kind.CONTINUOUS)))), Consent)
    with pytest.raises(WrongTermsError):
        site.handle(proposal(other))


def test_none_takes_its_place_once_something_was_answered(tmp_path: Path) -> None:
    """The sums of both would be there, and their difference is the site's that is left out."""
    sites, digest = running(tmp_path)
    assert isinstance(ask(sites[0], b"one", digest, 0, Survey((("A", "D"),))), Answer)
    agreed = sites[0]._accepted
    assert agreed is not None
    again = Site(sites[0]._client, sites[0]._folder, yes)
    again.state.now = Standing.BOUND
    with pytest.raises(WrongTermsError):
        again.handle(proposal(agreed.without("site2")))


def test_a_defect_on_joining_says_no_more_than_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError

    site = site_with(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(site._client, "join", broken)
        with pytest.raises(ZeroDivisionError):
            site.handle(proposal(named("Ada", "Bob", "Eve")))
    assert site_with(tmp_path).handle(proposal(named("Ada", "Bob"))).reason == BARRED


SCHEMA = Schema({"A": "continuous", "D": ("multinomial", ["p", "q", "r"])})
DRAW = np.random.default_rng(5)
FRAMES = [
    pl.DataFrame({"A": DRAW.normal(size=30), "D": (["p", "q", "r"] if i == 0 else ["p", "q"]) * (10 if i == 0 else 15)}) for i in range(3)
]


def running(path: Path) -> tuple[list[Site], bytes]:
    """Three sites in a run; only the first has the level r."""
    clients = [cs.Client(f"site{i}", frame, identity=CLIENTS[i].identity) for i, frame in enumerate(FRAMES)]
    members = tuple(Member(c.name, c.identity.public_bytes) for c in clients)
    agreed = Contract(STUDY, "trial", specs_of(SCHEMA), (("A", "D"),), NetworkSettings(), members)
    sites = [Site(c, folder_of(path / c.name, c.name), yes) for c in clients]
    for site in sites:
        site.state.now = Standing.WELCOMED
        assert isinstance(site.handle(proposal(agreed)), Consent)
    return sites, run_of(sites, b"one")


def evaluate(levels: tuple[int, ...]) -> Evaluate:
    beta = np.zeros(len(levels) - 1, dtype="<f8").tobytes()
    model = ModelAsk("D", ("A",), ("A", "D"), (0,), levels, beta)
    return Evaluate(0, (model,), SiteEffects.PROFILED, Ordinal.PROPORTIONAL, 3, {"A": 0})


@pytest.mark.parametrize("levels", [(0, 1), (0, 2), (1, 2)])
def test_a_model_without_a_level_tells_once_at_most_whether_a_site_has_it(tmp_path: Path, levels: tuple[int, ...]) -> None:
    """The site that has it refuses, which would tell it of every set of rows, one after the other; so it is the last that it says."""
    sites, digest = running(tmp_path)
    told = (Announced(("A", "D"), 3, 90),)
    reply = ask(sites[0], b"one", digest, 0, evaluate(levels), told)
    assert isinstance(reply, Refused)
    assert reply.error == "OutsideSchemaError"
    assert sites[0].state.now is Standing.CLOSED
    for number, body in enumerate((evaluate((0, 1)), evaluate((0, 1, 2)), Survey((("A", "D"),))), start=1):
        after = ask(sites[0], b"one", digest, number, body, told)
        assert isinstance(after, Refused), f"it goes on after a refusal that said what its data are: {type(after).__name__}"
        assert after.error == "StudyClosedError"
    assert sites[0]._folder.history().closed
    if levels == (0, 1):
        assert isinstance(ask(sites[1], b"one", digest, 0, evaluate(levels), told), Answer)  # it has no r


def test_a_defect_in_a_round_closes_the_study_as_a_refusal_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An agent that dies of what its data are, and is started again, would be asked again."""
    sites, digest = running(tmp_path)

    def broken(*_: Any) -> Any:
        raise np.linalg.LinAlgError("singular")

    assert sites[0]._half is not None
    with monkeypatch.context() as patch:
        patch.setattr(sites[0]._half._desk, "answer", broken)
        with pytest.raises(np.linalg.LinAlgError):
            ask(sites[0], b"one", digest, 0, Survey((("A", "D"),)))
    assert sites[0]._folder.history().closed
    assert "LinAlgError" in sites[0]._folder.ledger().entries[-1].refused


def test_what_no_data_decide_closes_nothing(tmp_path: Path) -> None:
    """A server that is out of step may correct itself: the same would be refused whatever the site's rows are."""
    sites, digest = running(tmp_path)
    told, change = (Announced(("A", "D"), 3, 90),), msgspec.structs.replace
    wrong = [
        (Survey((("A", "Z"),)), (), "OutsideSchemaError"),
        (evaluate((0, 1, 2)), (), "DisclosureError"),
        (change(evaluate((0, 1, 2)), n_sites=2), told, "WrongTermsError"),
        (evaluate((0, 3)), told, "OutsideSchemaError"),
        (change(evaluate((0, 1, 2)), exponents={"A": 5000}), told, "WrongShapeError"),
    ]
    for number, (body, announced, error) in enumerate(wrong):
        reply = ask(sites[0], b"one", digest, number, body, announced)
        assert isinstance(reply, Refused)
        assert reply.error == error
    assert isinstance(ask(sites[0], b"one", digest, len(wrong), Survey((("A", "D"),))), Answer)
