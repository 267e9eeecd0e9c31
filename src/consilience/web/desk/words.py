"""Errors in the words of a page."""

from __future__ import annotations

import re

from consilience.data.finding import Asker
from consilience.errors import ConsilienceError

__all__ = ["page_words"]

_MISSING = re.compile(r" under missing in \[columns\.[^\]]*\]")
_SEE = re.compile(r" See \w+ of \[columns\..*\]\.")
_SECTION = re.compile(r" of \[columns\.[^\]]*\]| of \[derived\]")


def page_words(error: ConsilienceError) -> str:
    """What an error says, with the ways out as pages have them: no arguments, no options, no sections of a file.

    >>> from consilience.data.errors import HarmoniseError
    >>> page_words(HarmoniseError("At 'this site': 'a' has 1 value. Name them under missing in [columns.a], or correct them."))
    "'a' has 1 value. Name them as missing, or correct them."
    """
    if error.findings:
        return " ".join(finding.said(Asker.PAGE) for finding in error.findings)
    words = str(error).removeprefix("At 'this site': ").split("\n", maxsplit=1)[0]
    return _SECTION.sub("", _SEE.sub("", _MISSING.sub(" as missing", words)))
