"""The REST interface describes itself: every route, in sentences, on one page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from tests.service.helpers import make_app


@pytest.mark.slow
def test_the_documentation_reads_well(tmp_path: Path) -> None:
    described = make_app(tmp_path).openapi()
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            assert operation["description"].strip().endswith((".", "`")), (method, path)
    assert "masked sums" in described["info"]["description"]
    json.dumps(described)


def test_routes_are_all_described(tmp_path: Path) -> None:
    app = make_app(tmp_path)
    hidden = [r.path for r in app.routes if isinstance(r, APIRoute) and not r.include_in_schema]
    assert set(hidden) <= {"/api/docs", "/api/docs.css"}


@pytest.mark.slow
def test_the_documentation_is_one_page_that_loads_nothing(client: TestClient) -> None:
    reply = client.get("/api/docs")
    assert reply.status_code == 200
    for outside in ("http://", "https://", "<script", "src="):
        assert outside not in reply.text
    for inside in ("SettingsModel", "min_contributors", "/api/v1/studies/{study}/start", "Take an invitation", "<code>levels</code>"):
        assert inside in reply.text
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
