"""What studies tell together, held against plain linear algebra over who took part in them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from consilience.secagg import Identity
from consilience.service.agent.earlier.marks import Marks, marks_of
from consilience.service.agent.earlier.past import TookPart
from consilience.service.agent.earlier.subtracting import subtractions

SITES = [f"site{i}" for i in range(7)]


def study(number: int, sites: list[str], variables: str = "AB", **more: object) -> TookPart:
    settings = {"min_contributors": 2, "min_rows": 10, "marks": Marks(100, "t", dict.fromkeys("AB", "t")), **more}
    return TookPart(
        study="",
        name=f"study {number}",
        server="",
        contract=str(number),
        variables=tuple(variables),
        members={site: site for site in sites},
        **settings,  # type: ignore[arg-type]
    )


def derivable(studies: list[TookPart]) -> set[str]:
    """The sites whose own part is a combination of the studies' sums."""
    if not studies:
        return set()
    matrix = np.array([[float(site in took.sites) for site in SITES] for took in studies])
    found = set()
    for i, site in enumerate(SITES):
        wanted = np.eye(len(SITES))[i]
        weights = np.linalg.lstsq(matrix.T, wanted, rcond=None)[0]
        if np.allclose(matrix.T @ weights, wanted, atol=1e-9):
            found.add(site)
    return found


def test_whoever_becomes_derivable_is_named_before_in_random_studies() -> None:
    rng, many = np.random.default_rng(1), 0
    for _ in range(300):
        studies = [
            study(number, ["site0", *(site for site in SITES[1:] if rng.random() < 0.55)]) for number in range(int(rng.integers(2, 6)))
        ]
        studies = [took for took in studies if len(took.members) > 1]
        if len(studies) < 2:
            continue
        *old, new = studies
        fresh = derivable(studies) - derivable(old)
        named = {site for found in subtractions(new, old) for site in found.about}
        assert fresh <= named, (fresh, named)
        many += bool(fresh)
    assert many > 20


def test_combinations_of_more_than_min_contributors_are_nobodys() -> None:
    first, second = study(1, SITES[:3]), study(2, SITES[:5])
    assert subtractions(second, [first]) == []
    (found,) = subtractions(study(2, SITES[:5], min_contributors=3), [first])
    assert set(found.about) == {"site3", "site4"}


def test_only_shared_variables_count() -> None:
    assert subtractions(study(2, SITES[:2], "C"), [study(1, SITES[:3], "AB")]) == []
    (found,) = subtractions(study(2, SITES[:2], "BC"), [study(1, SITES[:3], "AB")])
    assert "sums over B of 'site2' alone" in found.words


@pytest.mark.parametrize("least", [2, 40])
def test_thirty_studies_of_a_hundred_sites_are_no_work(least: int) -> None:
    rng = np.random.default_rng(2)
    sites = [f"s{i}" for i in range(100)]
    old = [study(i, ["me", *(s for s in sites if rng.random() < 0.5)], min_contributors=least) for i in range(30)]
    assert isinstance(subtractions(study(99, ["me", *sites[:60]], min_contributors=least), old), list)


def test_rows_without_gaps_differ_by_what_their_numbers_differ_and_others_by_nobody_knows_how_many() -> None:
    def marked(number: int, rows: int, table: str, *, whole: bool) -> TookPart:
        return study(number, SITES[:3], marks=Marks(rows, table, dict.fromkeys("AB", table), whole))

    first = marked(1, 100, "t", whole=True)
    assert subtractions(marked(2, 110, "u", whole=True), [first]) == []
    assert subtractions(marked(2, 100, "t", whole=True), [first]) == []
    for rows, whole in ((109, True), (100, True), (110, False), (200, False)):
        (found,) = subtractions(marked(2, rows, "u", whole=whole), [first])
        assert "may be fewer than 10" in found.words


def test_rows_may_be_others_though_every_column_has_the_values_that_it_had() -> None:
    identity = Identity.generate()
    first = pl.DataFrame({"A": [0, 0, 1, 1], "B": [0, 1, 0, 1], "Z": [1.0, 2.0, 3.0, 4.0]})
    second = pl.DataFrame({"A": [0, 0, 1, 1], "B": [0, 0, 1, 1], "W": [1.0, 2.0, 3.0, 4.0]})
    one, two, three = (marks_of(frame, frame.columns, identity) for frame in (first, second, first.drop("Z")))
    assert all(one.columns[name] == two.columns[name] for name in "AB")
    assert one.differs(two, "AB")
    assert not one.differs(three, "AB")
    (found,) = subtractions(study(2, SITES[:3], marks=two), [study(1, SITES[:3], marks=one)])
    assert "other values in as many rows" in found.words
