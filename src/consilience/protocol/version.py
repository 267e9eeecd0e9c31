"""The version of the protocol: what one side says, the other understands if theirs is the same."""

from __future__ import annotations

__all__ = ["VERSION", "who_updates"]

VERSION = 6
"""Raised when a message, the length of an answer or the meaning of a number in it changes."""


def who_updates(site: int, server: int) -> str:
    """Which of the two sides has to be updated, in a sentence; empty if they understand each other.

    >>> who_updates(3, 4)
    "This site's program is older than the server's (protocol 3 and 4). Update consilience at the site."
    >>> who_updates(4, 3)
    "The server's program is older than this site's (protocol 3 and 4). Its operator must update consilience there."
    """
    if site < server:
        return f"This site's program is older than the server's (protocol {site} and {server}). Update consilience at the site."
    if site > server:
        return f"The server's program is older than this site's (protocol {server} and {site}). Its operator must update consilience there."
    return ""
