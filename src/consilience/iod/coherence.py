"""Whether what is known contradicts itself, as far as that shows without data and for any set of variables; the rest the engines find."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from consilience.iod.groups import pairs_of
from consilience.iod.relations import Relation, Statement

__all__ = ["Known", "contradiction"]

Pair = tuple[str, str]
Chain = tuple[Statement, ...]


class Known(NamedTuple):
    """The parts of what is known."""

    tiers: Sequence[Sequence[str]]
    required: Sequence[Statement]
    forbidden: Sequence[Statement]
    exogenous: Sequence[str]
    unconfounded: Sequence[Sequence[str]]
    separate: Sequence[Sequence[str]]


class _Followed(NamedTuple):
    """What follows from required statements, with the statements that it follows from."""

    edges: Mapping[frozenset[str], Chain]
    chains: Mapping[Pair, Chain]
    """(a, b): a is an ancestor of b."""
    heads: Mapping[Pair, Chain]
    """(a, b): there is an arrowhead at b on an edge a–b."""

    def why(self, statement: Statement) -> Chain | None:
        """The required statements that a statement follows from, each once; None if it does not."""
        a, relation, b = statement
        edge, chain = self.edges.get(frozenset((a, b))), self.chains.get((a, b))
        there, back = self.heads.get((a, b)), self.heads.get((b, a))
        needed = {
            Relation.EDGE: (edge,),
            Relation.DIRECTED: (edge, chain),
            Relation.CAUSES: (chain,),
            Relation.INTO: (there,),
            Relation.BOTH: (there, back),
        }[relation]
        if None in needed:
            return None
        return tuple(dict.fromkeys(one for part in needed if part is not None for one in part))


def contradiction(known: Known) -> str | None:
    """Why no graph at all can agree, in words; None if that does not show."""
    followed = _follow(known.required)
    return _of_order(known, followed) or _of_heads(known, followed) or _of_forbidden(known, followed)


def _of_order(known: Known, followed: _Followed) -> str | None:
    tier_of = {name: i for i, tier in enumerate(known.tiers) for name in tier}
    for (a, b), chain in followed.chains.items():
        if a == b:
            return f"by {_and(chain)}, which are required, {a!r} would cause itself"
        if a in tier_of and b in tier_of and tier_of[a] > tier_of[b]:
            return f"by {_and(chain)}, required, {a!r} causes {b!r}, but {b!r} is in an earlier tier than {a!r}"
        if b in known.exogenous and a not in known.exogenous:
            return f"by {_and(chain)}, required, {a!r} causes {b!r}, but {b!r} is exogenous"
    return None


def _of_heads(known: Known, followed: _Followed) -> str | None:
    for (a, b), why in followed.heads.items():
        if (b, a) in followed.chains:
            reasons = dict.fromkeys((*why, *followed.chains[b, a]))
            return f"by {_and(reasons)}, which are required, an edge has an arrowhead at {b!r} though {b!r} causes {a!r}"
        if b in known.exogenous and a not in known.exogenous:
            return f"by {_and(why)}, required, an edge between {a!r} and {b!r} has an arrowhead at {b!r}, but {b!r} is exogenous"
    return None


def _of_forbidden(known: Known, followed: _Followed) -> str | None:
    for statement in known.forbidden:
        why = followed.why(statement)
        if why is not None:
            return f"'{statement}' is forbidden, but follows from what is required: {_and(why)}"
    for form, relation, groups in (("unconfounded", Relation.BOTH, known.unconfounded), ("separate", Relation.EDGE, known.separate)):
        for a, b in pairs_of(groups):
            why = followed.why(Statement(a, relation, b))
            if why is not None:
                return f"{a!r} and {b!r} are {form}, but {_and(why)} {'is' if len(why) == 1 else 'are'} required"
    return None


def _follow(required: Iterable[Statement]) -> _Followed:
    required = list(required)
    edges = {frozenset((s.a, s.b)): (s,) for s in required if s.relation is not Relation.CAUSES}
    chains = _chains(required)
    # An ancestor's edge to its descendant ends there with an arrowhead, with selection bias as without.
    heads = {
        (a, b): tuple(dict.fromkeys((*edges[frozenset((a, b))], *chain))) for (a, b), chain in chains.items() if frozenset((a, b)) in edges
    }
    for s in required:
        if s.relation in (Relation.INTO, Relation.BOTH):
            heads[s.a, s.b] = (s,)
        if s.relation is Relation.BOTH:
            heads[s.b, s.a] = (s,)
    return _Followed(edges, chains, heads)


def _chains(required: Iterable[Statement]) -> dict[Pair, Chain]:
    """For each (a, b) such that a must be an ancestor of b, a shortest chain of required statements that says so."""
    after: dict[str, list[Statement]] = {}
    for statement in required:
        if statement.relation in (Relation.DIRECTED, Relation.CAUSES):
            after.setdefault(statement.a, []).append(statement)
    chains: dict[Pair, Chain] = {}
    for start in after:
        queue: deque[tuple[str, Chain]] = deque([(start, ())])
        while queue:
            here, chain = queue.popleft()
            for statement in after.get(here, ()):
                if (start, statement.b) not in chains:
                    chains[start, statement.b] = (*chain, statement)
                    queue.append((statement.b, chains[start, statement.b]))
    return chains


def _and(statements: Iterable[Statement]) -> str:
    return " and ".join(f"'{statement}'" for statement in statements)
