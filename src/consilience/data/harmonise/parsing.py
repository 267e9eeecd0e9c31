"""From the text of an expression to its tree, by precedence climbing; nothing is ever evaluated as a program.

From loose to tight: ``or``; ``and``; ``not``; comparisons and ``in``; ``+ -``; ``* /``; the sign of a number; ``**``, which binds to the
right. So ``-x ** 2`` is ``-(x ** 2)``, as in Python and on paper.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from consilience.data.harmonise.tokens import Token, Word, fault, tokens_of

__all__ = ["FUNCTIONS", "MOST_DEPTH", "Node", "columns_in", "parse"]

MOST_DEPTH = 100
"""How many operations may stand one inside the other: the tree is walked by recursion, here and in polars."""
MOST_WORK = 5000
"""How many operations polars may be given. It is more than are written: see :func:`_work`."""

FUNCTIONS: dict[str, tuple[int, int | None]] = {
    "log": (1, 1),
    "exp": (1, 1),
    "sqrt": (1, 1),
    "abs": (1, 1),
    "round": (1, 2),
    "min": (2, None),
    "max": (2, None),
    "if": (3, 3),
    "is_missing": (1, 1),
    "coalesce": (2, None),
}
"""Every function, with the least and the most it takes."""

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_BINDING = {"or": 1, "and": 2} | dict.fromkeys((*COMPARISONS, "in"), 4) | {"+": 5, "-": 5, "*": 6, "/": 6, "**": 8}
_NOT, _SIGN = 3, 7
_WORDS = frozenset({"and", "or", "not", "in", "true", "false", "missing"})


@dataclass(frozen=True, slots=True)
class Node:
    """One node: ``what`` is ``number``, ``text``, ``truth``, ``missing``, ``column``, a function's name or an operator's sign."""

    what: str
    at: int
    value: str = ""
    parts: tuple[Node, ...] = ()
    depth: int = 1
    work: int = 1


def parse(text: str) -> Node:
    """The tree of an expression.

    Parameters
    ----------
    text : str

    Returns
    -------
    Node

    Raises
    ------
    ExpressionError
        With the place where it cannot be read.

    Examples
    --------
    >>> tree = parse("weight / height ** 2")
    >>> tree.what, [part.what for part in tree.parts]
    ('/', ['column', '**'])
    """
    return _Parser(text).whole()


def columns_in(tree: Node) -> Iterator[Node]:
    """The columns that a tree names, from left to right.

    >>> [node.value for node in columns_in(parse("if(sex == 'f', a, b)"))]
    ['sex', 'a', 'b']
    """
    if tree.what == "column":
        yield tree
    for part in tree.parts:
        yield from columns_in(part)


def _work(what: str, parts: tuple[Node, ...]) -> int:
    """How many operations polars is given: the condition of an ``if`` and the parts of ``min`` and ``max`` stand there twice, what is
    looked for in a list once for each of its items; so what is nested in them doubles at every step.
    """
    works = [part.work for part in parts]
    if what == "if":
        return 1 + works[0] + sum(works)
    if what == "in":
        return 1 + works[0] * (len(works) - 1) + sum(works[1:])
    return 1 + sum(works) * (2 if what in ("min", "max") else 1)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._at = text, tokens_of(text), 0
        self._open = 0

    @property
    def _now(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._now
        self._at += 1
        return token

    def _is(self, *values: str) -> bool:
        """True if the next token is one of these signs or words; a quoted name is a column, whatever it is called."""
        token = self._now
        return token.word in (Word.SIGN, Word.NAME) and not token.quoted and token.value in values

    def _expect(self, sign: str) -> None:
        if not self._is(sign):
            raise fault(self._text, self._now.at, f"{sign!r} is expected here; {self._seen()}.")
        self._take()

    def _seen(self) -> str:
        return "the expression ends" if self._now.word is Word.END else f"got {self._now.value!r}"

    def _node(self, what: str, at: int, *parts: Node, value: str = "") -> Node:
        depth = 1 + max((part.depth for part in parts), default=0)
        if depth > MOST_DEPTH:
            raise self._too_deep(at)
        work = _work(what, parts)
        if work > MOST_WORK:
            raise fault(self._text, at, f"{what} stands inside itself too often. Split the expression into several variables.")
        return Node(what, at, value, parts, depth, work)

    def _too_deep(self, at: int) -> Exception:
        return fault(self._text, at, f"At most {MOST_DEPTH} operations may stand one inside the other. Split it into several variables.")

    def whole(self) -> Node:
        if not self._text.strip():
            raise fault(self._text, 0, "An expression is not empty.")
        tree = self._expression(0)
        if self._now.word is not Word.END:
            hint = " One = assigns; two, ==, compare." if self._is("=") else ""
            raise fault(self._text, self._now.at, f"An operation or the end is expected here; {self._seen()}.{hint}")
        return tree

    def _expression(self, least: int) -> Node:
        """What binds at least as tightly as ``least``: a beginning, and operators behind it."""
        self._open += 1
        if self._open > MOST_DEPTH:
            raise self._too_deep(self._now.at)
        left = self._beginning()
        while (binding := self._binding()) is not None and binding >= least:
            left = self._operation(left, binding)
        self._open -= 1
        return left

    def _binding(self) -> int | None:
        token = self._now
        if token.quoted or token.word not in (Word.SIGN, Word.NAME):
            return None
        return _BINDING["in"] if token.value == "not" else _BINDING.get(token.value)

    def _operation(self, left: Node, binding: int) -> Node:
        token = self._take()
        if token.value in ("in", "not"):
            if token.value == "not":
                self._expect("in")
            found = self._node("in", token.at, left, *self._list())
            return found if token.value == "in" else self._node("not", token.at, found)
        # ** takes what follows it first, and a sign may follow: 2 ** -1
        right = self._expression(_SIGN if token.value == "**" else binding + 1)
        if token.value in COMPARISONS and self._is(*COMPARISONS):
            raise fault(self._text, self._now.at, "Comparisons do not follow one another: write a < b and b < c.")
        return self._node(token.value, token.at, left, right)

    def _list(self) -> list[Node]:
        self._expect("[")
        items = [self._expression(0)]
        while self._is(","):
            self._take()
            items.append(self._expression(0))
        self._expect("]")
        return items

    def _beginning(self) -> Node:
        token = self._take()
        if token.word is Word.NUMBER:
            return Node("number", token.at, token.value)
        if token.word is Word.TEXT:
            return Node("text", token.at, token.value)
        if token.word is Word.NAME:
            return self._name(token)
        if token.value in ("-", "+"):
            return self._node(f"sign {token.value}", token.at, self._expression(_SIGN))
        if token.value == "(":
            inner = self._expression(0)
            self._expect(")")
            return inner
        self._at -= 1
        raise fault(self._text, token.at, f"A number, a text, a column or a parenthesis is expected here; {self._seen()}.")

    def _name(self, token: Token) -> Node:
        if token.quoted:
            return Node("column", token.at, token.value)
        if token.value == "not":
            return self._node("not", token.at, self._expression(_NOT))
        if token.value in ("true", "false"):
            return Node("truth", token.at, token.value)
        if token.value == "missing":
            return Node("missing", token.at)
        if token.value in _WORDS:
            raise fault(self._text, token.at, f"Something is expected before {token.value!r}; a column of that name is put into quotes.")
        return self._call(token) if self._is("(") else Node("column", token.at, token.value)

    def _call(self, token: Token) -> Node:
        if token.value not in FUNCTIONS:
            near = get_close_matches(token.value, FUNCTIONS, 1)
            hint = f"Is {near[0]} meant? " if near else ""
            raise fault(self._text, token.at, f"There is no function {token.value!r}. {hint}There are: {', '.join(FUNCTIONS)}.")
        self._take()
        parts = [self._expression(0)]
        while self._is(","):
            self._take()
            parts.append(self._expression(0))
        self._expect(")")
        least, most = FUNCTIONS[token.value]
        if len(parts) < least or (most is not None and len(parts) > most):
            takes = f"{least} or more" if most is None else str(least) if least == most else f"{least} or {most}"
            raise fault(self._text, token.at, f"{token.value} takes {takes} in its parentheses, with commas between; got {len(parts)}.")
        return self._node(token.value, token.at, *parts)
