"""Events for an observer to whom a study's result is not shown."""

from __future__ import annotations

from dataclasses import replace

from consilience.service.store import Event

__all__ = ["without_result"]


def without_result(event: Event) -> Event:
    """The event without what the study has found: that it finished, and not with what.

    >>> without_result(Event(9, 0.0, "finished", {"pags": 2, "rounds": 7, "headline": "A causes B."})).body
    {'rounds': 7}
    >>> without_result(Event(8, 0.0, "stage", {"words": "solving: 3 PAGs so far"})).body
    {'words': 'solving'}
    """
    if event.kind == "finished":
        return replace(event, body={key: value for key, value in event.body.items() if key == "rounds"})
    if event.kind == "stage":
        return replace(event, body={"words": str(event.body.get("words", "")).partition(":")[0]})
    return event
