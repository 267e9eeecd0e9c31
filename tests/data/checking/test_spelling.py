"""Levels that mean the same, and those that only look like it."""

from __future__ import annotations

import pytest

from consilience.data.checking.spelling import folded, same_meaning, spelled_twice

SAME = [
    (["M", "F"], ["male", "female"], {"M": "male", "F": "female"}),
    (["m", "w"], ["male", "female"], {"m": "male", "w": "female"}),
    (["m", "w", "d"], ["M", "F"], {"m": "M", "w": "F"}),
    (["h", "m"], ["male", "female"], {"h": "male", "m": "female"}),
    (["H", "F"], ["männlich", "weiblich"], {"H": "männlich", "F": "weiblich"}),
    (["maennlich", "weiblich"], ["männlich", "weiblich"], {"maennlich": "männlich"}),
    (["Homme", "Femme"], ["hombre", "mujer"], {"Homme": "hombre", "Femme": "mujer"}),
    (["maschio", "femmina"], ["Male", "Female"], {"maschio": "Male", "femmina": "Female"}),
    (["ja", "nein"], ["yes", "no"], {"ja": "yes", "nein": "no"}),
    (["Sì", "No"], ["sí", "no"], {"Sì": "sí", "No": "no"}),
    (["y", "n"], ["oui", "non"], {"y": "oui", "n": "non"}),
    (["1", "0"], ["yes", "no"], {"1": "yes", "0": "no"}),
    (["pos", "neg"], ["Positive", "Negative"], {"pos": "Positive", "neg": "Negative"}),
    (["+", "-"], ["pos.", "neg."], {"+": "pos.", "-": "neg."}),
    (["l", "r"], ["gauche", "droite"], {"l": "gauche", "r": "droite"}),
    (["never", "former", "current"], ["Nieraucher", "Ex-Raucher", "Raucher"], None),
    (["stage ii", "Stage_III"], ["Stage II", "stage-iii"], {"stage ii": "Stage II", "Stage_III": "stage-iii"}),
    (["yes", "Yes", "no"], ["yes", "no"], {"Yes": "yes"}),
    (["mild", "mod.", "sev"], ["mild", "moderate", "severe"], {"mod.": "moderate", "sev": "severe"}),
    (["As", "Bl"], ["Asian", "Black", "White"], {"As": "Asian", "Bl": "Black"}),
    (["01", "02"], ["1", "2"], {"01": "1", "02": "2"}),
    (["male"], ["w", "m"], {"male": "m"}),
]
OTHER = [
    (["A", "B"], ["AB", "0"]),
    (["A", "B", "AB", "0"], ["A", "B", "AB", "0"]),
    (["A+"], ["A-"]),
    (["I", "II"], ["III", "IV"]),
    (["T1", "T2"], ["T1a", "T2b"]),
    (["low", "high"], ["middle"]),
    (["red", "green"], ["blue", "grey"]),
    (["0", "1"], ["male", "female"]),
    (["0", "1", "2"], ["no", "yes"]),
    (["1-2", "3-4"], ["12", "34"]),
    (["<5", "5-9"], [">5", "5-9"]),
    (["f"], ["no", "yes"]),
    (["normal"], ["normal variant", "abnormal"]),
    (["1.5", "2"], ["15", "20"]),
    ([], ["a"]),
]


@pytest.mark.parametrize(("ours", "theirs", "found"), SAME)
def test_the_same_in_other_words_is_found_from_either_side(ours: list[str], theirs: list[str], found: dict[str, str] | None) -> None:
    forth, back = same_meaning(ours, theirs), same_meaning(theirs, ours)
    assert forth is not None
    assert back is not None
    if found is None:
        assert sorted(forth) == sorted(ours)
        found = dict(forth)
    assert forth == found
    assert {(new, old) for old, new in found.items()} == set(back.items())


@pytest.mark.parametrize(("ours", "theirs"), OTHER)
def test_what_only_looks_alike_is_let_be(ours: list[str], theirs: list[str]) -> None:
    assert same_meaning(ours, theirs) is None
    assert same_meaning(theirs, ours) is None


def test_equal_levels_are_never_questioned() -> None:
    assert same_meaning(["m", "f"], ["f", "m"]) is None
    assert same_meaning(["no", "yes"], ["no", "yes", "unclear"]) is None


def test_a_difference_that_a_site_makes_itself_is_kept() -> None:
    """A site that has both "no" and "absent" does not mean the same by them."""
    assert same_meaning(["no", "absent"], ["nein", "ja"]) is None


def test_one_site_that_writes_a_level_in_two_ways() -> None:
    assert spelled_twice(["left", "Left ", "right"]) == [("left", "Left ")]
    assert spelled_twice(["A+", "A-", "<5", ">5", "1", "10"]) == []


def test_folding_keeps_signs_that_mean_something() -> None:
    assert len({folded(text) for text in ("+", "++", "-", "a+", "a-", "a", "<1", ">1", "1")}) == 9
