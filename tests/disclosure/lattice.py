"""Lattice reduction, as an attacker has it: exact, small, slow."""

from __future__ import annotations

from fractions import Fraction

Vector = list[int]


def reduced(basis: list[Vector]) -> list[Vector]:
    """A basis of the same lattice with short vectors (A. K. Lenstra, H. W. Lenstra, L. Lovász 1982, δ = 3/4)."""
    rows = [list(row) for row in basis]
    n = len(rows)
    mu, norms = _orthogonal(rows)
    k = 1
    while k < n:
        for j in range(k - 1, -1, -1):
            q = round(mu[k][j])
            if q:
                rows[k] = [a - q * b for a, b in zip(rows[k], rows[j], strict=True)]
                for i in range(j):
                    mu[k][i] -= q * mu[j][i]
                mu[k][j] -= q
        if norms[k] >= (Fraction(3, 4) - mu[k][k - 1] ** 2) * norms[k - 1]:
            k += 1
        else:
            rows[k], rows[k - 1] = rows[k - 1], rows[k]
            mu, norms = _orthogonal(rows)
            k = max(k - 1, 1)
    return rows


def _orthogonal(rows: list[Vector]) -> tuple[list[list[Fraction]], list[Fraction]]:
    stars: list[list[Fraction]] = []
    mu = [[Fraction(0)] * len(rows) for _ in rows]
    norms: list[Fraction] = []
    for i, row in enumerate(rows):
        star = [Fraction(value) for value in row]
        for j in range(i):
            mu[i][j] = sum((Fraction(a) * b for a, b in zip(row, stars[j], strict=True)), Fraction(0)) / norms[j]
            star = [a - mu[i][j] * b for a, b in zip(star, stars[j], strict=True)]
        stars.append(star)
        norms.append(sum((a * a for a in star), Fraction(0)))
    return mu, norms
