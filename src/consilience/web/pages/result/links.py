"""Addresses within the pages of a result: they keep the level and the graph that one looks at."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from consilience.web.pages.result.choice import Choice

__all__ = ["Links"]


@dataclass(frozen=True, slots=True)
class Links:
    """Addresses of the pages of one result.

    >>> Links("/studies/7/result", "0.01").to("tests", words="a b")
    '/studies/7/result/tests?alpha=0.01&words=a+b'
    """

    base: str
    alpha: str = ""
    choice: Choice | None = None

    def to(self, page: str = "", /, **query: str) -> str:
        """A page, at the same level."""
        given = ({"alpha": self.alpha} if self.alpha else {}) | {name: value for name, value in query.items() if value}
        return f"{self.base}{f'/{page}' if page else ''}{f'?{urlencode(given)}' if given else ''}"

    def here(self, page: str = "", /, **query: str) -> str:
        """A page that shows the same graph."""
        return self.to(page, **({} if self.choice is None else self.choice.query), **query)

    def show(self, choice: Choice) -> str:
        """The drawing of another graph."""
        return self.to(**choice.query)
