"""Products over rows let other threads run: numpy keeps the interpreter to itself during ``@``, and not during ``np.dot``."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

import pytest

from consilience.data import quartiles, summing
from consilience.glm import crowd, generalized, logit, multinomial, poisson, proportional, tally

OVER_ROWS = (crowd, generalized, logit, multinomial, poisson, proportional, quartiles, summing, tally)
"""What sites with many rows compute in several threads."""


@pytest.mark.parametrize("module", OVER_ROWS, ids=lambda module: module.__name__)
def test_products_over_rows_let_others_run(module: ModuleType) -> None:
    tree = ast.parse(inspect.getsource(module))
    held = [node.lineno for node in ast.walk(tree) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult)]
    assert held == [], f"np.dot in place of @ in {module.__name__}"
