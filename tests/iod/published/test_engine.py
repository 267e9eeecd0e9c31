"""The published algorithm against the definition of what it should return: all classes that agree with every data set."""

from __future__ import annotations

import numpy as np
import pytest

import consilience as cs
from consilience import errors
from consilience.citest.question import Question
from consilience.graph import MAG, PAG, MarkSets, Oracle, latent_projection, mag_to_pag, mag_to_pag_marks
from tests.iod.cases import NAMES, everything, oracle_of, random_case

VARIANTS = ("original", "colliders", "triples")
both_engines = pytest.mark.parametrize("engine", ["exact", "iod"])


@pytest.mark.slow
@pytest.mark.parametrize("block", range(10))
def test_all_variants_return_exactly_the_consistent_classes(block: int) -> None:
    """300 random cases, graph for graph; a hundred of them by the two slower variants, too; the benchmark of the variants has more."""
    found = everything()
    for seed in range(30 * block, 30 * block + 30):
        truth, datasets = random_case(seed)
        wanted = {PAG.from_matrix(found.pags[c], NAMES) for c in found.consistent_classes(datasets, truth)}
        candidates = []
        for variant in VARIANTS if seed % 3 == 1 else VARIANTS[-1:]:
            got = cs.discover(oracle_of(truth, datasets), engine="iod", variant=variant)
            assert set(got.pags) == wanted, (seed, variant)
            assert len(got.pags) == len(wanted)
            candidates.append(got.candidates)
        assert candidates == sorted(candidates, reverse=True), seed


@pytest.mark.slow
@both_engines
def test_local_pags_are_those_of_the_marginal_classes(engine: str) -> None:
    truth, datasets = random_case(3)
    found = cs.discover(oracle_of(truth, datasets), engine=engine)
    mag = MAG.from_matrix(everything().members(truth)[0], NAMES)
    for held, pag in zip(found.datasets, found.local_pags, strict=True):
        assert pag == mag_to_pag(latent_projection(mag, held))


@both_engines
def test_one_complete_data_set_gives_the_class_itself(engine: str) -> None:
    for truth in range(0, 24_259, 1_511):
        found = cs.discover(oracle_of(truth, [(0, 1, 2, 3, 4)]), engine=engine)
        assert found.pags == (PAG.from_matrix(everything().pags[truth], NAMES),)


@pytest.mark.slow
def test_several_processes_find_the_same() -> None:
    truth, datasets = random_case(7)
    oracle = oracle_of(truth, datasets)
    assert cs.discover(oracle, engine="iod", jobs=2).pags == cs.discover(oracle, engine="iod").pags


class Deaf(Oracle):
    """An oracle that cannot answer some questions."""

    silent: frozenset[frozenset[str]] = frozenset()

    def _answer(self, question: Question) -> cs.CIResult:
        result = super()._answer(question)
        if frozenset((question.x, question.y)) in self.silent:
            return cs.CIResult(question.x, question.y, question.given, 1.0, 0, 0, 0, False, "not asked", True, ())
        return result


@both_engines
def test_a_test_that_cannot_answer_is_unknown_and_never_independence(engine: str) -> None:
    """A and D are independent; an oracle that is silent about them must not make the edge vanish, nor insist on it."""
    truth = PAG.parse("A o-> C, B o-> C, C --> D")
    deaf = Deaf(truth)
    deaf.silent = frozenset({frozenset("AD")})
    found = cs.discover(deaf, engine=engine)
    assert found.local_pags[0].adjacent("A", "D")
    assert truth in found.pags
    assert len(found.pags) > 1


@both_engines
def test_max_given_assumes_that_no_larger_set_separates(engine: str) -> None:
    """Only B separates A and C; with empty conditioning sets alone they count as inseparable, as in FCI with a bound."""
    oracle = Oracle(MAG.parse("A --> B, B --> C"))
    assert [str(pag) for pag in cs.discover(oracle, engine=engine).pags] == ["A o-o B, B o-o C"]
    found = cs.discover(oracle, engine=engine, max_given=0)
    assert found.tests["given"].list.len().max() == 0
    assert [str(pag) for pag in found.pags] == ["A o-o B, A o-o C, B o-o C"]


@both_engines
def test_contradicting_decisions_give_an_empty_list_and_no_exception(engine: str) -> None:
    """Two data sets say that B is a collider, so no cause of A, C or D; the third that it is one of A or D."""

    class Contrary(Oracle):
        def _answer(self, question: Question) -> cs.CIResult:
            p = float((question.x, question.y, question.given) in {("A", "C", ()), ("C", "D", ()), ("A", "D", ("B",))})
            return cs.CIResult(question.x, question.y, question.given, p, 0, 1, 0, True, "", True, ())

    found = cs.discover(Contrary(MAG.parse("A --> B, C --> B, D --> B"), datasets=["ABC", "BCD", "ABD"]), engine=engine, resolve="strict")
    assert found.pags == ()
    assert found.complete
    assert found.conflicts


def test_progress_tells_in_words_and_can_cancel() -> None:
    truth, datasets = random_case(11)
    said: list[str] = []
    cs.discover(oracle_of(truth, datasets), engine="iod", progress=said.append)
    assert any("testing" in words for words in said)
    assert any("validating" in words for words in said)

    class Stop(Exception):
        pass

    def cancel(words: str) -> None:
        raise Stop

    with pytest.raises(Stop):
        cs.discover(oracle_of(truth, datasets), progress=cancel)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.5}, "alpha"),
        ({"engine": "magic"}, "engine"),
        ({"variant": "all"}, "variant"),
        ({"max_given": -1}, "max_given"),
    ],
)
def test_bad_options(options: dict[str, object], words: str) -> None:
    with pytest.raises(errors.OptionError, match=words):
        cs.discover(Oracle(MAG.parse("A --> B")), **options)  # type: ignore[arg-type]


def test_the_result_as_plain_types() -> None:
    truth, datasets = random_case(5)
    found = cs.discover(oracle_of(truth, datasets))
    plain = found.to_dict()
    assert [PAG.from_matrix(p["matrix"], p["labels"]) for p in plain["pags"]] == list(found.pags)
    assert found.tests.height == len(plain["tests"])


@pytest.mark.slow
def test_mixed_data_over_sites_find_the_generating_structure() -> None:
    """Five mixed variables over three sites; enough rows that every decision is right."""
    frames = cs.simulate.mixed_sites(n=30_000, sites=3, seed=5, absent={0: ["E"], 2: ["D"]})
    server = cs.Server([cs.Client(name, frame) for name, frame in frames.items()])
    found = cs.discover(server, alpha=0.001)
    assert PAG.parse("A o-o B, A --> D, B o-o C, C --> D, B o-o E").labels == found.pags[0].labels
    for pag in found.pags:
        assert pag.adjacent("A", "B")
        assert not pag.adjacent("A", "C")


@pytest.mark.slow
def test_mag_to_pag_gives_the_marks_that_each_class_shares() -> None:
    """For every one of the 24,259 classes over five nodes, from its first and its last member."""
    found = everything()
    order = np.argsort(found.class_of, kind="stable")
    first = np.searchsorted(found.class_of[order], np.arange(len(found.pags)))
    last = np.append(first[1:], len(order)) - 1
    for end in (first, last):
        for c, mag in enumerate(found.mags[order[end]]):
            assert np.array_equal(mag_to_pag_marks(MarkSets.from_matrix(mag)).to_matrix(), found.pags[c]), c
