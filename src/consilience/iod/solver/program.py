"""A logic program whose answers are MAGs, and the solver that finds them, one Markov equivalence class at a time."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from consilience.graph.marks import ARROW, TAIL
from consilience.graph.marksets import MarkSets
from consilience.graph.triples import triples_with_order_marks
from consilience.iod.clock import Clock, Endless
from consilience.iod.solver.deduction import Deduced
from consilience.iod.solver.patience import TICK, Step

if TYPE_CHECKING:
    import clingo

__all__ = ["PRICE", "Feature", "Marks", "Met", "Program", "facts_of"]

Feature = tuple[str, int, int]
"""("edge", x, y), x < y; ("arrow" or "tail", x, y), a mark at y on the edge x–y; or ("cause", x, y): x is an ancestor of y."""

PRICE = 1000
"""Weights are passed to the solver as whole numbers of this fraction of one: a thousandth is 0.1% of a p-value, and none is that exact."""

RULES = ("mag", "inducing", "agreement", "decisions")
WEIGHED = ("marginals", "ancestry")
"""Rules for decisions that may be given up. Where all must hold, local PAGs say more, and these would only be grounded for nothing."""

MANY_VARIABLES = 12
"""With more, the solver's steps that cannot be interrupted are waited for in a thread: they take up to ten seconds with thirty."""


@cache
def _rules(*, weighed: bool) -> str:
    here = files("consilience.iod.solver")
    return "\n".join(here.joinpath(f"{name}.lp").read_text(encoding="utf-8") for name in (*RULES, *(WEIGHED if weighed else ())))


def facts_of(name: str, rows: Iterable[Sequence[int]]) -> str:
    """Facts as text.

    >>> facts_of("may", [(0, 1), (1, 2)])
    'may(0,1).may(1,2).'
    """
    return "".join(f"{name}({','.join(map(str, row))})." for row in rows)


def _end(question: clingo.SolveHandle) -> None:
    with question:
        question.cancel()


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
    up decisions of the weight ``bound`` at most, if it is set. Making a program raises :class:`~consilience.iod.clock.TimeIsUp` if a
    ``clock`` says so.
    """

    def __init__(
        self, deduced: Deduced, facts: str, *, selection_bias: bool = False, weighed: bool = False, clock: Clock | None = None
    ) -> None:
        self.n = n = deduced.n
        self.bound: int | None = None
        pairs = [(x, y) for x in range(n) for y in range(x + 1, n) if not deduced.apart[x] >> y & 1]
        ordered = [(x, y) for x in range(n) for y in range(n)]
        sure = [(x, y) for x, y in ordered if deduced.ancestor[x] >> y & 1]
        perhaps = [(x, y) for x, y in ordered if not (deduced.ancestor[x] | deduced.never[x]) >> y & 1]
        basis = facts_of("may", pairs) + facts_of("maximal", pairs) + facts_of("sure", sure) + facts_of("perhaps", perhaps)
        basis += facts_of("selectable", [(v,) for v in range(n) if selection_bias and not deduced.pointed >> v & 1])
        import clingo  # noqa: PLC0415  for whoever looks for graphs

        self._control = control = clingo.Control(["--warn=none", "--models=0"])
        self._step: Step[clingo.SolveHandle] | None = None
        control.add("base", [], basis + facts + _rules(weighed=weighed))
        if clock is None or n <= MANY_VARIABLES:
            control.ground([("base", [])])
        else:
            Step(lambda: control.ground([("base", [])])).result(clock)  # left, this program does not come to be
        self._adjacent = self._literals("adj", 2)
        self._heads = self._literals("head", 2)
        self._tails = self._literals("tail", 2)
        self._colliders = self._literals("collider", 3)
        self._alternatives: set[int] = set()
        self._holds = {key[0]: literal for key, literal in self._literals("holds", 1).items()}

    def _literals(self, name: str, arity: int) -> dict[tuple[int, ...], int]:
        found = self._control.symbolic_atoms.by_signature(name, arity)
        return {tuple(term.number for term in atom.symbol.arguments): atom.literal for atom in found}

    def _configure(
        self, clock: Clock, optimise: str | None = None, enumerate_by: str = "auto", strategy: str = "bb,lin", dead_ends: int = -1
    ) -> None:
        self._settle(clock)
        solve: Any = self._control.configuration.solve
        solve.opt_mode = optimise or ("ignore" if self.bound is None else f"enum,{self.bound}")
        solve.enum_mode = enumerate_by
        solve.solve_limit = str(dead_ends)
        solver: Any = self._control.configuration.solver
        solver.opt_strategy = strategy

    def _models(
        self, assumptions: Sequence[int], clock: Clock, on_unsat: Callable[[Sequence[int]], None] | None = None
    ) -> Generator[clingo.Model]:
        with self._asked(assumptions, clock, on_unsat) as handle:
            while True:
                handle.resume()
                while not handle.wait(TICK):
                    clock.tick()
                model = handle.model()
                if model is None:
                    return
                yield model
                clock.tick()

    def _asked(
        self, assumptions: Sequence[int], clock: Clock, on_unsat: Callable[[Sequence[int]], None] | None = None
    ) -> clingo.SolveHandle:
        """A question under way. Asynchronous, or nobody could look at the clock, and no exception could leave, until it is answered."""
        control, told = self._control, list(assumptions)

        def ask() -> clingo.SolveHandle:
            return control.solve(assumptions=told, yield_=True, async_=True, on_unsat=on_unsat)

        if self.n <= MANY_VARIABLES:
            return ask()
        self._step = Step(ask, _end)
        handle = self._step.result(clock)
        self._step = None
        return handle

    def _settle(self, clock: Clock) -> None:
        """Nothing may touch the solver while a question that was left is still being prepared."""
        if self._step is not None:
            self._step.wait(clock)
            self._step = None

    def holds(self, number: int) -> int:
        """The literal that says that decision ``number`` holds."""
        return self._holds[number]

    def head(self, x: int, y: int) -> int | None:
        """The literal that says that there is an edge x–y with an arrowhead at y; None if there cannot be."""
        return self._heads.get((x, y))

    def tail(self, x: int, y: int) -> int | None:
        """The literal that says that there is an edge x–y with a tail at y; None if there cannot be."""
        return self._tails.get((x, y))

    def classes(self, clock: Clock, assumptions: Sequence[int] = ()) -> Iterator[MarkSets]:
        """A MAG of every class, each class once: the class of an answer is excluded before the next is sought."""
        self._configure(clock)
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

    def first(self, clock: Clock, assumptions: Sequence[int]) -> MarkSets | None:
        """A MAG that has all ``assumptions``; None if there is none."""
        return self.meet(clock, assumptions).mag

    def meet(self, clock: Clock, assumptions: Sequence[int], dead_ends: int = -1) -> Met:
        """A MAG that has all ``assumptions``, or some of them that no MAG has together; neither after so many dead ends."""
        self._configure(clock, "ignore", dead_ends=dead_ends)
        with self._asked(assumptions, clock) as handle:
            while not handle.wait(TICK):
                clock.tick()
            model = handle.model()
            if model is not None:
                return Met(self._graph(model), None)
            return Met(None, None if handle.get().unknown else list(handle.core()))

    def require(self, literal: int) -> None:
        """From now on, every answer has it."""
        self._settle(Endless())
        with self._control.backend() as backend:
            backend.add_rule([], [-literal])

    def at_most_denied(self, literals: Sequence[int], most: int) -> int:
        """A literal to assume where at most so many of some literals are to be false. :meth:`withdraw` it if it is not kept."""
        self._settle(Endless())
        with self._control.backend() as backend:
            atom: int = backend.add_atom()
            many: int = backend.add_atom()
            backend.add_rule([atom], choice=True)
            backend.add_weight_rule([many], most + 1, [(-literal, 1) for literal in literals])
            backend.add_rule([], [atom, many])
        self._alternatives.add(atom)
        return atom

    def cheaper(self, clock: Clock, than: int, assumptions: Sequence[int] = (), dead_ends: int = -1) -> Iterator[MarkSets]:
        """MAGs that give up less than a weight, each less than the one before. After so many dead ends no more are looked for."""
        # Branch and bound with linear steps: every answer is better than the last, so there is a best one whenever time is up.
        self._configure(clock, f"opt,{than - 1}", dead_ends=dead_ends)
        for model in self._models(assumptions, clock):
            yield self._graph(model)

    def cheapest(self, clock: Clock, than: int, told: Callable[[int], None]) -> Iterator[MarkSets]:
        """The same from the other side: ``told`` hears of weights that every answer gives up. If it ends, there is nothing cheaper.

        It starts from contradictions, those of dear decisions first.
        """
        self._configure(clock, f"opt,{than - 1}", strategy="usc,oll,7")
        for model in self._models((), clock, lambda lower: told(lower[0])):
            yield self._graph(model)

    def features(self) -> dict[Feature, int]:
        """Edges, marks and ancestral relations that answers may have, and the literals that say so; what is missing, no answer has."""
        parts = {"edge": self._adjacent, "arrow": self._heads, "tail": self._tails, "cause": self._literals("anc", 2)}
        return {(what, x, y): literal for what, part in parts.items() for (x, y), literal in part.items()}

    def any_of(self, literals: Sequence[int]) -> int:
        """A literal to assume where at least one of some literals is to be true. Give it back to :meth:`withdraw`."""
        if len(literals) == 1:
            return literals[0]
        self._settle(Endless())
        with self._control.backend() as backend:
            atom: int = backend.add_atom()
            backend.add_rule([atom], choice=True)
            backend.add_rule([], [atom, *(-literal for literal in literals)])
        self._alternatives.add(atom)
        return atom

    def withdraw(self, literal: int) -> None:
        """Let go of what :meth:`any_of` returned: a choice that is left open would double the answers."""
        if literal in self._alternatives:
            self._alternatives.remove(literal)
            self._settle(Endless())
            with self._control.backend() as backend:
                backend.add_rule([], [literal])

    def answer(self, clock: Clock, assumptions: Sequence[int], literals: Iterable[int]) -> set[int] | None:
        """An answer under assumptions: each of ``literals`` as it is true there, or its negation. None if there is no answer."""
        self._configure(clock)
        with closing(self._models(assumptions, clock)) as models:
            model = next(models, None)
            return None if model is None else {literal if model.is_true(literal) else -literal for literal in literals}

    def shared(self, clock: Clock, assumptions: Sequence[int] = ()) -> Marks:
        """What all answers have in common."""
        return self._consequences("cautious", clock, assumptions, unless=(False,))

    def possible(self, clock: Clock, assumptions: Sequence[int] = ()) -> Marks:
        """What some answer has."""
        return self._consequences("brave", clock, assumptions, unless=(False, None))

    def _consequences(self, mode: str, clock: Clock, assumptions: Sequence[int], unless: tuple[bool | None, ...]) -> Marks:
        # The solver comes closer with every model; of what it has not decided at the last one, all is shared and nothing is possible.
        self._configure(clock, enumerate_by=mode)
        found = Marks(set(), set(), set())
        for model in self._models(assumptions, clock):
            parts = (self._adjacent, self._heads, self._tails)
            found = Marks(*({key for key, literal in part.items() if model.is_consequence(literal) not in unless} for part in parts))
        return found
