"""Browsers and programs by the names that people have for them."""

from __future__ import annotations

import re

__all__ = ["browser"]

MOST_WORDS = 80
_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "HeadlessChrome": "Chrome", "Chrome": "Chrome", "Version": "Safari"}
_SYSTEMS = {"Android": "Android", "iPhone": "iOS", "iPad": "iPadOS", "Windows": "Windows", "Mac OS": "macOS", "Linux": "Linux"}


def browser(agent: str) -> str:
    """A browser by the name that people have for it, from the line that it sends; the line's beginning if it is none of the common ones.

    >>> browser("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"), browser("curl/8.0"), browser("")
    ('Firefox 140 on Linux', 'curl/8.0', 'a browser')
    """
    found = next(((name, m[1]) for key, name in _BROWSERS.items() if (m := re.search(rf"\b{key}/(\d{{1,4}})", agent))), None)
    if found is None:
        return agent[:MOST_WORDS] or "a browser"
    system = next((name for key, name in _SYSTEMS.items() if key in agent), "")
    return f"{found[0]} {found[1]}" + (f" on {system}" if system else "")
