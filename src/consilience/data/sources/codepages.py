"""Whether words that are no UTF-8 can be Windows-1252, and which other code pages they look like.

Code pages use the same bytes for other letters: what is ``č`` in Prague is ``è`` in Paris. Languages do not use these letters in the same
places. French has no ``è`` before a vowel, Spanish no ``ñ`` before a consonant, Portuguese no ``õ`` but before an ``e``; no language of
Western Europe has three letters with accents in a row, and none a sign within a word. Words that break such a rule are counted against
those that only other code pages would read otherwise. Danish, French and Spanish words keep the rules; Czech, Polish, Hungarian, Romanian,
Turkish, Russian and Greek words, read as Windows-1252, do not, as a rule. What is decided is only whether Windows-1252 will do: which other
code page it is, the owner says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["LEGACY", "likely", "unlike_western"]

LEGACY = "windows-1252"
MOST_ODD = 0.2
"""Of the words that other code pages read otherwise; more that break a rule, and it is not Windows-1252."""
FEW_TELLING, FEW_ODD = 0.25, 0.1
"""Of all words with letters beyond ASCII. German and Dutch have few that tell, and those are foreign names: where so few tell, a file is
refused for more than these few."""

_LETTER = "[a-zß-öø-ÿœšž]"
_VOWEL = "[aeiouyáéíóúýàèìòùâêîôûäëïöü]"
_CONSONANT = "[bcdfghjklmnpqrstvwxz]"
_ODD = re.compile(
    "|".join(
        (
            f"(?<={_LETTER})[£¥ªº¯³¹¼¾¿¨¸¡¢](?={_LETTER})",  # signs within a word
            f"^[ªº¯³¹¼¾¸](?={_LETTER})",
            f"^£(?={_LETTER}{{3}})",
            f"{_LETTER}[¹¿¾¼]$",
            f"{_LETTER}{{3}}[ºª³]$",
            f"^(?!(?:[cdkmµn]?m|in|ft|yd)³$){_LETTER}+³$",  # but m³ and its like
            f"ñ(?!{_VOWEL})",
            f"[ìù](?={_LETTER})",
            "õ(?!e)",
            "ã(?=[a-df-hj-npqrt-z])",
            f"è(?={_VOWEL})",
            f"è(?![qg]u){_CONSONANT}{{1,3}}[aouáóúýí]",
            "^è(?!s$|re|ve)[a-z]",
            "ê(?=[dgjkwz])",
            "ø(?=[aiouáíéóú])",
            f"(?!y){_VOWEL}ø",
            f"{_VOWEL}æ",
            "æ(?=[aouáóú])",
            f"(?<!{_VOWEL})ï",
            f"(?<={_LETTER})þ(?!{_VOWEL}|r)|(?<=[aeiou])þ|þ$",
            "(?![äöüß]{3})[à-öø-ÿ]{3}",
            "^(?!çà$|[äöüß]+$)[à-öø-ÿ¨ª¯²³¸º¿]{2,}$",
        )
    )
)
"""What no word of a Western language has, in small letters."""
_OTHERWISE = re.compile("[£¥ªº¯³¹¼¾¿¨¸àãåæèêìïðñòõøùûþÿý]|[à-öø-ÿ]{2}")
"""What other code pages of Windows make another letter of; of the rest (ä, é, ö …) Central European ones make the same."""
_COMMON = {
    "windows-1254": "çğıöşüâîû",  # before Windows-1250, which has letters for all of these, too
    "windows-1250": "ąćęłńóśźżáčďéěíňřšťúůýžőűăşţöüäâîđ",
    "windows-1251": "оеаинтсрвлкм",
    "windows-1253": "αοιτεσνηυρπκάέίό",
    "cp850": "äöüßéèêëàâçîïôûùñáíóúãõæøå",
    "mac-roman": "äöüßéèêëàâçîïôûùñáíóúãõæøå",
}
"""Letters beyond ASCII that are common in each."""


def unlike_western(words: Iterable[bytes]) -> bytes | None:
    r"""A word that speaks against Windows-1252, if many of those that tell it from other code pages do.

    Parameters
    ----------
    words : iterable of bytes
        Different words with bytes beyond ASCII.

    Returns
    -------
    bytes or None

    Examples
    --------
    >>> unlike_western("léčba příznak".encode("cp1250").split())
    b'l\xe9\xe8ba'
    >>> unlike_western("sévère très Größe m³ niño corações".encode("cp1252").split()) is None
    True
    """
    read = {word: word.decode(LEGACY, errors="replace").lower() for word in words}
    telling = {word: text for word, text in read.items() if _OTHERWISE.search(text)}
    turkish = any("ý" in text for text in telling.values()) and not any(set(text) & set("áéíóúæ") for text in read.values())
    odd = [word for word, text in telling.items() if _ODD.search(text) or (turkish and "ý" in text)]
    least = FEW_ODD * len(read) if len(telling) <= FEW_TELLING * len(read) else MOST_ODD * len(telling)
    return min(odd) if len(odd) > least else None


def likely(words: Iterable[bytes]) -> list[str]:
    """Other code pages than Windows-1252, those first in which the words have common letters and one script.

    Parameters
    ----------
    words : iterable of bytes
        Different words with bytes beyond ASCII.

    Returns
    -------
    list of str

    Examples
    --------
    >>> [likely(["mężczyzna".encode("cp1250")])[0], likely(["Москва".encode("cp1251")])[0], likely(["Größe".encode("cp850")])[0]]
    ['windows-1250', 'windows-1251', 'cp850']
    """
    words = list(words)
    scores = {encoding: sum(_natural(word, encoding) for word in words) for encoding in _COMMON}
    return sorted(scores, key=lambda encoding: -scores[encoding])


def _natural(word: bytes, encoding: str) -> float:
    text = word.decode(encoding, errors="replace")
    high = [letter for letter in text if letter > "\x7f"]
    own = encoding in ("windows-1251", "windows-1253")  # scripts of their own, in which every letter is beyond ASCII
    if len(high) < len(text) if own else len(high) > len(text) / 2 + 1:
        return 0.0
    if not text.isalpha() or re.search(r"[^\W\d_a-zß-ÿ][A-ZÀ-Þ]*[a-zß-ÿ]+[A-ZÀ-Þ]", text):
        return 0.0
    return sum(letter.lower() in _COMMON[encoding] for letter in high) / len(high)
