"""How often words in other code pages are refused as Windows-1252, and how often words of Western Europe are, wrongly.

    python benchmarks/codepages.py [--samples 300]

The words are those of Sphinx's translations, which come with the documentation's tools: of each language, samples of ten different words
with letters beyond ASCII, in the code page of that language.
"""

from __future__ import annotations

import argparse
import json
import re
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from consilience.data.sources.codepages import unlike_western

WORDS = 10
WESTERN = ["de", "da", "sv", "nb_NO", "fi", "fr", "es", "ca", "gl", "pt_PT", "nl", "is", "it", "et"]
OTHERS = {
    "cp1250": ["pl", "sl", "hr", "cs", "sk", "ro", "hu"],
    "cp1251": ["ru", "uk_UA", "bg", "sr"],
    "cp1253": ["el"],
    "cp1254": ["tr"],
}
"""Languages as Sphinx calls them, by their code page."""


def words(language: str, encoding: str) -> list[bytes]:
    """Different words of a translation with letters beyond ASCII, as far as the code page has them."""
    spec = find_spec("sphinx")
    assert spec is not None
    assert spec.origin is not None
    catalogue = Path(spec.origin).parent / "locale" / language / "LC_MESSAGES" / "sphinx.po"
    told = re.findall(r"^(?:msgstr(?:\[\d\])? )?(\".*\")$", catalogue.read_text(encoding="utf-8"), re.MULTILINE)
    found = set[bytes]()
    for line in told:
        for word in re.findall(r"[^\W\d_]+", json.loads(line)):
            try:
                made = word.lower().encode(encoding)
            except UnicodeEncodeError:
                continue
            if not made.isascii():
                found.add(made)
    return sorted(found)


def refused(language: str, encoding: str, samples: int) -> str:
    """The share of samples that are refused; nothing where a translation has too few words for it."""
    known = words(language, encoding)
    if len(known) < 2 * WORDS:
        return f"{len(known)} words: too few"
    rng = np.random.default_rng(1)
    drawn = ([known[i] for i in rng.choice(len(known), WORDS, replace=False)] for _ in range(samples))
    return f"{np.mean([unlike_western(sample) is not None for sample in drawn]):.0%} of {len(known)} words"


def main() -> None:
    """Print a line for each language."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=300)
    samples = parser.parse_args().samples
    for encoding, languages in OTHERS.items():
        for language in languages:
            print(f"{language} ({encoding}), rightly refused: {refused(language, encoding, samples)}")
    for language in WESTERN:
        print(f"{language}, wrongly refused: {refused(language, 'cp1252', samples)}")


if __name__ == "__main__":
    main()
