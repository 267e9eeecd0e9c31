"""What must not change a result: units, shifts, site shifts of any size, names of levels, order of variables, doubled rows."""

from __future__ import annotations

from functools import cache

import numpy as np
import polars as pl
import pytest

import consilience as cs

VARIANTS = ("profiled", "coordinate", "joint")
QUESTIONS = [("A", "B", []), ("A", "C", ["B"]), ("A", "D", ["B", "E"]), ("B", "E", ["A", "C"]), ("C", "D", ["A"]), ("D", "E", ["A", "B"])]
FRAMES = cs.simulate.mixed_sites(n=900, sites=3, seed=21)


def statistics(frames: dict[str, pl.DataFrame], variant: str = "profiled", **options: object) -> np.ndarray:
    clients = [cs.Client(name, frame) for name, frame in frames.items()]
    results = cs.Server(clients, site_effects=variant, **options).test_many(QUESTIONS)  # type: ignore[arg-type]
    assert all(r.converged for r in results)
    return np.array([d.statistic for r in results for d in r.directions])


@cache
def usual(variant: str = "profiled") -> np.ndarray:
    """Of the tables as they are."""
    return statistics(FRAMES, variant)


def changed(**columns: pl.Expr) -> dict[str, pl.DataFrame]:
    return {name: frame.with_columns(**columns) for name, frame in FRAMES.items()}


@pytest.mark.slow
@pytest.mark.parametrize("variant", [*VARIANTS, "none"])
@pytest.mark.parametrize(
    ("scale", "shift"), [(1e-6, 0.0), (1e6, 0.0), (1.0, 1e6), (1e-6, 1.0), (1e6, 1e6), (-3.0, 0.0), (1e-150, 0.0), (1e150, 0.0)]
)
def test_units_do_not_matter(variant: str, scale: float, shift: float) -> None:
    """A is a response in some models and a predictor in others; B keeps its unit."""
    got = statistics(changed(A=pl.col("A") * scale + shift), variant)
    np.testing.assert_allclose(got, usual(variant), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("size", [10.0, 1e4])
def test_site_shifts_do_not_matter(variant: str, size: float) -> None:
    """Shifts of ten (and ten thousand) within-site standard deviations between sites."""
    moved = {
        name: frame.with_columns(A=pl.col("A") + size * k, B=pl.col("B") - 2 * size * k) for k, (name, frame) in enumerate(FRAMES.items())
    }
    np.testing.assert_allclose(statistics(moved, variant), usual(variant), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("ordinal", ["proportional", "generalized"])
def test_unit_free_with_a_ridge_too(ordinal: str) -> None:
    plain = statistics(FRAMES, ridge=1e-3, ordinal=ordinal)
    np.testing.assert_allclose(statistics(changed(A=pl.col("A") * 1e4), ridge=1e-3, ordinal=ordinal), plain, rtol=1e-6)
    assert not np.allclose(plain, statistics(FRAMES, ordinal=ordinal), rtol=1e-6)


def test_relabelled_levels_give_the_same() -> None:
    letters = {"p": "z", "q": "c", "r": "a", "s": "k"}
    got = statistics(changed(E=pl.col("E").replace(letters), C=~pl.col("C")))
    np.testing.assert_allclose(got, usual(), rtol=1e-8)


def test_reversed_ordinal_levels_give_the_same() -> None:
    np.testing.assert_allclose(statistics(changed(D=5 - pl.col("D"))), usual(), rtol=1e-8)


def test_swapped_x_and_y_give_the_same() -> None:
    server = cs.Server([cs.Client(name, frame) for name, frame in FRAMES.items()])
    for x, y, given in QUESTIONS:
        assert server.test(x, y, given).p_value == server.test(y, x, given).p_value


def test_doubled_rows_double_the_statistic_of_discrete_responses_and_of_gaussian_ones() -> None:
    doubled = {name: pl.concat([frame, frame]) for name, frame in FRAMES.items()}
    np.testing.assert_allclose(statistics(doubled), 2 * usual(), rtol=1e-8)


def test_two_levels_are_the_same_as_binary_multinomial_and_ordinal() -> None:
    def run(kind: str) -> cs.CIResult:
        kinds = {"C": kind}
        return cs.Server([cs.Client(n, f, kinds=kinds) for n, f in FRAMES.items()]).test("C", "A", ["E"])

    binary, multinomial, ordinal = run("binary"), run("multinomial"), run("ordinal")
    assert binary.directions == multinomial.directions == ordinal.directions


def test_rows_in_any_order() -> None:
    mixed = {name: frame.sample(fraction=1.0, shuffle=True, seed=3) for name, frame in FRAMES.items()}
    np.testing.assert_allclose(statistics(mixed), usual(), rtol=1e-9)
