"""A dishonest server that chooses more than a fit needs: cells, counts that it announces. Each recovered its number before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import consilience as cs
from consilience import errors
from consilience.federation.transport import LocalTransport
from consilience.glm.layout import Ordinal, SiteEffects
from consilience.protocol.diagnose import Diagnose, DiagnoseAsk
from consilience.protocol.evaluate import Evaluate, ModelAsk
from consilience.protocol.grid import Cells, Grid
from consilience.protocol.messages import Announced, RoundRequest
from consilience.protocol.survey import Survey
from consilience.service.agent.home import DiskHistory
from consilience.settings.choices import Dropout, Isolation, SingleSite
from consilience.settings.terms import Terms
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


# counts that are announced: how many rows a site has, by what it refuses

SETS = [("C",), ("C", "X"), ("C", "X", "Z"), ("C", "Z"), ("X",), ("X", "Z"), ("Z",)]


def told_by(frames: dict[str, pl.DataFrame], announced: list[list[Announced]]) -> str:
    """What the first site says to announcements, a run for each list of them."""
    server, _ = serve(frames, STRICT)
    transport = server._transport
    for few in announced:
        run, digest = transport._open_run()
        try:
            transport._sites[0].answer(RoundRequest(run, 0, digest, Survey(()), tuple(few)))
        except errors.RefusalError as refusal:
            return str(refusal)
    return "nothing"


@pytest.mark.parametrize("rows", [80, 82, 84])
def test_what_a_site_refuses_does_not_tell_its_rows(rows: int) -> None:
    """Before: sets in all orders were announced with one row fewer each, and the refusal named the first that was too few: n, exactly."""
    frames = {"a": table(1, {"p": 40, "q": 30, "r": rows - 70}), "b": table(2), "c": table(3)}
    fewer = [Announced(names, 3, 2 * 10 + 85 - i) for i, names in enumerate(SETS)]
    assert told_by(frames, [fewer]) == told_by(frames | {"a": table(4, {"p": 55, "q": 30})}, [fewer])
    assert "sorted" in told_by(frames, [[Announced(("X", "C"), 3, 300)]])


def test_counts_stay_what_they_were_in_the_next_run_with_the_same_sites() -> None:
    """Before: a fresh key, and other counts could be announced, as often as a server likes."""
    assert "before" in told_by(THREE, [[Announced(("C",), 3, 2 * 10 + 85)], [Announced(("C",), 3, 2 * 10 + 84)]])
    assert told_by(THREE, [[Announced(("C",), 3, 246)], [Announced(("C",), 3, 246), Announced(("X",), 3, 246)]]) == "nothing"


def test_counts_stay_what_they_were_when_a_sites_process_starts_again(tmp_path: Path) -> None:
    """Before: they were in memory only, and after a restart of the site's agent other counts could be announced."""
    schema = serve(THREE, STRICT)[0].schema
    clients = [cs.Client(site, frame) for site, frame in THREE.items()]
    members = [client.identity.fingerprint for client in clients]
    terms = Terms(min_cell=5, isolation=Isolation.STRICT, single_site=SingleSite.REFUSE, on_dropout=Dropout.STOP)

    def told(rows: int) -> str:
        """By the first site in a process of its own, which reads what the one before has written."""
        memories = [DiskHistory(tmp_path / client.name) for client in clients]
        halves = [client.join("0" * 16, schema, terms, members, history=memory) for client, memory in zip(clients, memories, strict=True)]
        transport = LocalTransport(halves)
        try:
            run, digest = transport._open_run()
            transport._sites[0].answer(RoundRequest(run, 0, digest, Survey(()), (Announced(("C",), 3, rows),)))
        except errors.RefusalError as refusal:
            return str(refusal)
        return "nothing"

    assert told(246) == "nothing"
    assert told(246) == "nothing"
    assert "before" in told(245)
    assert "answers nothing more" in told(246), "and that it has closed the study is remembered, too"


# points, as many as one likes


def test_a_model_has_no_more_points_by_other_samples() -> None:
    """Before: at sites without gaps all samples are the same rows, and C ~ X was answered at 250 points for each set of other variables."""
    server, _ = serve({site: table(i, columns="CXZW") for i, site in enumerate("abc")}, STRICT)
    for others in ("", "W", "Z", "WZ"):
        sample = tuple(sorted({"C", "X", *others}))
        model = ModelAsk("C", ("X",), sample, (0,), (0, 1, 2), np.zeros(2).tobytes())
        request = Evaluate(1, (model,), SiteEffects.PROFILED, Ordinal.PROPORTIONAL, 3, {})
        if len(others) < 2:
            server._transport.ask(request, [Announced(sample, 3, 246)])
            continue
        with pytest.raises(errors.RefusalError, match="at most one variable more"):
            server._transport.ask(request, [Announced(sample, 3, 246)])


@both
def test_whether_a_model_holds_is_told_at_three_points_whatever_the_sample(rules: dict[str, Any]) -> None:
    """Before: three points for each variable that a sample may have besides the model's own, all of them the same rows at sites without
    gaps. No server that follows the protocol asks so.
    """
    server, _ = serve({site: table(i, columns="CXZW") for i, site in enumerate("abc")}, rules)

    def ask(sample: tuple[str, ...], slope: float) -> None:
        model = ModelAsk("C", ("X",), sample, (0,), (0, 1, 2), np.full(2, slope).tobytes())
        request = Diagnose((DiagnoseAsk(model, (0,), 1),), Ordinal.PROPORTIONAL, {})
        server._transport.ask(request, [Announced(sample, 3, 246)])

    for i in range(3):
        ask(("C", "X"), 0.1 * i)
    with pytest.raises(errors.RepeatedQuestionError, match="3 points at most"):
        ask(("C", "X"), 0.3)
    with pytest.raises(errors.OutsideSchemaError, match="its own variables"):
        ask(("C", "W", "X"), 0.3)
