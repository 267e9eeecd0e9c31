"""The language of derived variables: values by hand, precedence, missing values, and Python's own arithmetic on generated expressions."""

from __future__ import annotations

import math
from datetime import date

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.data.errors import ExpressionError
from consilience.data.harmonise.expression import Expression

FRAME = pl.DataFrame(
    {
        "a": [1.0, 2.0, None],
        "b": [3, 4, 5],
        "blood pressure": [120.0, 140.0, 160.0],
        "sex": ["f", "m", None],
        "smoker": [True, False, None],
        "admitted": [date(2020, 1, 1), date(2020, 2, 1), None],
        "left": [date(2020, 1, 11), date(2020, 3, 1), date(2020, 1, 1)],
    }
)


def value(text: str, frame: pl.DataFrame = FRAME) -> list[object]:
    return frame.with_columns(Expression(text).polars(frame.schema).alias("it"))["it"].to_list()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b * 2", [7.0, 10.0, None]),
        ("(a + b) * 2", [8.0, 12.0, None]),
        ("2 ** 3 ** 2", [512.0] * 3),
        ("-b ** 2", [-9.0, -16.0, -25.0]),
        ("2 ** -1", [0.5] * 3),
        ("b - 1 - 1", [1.0, 2.0, 3.0]),
        ("b / 2 / 2", [0.75, 1.0, 1.25]),
        ('"blood pressure" / 10', [12.0, 14.0, 16.0]),
        ("a < 2 or b > 4", [True, False, True]),
        ("not a < 2 and b > 3", [False, True, None]),
        ("not smoker", [False, True, None]),
        ("sex == 'f'", [True, False, None]),
        ("sex in ['f', 'd']", [True, False, None]),
        ("b not in [3, 5]", [False, True, False]),
        ("if(sex == 'f', a, b)", [1.0, 4.0, None]),
        ("if(b > 3, 'high', 'low')", ["low", "high", "high"]),
        ("if(b > 3, missing, a)", [1.0, None, None]),
        ("if(smoker, 1, 0)", [1.0, 0.0, None]),
        ("is_missing(a)", [False, False, True]),
        ("coalesce(a, b)", [1.0, 2.0, 5.0]),
        ("min(a, b)", [1.0, 2.0, None]),
        ("max(a, b, 3.5)", [3.5, 4.0, None]),
        ("abs(a - b)", [2.0, 2.0, None]),
        ("round(b / 2)", [2.0, 2.0, 3.0]),
        ("round(b / 7, 2)", [0.43, 0.57, 0.71]),
        ("log(a)", [0.0, math.log(2), None]),
        ("exp(a)", [math.e, math.exp(2), None]),
        ("sqrt(b + 1)", [2.0, math.sqrt(5), math.sqrt(6)]),
        ("left - admitted", [10.0, 29.0, None]),
        ("left < admitted", [False, False, None]),
        ("1e3 + .5 + 2.", [1002.5] * 3),
        ("true and smoker", [True, False, None]),
    ],
)
def test_an_expression_is_what_it_is_on_paper(text: str, expected: list[object]) -> None:
    found = value(text)
    assert found == pytest.approx(expected) if all(isinstance(v, float) for v in expected) else found == expected


@pytest.mark.parametrize("text", ["1 / 0", "log(0)", "log(-1)", "sqrt(-1)", "exp(1000)", "0 / 0", "1 / (1 / 0)", "if(1 / 0 > 5, 1, 0)"])
def test_what_no_number_can_be_is_missing_also_inside(text: str) -> None:
    assert value(text) == [None] * 3


@pytest.mark.parametrize(
    ("text", "words", "column"),
    [
        ("a +", "the expression ends", 3),
        ("(a", "')' is expected", 2),
        ("a b", "An operation or the end", 2),
        ("a = 1", "two, ==, compare", 2),
        ("a < b < 3", "write a < b and b < c", 6),
        ("a.mean()", "A column has no parts", 1),
        ("a; b", "has no meaning", 1),
        ("lag(a)", "There is no function 'lag'. Is log meant?", 0),
        ("__import__('os')", "There is no function '__import__'", 0),
        ("log(a, b)", "log takes 1 in its parentheses", 0),
        ("'open", "the end is missing", 0),
        ("1 + and", "Something is expected before 'and'", 4),
        ("agee + 1", "There is no column 'agee'", 0),
        ("sex + 1", "+ takes what is a number; this is text", 0),
        ("1 + smoker", "if(condition, 1, 0)", 4),
        ("sex < 'm'", "has no order", 4),
        ("a == 'f'", "things of one type", 2),
        ("a and b", "and takes what is true or false", 0),
        ("left", "A variable is no date", 0),
        ("round(a, b)", "a whole number of digits", 9),
        ("1e999", "A number is finite", 0),
        ("a in 3", "'[' is expected", 5),
        ("a not 3", "'in' is expected", 6),
        ("", "not empty", 0),
        ("   ", "not empty", 0),
    ],
)
def test_what_cannot_be_read_is_shown_with_its_place(text: str, words: str, column: int) -> None:
    with pytest.raises(ExpressionError) as caught:
        value(text)
    message = str(caught.value)
    assert words in message
    assert message.splitlines()[-1] == " " * (4 + column) + "^"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10**5,
        "(" * 900 + "a" + ")" * 900,
        "-" * 1900 + "a",
        "not " * 400 + "smoker",
        "a" + "+a" * 900,
        "a" + "**a" * 600,
        "1" * 10**6,
        "min(a, " * 60 + "b" + ")" * 60,
        "if(" * 80 + "smoker" + ", true, false)" * 80,
        "\x00",
        "a\u202e + 1",
        "٣ + 1",
        "a ÷ b",
        "a" + "," * 1000,
        "[" * 1000,
        "a in [" * 300,
    ],
)
def test_hostile_texts_are_refused_at_once(text: str) -> None:
    with pytest.raises(ExpressionError):
        value(text)


def test_names_of_any_script_are_columns() -> None:
    frame = pl.DataFrame({"größe": [1.8], "体重": [81.0], "and": [2.0], "a.b": [3.0]})
    assert value('体重 / größe ** 2 + "and" + "a.b"', frame) == pytest.approx([30.0])


def test_a_list_of_an_expression_that_is_long_still_works() -> None:
    total = Expression(" + ".join(["b"] * 60))
    assert FRAME.select(total.polars(FRAME.schema))["b"].to_list() == [180.0, 240.0, 300.0]
    assert total.columns == ("b",)


numbers = st.integers(0, 99).map(str)
arithmetic = st.recursive(
    numbers | st.sampled_from(["x", "y"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("-{}".format),
        st.tuples(inner, inner).map(lambda p: f"abs({p[0]} - {p[1]})"),
        st.tuples(inner, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), inner, inner, inner).map(
            lambda p: f"if({p[0]} {p[1]} {p[2]} and not ({p[3]} > {p[4]}), {p[3]}, {p[4]})"
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(arithmetic, st.integers(-9, 9), st.integers(-9, 9))
def test_generated_expressions_are_what_python_says(text: str, x: int, y: int) -> None:
    names = {"x": float(x), "y": float(y), "abs": abs, "choose": lambda c, a, b: a if c else b, "__builtins__": {}}
    expected = float(eval(text.replace("if(", "choose("), names))
    frame = pl.DataFrame({"x": [x], "y": [y]})
    found = frame.select(Expression(text).polars(frame.schema).alias("it"))["it"][0]
    assert found == pytest.approx(expected, rel=1e-9) if math.isfinite(expected) else found is None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60) | st.text("abx123.+-*/()[]<>=!,'\" ", max_size=40))
def test_no_text_does_anything_but_compute_or_be_refused(text: str) -> None:
    frame = pl.DataFrame({"a": [1.0], "b": [2.0]})
    try:
        expression = Expression(text).polars(frame.schema)
    except ExpressionError:
        return
    assert frame.select(expression.alias("it")).height == 1
