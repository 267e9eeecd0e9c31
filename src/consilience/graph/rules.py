"""The orientation rules R0–R10 of FCI, and their closure.

The rules as Zhang states them, with ``*`` for any mark (J. Zhang, On the completeness of orientation rules for causal discovery in the
presence of latent confounders and selection bias, Artificial Intelligence 172, 2008). With perfect knowledge R0–R4 find all
arrowheads, and R5–R10 all tails, that the graphs of an equivalence class share. Each rule goes over the whole graph once, turns
circles into marks, and returns whether it turned any. A mark that is not a circle is never changed: where a rule wants another one,
``marks.contradicted`` tells that no equivalence class fits.

R0 and R4 need knowledge beyond the graph. They ask ``is_collider(path)`` about a path ⟨θ, …, α, β, γ⟩ whose ends are not adjacent (for
R0 just ⟨α, β, γ⟩): is β a collider on it? ``None`` means unknown and leaves the path as it is. A caller that wants to follow both answers
takes an undecided path from :func:`~consilience.graph.paths.discriminating_paths` and uses :func:`decide` on two copies of the marks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TypeAlias

from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets, bits
from consilience.graph.paths import Path, paths_discriminating, potential_children, uncovered_path

__all__ = ["IsCollider", "by_separating_sets", "decide", "orient", "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10"]

IsCollider: TypeAlias = Callable[[Path], bool | None]


def by_separating_sets(sets: Mapping[frozenset[int], Collection[int]]) -> IsCollider:
    """Answers from separating sets: β is a collider iff it is not in Sepset(θ, γ); unknown where no set was found.

    >>> is_collider = by_separating_sets({frozenset({0, 2}): {1}})
    >>> is_collider((0, 1, 2)), is_collider((0, 1, 3))
    (False, None)
    """

    def is_collider(path: Path) -> bool | None:
        found = sets.get(frozenset((path[0], path[-1])))
        return None if found is None else path[-2] not in found

    return is_collider


def orient(marks: MarkSets, is_collider: IsCollider | None = None, *, selection_bias: bool = False) -> bool:
    """Apply R1–R10 until none changes anything; True if one did. R5–R7 only if there may be ``selection_bias``.

    Without ``is_collider`` nothing is known about discriminating paths, and R4 is left out.

    >>> marks = MarkSets.skeleton([0b0100, 0b0100, 0b1011, 0b0100])  # 0 and 1 meet at 2, then 3
    >>> colliders = by_separating_sets({frozenset({0, 1}): [], frozenset({0, 3}): [2], frozenset({1, 3}): [2]})
    >>> r0(marks, colliders), orient(marks, colliders)
    (True, True)
    >>> marks.to_matrix()
    array([[0, 0, 2, 0],
           [0, 0, 2, 0],
           [1, 1, 0, 2],
           [0, 0, 3, 0]], dtype=int8)
    """
    # Cheap ones first, as after any change we begin again: R1-R3 look at neighbours, R4, R5, R9 and R10 search for paths. So R5 is asked
    # only where R1-R4 are exhausted, and R8-R10 where these are too: the order in which Zhang proves that nothing is missed.
    rules: list[Callable[[MarkSets], bool]] = [r1, r2, r3]
    if is_collider is not None:
        rules.append(partial(r4, is_collider=is_collider))
    rules += [r5, r6, r7] if selection_bias else []
    rules += [r8, r9, r10]
    changed = False
    while any(rule(marks) for rule in rules):
        changed = True
    return changed


def r0(marks: MarkSets, is_collider: IsCollider) -> bool:
    """R0: orient every unshielded ⟨α, β, γ⟩ as a collider α *-> β <-* γ iff β is not in Sepset(α, γ)."""
    changed = False
    for beta in range(marks.n):
        around = marks.adjacent[beta]
        for alpha in bits(around):
            for gamma in bits(around & ~marks.adjacent[alpha] & -2 << alpha):
                if is_collider((alpha, beta, gamma)):
                    changed |= marks.resolve(alpha, beta, ARROW)
                    changed |= marks.resolve(gamma, beta, ARROW)
    return changed


def r1(marks: MarkSets) -> bool:
    """R1: if α *-> β o-* γ, and α and γ are not adjacent, then orient the triple as α *-> β --> γ."""
    changed = False
    for beta in range(marks.n):
        if not marks.circle[beta]:
            continue
        for alpha in bits(marks.arrow[beta]):
            for gamma in bits(marks.circle[beta] & ~marks.adjacent[alpha]):
                changed |= marks.resolve(gamma, beta, TAIL)
                marks.resolve(beta, gamma, ARROW)
    return changed


def r2(marks: MarkSets) -> bool:
    """R2: if α --> β *-> γ or α *-> β --> γ, and α *-o γ, then orient α *-o γ as α *-> γ."""
    changed = False
    for gamma in range(marks.n):
        for alpha in bits(marks.circle[gamma]):
            if marks.children(alpha) & marks.arrow[gamma] or marks.far_arrow[alpha] & marks.parents(gamma):
                changed |= marks.resolve(alpha, gamma, ARROW)
    return changed


def r3(marks: MarkSets) -> bool:
    """R3: if α *-> β <-* γ, α *-o θ o-* γ, α and γ are not adjacent, and θ *-o β, then orient θ *-o β as θ *-> β."""
    changed = False
    for beta in range(marks.n):
        for theta in bits(marks.circle[beta]):
            both = marks.arrow[beta] & marks.circle[theta]
            if any(both & ~marks.adjacent[alpha] & ~(1 << alpha) for alpha in bits(both)):
                changed |= marks.resolve(theta, beta, ARROW)
    return changed


def r4(marks: MarkSets, is_collider: IsCollider) -> bool:
    """R4: if u = ⟨θ, …, α, β, γ⟩ is a discriminating path for β, and β o-* γ, then orient β --> γ if β is in Sepset(θ, γ),
    and α <-> β <-> γ otherwise.
    """
    changed = False
    for beta in range(marks.n):
        for gamma in bits(marks.circle[beta]):
            for path in paths_discriminating(marks, beta, gamma):
                collider = is_collider(path)
                if collider is not None:
                    changed |= decide(marks, path, collider=collider)
                    break  # the circle is gone; another path for the same edge has nothing left to decide
    return changed


def decide(marks: MarkSets, path: Path, *, collider: bool) -> bool:
    """Orient the end of a discriminating path ⟨θ, …, α, β, γ⟩: α <-> β <-> γ if β is a collider on it, else β --> γ."""
    alpha, beta, gamma = path[-3:]
    changed = marks.resolve(gamma, beta, ARROW if collider else TAIL)
    changed |= marks.resolve(beta, gamma, ARROW)
    if collider:
        changed |= marks.resolve(alpha, beta, ARROW)
    return changed


def r5(marks: MarkSets) -> bool:
    """R5: for α o-o β, if there is an uncovered circle path ⟨α, γ, …, θ, β⟩ with α, θ not adjacent and β, γ not adjacent, then
    orient α o-o β and every edge of the path as undirected.
    """
    changed = False
    for alpha in range(marks.n):
        for beta in bits(_circle_edges(marks, alpha) & -2 << alpha):
            # asked again: a path found for an earlier β may have oriented this edge
            path = _circle_path(marks, alpha, beta) if _circle_edges(marks, alpha) >> beta & 1 else None
            if path is not None:
                for u, v in zip(path, (*path[1:], alpha), strict=True):
                    changed |= marks.resolve(u, v, TAIL)
                    changed |= marks.resolve(v, u, TAIL)
    return changed


def _circle_edges(marks: MarkSets, v: int) -> int:
    return marks.circle[v] & marks.far_circle[v]


def _circle_path(marks: MarkSets, alpha: int, beta: int) -> Path | None:
    def goal(theta: int, end: int) -> bool:
        return end == beta and not marks.adjacent[alpha] >> theta & 1

    for gamma in bits(_circle_edges(marks, alpha) & ~marks.adjacent[beta] & ~(1 << beta)):
        path = uncovered_path(marks, alpha, gamma, lambda v: _circle_edges(marks, v), goal)
        if path is not None:
            return path
    return None


def r6(marks: MarkSets) -> bool:
    """R6: if α --- β o-* γ (α and γ may or may not be adjacent), then orient β o-* γ as β --* γ."""
    changed = False
    for beta in range(marks.n):
        if marks.undirected(beta):
            for gamma in bits(marks.circle[beta]):
                changed |= marks.resolve(gamma, beta, TAIL)
    return changed


def r7(marks: MarkSets) -> bool:
    """R7: if α --o β o-* γ, and α and γ are not adjacent, then orient β o-* γ as β --* γ."""
    changed = False
    for beta in range(marks.n):
        for alpha in bits(marks.circle[beta] & marks.far_tail[beta]):
            for gamma in bits(marks.circle[beta] & ~marks.adjacent[alpha] & ~(1 << alpha)):
                changed |= marks.resolve(gamma, beta, TAIL)
    return changed


def r8(marks: MarkSets) -> bool:
    """R8: if α --> β --> γ or α --o β --> γ, and α o-> γ, then orient α o-> γ as α --> γ."""
    changed = False
    for alpha in range(marks.n):
        onward = marks.tail[alpha] & (marks.far_arrow[alpha] | marks.far_circle[alpha])
        for gamma in bits(marks.circle[alpha] & marks.far_arrow[alpha]):
            if onward & marks.parents(gamma):
                changed |= marks.resolve(gamma, alpha, TAIL)
    return changed


def r9(marks: MarkSets) -> bool:
    """R9: if α o-> γ, and there is an uncovered potentially directed path ⟨α, β, θ, …, γ⟩ with γ and β not adjacent, then orient
    α o-> γ as α --> γ.
    """
    changed = False
    for alpha in range(marks.n):
        for gamma in bits(marks.circle[alpha] & marks.far_arrow[alpha]):
            firsts = potential_children(marks, alpha) & ~marks.adjacent[gamma] & ~(1 << gamma)
            if any(_reaches(marks, alpha, first, 1 << gamma) for first in bits(firsts)):
                changed |= marks.resolve(gamma, alpha, TAIL)
    return changed


def r10(marks: MarkSets) -> bool:
    """R10: if α o-> γ, β --> γ <-- θ, there are uncovered potentially directed paths p₁ from α to β and p₂ from α to θ, and the nodes μ
    and ω next to α on them (μ may be β, ω may be θ) are distinct and not adjacent, then orient α o-> γ as α --> γ.

    ⟨μ, α, ω⟩ is then an unshielded non-collider, so α is an ancestor of β or of θ. This also holds when β and θ are one node, and nothing
    here asks that they be two.
    """
    changed = False
    for alpha in range(marks.n):
        for gamma in bits(marks.circle[alpha] & marks.far_arrow[alpha]):
            firsts = potential_children(marks, alpha) & ~(1 << gamma)
            if _independent_ways(marks, alpha, firsts, gamma):
                changed |= marks.resolve(gamma, alpha, TAIL)
    return changed


def _independent_ways(marks: MarkSets, alpha: int, firsts: int, gamma: int) -> bool:
    """True if uncovered potentially directed paths lead from α to parents of γ through two of ``firsts`` that are not adjacent."""
    # Most edges end here, before any path is looked for: it takes a parent of γ and two nodes next to α that are not adjacent.
    parents = marks.parents(gamma)
    if not parents or not any(firsts & ~marks.adjacent[mu] & ~(1 << mu) for mu in bits(firsts)):
        return False
    leading = 0
    for mu in bits(firsts):
        if _reaches(marks, alpha, mu, parents, avoid=1 << gamma):
            if leading & ~marks.adjacent[mu]:
                return True
            leading |= 1 << mu
    return False


def _reaches(marks: MarkSets, first: int, second: int, targets: int, avoid: int = 0) -> bool:
    """True if an uncovered potentially directed path ``first, second, …`` ends in ``targets``."""
    path = uncovered_path(marks, first, second, lambda v: potential_children(marks, v), lambda _, v: bool(targets >> v & 1), avoid)
    return path is not None
