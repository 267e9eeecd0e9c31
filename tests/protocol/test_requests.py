"""Every request is one module that says all of itself; nothing elsewhere takes requests apart."""

from __future__ import annotations

import ast
import importlib
import math
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

import consilience
from consilience.citest.question import Question
from consilience.data.schema import Schema
from consilience.data.table import Table
from consilience.disclosure.resampling import Draws
from consilience.federation.site.own_tests import desk_for
from consilience.glm.layout import Ordinal
from consilience.protocol.catalogue import AnyRequest
from consilience.protocol.desk import Desk
from consilience.protocol.products import Products
from consilience.protocol.replicates import Replicate
from consilience.protocol.request import Request
from consilience.protocol.resampled import Part, Resampled
from consilience.protocol.survey import Survey
from tests.federation.helpers import mixed_clients
from tests.protocol.messages import REQUESTS

ROOT = Path(consilience.__file__).parent
KINDS = get_args(AnyRequest)
PARTS = ("length", "samples", "check", "answer", "read", "words")


def test_the_catalogue_has_every_request_there_is() -> None:
    for file in (ROOT / "protocol").glob("*.py"):
        importlib.import_module(f"consilience.protocol.{file.stem}")
    assert set(Request.__subclasses__()) == set(KINDS)
    assert {type(request) for request in REQUESTS.values()} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_says_all_of_itself_in_a_module_of_its_own(kind: type[Request]) -> None:
    assert all(part in vars(kind) for part in PARTS)
    assert [other for other in KINDS if other.__module__ == kind.__module__] == [kind]
    assert all(getattr(kind, part).__doc__ for part in PARTS)


@pytest.mark.parametrize("file", sorted(ROOT.rglob("*.py")), ids=lambda f: str(f.relative_to(ROOT)))
def test_nothing_asks_what_kind_of_request_it_has(file: Path) -> None:
    """Neither isinstance nor a match on the class of a request: what differs between requests stands in their modules."""
    names = {kind.__name__ for kind in KINDS}
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("isinstance", "issubclass"):
            assert not names & {leaf.id for leaf in ast.walk(node.args[1]) if isinstance(leaf, ast.Name)}
        if isinstance(node, ast.MatchClass):
            assert not names & {leaf.id for leaf in ast.walk(node.cls) if isinstance(leaf, ast.Name)}
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Call) and getattr(node.left.func, "id", "") == "type":
            assert not names & {leaf.id for leaf in ast.walk(node) if isinstance(leaf, ast.Name)}


@pytest.fixture(scope="module")
def tables() -> list[Table]:
    (client,) = mixed_clients(1, columns="ACE")
    return [Table(client.frame, _schema(client), "holds all"), Table(client.frame.select("C"), _schema(client), "holds one")]


def _schema(client: consilience.Client) -> Schema:
    return Schema([d.variable for d in client.declarations.values()])


def _desk(table: Table) -> Desk:
    return desk_for(table, draws=Draws(table, b"secret"))


@pytest.mark.parametrize("name", [n for n in REQUESTS if not n.startswith("evaluate")])
def test_an_answer_has_its_length_whoever_gives_it(name: str, tables: list[Table]) -> None:
    request = REQUESTS[name]
    for table in tables:
        answer = _desk(table).answer(request)
        assert answer.shape == (request.length(table.schema),)
        assert np.isfinite(answer).all()


@pytest.mark.parametrize("name", [n for n in REQUESTS if not n.startswith("evaluate")])
def test_a_site_without_the_variables_sends_zeros(name: str, tables: list[Table]) -> None:
    request = REQUESTS[name]
    if isinstance(request, Survey):
        request = Survey((("A", "C"),), ("A",))
    if isinstance(request, Resampled):
        request = Resampled((Part(Replicate(1), Survey((("A", "C"),), ("A",))),))
    assert not _desk(tables[1]).answer(request).any()


def test_what_is_packed_is_read(tables: list[Table]) -> None:
    """Cross-products of one site, read as if they were a sum: n, level counts and squares are the table's own."""
    table = tables[0]
    request = Products((("A", "C"),), {}, None, (Question("A", "C"),))
    found = request.read(desk_for(table).answer(request), table.schema)
    rows = table.complete(("A", "C"))
    numbers, codes = table.numbers["A"], table.codes["C"]
    if rows.index is not None:
        numbers, codes = numbers[rows.index], codes[rows.index]
    total = found.sets["A", "C"]
    assert total.n == rows.n
    assert total.levels["C"].tolist() == np.bincount(codes, minlength=2).tolist()
    assert total.gram[0, 0] == pytest.approx(((numbers - numbers.mean()) ** 2).sum())
    told = found.alone[Question("A", "C")]
    directions = told.directions(Question("A", "C"))
    assert [d.response for d in directions] == ["C", "A"]
    assert all(d.df == 1 and math.isnan(d.statistic) for d in directions)
    own = desk_for(table).own_tests((Question("A", "C"),), Ordinal.PROPORTIONAL, 0.0, True)[0]
    assert told.p_value == max(float(f"{own.p_value:.2e}"), 1e-10)
