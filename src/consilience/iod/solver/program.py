"""A logic program whose answers are MAGs, and the solver that finds them, one Markov equivalence class at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import clingo

from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets
from consilience.graph.triples import triples_with_order_marks
from consilience.iod.clock import Clock
from consilience.iod.solver.deduction import Deduced

__all__ = ["PRICE", "Marks", "Met", "Program", "facts_of"]

PRICE = 1000
"""Weights are passed to the solver as whole numbers of this fraction of one: a thousandth is 0.1% of a p-value, and none is that exact."""

RULES = ("mag", "inducing", "agreement", "decisions", "marginals", "ancestry")

TICK = 0.2
"""Seconds between looks at the clock while the solver works: soon enough for a person who cancels."""


@cache
def _rules() -> str:
    here = files("consilience.iod.solver")
    return "\n".join(here.joinpath(f"{name}.lp").read_text(encoding="utf-8") for name in RULES)


def facts_of(name: str, rows: Iterable[Sequence[int]]) -> str:
    """Facts as text.

    >>> facts_of("may", [(0, 1), (1, 2)])
    'may(0,1).may(1,2).'
    """
    return "".join(f"{name}({','.join(map(str, row))})." for row in rows)


class Marks(NamedTuple):
    """Edges (x, y), x < y, and arrowheads and tails (x, y) at y on the edge x–y."""

    edges: set[tuple[int, ...]]
    arrows: set[tuple[int, ...]]
    tails: set[tuple[int, ...]]


class Met(NamedTuple):
    """A MAG that has what was assumed, or what of it contradicts itself; neither if that stayed open."""

    mag: MarkSets | None
    core: list[int] | None


class Program:
    """MAGs over nodes 0 … n-1 that satisfy ``facts`` under the rules of the ``.lp`` files.

    ``deduced`` says which edges and ancestral relations are open. Literals are the solver's numbers; a negative number denies. Answers give
    up decisions of the weight ``bound`` at most, if it is set. Without ``maximal``, inducing paths are not looked for: for facts that leave
    only DAGs. ``ways`` is the solver's own word for how it searches.
    """

    def __init__(self, deduced: Deduced, facts: str, *, selection_bias: bool = False, maximal: bool = True, ways: str = "auto") -> None:
        self.n = n = deduced.n
        self.bound: int | None = None
        pairs = [(x, y) for x in range(n) for y in range(x + 1, n) if not deduced.apart[x] >> y & 1]
        ordered = [(x, y) for x in range(n) for y in range(n)]
        sure = [(x, y) for x, y in ordered if deduced.ancestor[x] >> y & 1]
        perhaps = [(x, y) for x, y in ordered if not (deduced.ancestor[x] | deduced.never[x]) >> y & 1]
        basis = facts_of("may", pairs) + facts_of("sure", sure) + facts_of("perhaps", perhaps)
        basis += facts_of("maximal", pairs if maximal else ())
        basis += facts_of("selectable", [(v,) for v in range(n) if selection_bias and not deduced.pointed >> v & 1])
        self._control = clingo.Control(["--warn=none", "--models=0", f"--configuration={ways}"])
        self._control.add("base", [], basis + facts + _rules())
        self._control.ground([("base", [])])
        self._adjacent = self._literals("adj", 2)
        self._heads = self._literals("head", 2)
        self._tails = self._literals("tail", 2)
        self._colliders = self._literals("collider", 3)
        self._holds = {key[0]: literal for key, literal in self._literals("holds", 1).items()}
        self._enough = self._literals("enough", 2)

    def _literals(self, name: str, arity: int) -> dict[tuple[int, ...], int]:
        found = self._control.symbolic_atoms.by_signature(name, arity)
        return {tuple(term.number for term in atom.symbol.arguments): atom.literal for atom in found}

    def _configure(self, optimise: str | None = None, enumerate_by: str = "auto", strategy: str = "bb,lin", conflicts: int = -1) -> None:
        solve: Any = self._control.configuration.solve
        solve.opt_mode = optimise or ("ignore" if self.bound is None else f"enum,{self.bound}")
        solve.enum_mode = enumerate_by
        solve.solve_limit = str(conflicts)
        solver: Any = self._control.configuration.solver
        solver.opt_strategy = strategy

    def _models(
        self, assumptions: Sequence[int], clock: Clock, on_unsat: Callable[[Sequence[int]], None] | None = None
    ) -> Iterator[clingo.Model]:
        # Asynchronous, or nobody could look at the clock, and no exception could leave, until the solver is done.
        with self._control.solve(assumptions=list(assumptions), yield_=True, async_=True, on_unsat=on_unsat) as handle:
            while True:
                handle.resume()
                while not handle.wait(clock.wait(TICK)):
                    clock.tick()
                model = handle.model()
                if model is None:
                    return
                yield model
                clock.tick()

    @property
    def adjacencies(self) -> dict[tuple[int, ...], int]:
        """The literal of each pair (x, y), x < y, that may be adjacent."""
        return self._adjacent

    def holds(self, number: int) -> int:
        """The literal that says that decision ``number`` holds."""
        return self._holds[number]

    def enough(self, group: int, count: int) -> int:
        """The literal that says that at least so many decisions of a group hold."""
        return self._enough[group, count]

    def head(self, x: int, y: int) -> int | None:
        """The literal that says that there is an edge x–y with an arrowhead at y; None if there cannot be."""
        return self._heads.get((x, y))

    def tail(self, x: int, y: int) -> int | None:
        """The literal that says that there is an edge x–y with a tail at y; None if there cannot be."""
        return self._tails.get((x, y))

    def classes(self, clock: Clock, assumptions: Sequence[int] = ()) -> Iterator[MarkSets]:
        """A MAG of every class, each class once: the class of an answer is excluded before the next is sought."""
        self._configure()
        for model in self._models(assumptions, clock):
            mag = self._graph(model)
            yield mag
            model.context.add_clause([-literal for literal in self.signature(mag)])

    def _graph(self, model: clingo.Model) -> MarkSets:
        # By literals, not by the symbols of the model, which would have to be made and taken apart for every answer. What the deduction
        # excludes was never grounded and has no literal: a head that cannot be is a tail.
        mag = MarkSets.empty(self.n)
        heads, is_true = self._heads, model.is_true
        for (x, y), literal in self._adjacent.items():
            if is_true(literal):
                at_x, at_y = heads.get((y, x)), heads.get((x, y))
                mag.add_edge(
                    x,
                    y,
                    ARROW if at_x is not None and is_true(at_x) else TAIL,
                    ARROW if at_y is not None and is_true(at_y) else TAIL,
                )
        return mag

    def signature(self, mag: MarkSets) -> list[int]:
        """Literals that hold in the MAGs of this one's class and nowhere else: its adjacencies, and its triples with order."""
        found = [literal if mag.adjacent[x] >> y & 1 else -literal for (x, y), literal in self._adjacent.items()]
        for triple, (collider, _) in triples_with_order_marks(mag).items():
            literal = self._colliders.get(triple)
            if literal is not None:  # without an atom, it is a collider in no answer
                found.append(literal if collider else -literal)
        return found

    def core(self, clock: Clock, assumptions: Sequence[int]) -> list[int] | None:
        """Some of ``assumptions`` that no MAG has together; None if one has all of them."""
        return self.meet(clock, assumptions).core

    def meet(self, clock: Clock, assumptions: Sequence[int], conflicts: int = -1) -> Met:
        """A MAG that has all of ``assumptions``, or some of them that no MAG has together; neither after so many dead ends."""
        self._configure("ignore", conflicts=conflicts)
        with self._control.solve(assumptions=list(assumptions), yield_=True, async_=True) as handle:
            while not handle.wait(clock.wait(TICK)):
                clock.tick()
            model = handle.model()
            if model is not None:
                return Met(self._graph(model), None)
            return Met(None, None if handle.get().unknown else list(handle.core()))

    def settle(self, literals: Iterable[int]) -> None:
        """From now on all answers have these."""
        with self._control.backend() as backend:
            for literal in literals:
                backend.add_rule([], [-literal])

    def cheaper(self, clock: Clock, than: int, assumptions: Sequence[int] = (), conflicts: int = -1) -> Iterator[tuple[int, MarkSets]]:
        """MAGs that give up less than a weight, each less than the one before."""
        # Branch and bound with linear steps: every answer is better than the last, so there is a best one whenever time is up.
        self._configure(f"opt,{than - 1}", conflicts=conflicts)
        for model in self._models(assumptions, clock):
            yield model.cost[0] if model.cost else 0, self._graph(model)

    def proof(self, clock: Clock, than: int, told: Callable[[int], None]) -> Iterator[tuple[int, MarkSets]]:
        """The same from the other side: ``told`` hears of weights that every answer gives up; what is left out when it ends is none.

        Starting from unsatisfiable cores, with the heavy decisions first.
        """
        self._configure(f"opt,{than - 1}", strategy="usc,oll,7")
        for model in self._models((), clock, lambda lower: told(lower[0])):
            yield model.cost[0] if model.cost else 0, self._graph(model)

    def shared(self, clock: Clock, assumptions: Sequence[int] = ()) -> Marks:
        """What all answers have in common."""
        return self._consequences("cautious", clock, assumptions, unless=(False,))

    def possible(self, clock: Clock, assumptions: Sequence[int] = ()) -> Marks:
        """What some answer has."""
        return self._consequences("brave", clock, assumptions, unless=(False, None))

    def _consequences(self, mode: str, clock: Clock, assumptions: Sequence[int], unless: tuple[bool | None, ...]) -> Marks:
        # The solver comes closer with every model; of what it has not decided at the last one, all is shared and nothing is possible.
        self._configure(enumerate_by=mode)
        found = Marks(set(), set(), set())
        for model in self._models(assumptions, clock):
            parts = (self._adjacent, self._heads, self._tails)
            found = Marks(*({key for key, literal in part.items() if model.is_consequence(literal) not in unless} for part in parts))
        return found
