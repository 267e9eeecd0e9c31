"""Sizes in words. Two variables *go with* each other: what a test says is an association, and never more.

Names and levels are others' text; whoever puts these words on a page escapes them there.
"""

from __future__ import annotations

from collections.abc import Sequence

from consilience.citest.size import Measure, Size

__all__ = ["interval_in_words", "levels_in_words", "number_in_words", "sentence", "strength_in_words"]


def _shown(number: float, *, ratio: bool = False) -> str:
    """A number with two decimals, more where two would show nothing, and a minus that is one.

    >>> _shown(-0.314), _shown(0.0031), _shown(1.4981, ratio=True), _shown(0.0131, ratio=True), _shown(-0.0)
    ('−0.31', '0.003', '1.50', '0.013', '0.00')
    """
    if ratio:
        text = f"{number:.2f}" if 0.1 <= number < 100 else f"{number:.2g}" if 0 < number < 0.1 else f"{number:.3g}"
    else:
        text = f"{number:.2f}" if abs(number) >= 0.01 or number == 0.0 else f"{number:.3f}"
        text = text if float(text) else text.lstrip("-")
    return text.replace("-", "−")


def number_in_words(size: Size) -> str:
    """The size alone: with a sign, or as a factor.

    >>> number_in_words(Size("slope", 0.31, None, None, None, "Y", "X"))
    '+0.31'
    >>> number_in_words(Size("odds ratio", 1.5, None, None, None, "Y", "X"))
    '× 1.50'
    """
    if Measure(size.measure).ratio:
        return f"× {_shown(size.estimate, ratio=True)}"
    text = _shown(size.estimate)
    return text if size.measure == Measure.ASSOCIATION or text.startswith("−") or not float(text) else f"+{text}"


def interval_in_words(size: Size) -> str:
    """Its interval; empty where there is none.

    >>> interval_in_words(Size("slope", 0.31, 0.03, 0.25, 0.37, "Y", "X"))
    '0.25 to 0.37'
    """
    if size.low is None or size.high is None:
        return ""
    ratio = Measure(size.measure).ratio
    return f"{_shown(size.low, ratio=ratio)} to {_shown(size.high, ratio=ratio)}"


def levels_in_words(sizes: Sequence[Size]) -> str:
    """One size or several for a cell of a table, each with what it compares. SD are standard deviations.

    >>> of = ("bp", "group")
    >>> levels_in_words([Size("slope", 0.1, 0.1, -0.1, 0.3, *of, "A", "0"), Size("slope", -0.4, 0.1, -0.6, -0.2, *of, "B", "0")])
    'A against 0: +0.10 SD (−0.10 to 0.30); B against 0: −0.40 SD (−0.60 to −0.20)'
    >>> levels_in_words([Size("odds ratio", 1.5, 0.1, 1.23, 1.82, "smoker", "age", outcome="yes", against="no")])
    'smoker = yes against no: odds × 1.50 per SD (1.23 to 1.82)'
    """
    parts = []
    for size in sizes:
        compared = [f"{size.level} against {size.reference}"] if size.level else []
        compared += [f"{size.response} = {size.outcome}" + (f" against {size.against}" if size.against else "")] if size.outcome else []
        interval = f" ({told})" if (told := interval_in_words(size)) else ""
        parts.append(f"{', '.join(compared)}{': ' if compared else ''}{_in_short(size)}{interval}")
    return "; ".join(parts)


def _in_short(size: Size) -> str:
    number, per = number_in_words(size), "" if size.level else " per SD"
    if size.measure == Measure.SLOPE:
        return f"{number} SD{per}"
    if size.measure in (Measure.CORRELATION, Measure.ASSOCIATION):
        return f"correlation {number}"
    return f"{'rate' if size.measure == Measure.RATE else 'odds'} {number}{per}"


def strength_in_words(sign: str | None, strength: float | None) -> str:
    """Sign and strength for a cell of a table; empty where they are not known.

    >>> strength_in_words("−", 0.3141), strength_in_words("", 0.2), strength_in_words(None, None)
    ('−0.31', '0.20', '')
    """
    return "" if strength is None else f"{sign or ''}{_shown(strength)}"


def _amount(size: Size, *, whole: bool) -> str:
    """The number with what it counts; ``whole`` if nothing before it says of what and between which levels."""
    number = number_in_words(size)
    per = "" if size.level else " per standard deviation"
    between = f" for {size.predictor} = {size.level} against {size.reference}" if whole and size.level else ""
    if size.measure == Measure.SLOPE:
        return f"{number} standard deviations{per}{between}"
    if size.measure == Measure.CORRELATION:
        return f"correlation {number}"
    of = f" of {size.response} = {size.outcome}" if whole and size.outcome else ""
    return f"{'rate' if size.measure == Measure.RATE else 'odds'}{of} {number}{per}{between}"


def _head(size: Size) -> str:
    """Which way the two go together."""
    more = f"{size.predictor} = {size.level}" if size.level else f"higher {size.predictor}"
    if size.outcome:
        than = f"{'more' if size.rises else 'less'} frequent {size.response} = {size.outcome}"
    else:
        than = f"{'higher' if size.rises else 'lower'} {size.response}"
    return f"{more} goes with {than}{f' than {size.predictor} = {size.reference}' if size.reference else ''}"


def sentence(x: str, y: str, given: Sequence[str], size: Size | None, strength: float | None, levels: str = "") -> str:
    """How strong, for a reader who knows no statistics; empty where nothing is known.

    Where the interval has "no association" in it, no direction is claimed.

    >>> sentence("age", "smoker", [], Size("odds ratio", 1.5, 0.1, 1.23, 1.82, "smoker", "age", outcome="yes", against="no"), 0.2)
    'higher age goes with more frequent smoker = yes: odds × 1.50 per standard deviation (95 % interval 1.23 to 1.82)'
    >>> sentence("age", "bp", ["sex"], Size("slope", 0.02, 0.04, -0.05, 0.09, "bp", "age"), 0.02)
    'no clear direction between age and bp: +0.02 standard deviations per standard deviation (95 % interval −0.05 to 0.09), given sex'
    >>> sentence("bp", "group", [], None, 0.21, "A against 0: +0.10; B against 0: −0.40")
    'bp and group: strength 0.21 of 1 (A against 0: +0.10; B against 0: −0.40)'
    """
    condition = f", given {', '.join(given)}" if given else ""
    if size is None:
        if strength is None:
            return ""
        return f"{x} and {y}: strength {_shown(strength)} of 1{f' ({levels})' if levels else ''}{condition}"
    if size.measure == Measure.ASSOCIATION:
        return f"{x} and {y}: strength {_shown(size.estimate)} of 1{condition}"
    interval = f" (95 % interval {told})" if (told := interval_in_words(size)) else ""
    told_before = size.clear or not interval
    head = _head(size) if told_before else f"no clear direction between {x} and {y}"
    return f"{head}: {_amount(size, whole=not told_before)}{interval}{condition}"
