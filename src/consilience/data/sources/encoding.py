"""Which encoding a text is in, and why.

A byte-order mark says it. Without one, text that is valid UTF-8 is UTF-8: no other encoding's words are, but by a chance that needs
letters nobody writes together. What is left is Windows-1252, which holds Latin-1, unless a byte has no meaning in it, or stands for a sign
within a word or for a letter that is a common one elsewhere, or the words are none of a Western language
(:mod:`~consilience.data.sources.codepages`): then it may be another code page, and none is taken.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from consilience.data.errors import ReadError
from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.sources.codepages import LEGACY, likely, unlike_western
from consilience.data.sources.content import blocks_of
from consilience.data.sources.options import Reading
from consilience.errors import OptionError

__all__ = ["Encoding", "encoding_of"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# œ and Œ are letters of French before a few others only; elsewhere they are what another code page has there
_STRANGE = re.compile(
    rb"[\x81\x83\x8a\x8d-\x90\x9a\x9d-\x9f]|[\x8c\x9c](?![uidstUIDST])"
    rb"|(?<=[A-Za-z\xc0-\xff])[\x80-\x8b\x8d-\x91\x93-\x9b\x9d-\x9f](?=[A-Za-z\xc0-\xff])"
)
SHOWN = 3
"""Code pages beside Windows-1252 that are offered."""
MOST_WORDS = 2000
"""Different words that are looked at; so many tell every code page."""
_LONGEST = 20
_END = re.compile(rb"[A-Za-z\x80-\xff]{0,64}\Z")
_HIGH, _BEFORE, _BEHIND = re.compile(rb"[\x80-\xff]"), re.compile(rb"[A-Za-z\x80-\xff]*\Z"), re.compile(rb"[A-Za-z\x80-\xff]{1,20}")


@dataclass(frozen=True, slots=True)
class Encoding:
    """An encoding.

    Attributes
    ----------
    name : str
        As Python knows it.
    said : str
        Its name and why, in words.
    findings : tuple of Finding
        A notice, where no rule can be sure.
    """

    name: str
    said: str
    findings: tuple[Finding, ...] = ()


def encoding_of(source: Path | bytes, name: str, reading: Reading) -> Encoding:
    r"""The encoding of a text.

    Parameters
    ----------
    source : Path or bytes
        The file; all of it is looked at, since one byte in the last row may say that it is not UTF-8.
    name : str
        What the file is called, for messages.
    reading : Reading
        The encoding, if its owner gives it.

    Returns
    -------
    Encoding

    Raises
    ------
    ReadError
        If two encodings may be meant, or none.

    Examples
    --------
    >>> encoding_of(b"M\xfcnster", "site.csv", Reading()).name, encoding_of(b"A,B", "site.csv", Reading()).name
    ('windows-1252', 'utf-8')
    """
    if reading.encoding is not None:
        return _given(source, name, reading.encoding)
    first = next(blocks_of(source), b"")
    for mark, encoding in _MARKS:
        if first.startswith(mark):
            return Encoding(encoding, f"encoding {encoding.upper()}, by its byte-order mark")
    if b"\0" in first:
        raise ReadError(_zeros(name, first))
    if _is_utf8(source):
        return Encoding("utf-8", "encoding UTF-8")
    return _legacy(source, name)


def _given(source: Path | bytes, name: str, encoding: str) -> Encoding:
    """The encoding that the owner gives; UTF-8 is taken as it stands afterwards, so that it is held against the file here."""
    known = _known(encoding)
    if known == "utf-8" and not _is_utf8(source):
        raise ReadError(f"{name!r} is no text in {encoding}. Give the encoding that the file is in, or none, and it is found out.")
    return Encoding(known, f"encoding {encoding}, as given")


def _known(encoding: str) -> str:
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        raise OptionError(f"encoding must be one that Python knows, such as utf-8, {LEGACY} or cp850; got {encoding!r}.") from None


def _is_utf8(source: Path | bytes) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for block in blocks_of(source):
            if not block.isascii() or decoder.getstate()[0]:  # nearly all blocks are ASCII, which is seen much faster than it is decoded
                decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _legacy(source: Path | bytes, name: str) -> Encoding:
    words: dict[bytes, None] = {}
    last = b""
    for block in (*blocks_of(source), b"\n"):
        joined = last + block
        whole = _END.search(joined)  # what is behind it goes on in the next block
        end = whole.start() if whole else 0
        found = _STRANGE.search(joined, 0, end)
        _collect(words, joined[:end])
        if found is not None:
            raise ReadError(_code_page(name, _word_around(joined, found.start()), words))
        last = joined[end:]
    if (odd := unlike_western(words)) is not None:
        raise ReadError(_code_page(name, odd, words))
    read = f"it is read as {LEGACY}, which makes {_as(next(iter(words)), LEGACY)!r} of a word"
    said = f"{name!r} is not UTF-8 and has no mark that says what it is; {read}."
    notice = Finding("encoding", Grade.NOTICE, said, remedies=tuple(Remedy(Step.ENCODING, value=other) for other in likely(words)[:SHOWN]))
    return Encoding(LEGACY, f"encoding {LEGACY}, since it is not UTF-8", (notice,))


def _collect(words: dict[bytes, None], block: bytes) -> None:
    """Add words with bytes beyond ASCII."""
    place = 0
    while len(words) < MOST_WORDS and (found := _HIGH.search(block, place)) is not None:
        behind = _BEHIND.match(block, found.start())
        place = behind.end() if behind else found.end()
        words[_word_around(block, found.start())] = None


def _word_around(block: bytes, place: int) -> bytes:
    before, behind = _BEFORE.search(block, max(place - _LONGEST, 0), place), _BEHIND.match(block, place)
    return (before[0] if before else b"") + (behind[0] if behind else b"")


def _as(word: bytes, encoding: str) -> str:
    return word.decode(encoding, errors="replace")


def _code_page(name: str, word: bytes, words: Iterable[bytes]) -> Finding:
    """Another code page than the usual one, and it cannot be told which."""
    pages = (*likely(words)[:SHOWN], LEGACY)
    listed = ", ".join(f"{_as(word, encoding)!r} in {encoding}" for encoding in pages)
    said = f"{name!r} is not UTF-8, and may be in one of several code pages: a word of it is {listed}."
    return Finding("encoding", Grade.REFUSED, said, remedies=tuple(Remedy(Step.ENCODING, value=page) for page in pages))


def _zeros(name: str, block: bytes) -> Finding:
    """Bytes of zero: UTF-16 without its mark, or no text at all."""
    words = f"{name!r} holds bytes of zero: it is UTF-16 without a byte-order mark, or no text."
    likely = ("utf-16-le", "utf-16-be") if block.find(b"\0") % 2 else ("utf-16-be", "utf-16-le")
    return Finding("encoding", Grade.REFUSED, words, remedies=tuple(Remedy(Step.ENCODING, value=other) for other in likely))
