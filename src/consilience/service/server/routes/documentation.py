"""The REST interface's documentation as one page, made from its own description. It loads nothing from elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

__all__ = ["page", "router"]

router = APIRouter()
_MARKED = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|\*(?P<em>[^*\s][^*]*)\*")
_LINK = '<link rel="stylesheet" href="/api/docs.css">'
POLICY = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'"
_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1b1f24}"
    "code{background:#f2f4f7;padding:.1em .3em;border-radius:3px}h2{margin-top:2.5rem}"
    "article{border-top:1px solid #d7dce2;padding:.7rem 0}b{display:inline-block;min-width:4.5rem}"
    "table{border-collapse:collapse;width:100%}"
    "td,th{border-bottom:1px solid #e4e7eb;padding:.3rem .6rem;text-align:left;vertical-align:top}"
)


@router.get("/api/docs", include_in_schema=False)
def documentation(request: Request) -> HTMLResponse:
    """The page."""
    headers = {"Content-Security-Policy": POLICY, "X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(page(request.app.openapi()), headers=headers)


@router.get("/api/docs.css", include_in_schema=False)
def style() -> Response:
    """Its style, as a file of its own: the page allows none in line."""
    return Response(_STYLE, media_type="text/css", headers={"X-Content-Type-Options": "nosniff"})


def page(described: dict[str, Any]) -> str:
    """An OpenAPI description as HTML: operations by subject, then the messages with every field.

    >>> text = page({"info": {"title": "T", "description": "d"}, "paths": {}, "components": {"schemas": {}}})
    >>> text.startswith("<!doctype html>")
    True
    """
    subjects: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            subjects.setdefault(operation.get("tags", ["other"])[0], []).append(_operation(method, path, operation))
    parts = [f"<h2>{escape(name)}</h2>{''.join(found)}" for name, found in subjects.items()]
    parts += ["<h2>messages</h2>", *(_message(name, schema) for name, schema in sorted(described["components"]["schemas"].items()))]
    info = described["info"]
    words = "".join(f"<p>{_text(block)}</p>" for block in info["description"].strip().split("\n\n"))
    title = escape(info["title"])
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>{_LINK}'
    note = '<p>For programs: <a href="/api/openapi.json">openapi.json</a></p>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body><h1>{title}</h1>{words}{note}{"".join(parts)}</body></html>\n'


def _text(words: str) -> str:
    """Escaped, with `code`, **bold** and *emphasis* as they are written in docstrings.

    >>> _text("`a *-* b` is **an** edge <")
    '<code>a *-* b</code> is <strong>an</strong> edge &lt;'
    """
    return _MARKED.sub(lambda m: next(f"<{tag}>{m[tag]}</{tag}>" for tag in ("code", "strong", "em") if m[tag]), escape(words, quote=False))


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    body = _reference(operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema"))
    good: dict[str, Any] = next((r for code, r in operation["responses"].items() if code.startswith("2")), {})
    reply = _reference(next((c.get("schema") for c in good.get("content", {}).values()), None))
    arrow = " → ".join(part for part in (body, reply) if part)
    return (
        f"<article><b>{method.upper()}</b> <code>{escape(path)}</code> {arrow}"
        f"<br><strong>{escape(operation.get('summary', ''))}.</strong> {_text(operation.get('description', ''))}</article>"
    )


def _reference(schema: dict[str, Any] | None) -> str:
    if not schema:
        return ""
    name = (schema.get("$ref") or schema.get("items", {}).get("$ref", "")).rpartition("/")[2]
    many = "list of " if schema.get("type") == "array" else ""
    return f'{many}<a href="#{escape(name)}">{escape(name)}</a>' if name else ""


def _message(name: str, schema: dict[str, Any]) -> str:
    rows = []
    for field, what in schema.get("properties", {}).items():
        choices = ", ".join(map(str, what.get("enum", ()))) or what.get("type") or _reference(what) or "see openapi.json"
        default = f"<code>{escape(str(what['default']))}</code>" if "default" in what else ""
        words = _text(what.get("description", ""))
        rows.append(f"<tr><td><code>{escape(field)}</code></td><td>{choices}</td><td>{default}</td><td>{words}</td></tr>")
    table = f"<table><tr><th>field</th><th>values</th><th>default</th><th>meaning</th></tr>{''.join(rows)}</table>" if rows else ""
    return f'<article id="{escape(name)}"><strong>{escape(name)}</strong> {_text(schema.get("description", ""))}{table}</article>'
