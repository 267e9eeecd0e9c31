"""What a home remembers of the studies that its site took part in, and what it says when another comes that can be subtracted."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.data.schema import Schema
from consilience.protocol.handshake import Challenge, Closing, Consent, Declined, Welcome
from consilience.protocol.messages import Answer
from consilience.protocol.survey import Survey
from consilience.secagg import Identity
from consilience.service.agent import Home, Site
from consilience.service.agent.asking import Asked, Decision, by_digest, by_policy
from consilience.service.agent.earlier.past import FILE, Over, Past
from consilience.service.agent.policy import Policy
from consilience.service.contract import Contract, Member
from consilience.service.invitation import Invitation
from consilience.service.settings import specs_of
from tests.service.agent.sites import CLIENTS, MEMBERS, SERVER, ask, changed, proposal, run_of

FIRST, SECOND = "00112233aabbccdd", "ffee112233aabbcc"
FOUR = (*MEMBERS, Member("site3", Identity.generate().public_bytes))


def contract_of(study: str = FIRST, members: tuple[Member, ...] = MEMBERS, **what: Any) -> Contract:
    return changed(study=study, name=f"study {study[:2]}", members=members, **what)


class Owner:
    """Agrees to everything, and has seen what."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def __call__(self, asked: Asked) -> Decision:
        self.asked.append(asked)
        return Decision(yes=True, by="its owner")


def site_of(home: Path, study: str, decide: Any, which: int = 0, client: cs.Client | None = None, server: str = "study") -> Site:
    client = client or CLIENTS[which]
    folder = Home(home).enter(Invitation(f"https://{server}.example", study, client.name, bytes(32), SERVER.public_bytes))
    site = Site(client, folder, lambda *_: False, decide=decide)
    site.state.moves(Challenge)
    site.handle(Welcome(client.name, study, "trial", "open"))
    return site


def took_part(home: Path, contract: Contract, *, client: cs.Client | None = None, answered: bool = True) -> None:
    """The first site takes part in a study of its clients, with whatever its owner says, and answers a survey."""
    sites = [site_of(home if i == 0 else home / f"other{i}", contract.study, Owner(), i, client if i == 0 else None) for i in range(3)]
    for site in sites:
        assert isinstance(site.handle(proposal(contract)), Consent)
    if answered:
        assert isinstance(ask(sites[0], b"run", run_of(sites, b"run"), 0, Survey((("A", "C"),))), Answer)


def proposed(home: Path, contract: Contract, client: cs.Client | None = None, server: str = "study") -> Asked | None:
    """What the owner is asked about a contract; None if nobody is asked."""
    owner = Owner()
    assert isinstance(site_of(home, contract.study, owner, client=client, server=server).handle(proposal(contract)), Consent)
    return owner.asked[0] if owner.asked else None


def client_with(frame: pl.DataFrame) -> cs.Client:
    return cs.Client("site0", frame, identity=CLIENTS[0].identity)


def test_the_same_study_with_one_site_fewer_is_named_whatever_its_name_and_server(tmp_path: Path) -> None:
    """The attack: the sums of both studies, subtracted, are the third site's. On old code nobody is told."""
    took_part(tmp_path, contract_of())
    found = proposed(tmp_path, contract_of(SECOND, MEMBERS[:2], datasets=(("A", "C"), ("C",))), server="another")
    assert found is not None
    (one,) = found.subtractions
    assert one.about == (CLIENTS[2].identity.fingerprint.hex(),)
    assert one.words in found.warnings
    for said in ("without 'site2'", "'study 00'", FIRST, "https://study.example", "A, C", "1 site"):
        assert said in one.words


def test_one_site_more_is_the_same_thing(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    found = proposed(tmp_path, contract_of(SECOND, FOUR))
    assert found is not None
    assert "has 'site3' besides" in found.subtractions[0].words


def test_another_newcomer_in_the_place_of_a_site_is_no_cover(tmp_path: Path) -> None:
    """Anybody can bring one with an empty table."""
    took_part(tmp_path, contract_of())
    found = proposed(tmp_path, contract_of(SECOND, (*MEMBERS[:2], FOUR[3])))
    assert found is not None
    assert "is without 'site2' and has 'site3' besides" in found.subtractions[0].words


def test_the_same_sites_again_or_other_variables_or_many_others_are_nothing_to_name(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    more = tuple(Member(f"new{i}", Identity.generate().public_bytes) for i in range(2))
    for number, contract in enumerate((contract_of(SECOND), contract_of(SECOND[:-1] + "0", (*MEMBERS, *more)))):
        found = proposed(tmp_path, contract)
        assert found is not None, number
        assert found.subtractions == ()


def test_min_contributors_says_how_few_are_few(tmp_path: Path) -> None:
    settings = changed().settings
    five = (*FOUR, Member("site4", Identity.generate().public_bytes))
    for least, named in ((2, 0), (3, 1)):
        home = tmp_path / str(least)
        took_part(home, contract_of(settings=type(settings)(min_contributors=least)))
        found = proposed(home, contract_of(SECOND, five))
        assert found is not None
        assert len(found.subtractions) == named


def test_several_studies_together_single_a_site_out(tmp_path: Path) -> None:
    """No two of them differ by fewer than three sites on a side, and yet: first + second - third is this site and nobody else."""
    others = [Member(f"o{i}", Identity.generate().public_bytes) for i in range(6)]
    took_part(tmp_path, contract_of(members=(*MEMBERS, *others[:3])), answered=False)
    second = contract_of(SECOND, (MEMBERS[0], *others[3:]))
    assert proposed(tmp_path, second) is not None
    third = contract_of("0123456789abcdef", (*MEMBERS, *others))
    found = proposed(tmp_path, third)
    assert found is not None
    (one,) = found.subtractions
    assert one.about == (CLIENTS[0].identity.fingerprint.hex(),)
    assert "'study 00'" in one.words
    assert "'study ff'" in one.words


def test_a_study_counts_from_its_consent_on_unless_it_ended_without_an_answer(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of(), answered=False)
    fewer = contract_of(SECOND, MEMBERS[:2])
    site = site_of(tmp_path, SECOND, by_policy(Policy()))
    assert isinstance(site.handle(proposal(fewer)), Declined), "both may still be answered"
    site_of(tmp_path, FIRST, Owner()).handle(Closing("cancelled", ""))
    assert isinstance(site_of(tmp_path, SECOND, by_policy(Policy())).handle(proposal(fewer)), Consent)


def test_a_study_that_had_ended_is_asked_about_anew_if_it_comes_back(tmp_path: Path) -> None:
    """Else a server could end it, have a consent to another as if it had never been, and go on with it after that."""
    took_part(tmp_path, contract_of(), answered=False)
    site_of(tmp_path, FIRST, Owner()).handle(Closing("cancelled", ""))
    fewer = contract_of(SECOND, MEMBERS[:2])
    assert isinstance(site_of(tmp_path, SECOND, by_policy(Policy())).handle(proposal(fewer)), Consent)
    site = site_of(tmp_path, FIRST, by_policy(Policy()))
    assert isinstance(site.handle(proposal(contract_of())), Declined)
    assert "has 'site2' besides" in str(site.failure)
    found = proposed(tmp_path, contract_of())
    assert found is not None
    assert len(found.subtractions) == 1
    assert contract_of().digest.hex() not in Past(tmp_path).over(), "it was agreed to, and counts again"


def test_two_studies_that_are_agreed_to_at_the_same_time_see_each_other(tmp_path: Path) -> None:
    seen: list[int] = []

    def meanwhile(asked: Asked) -> Decision:
        seen.append(len(asked.subtractions))
        if len(seen) == 1:  # while this one is thought about, another process agrees to the other
            took_part(tmp_path, contract_of(), answered=False)
        return Decision(yes=len(asked.subtractions) == 0, by="nobody who was told")

    site = site_of(tmp_path, SECOND, meanwhile)
    fewer = contract_of(SECOND, MEMBERS[:2])
    assert isinstance(site.handle(proposal(fewer)), Declined)
    assert seen == [0, 1]
    assert fewer.digest.hex() in Past(tmp_path).over()


def test_an_end_after_an_answer_changes_nothing(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    ended = site_of(tmp_path, FIRST, Owner())
    ended.handle(proposal(contract_of()))
    ended.handle(Closing("finished", ""))
    assert not any(isinstance(line, Over) for line in Past(tmp_path)._lines())
    assert isinstance(site_of(tmp_path, SECOND, by_policy(Policy())).handle(proposal(contract_of(SECOND, MEMBERS[:2]))), Declined)


def test_scripts_agree_only_if_they_were_told_to(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    fewer = contract_of(SECOND, MEMBERS[:2])
    digest = fewer.digest.hex()
    for decide in (by_policy(Policy()), by_digest(digest), by_digest(digest, Policy())):
        site = site_of(tmp_path, SECOND, decide)
        assert isinstance(site.handle(proposal(fewer)), Declined)
        assert "'site2' alone" in str(site.failure)
        assert "Nothing has left" in str(site.failure)
    for number, decide in enumerate((by_policy(Policy(allow_subtraction=True)), by_digest(digest, allow_subtraction=True))):
        home = tmp_path / str(number)
        took_part(home, contract_of())
        assert isinstance(site_of(home, SECOND, decide).handle(proposal(fewer)), Consent)


def test_a_retry_of_the_same_contract_is_no_new_study(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    assert proposed(tmp_path, contract_of()) is None


def test_a_table_that_has_changed_by_a_few_rows_is_named(tmp_path: Path) -> None:
    """The same study again after two patients more: the difference is these two. On old code nobody is told."""
    frame = CLIENTS[0].frame
    took_part(tmp_path, contract_of())
    for number, (changed_frame, said) in enumerate(
        (
            (pl.concat([frame, frame.head(2)]), "2 rows more"),
            (frame.head(frame.height - 1), "1 row fewer"),
            (pl.concat([frame.head(1), frame.head(frame.height - 1)]), "other values in as many rows"),
        )
    ):
        found = proposed(tmp_path, contract_of(SECOND[:-1] + str(number)), client_with(changed_frame))
        assert found is not None
        (one, *_) = found.subtractions
        assert said in one.words
        assert "fewer than 10" in one.words


def test_ten_rows_more_or_another_order_are_nothing_to_name(tmp_path: Path) -> None:
    frame = CLIENTS[0].frame
    took_part(tmp_path, contract_of())
    for number, same in enumerate((frame.reverse().select("C", "A"), pl.concat([frame, frame.head(10)]))):
        home = tmp_path / str(number)
        took_part(home, contract_of())
        found = proposed(home, contract_of(SECOND), client_with(same))
        assert found is not None
        assert found.subtractions == ()


def test_a_table_that_changes_in_the_middle_of_a_study_is_asked_about_once(tmp_path: Path) -> None:
    """On old code the agent, started again with another table, went on answering."""
    took_part(tmp_path, contract_of())
    other = client_with(CLIENTS[0].frame.head(CLIENTS[0].frame.height - 1))
    site = site_of(tmp_path, FIRST, by_policy(Policy()), client=other)
    assert isinstance(site.handle(proposal(contract_of())), Declined)
    assert "in this study before" in str(site.failure)
    assert proposed(tmp_path, contract_of(), other) is not None
    assert proposed(tmp_path, contract_of(), other) is None


def test_a_column_that_no_study_shares_may_change(tmp_path: Path) -> None:
    frame = CLIENTS[0].frame
    took_part(tmp_path, contract_of(), client=client_with(frame))
    smaller = frame.select("C")
    only = contract_of(SECOND, variables=changed().variables[1:], datasets=(("C",),))
    found = proposed(tmp_path, only, client_with(smaller))
    assert found is not None
    assert found.subtractions == ()
    flipped = frame.select(pl.col("C").reverse()).with_columns(
        pl.when(pl.int_range(pl.len()) < 1).then(1 - pl.col("C")).otherwise("C").alias("C")
    )
    found = proposed(tmp_path, contract_of(SECOND[:-1] + "7", variables=changed().variables[1:], datasets=(("C",),)), client_with(flipped))
    assert found is not None
    assert "other values" in found.subtractions[0].words


def contract_over(study: str, names: str, **what: Any) -> Contract:
    kinds = {"A": "continuous", "C": "binary", "D": "binary", "Z": "continuous", "W": "continuous"}
    variables = specs_of(Schema({name: kinds[name] for name in names}))
    return contract_of(study, variables=variables, datasets=(tuple(names),), **what)


def asked_after(home: Path, frame: pl.DataFrame, first: str, second: str) -> Asked:
    """Two studies of one table, with other variables: what is asked of the second."""
    proposed(home, contract_over(FIRST, first), client_with(frame))
    found = proposed(home, contract_over(SECOND, second), client_with(frame))
    assert found is not None
    return found


def lacking(**gaps: range) -> pl.DataFrame:
    """A hundred rows, of which some lack some values."""
    rng = np.random.default_rng(5)
    columns: dict[str, Any] = {name: rng.normal(size=100).tolist() for name in "AZW"}
    columns["C"] = rng.integers(0, 2, 100).tolist()
    return pl.DataFrame({name: [None if i in gaps.get(name, ()) else v for i, v in enumerate(values)] for name, values in columns.items()})


def test_one_table_in_two_studies_with_other_variables_may_differ_by_a_row(tmp_path: Path) -> None:
    """The attack of tests/disclosure/test_attacks_again.py: where Z is studied the row without it is left out, and else it is there. The
    table is the same, and on old code nobody is told.
    """
    found = asked_after(tmp_path, lacking(Z=range(1)), "ACZ", "AC")
    (one,) = found.subtractions
    assert "1 row more" in one.words
    assert "sums over A, C tell" in one.words
    assert "fewer than 10" in one.words
    assert one.words in found.warnings
    site = site_of(tmp_path, "0123456789abcdef", by_policy(Policy()), client=client_with(lacking(Z=range(1))))
    assert isinstance(site.handle(proposal(contract_over("0123456789abcdef", "AC"))), Declined)


def test_rows_that_the_other_study_leaves_out_for_a_rare_level_are_named(tmp_path: Path) -> None:
    frame = lacking().with_columns(D=pl.when(pl.int_range(pl.len()) < 3).then(1).otherwise(0))
    found = asked_after(tmp_path, frame, "AC", "ACD")
    assert "3 rows fewer" in found.subtractions[0].words


@pytest.mark.parametrize(
    ("gaps", "first", "second"),
    [
        ({}, "ACZ", "AC"),  # all rows in both
        ({"Z": range(20)}, "ACZ", "AC"),  # two groups of at least ten rows, and both of them together
        ({"A": range(1)}, "ACZ", "ACW"),  # the row is left out by both, or has its value hidden by both
        ({"Z": range(1)}, "ACZ", "W"),  # nothing is shared
    ],
)
def test_one_table_in_two_studies_that_leave_out_the_same_is_nothing_to_name(tmp_path: Path, gaps: Any, first: str, second: str) -> None:
    assert asked_after(tmp_path, lacking(**gaps), first, second).subtractions == ()


def test_groups_of_two_studies_that_may_differ_by_few_rows_are_named(tmp_path: Path) -> None:
    """Both studies have all rows; but those with Z in the one and those with W in the other are the same but for one."""
    found = asked_after(tmp_path, lacking(Z=range(20), W=range(1, 21)), "ACZ", "ACW")
    (one,) = found.subtractions
    assert "lack other values than they did in the study 'study 00'" in one.words
    assert "may be fewer than 10" in one.words


def test_another_identity_under_a_known_name_is_said(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    swapped = (*MEMBERS[:2], Member("site2", Identity.generate().public_bytes))
    found = proposed(tmp_path, contract_of(SECOND, swapped))
    assert found is not None
    assert any("'site2' had another fingerprint in the study 'study 00'" in words for words in found.warnings)


def test_what_is_remembered_tells_nothing_of_the_table_and_is_its_owners_alone(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    file = tmp_path / FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    took, answered = map(json.loads, file.read_text().splitlines())
    assert (took["type"], answered["type"]) == ("took part", "answered")
    assert took["members"] == {c.name: c.identity.fingerprint.hex() for c in CLIENTS}
    assert took["variables"] == ["A", "C"]
    assert took["by"] == "its owner"
    assert took["contract"] == contract_of().digest.hex()
    assert took["marks"]["rows"] == CLIENTS[0].frame.height
    other = tmp_path / "other1" / FILE
    assert json.loads(other.read_text().splitlines()[0])["marks"]["table"] != took["marks"]["table"]


def test_an_answer_is_remembered_before_it_leaves_and_a_torn_line_is_cut_off(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    file = tmp_path / FILE
    with file.open("ab") as f:
        f.write(b'{"type": "torn')
    past = Past(tmp_path)
    assert past.answered() == {contract_of().digest.hex()}
    past.add(Over(contract="ab"))
    assert len(file.read_text().splitlines()) == 3
    file.write_bytes(b"{}\n" + file.read_bytes())
    with pytest.raises(errors.RecordsError, match="line 1 is damaged"):
        Past(tmp_path).studies()


def test_a_home_of_before_is_read_from_its_folders(tmp_path: Path) -> None:
    took_part(tmp_path, contract_of())
    (tmp_path / FILE).unlink()
    found = proposed(tmp_path, contract_of(SECOND, MEMBERS[:2]))
    assert found is not None
    assert found.subtractions[0].about == (CLIENTS[2].identity.fingerprint.hex(),)
    assert proposed(tmp_path, contract_of()) is None, "its consent holds"
    assert Past(tmp_path).answered() == {contract_of().digest.hex()}, "and what it answered is not forgotten by writing it down"


def _add(home: Path, number: int) -> None:
    for i in range(20):
        Past(home).add(Over(contract=f"{number}-{i}"))


def test_several_processes_add_to_it(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_add, args=(tmp_path, number)) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(Past(tmp_path)._lines()) == 40
