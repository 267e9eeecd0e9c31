"""What studies tell together, held against plain linear algebra over who took part in them."""

from __future__ import annotations

import numpy as np
import pytest

from consilience.service.agent.marks import Marks
from consilience.service.agent.past import TookPart
from consilience.service.agent.subtracting import subtractions

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
