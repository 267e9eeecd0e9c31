"""Derived variables: the text of an expression becomes an expression of polars, its types checked against the columns it names.

Missing values stay missing: what is computed from one is missing, ``min`` and ``max`` included, and an ``if`` whose condition is not known
gives nothing. What no number can be (a logarithm of 0, a quotient by 0) is missing, too. ``is_missing`` and ``coalesce`` are there to say
otherwise. Two dates that are subtracted give days.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import reduce

from consilience.data.errors import nearest
from consilience.data.harmonise.parsing import COMPARISONS, Node, columns_in, parse
from consilience.data.harmonise.tokens import fault
from consilience.frames import pl

__all__ = ["Expression", "Sort"]

MICROSECONDS_A_DAY = 86_400_000_000


class Sort(StrEnum):
    """What a part of an expression is."""

    NUMBER = "a number"
    TEXT = "text"
    TRUTH = "true or false"
    DATE = "a date"
    NOTHING = "missing"


_Typed = tuple["pl.Expr", Sort]  # in words: polars is not loaded before it is used

INFINITE = [math.inf, -math.inf]


def _finite(made: pl.Expr) -> pl.Expr:
    """What is no finite number, as missing. By replacing and not by a condition, which would hold the expression twice, and one in it
    four times.
    """
    return made.replace(INFINITE, [None, None]).fill_nan(None)


_OF_ONE: dict[str, Callable[[pl.Expr], pl.Expr]] = {
    "log": lambda x: _finite(x.log()),
    "exp": lambda x: _finite(x.exp()),
    "sqrt": lambda x: x.sqrt().fill_nan(None),
    "abs": lambda x: x.abs(),
    "sign -": lambda x: -x,
    "sign +": lambda x: x,
}
_OF_TWO: dict[str, Callable[[pl.Expr, pl.Expr], pl.Expr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: _finite(a / b),
    "**": lambda a, b: _finite(a**b),
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Expression:
    """A derived variable's expression.

    Parameters
    ----------
    text : str
        Numbers, ``'text'``, columns (bare, or ``"in quotes"``), ``+ - * / **``, comparisons, ``and``, ``or``, ``not``, ``in [...]``,
        ``missing``, and the functions ``log``, ``exp``, ``sqrt``, ``abs``, ``round``, ``min``, ``max``, ``if``, ``is_missing``,
        ``coalesce``. Nothing else has a meaning, and nothing is run as a program.

    Raises
    ------
    ExpressionError
        With the place where it cannot be read.

    Examples
    --------
    >>> bmi = Expression("weight / (height / 100) ** 2")
    >>> frame = pl.DataFrame({"weight": [80, None], "height": [200, 180]})
    >>> frame.select(bmi.polars(frame.schema).alias("bmi"))["bmi"].to_list()
    [20.0, None]
    """

    __slots__ = ("_tree", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._tree = parse(text)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, each once."""
        return tuple(dict.fromkeys(node.value for node in columns_in(self._tree)))

    def polars(self, schema: Mapping[str, pl.DataType]) -> pl.Expr:
        """The same for a table with these columns; what is no finite number is missing.

        Raises
        ------
        ExpressionError
            If a column is not there, or something is not of the type that an operation takes.
        """
        made, sort = _Compiler(self.text, schema).compiled(self._tree)
        if sort is Sort.DATE:
            raise fault(self.text, self._tree.at, "A variable is no date. Subtract another date, which gives days.")
        return _finite(made) if sort is Sort.NUMBER else made

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"


class _Compiler:
    def __init__(self, text: str, schema: Mapping[str, pl.DataType]) -> None:
        self._text, self._schema = text, schema

    def compiled(self, node: Node) -> _Typed:
        """A tree as an expression of polars, and what it is."""
        if node.what in ("number", "text", "truth", "missing"):
            return self._literal(node)
        if node.what == "column":
            return self._column(node)
        if node.what in ("and", "or", "not"):
            return self._logic(node)
        if node.what in COMPARISONS or node.what == "in":
            return self._comparison(node)
        if node.what in ("if", "coalesce", "is_missing"):
            return self._choice(node)
        return self._arithmetic(node)

    def _literal(self, node: Node) -> _Typed:
        if node.what == "text":
            return pl.lit(node.value, dtype=pl.String), Sort.TEXT
        if node.what == "truth":
            return pl.lit(node.value == "true"), Sort.TRUTH
        if node.what == "missing":
            return pl.lit(None), Sort.NOTHING
        value = float(node.value)
        if not math.isfinite(value):
            raise fault(self._text, node.at, "A number is finite; this one is too large.")
        return pl.lit(value, dtype=pl.Float64), Sort.NUMBER

    def _column(self, node: Node) -> _Typed:
        if node.value not in self._schema:
            raise fault(self._text, node.at, f"There is no column {node.value!r} here.{nearest(node.value, self._schema)}")
        dtype, column = self._schema[node.value], pl.col(node.value)
        if dtype.is_numeric():
            # floats throughout: integers overflow in silence, and a quotient of them is a float anyway
            return column.cast(pl.Float64).fill_nan(None), Sort.NUMBER
        if dtype == pl.Boolean:
            return column, Sort.TRUTH
        if dtype in (pl.Date, pl.Datetime):
            return column.cast(pl.Datetime("us")), Sort.DATE
        if dtype == pl.Null:
            return pl.lit(None), Sort.NOTHING
        if dtype in (pl.String, pl.Categorical) or isinstance(dtype, pl.Enum):
            return column.cast(pl.String), Sort.TEXT
        raise fault(self._text, node.at, f"{node.value!r} has the type {dtype}, which no expression takes.")

    def _logic(self, node: Node) -> _Typed:
        parts = [self._as(part, Sort.TRUTH, node) for part in node.parts]
        if node.what == "not":
            return ~parts[0], Sort.TRUTH
        return (parts[0] & parts[1] if node.what == "and" else parts[0] | parts[1]), Sort.TRUTH

    def _comparison(self, node: Node) -> _Typed:
        typed = [self.compiled(part) for part in node.parts]
        sort = self._one_sort(typed, node)
        if node.what == "in":
            value, *items = (self._cast(made, found, sort) for made, found in typed)
            return reduce(lambda a, b: a | b, (value == item for item in items)), Sort.TRUTH
        if node.what not in ("==", "!=") and sort in (Sort.TEXT, Sort.TRUTH):
            raise fault(self._text, node.at, f"{node.what} compares numbers or dates; here it is {sort.value}, which has no order.")
        one, other = (self._cast(made, found, sort) for made, found in typed)
        return _OF_TWO[node.what](one, other), Sort.TRUTH

    def _choice(self, node: Node) -> _Typed:
        if node.what == "is_missing":
            made, _ = self.compiled(node.parts[0])
            return made.is_null(), Sort.TRUTH
        parts = node.parts[1:] if node.what == "if" else node.parts
        typed = [self.compiled(part) for part in parts]
        sort = self._one_sort(typed, node)
        values = [self._cast(made, found, sort) for made, found in typed]
        if node.what == "coalesce":
            return pl.coalesce(values), sort
        condition = self._as(node.parts[0], Sort.TRUTH, node)
        return pl.when(condition).then(values[0]).when(~condition).then(values[1]), sort

    def _arithmetic(self, node: Node) -> _Typed:
        if node.what == "round":
            return self._as(node.parts[0], Sort.NUMBER, node).round(self._digits(node), mode="half_away_from_zero"), Sort.NUMBER
        typed = [self.compiled(part) for part in node.parts]  # once: a tree that is walked twice at every node takes forever
        if node.what == "-" and [sort for _, sort in typed] == [Sort.DATE, Sort.DATE]:
            return (typed[0][0] - typed[1][0]).dt.total_microseconds() / MICROSECONDS_A_DAY, Sort.NUMBER
        parts = [self._checked(found, Sort.NUMBER, part, node) for found, part in zip(typed, node.parts, strict=True)]
        if node.what in _OF_ONE:
            return _OF_ONE[node.what](parts[0]), Sort.NUMBER
        if node.what in ("min", "max"):
            over = pl.min_horizontal(parts) if node.what == "min" else pl.max_horizontal(parts)
            known = reduce(lambda a, b: a & b, (part.is_not_null() for part in parts))
            return pl.when(known).then(over), Sort.NUMBER
        return _OF_TWO[node.what](parts[0], parts[1]), Sort.NUMBER

    def _digits(self, node: Node) -> int:
        if len(node.parts) == 1:
            return 0
        digits = node.parts[1]
        if digits.what != "number" or digits.value not in map(str, range(16)):
            raise fault(self._text, digits.at, "round takes a whole number of digits from 0 to 15 as its second part.")
        return int(digits.value)

    def _as(self, part: Node, wanted: Sort, node: Node) -> pl.Expr:
        return self._checked(self.compiled(part), wanted, part, node)

    def _checked(self, found: _Typed, wanted: Sort, part: Node, node: Node) -> pl.Expr:
        made, sort = found
        if sort not in (wanted, Sort.NOTHING):
            name = node.what.removeprefix("sign ")
            hint = " Make a number of it with if(condition, 1, 0)." if (sort, wanted) == (Sort.TRUTH, Sort.NUMBER) else ""
            raise fault(self._text, part.at, f"{name} takes what is {wanted.value}; this is {sort.value}.{hint}")
        return self._cast(made, sort, wanted)

    def _cast(self, made: pl.Expr, sort: Sort, wanted: Sort) -> pl.Expr:
        """What is missing, as missing of the type that is wanted."""
        return made.cast(_dtype(wanted)) if sort is Sort.NOTHING else made

    def _one_sort(self, typed: list[_Typed], node: Node) -> Sort:
        sorts = {sort for _, sort in typed} - {Sort.NOTHING}
        if len(sorts) > 1:
            found = " and ".join(sorted(sort.value for sort in sorts))
            raise fault(self._text, node.at, f"{node.what} takes things of one type; here are {found}.")
        return next(iter(sorts), Sort.NOTHING)


def _dtype(sort: Sort) -> pl.DataType:
    found: dict[Sort, pl.DataType] = {
        Sort.NUMBER: pl.Float64(),
        Sort.TEXT: pl.String(),
        Sort.TRUTH: pl.Boolean(),
        Sort.DATE: pl.Datetime("us"),
        Sort.NOTHING: pl.Null(),
    }
    return found[sort]
