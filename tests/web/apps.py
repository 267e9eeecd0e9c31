"""The site's app in a process of its own, and a browser without a screen: it keeps cookies, follows forms, and says where it comes from."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from pathlib import Path
from typing import IO, Any

import httpx

from tests.system.processes import Process, begin, until


class Fields(HTMLParser):
    """The values with which a browser would send each form of a page, by the form's address."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, Any]]] = []
        self._select = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append((found["action"], {}))
        elif not self.forms:
            return
        fields = self.forms[-1][1]
        if tag == "input" and found.get("name"):
            if found.get("type") in ("checkbox", "radio"):
                if "checked" in found:
                    fields.setdefault(found["name"], []).append(found["value"])
            elif found.get("type") != "file":
                fields[found["name"]] = found.get("value", "")
        elif tag == "select":
            self._select = found["name"]
        elif tag == "option" and ("selected" in found or self._select not in fields):
            fields[self._select] = found["value"]


class Browser:
    """One session with an app."""

    def __init__(self, link: str) -> None:
        self.origin = link.partition("/launch")[0]
        self.http = httpx.Client(
            base_url=self.origin, timeout=30.0, trust_env=False, follow_redirects=True, headers={"Origin": self.origin}
        )
        self.link = link
        self.text = ""

    def launch(self) -> httpx.Response:
        return self.http.get(self.link)

    def get(self, path: str) -> str:
        answer = self.http.get(path)
        assert answer.status_code == 200, (path, answer.status_code, words_of(answer.text))
        self.text = answer.text
        return answer.text

    def csrf(self, path: str = "/join") -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.http.get(path).text)
        assert found
        return found[1]

    def send(self, page: str, action: str, which: int = 0, /, **changes: Any) -> httpx.Response:
        """Fill in the ``which``-th form of a page that leads to ``action``, and send it."""
        forms = [fields for address, fields in Fields(self.get(page)).forms if address == action]
        return self.http.post(action, data={**forms[which], **changes})

    def close(self) -> None:
        self.http.close()


def words_of(text: str) -> str:
    """What a page says."""
    body = re.sub(r"(?s)<head>.*?</head>|<svg.*?</svg>", " ", text)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", body)).strip()


@contextmanager
def running_app(folder: Path, *options: str, **settings: str) -> Iterator[Browser]:
    """An app over a folder, launched."""
    with tempfile.TemporaryFile() as log:
        process = begin(["app", str(folder), "--no-browser", *options], log, **settings)
        try:
            browser = Browser(until(lambda: _link(process, log)))
            try:
                yield browser
            finally:
                browser.close()
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def _link(process: Process, log: IO[bytes]) -> str:
    said = os.pread(log.fileno(), 1 << 16, 0).decode()  # its place in the file is the app's
    assert process.poll() is None, said
    return next((line.strip() for line in said.splitlines(keepends=True) if "/launch?token=" in line and line.endswith("\n")), "")


def until_page(browser: Browser, path: str, words: str, seconds: float = 60.0) -> str:
    """Load a page again and again until it says something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        text = browser.get(path)
        if words in words_of(text):
            return text
        time.sleep(0.1)
    raise AssertionError(f"{path} never said {words!r}: {words_of(text)}")
