"""Effects that a study asks for, as texts: ``smoking -> cancer``. Names with an arrow or quotes in them are quoted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence

from consilience.errors import OptionError

__all__ = ["EVERY", "effect_text", "effect_texts", "read_effect"]

EVERY = "*"
"""Stands for every variable."""
_NAME = r'("(?:[^"\\]|\\.)*"|[^"]+?)'
_EFFECT = re.compile(rf"\s*{_NAME}\s*->\s*{_NAME}\s*")
Pair = tuple[str, str]


def read_effect(text: str) -> Pair:
    """The cause and the outcome that a text names.

    >>> read_effect("smoking -> cancer"), read_effect('"a -> b" -> ST depression'), read_effect("* -> cancer")
    (('smoking', 'cancer'), ('a -> b', 'ST depression'), ('*', 'cancer'))
    """
    found = _EFFECT.fullmatch(text)
    if found is None or "->" in _bare(found[1]) or "->" in _bare(found[2]):
        raise OptionError(f"An effect is asked for as `cause -> outcome`, such as `smoking -> cancer` or `* -> cancer`; got {text[:80]!r}.")
    return _name(found[1]), _name(found[2])


def _bare(name: str) -> str:
    return "" if name.startswith('"') else name


def _name(written: str) -> str:
    if not written.startswith('"'):
        return written
    try:
        return str(json.loads(written))
    except ValueError:
        raise OptionError(f"A name in quotes is written as in JSON; got {written[:80]}.") from None


def effect_text(x: str, y: str) -> str:
    """A pair as a text that :func:`read_effect` reads.

    >>> effect_text("smoking", "cancer"), effect_text("a -> b", "c")
    ('smoking -> cancer', '"a -> b" -> c')
    """
    return f"{_written(x)} -> {_written(y)}"


def _written(name: str) -> str:
    return json.dumps(name, ensure_ascii=False) if "->" in name or '"' in name or name != name.strip() or not name else name


def effect_texts(asked: Iterable[str | Sequence[str]]) -> tuple[str, ...]:
    """Effects as texts, from texts and from pairs.

    >>> effect_texts(["smoking -> cancer", ("age", "cancer")])
    ('smoking -> cancer', 'age -> cancer')
    """
    if isinstance(asked, str):
        raise OptionError(f"Effects are a list of texts or pairs, such as ['smoking -> cancer']; got {asked!r}.")
    found = []
    for one in asked:
        if isinstance(one, str):
            found.append(effect_text(*read_effect(one)))
        elif isinstance(one, Sequence) and len(one) == 2 and all(isinstance(name, str) for name in one):
            found.append(effect_text(*one))
        else:
            raise OptionError(f"An effect is asked for as a pair of a cause and an outcome, such as ['dose', 'cure']; got {one!r}.")
    return tuple(found)
