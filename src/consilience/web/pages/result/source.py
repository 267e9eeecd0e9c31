"""Where a result comes from."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeAlias

from starlette.requests import Request

from consilience.web.rendering import Link, Shell

__all__ = ["Load", "ResultSource"]


@dataclass(frozen=True, slots=True)
class ResultSource:
    """The result of one study, for whoever may see it.

    Attributes
    ----------
    study : str
        The study's id: in the names of files that are downloaded, and the key under which a browser keeps a layout.
    name : str
        What people call the study.
    version : str
        Another text for every other result: results are kept under it once they were read. The study's id will do where there is but one.
    document : callable
        The bytes of ``result.json``, ``tests.csv`` or ``report.html``, None if there is none. It may read from a disk: it is called in a
        thread of its own, and for ``result.json`` only if the result was not read before.
    shell : Shell
        What stands around the page.
    crumbs : tuple of Link
        The pages above this one.
    layout : str
        A key that several results share if their drawings shall have one layout, such as a study and its reruns. The study's id by default.
    files : tuple of Link
        Files that this app has beside those of every result, such as a site's own local graph.
    notes : tuple of str
        What everybody who reads the result must know, a sentence or two each: such as that a site has withdrawn.
    """

    study: str
    name: str
    version: str
    document: Callable[[str], bytes | None]
    shell: Shell
    crumbs: tuple[Link, ...] = ()
    layout: str = ""
    files: tuple[Link, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def layout_key(self) -> str:
        """The key of the layout."""
        return self.layout or self.study


Load: TypeAlias = Callable[[Request], Awaitable[ResultSource]]
"""Finds the result that a request asks for; answers 404 (an ``HTTPException``) if there is none for this person."""
