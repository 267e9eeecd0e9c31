"""A search problem put to the solver in three ways.

*Strict*: all data sets must be agreed with. Local PAGs are taken over whole, which is why this way reaches twenty variables and more.
*Separate*: every decision may hold or not, and is assumed or left out one by one: for finding out which of them contradict each other.
*Priced*: decisions may be given up at the price of their weight; background knowledge may not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import combinations

from consilience.graph.marksets import bits
from consilience.iod.clock import Clock
from consilience.iod.evidence import Ruling, strength
from consilience.iod.local import Local
from consilience.iod.search_problem import Literal, SearchProblem
from consilience.iod.solver.deduction import Deduced
from consilience.iod.solver.program import PRICE, Program, facts_of

__all__ = ["encode_free", "encode_priced", "encode_separately", "encode_strict", "knowledge_program", "price"]


def encode_strict(problem: SearchProblem, clock: Clock | None = None) -> Program | None:
    """All decisions together; None if they contradict each other at sight."""
    if problem.contradictory_data_set() is not None:
        return None
    # Tiers say of many pairs who is no ancestor of whom; the deduction then decides others before anything is grounded. The rest of what
    # is known are clauses for the solver.
    units = [clause[0] for rule in problem.rules for clause in rule.clauses if len(clause) == 1]
    never = [(x, y) for what, x, y, so in units if what == "anc" and not so]
    deduced = Deduced.of(problem.n, problem.locals_, selection_bias=problem.selection_bias, never=never)
    if deduced.contradictory:
        return None
    complete = [(i, local) for i, local in enumerate(problem.locals_, start=1) if local.complete]
    # A completely tested data set is agreed with by its class: one constraint per pair and one per triple. One per test, as decisions.lp
    # has them, would be thousands with walks of their own (a median of 8,925 tests at twenty variables, docs/iod-scale.md).
    facts = _latent(problem) + facts_of("chain", deduced.chains)
    facts += facts_of("apart", [(i, x, y) for i, local in complete for x, y in local.sepsets])
    facts += facts_of("together", [(i, x, y) for i, local in complete for x, y in local.inseparable])
    others = {i for i, _ in enumerate(problem.locals_, start=1)} - {i for i, _ in complete}
    numbered = [(number, _within(problem, ruling, others)) for number, ruling in enumerate(problem.rulings)]
    facts += _constraints(numbered) + facts_of("hard", [(number,) for number, _ in numbered])
    facts += _knowledge(problem) + facts_of("hard", _rule_numbers(problem))
    return Program(deduced, facts, selection_bias=problem.selection_bias, clock=clock)


def encode_separately(problem: SearchProblem, only: int | None = None, clock: Clock | None = None) -> Program:
    """Every decision may hold or not; ``only`` those of one data set, if its number is given."""
    # Nothing is deduced here nor where decisions have prices: what follows from a decision must fall with it.
    deduced = Deduced(problem.n)
    facts = _latent(problem) + facts_of("free", [(number,) for number in range(len(problem.decisions))])
    numbered = list(enumerate(problem.rulings))
    if only is None:
        facts += _constraints(numbered) + _knowledge(problem)
    else:  # its own variables are all that there are: an adjacency is an edge
        numbered = [(number, _within(problem, ruling, {only})) for number, ruling in numbered]
        facts += _constraints((number, replace(ruling, inseparable=())) for number, ruling in numbered)
        facts += facts_of("joined", [(number, x, y) for number, ruling in numbered for _, x, y in ruling.inseparable])
        for v in bits((1 << problem.n) - 1 & ~problem.locals_[only - 1].variables):
            deduced.isolate(v)
    facts += _triples(numbered, problem.locals_)
    return Program(deduced, facts, selection_bias=problem.selection_bias, clock=clock)


def encode_priced(problem: SearchProblem, clock: Clock | None = None) -> Program:
    """What is weighed may be given up at the price of its weight, knowledge may not."""
    return _encode_weighed(problem, lambda numbered: facts_of("soft", [(number, price(ruling)) for number, ruling in numbered]), clock)


def price(ruling: Ruling) -> int:
    """A decision's weight in the solver's whole numbers."""
    # A price of 0 would let the solver give a decision up for nothing, and list graphs that differ in it as equals.
    return max(1, round(PRICE * strength(ruling.decision)))


def encode_free(problem: SearchProblem, clock: Clock | None = None) -> Program:
    """What is weighed may hold or not, knowledge must: decisions are assumed one by one, strongest first."""
    return _encode_weighed(problem, lambda numbered: facts_of("free", [(number,) for number, _ in numbered]), clock)


def _encode_weighed(problem: SearchProblem, choice: Callable[[Sequence[tuple[int, Ruling]]], str], clock: Clock | None) -> Program:
    """What is weighed, told by the marginals of the data sets; ``choice`` says what it takes to give it up."""
    numbered = list(enumerate(problem.weighed, start=len(problem.decisions)))
    facts = choice(numbered) + _latent(problem) + _marginals(problem, numbered)
    facts += _knowledge(problem) + facts_of("hard", _rule_numbers(problem))
    return Program(Deduced(problem.n), facts, selection_bias=problem.selection_bias, weighed=True, clock=clock)


def knowledge_program(problem: SearchProblem) -> Program | None:
    """Knowledge alone; None if it contradicts itself at sight."""
    return encode_strict(replace(problem, locals_=(), rulings=(), weighed=()))


def _rule_numbers(problem: SearchProblem) -> list[tuple[int]]:
    return [(len(problem.rulings) + number,) for number in range(len(problem.rules))]


def _within(problem: SearchProblem, ruling: Ruling, datasets: set[int]) -> Ruling:
    """What some data sets have to do with a decision."""
    key = ruling.separated
    own = key is not None and any(problem.locals_[i - 1].sepsets.get(key[:2]) == key[2] for i in datasets)
    return replace(ruling, separated=key if own else None, inseparable=tuple(part for part in ruling.inseparable if part[0] in datasets))


def _latent(problem: SearchProblem) -> str:
    rows = [(i, v) for i, local in enumerate(problem.locals_, start=1) for v in range(problem.n) if not local.variables >> v & 1]
    return facts_of("latent", rows)


def _knowledge(problem: SearchProblem) -> str:
    text = ""
    for number, rule in enumerate(problem.rules, start=len(problem.rulings)):
        for clause in rule.clauses:
            text += f":- holds({number}), {', '.join(_denied(literal) for literal in clause)}."
    return text


def _triples(numbered: Sequence[tuple[int, Ruling]], locals_: Sequence[Local]) -> str:
    """Which separation and which two adjacencies of a data set make an unshielded triple there."""
    separations = {ruling.separated: number for number, ruling in numbered if ruling.separated is not None}
    adjacencies = {part: number for number, ruling in numbered for part in ruling.inseparable}
    found: dict[str, list[tuple[int, ...]]] = {"valley": [], "ridge": []}
    for i, local in enumerate(locals_, start=1):
        for (x, y), given in local.sepsets.items():
            number = separations.get((x, y, given))
            for z in bits(local.variables & ~(1 << x | 1 << y)):
                left, right = (adjacencies.get((i, min(v, z), max(v, z))) for v in (x, y))
                if number is not None and left is not None and right is not None:
                    found["ridge" if given >> z & 1 else "valley"].append((number, left, right, x, z, y))
    return "".join(facts_of(name, dict.fromkeys(rows)) for name, rows in found.items())


def _constraints(numbered: Iterable[tuple[int, Ruling]]) -> str:
    """Decisions as facts; tests of the same variable given the same set share their walks."""
    walks: dict[tuple[int, int], int] = {}
    facts = list[str]()
    for number, ruling in numbered:
        facts.append(facts_of("inseparable", [(number, *part) for part in ruling.inseparable]))
        for name, key in (("independent", ruling.separated), ("dependent", ruling.connected)):
            if key is not None:
                x, y, given = key
                facts.append(facts_of(name, [(number, walks.setdefault((x, given), len(walks)), y)]))
    facts.append(facts_of("source", [(walk, x) for (x, _), walk in walks.items()]))
    return "".join(facts) + facts_of("given", [(walk, v) for (_, given), walk in walks.items() for v in bits(given)])


def _marginals(problem: SearchProblem, numbered: Sequence[tuple[int, Ruling]]) -> str:
    """Decisions as facts about the marginals of the data sets; a test is told of all data sets that hold its variables."""
    held = [(i, local.variables) for i, local in enumerate(problem.locals_, start=1)]
    facts = facts_of("member", [(i, v) for i, variables in held for v in bits(variables)])
    facts += facts_of("pair", [(i, x, y) for i, variables in held for x, y in combinations(bits(variables), 2)])
    walks: dict[tuple[int, int, int], int] = {}
    sets: dict[int, int] = {}
    others: list[tuple[int, Ruling]] = []
    for number, ruling in numbered:
        facts += facts_of("inseparable_in", [(number, *part) for part in ruling.inseparable])
        if ruling.separated is not None:
            x, y, given = ruling.separated
            inside = [i for i, variables in held if (given | 1 << x | 1 << y) & ~variables == 0]
            facts += facts_of("parted", [(number, walks.setdefault((x, given, i), len(walks)), i, x, y) for i in inside])
            facts += facts_of("divided", [(number, sets.setdefault(given, len(sets)), x, y)])
            if not inside:  # nobody asks such questions; whoever does gets walks in the graph itself
                others.append((number, Ruling(ruling.decision, separated=ruling.separated)))
        if ruling.connected is not None:
            x, y, given = ruling.connected
            if given or problem.selection_bias:  # that there is a way takes a walk that is found, in the graph itself
                others.append((number, Ruling(ruling.decision, connected=ruling.connected)))
            else:
                facts += facts_of("marginal", [(number, x, y)])
    facts += facts_of("ranges", [(walk, i, x) for (x, _, i), walk in walks.items()])
    facts += facts_of("barred", [(walk, v) for (_, given, _), walk in walks.items() for v in bits(given)])
    facts += facts_of("within", [(number, v) for given, number in sets.items() for v in bits(given)])
    return facts + _constraints(others)


def _denied(literal: Literal) -> str:
    what, x, y, so = literal
    atom = f"adj({min(x, y)},{max(x, y)})" if what == "adj" else f"{what}({x},{y})"
    return f"not {atom}" if so else atom
