"""How numbers are written: what is one, in which way, and what is a code."""

from __future__ import annotations

import re

import polars as pl
import pytest

from consilience.data.numerals import COMMAS, NUMBER, PLAIN

CASES = {
    "plain": ["0", "12", "-1.5", "+3", "1.", ".5", "1e3", "0.5E-2", "10.0"],
    "commas": ["1,5", "0,123", ",5", "12,345", "1,234,567.8", "1.234,56", "1.234.567,8"],
    "other marks": ["1'234", "1’234.5", "1 234", "1.234.567", "12\u00a0345,6"],
    "code": ["007", "01"],
    "none": ["", "-", "1-2", "12a", "<5", "1,,5", "1.2.3", "e5", "2024-01-31", "nan", "inf", "- 1"],
}


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in CASES.items() for text in texts])
def test_a_text_is_one_of_these_to_python_and_to_polars(kind: str, text: str) -> None:
    wanted = (kind == "plain", kind == "commas", kind != "none")
    patterns = (PLAIN, COMMAS, NUMBER)
    assert tuple(bool(re.fullmatch(pattern, text)) for pattern in patterns) == wanted
    column = pl.Series([text])
    assert tuple(column.str.contains(f"^(?:{pattern})$").item() for pattern in patterns) == wanted
