"""When the value labels of SPSS, Stata and SAS are levels, and when they only remark on a number.

The rule, for a column without what its file declares missing:

1. Every value that occurs has a label, and the labels say more than the codes: the labels are the levels, in the order of the codes. A
   code that occurs nowhere is a level too, as its owner declared it.
2. No value that occurs has a label: numbers. ``99 = unknown`` on an age that is known throughout means nothing.
3. Only a few of the distinct values have labels (fewer than half): numbers, and the labelled ones are named, as doubtful. They may be
   the two ends of a scale, or ``99 = unknown`` that was never declared missing.
4. Half of them or more have labels, and some have none: refused. Somebody forgot a label, or mistyped a code; either way the answer
   differs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from consilience.data.finding import Finding, Grade, Remedy, Step
from consilience.data.kinds import level_label
from consilience.frames import pl

__all__ = ["labelled"]

_SHOWN = 5


def labelled(column: pl.Series, labels: Mapping[float | str, str]) -> tuple[pl.Series, tuple[str, ...], Finding | None]:
    """The column as levels where its labels make it such, its levels (none if it stays as it is), and what is doubtful about it.

    >>> labelled(pl.Series("sex", [2, 1, 1]), {1: "male", 2: "female"})[0].to_list()
    ['female', 'male', 'male']
    >>> column, levels, found = labelled(pl.Series("age", [61, 70, 52, 99]), {99: "unknown"})
    >>> column.dtype, levels, found.grade.value
    (Int64, (), 'doubtful')
    """
    # a letter on a number is the label of one of Stata's missing values
    fits = {code: label for code, label in labels.items() if isinstance(code, str) == (column.dtype == pl.String)}
    words = {level_label(code): label.strip() for code, label in _in_order(fits) if label and label.strip()}
    if not words or column.dtype.is_temporal():
        return column, (), None
    present = {level_label(value) for value in column.drop_nulls().unique()}
    known = [code for code in words if code in present]
    if not known or all(words[code] == code for code in known):
        return column, (), None
    strange = present - set(words)
    if strange:
        return column, (), _partly(column.name, {code: words[code] for code in known}, sorted(strange))
    words = _distinct(words)
    levels = tuple(words.values())
    done = pl.Series(column.name, [None if v is None else words[level_label(v)] for v in column.to_list()], dtype=pl.Enum(levels))
    return done, levels, None


def _in_order(labels: Mapping[float | str, str]) -> list[tuple[float | str, str]]:
    """By code: numbers by size, then words."""
    return sorted(labels.items(), key=lambda item: (isinstance(item[0], str), item[0] if not isinstance(item[0], str) else 0, str(item[0])))


def _distinct(words: Mapping[str, str]) -> dict[str, str]:
    """Labels that stand for two codes with the code beside them: to merge them is for the site's owner to decide."""
    often = Counter(words.values())
    return {code: f"{label} ({code})" if often[label] > 1 else label for code, label in words.items()}


def _partly(name: str, known: Mapping[str, str], strange: list[str]) -> Finding:
    said = ", ".join(f"{code} = {label!r}" for code, label in list(known.items())[:_SHOWN])
    others = ", ".join(strange[:_SHOWN]) + (", …" if len(strange) > _SHOWN else "")
    missing = tuple(Remedy(Step.MISSING, name, code) for code in list(known)[:1])
    if len(known) < len(strange):
        words = f"{name!r} is read as numbers, though some have labels ({said}); if these stand for 'missing', they are not read so."
        return Finding("partly-labelled", Grade.DOUBTFUL, words, (name,), remedies=missing)
    words = f"{name!r} has labels for {said}, but none for {others}: whether these are levels, numbers or mistakes is not known."
    ways = (Remedy(Step.MISSING, name, strange[0]), Remedy(Step.KIND, name, "ordinal"), Remedy(Step.KIND, name, "multinomial"))
    return Finding("partly-labelled", Grade.REFUSED, words, (name,), remedies=ways)
