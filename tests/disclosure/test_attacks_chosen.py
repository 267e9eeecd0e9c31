"""A dishonest server that chooses more than a fit needs: cells, counts that it announces. Each recovered its number before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from consilience import errors
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.messages import Announced
from tests.disclosure.scenes import AGGREGATE, STRICT, serve, table

both = pytest.mark.parametrize("rules", [AGGREGATE, STRICT], ids=["aggregate", "strict"])
THREE = {"a": table(1), "b": table(2), "c": table(3)}


@both
def test_cells_are_few_however_many_rows_are_announced(rules: dict[str, Any]) -> None:
    """Before: a billion rows were announced, nobody can deny them, and 200,000 cells told every value of X to four digits."""

    def counted(cells: int) -> np.ndarray:
        server, _ = serve(THREE, rules, method="residual")
        edges = np.linspace(45.0, 56.0, cells - 1)
        return server._transport.ask(Grid((Cells.of("X", edges, centred=False),), True), [Announced(("X",), 3, 10**9)])

    with pytest.raises(errors.DisclosureError, match="too fine"):
        counted(97)
    assert counted(96).sum() == 246
