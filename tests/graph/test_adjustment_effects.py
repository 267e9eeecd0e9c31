"""What the criterion means, with no theory of it: in linear models the effect is known, and so is what adjusting gives.

In a linear model with coefficients B the total effect of x on y is the entry (y, x) of (1 − B)⁻¹, and the covariance gives the coefficient
of x in the regression of y on x and Z, as from infinitely many rows. Of random coefficients the two agree by chance with probability zero.
"""

from __future__ import annotations

import time
from itertools import chain, combinations, islice, permutations
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from consilience.graph import (
    DAG,
    MAG,
    PAG,
    Identification,
    MarkSets,
    adjustment_sets,
    bits,
    canonical_dag,
    is_adjustment_set,
    latent_projection_marks,
    mag_to_pag_marks,
)
from consilience.graph.marks import ARROW, TAIL
from tests.graph.helpers import LABELS, random_dag
from tests.iod.mag_enumeration import load

Floats = npt.NDArray[np.float64]


class Model:
    """A linear model over a DAG, with random coefficients and variances."""

    def __init__(self, dag: MarkSets, draws: np.random.Generator) -> None:
        coefficients = np.zeros((dag.n, dag.n))
        for v in range(dag.n):
            for u in bits(dag.parents(v)):
                coefficients[v, u] = draws.uniform(0.4, 1.2) * draws.choice([-1, 1])
        self.effects: Floats = np.linalg.inv(np.eye(dag.n) - coefficients)
        self.covariance: Floats = self.effects * draws.uniform(0.5, 2.0, dag.n) @ self.effects.T

    def effect(self, x: int, y: int) -> float:
        return float(self.effects[y, x])

    def adjusted(self, x: int, y: int, z: list[int]) -> float:
        held = [x, *z]
        return float(np.linalg.solve(self.covariance[np.ix_(held, held)], self.covariance[held, y])[0])


@pytest.mark.slow
@pytest.mark.parametrize(("observed", "latent", "share"), [(6, 3, 0.35), (8, 3, 0.3), (10, 5, 0.2)])
def test_sets_of_random_graphs_with_latent_variables_give_the_effect(observed: int, latent: int, share: float) -> None:
    random, draws = Random(18), np.random.default_rng(18)
    sets = zeros = 0
    for _ in range(300):
        dag = random_dag(observed + latent, share, random)
        pag = PAG.from_working(mag_to_pag_marks(latent_projection_marks(dag, list(range(observed)))), LABELS[:observed])
        model = Model(dag, draws)
        for x, y in permutations(range(observed), 2):
            found = adjustment_sets(pag, LABELS[x], LABELS[y])
            if found.identification is Identification.ZERO:
                zeros += 1
                assert abs(model.effect(x, y)) < 1e-12, (pag, x, y)
            if found.identification is Identification.ADJUSTED:
                assert found.canonical is not None
                for names in (*found.sets, found.canonical):
                    sets += 1
                    adjusted = model.adjusted(x, y, [LABELS.index(name) for name in names])
                    assert adjusted == pytest.approx(model.effect(x, y), abs=1e-9), (pag, x, y, names)
    assert sets > 100
    assert zeros > 500


def dags_of(mag: MAG) -> list[DAG]:
    """DAGs with latent variables whose MAG this is: the canonical one, and those with one common cause more of a cause and its effect."""
    plain = canonical_dag(mag)
    found = [plain]
    for edge in mag.edges:
        if edge.at_a == TAIL:
            marks = plain.reordered([*plain.labels, "more"]).working()
            for end in (edge.a, edge.b):
                marks.add_edge(len(plain), plain.index(end), TAIL, ARROW)
            if latent_projection_marks(marks, list(range(len(mag)))).same_marks(mag.working()):
                found.append(DAG.from_working(marks, [*plain.labels, "more"]))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_a_set_adjusts_in_all_dags_of_a_pag_iff_the_criterion_says_so(part: int) -> None:
    """All PAGs of four nodes, all pairs, all sets: no set is promised that fails, and none is left out that works everywhere."""
    every, draws = load(4), np.random.default_rng(part)
    for k in range(part, len(every.pags), 4):
        pag = PAG(every.pags[k], "ABCD")
        models = [Model(dag.working(), draws) for member in every.members(k) for dag in dags_of(MAG(member, "ABCD"))]
        for x, y in permutations(range(4), 2):
            others = [v for v in range(4) if v not in (x, y)]
            zero = adjustment_sets(pag, "ABCD"[x], "ABCD"[y]).identification is Identification.ZERO
            assert zero is all(abs(model.effect(x, y)) < 1e-12 for model in models), (pag, x, y)
            for z in chain.from_iterable(combinations(others, size) for size in range(3)):
                works = all(abs(model.adjusted(x, y, [*z]) - model.effect(x, y)) < 1e-9 for model in models)
                assert is_adjustment_set(pag, "ABCD"[x], "ABCD"[y], ["ABCD"[v] for v in z]) is works, (pag, x, y, z)


def random_pag(observed: int, latent: int, share: float, random: Random) -> PAG:
    mag = latent_projection_marks(random_dag(observed + latent, share, random), list(range(observed)))
    return PAG.from_working(mag_to_pag_marks(mag), [f"V{v:02}" for v in range(observed)])


def test_a_thousand_questions_about_thirty_variables() -> None:
    random = Random(30)
    pags = [random_pag(30, 5, 0.1, random) for _ in range(10)]
    began = time.process_time()
    found = [adjustment_sets(pag, x, y) for pag in pags for x, y in islice(permutations(pag.labels, 2), 100)]
    assert time.process_time() - began < 2  # about 0.05 s; to list paths takes years
    assert {answer.identification for answer in found} >= {Identification.ADJUSTED, Identification.ZERO, Identification.HIDDEN_CAUSE}
