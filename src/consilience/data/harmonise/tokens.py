"""The words of an expression: numbers, 'text', columns, signs. What is none of these is an error with its place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from consilience.data.errors import ExpressionError

__all__ = ["MOST_CHARACTERS", "Token", "Word", "fault", "tokens_of"]

MOST_CHARACTERS = 2000
"""Of one expression: it is read by people, before they consent to what it makes."""
WINDOW = 60
"""How much of an expression a message shows, around the place that it is about."""


class Word(StrEnum):
    """What a token is."""

    NUMBER = "number"
    TEXT = "text"
    NAME = "name"
    SIGN = "sign"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One token: what it is, its value, and where it begins."""

    word: Word
    value: str
    at: int
    quoted: bool = False


_PATTERN = re.compile(
    r"""(?P<space>\s+)
    | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | '(?P<text>[^'\n]*)'
    | "(?P<quoted>[^"\n]*)"
    | (?P<name>[^\W\d]\w*)
    | (?P<sign>\*\*|==|!=|<=|>=|[-+*/<>()\[\],=])""",
    re.VERBOSE,
)


def fault(text: str, at: int, words: str) -> ExpressionError:
    """An error that shows the place.

    >>> print(fault("log(age", 7, "A closing parenthesis is expected."))
    A closing parenthesis is expected.
        log(age
               ^
    """
    start = max(0, at - WINDOW // 2)
    shown = text[start : start + WINDOW]
    # a caret under a character that takes no place, or two, would point elsewhere
    line = "".join(c if c.isprintable() else " " for c in shown)
    return ExpressionError(f"{words}\n    {line}\n    {' ' * (at - start)}^")


def tokens_of(text: str) -> list[Token]:
    """The tokens of an expression, with one for its end.

    Parameters
    ----------
    text : str

    Returns
    -------
    list of Token

    Raises
    ------
    ExpressionError
        If something in it is no token, or it is too long.

    Examples
    --------
    >>> [token.value for token in tokens_of('weight / "height in m" ** 2')]
    ['weight', '/', 'height in m', '**', '2', '']
    """
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(f"An expression has at most {MOST_CHARACTERS} characters; got {len(text)}. Split it into several variables.")
    found, at = [], 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None:
            raise fault(text, at, _strange(text[at]))
        if match.lastgroup != "space":
            found.append(_token(match, at))
        at = match.end()
    return [*found, Token(Word.END, "", len(text))]


def _token(match: re.Match[str], at: int) -> Token:
    kind = match.lastgroup or ""
    if kind == "quoted":
        return Token(Word.NAME, match["quoted"], at, quoted=True)
    return Token(Word(kind), match[kind], at)


def _strange(character: str) -> str:
    if character in "'\"":
        return f"What begins with {character} ends with {character}; the end is missing."
    if character == ".":
        return 'A column has no parts: a point stands in numbers only. A column with a point in its name is written "in.quotes".'
    return (
        f"{character!r} has no meaning in an expression. There are numbers, 'text', columns (\"in quotes\" if need be), + - * / **, "
        f"comparisons, and, or, not, in, and functions."
    )
