"""Effects in words, for readers who know no statistics: what y would be if x were something else.

Names and levels are others' text; whoever puts these words on a page escapes them there.
"""

from __future__ import annotations

from consilience.citest.effect import Change, Contrast, Estimate
from consilience.wording import counted

__all__ = [
    "change_in_words",
    "contrast_cells",
    "contrast_in_words",
    "estimate_in_words",
    "interval_in_words",
    "set_in_words",
    "set_to_in_words",
]


def _shown(number: float, digits: int = 3) -> str:
    """A number with so many digits that count, and a minus that is one; no exponent where a reader can do without.

    >>> _shown(-0.03141), _shown(1234.56), _shown(2.0), _shown(1.2e-7)
    ('−0.0314', '1235', '2.00', '1.2e−07')
    """
    if number == 0.0:
        return "0"
    if abs(number) < 1e-4 or abs(number) >= 1e7:
        text = f"{number:.{digits - 1}g}"
    elif abs(number) >= 10 ** (digits - 1):
        text = f"{number:.0f}"
    else:
        text = f"{number:#.{digits}g}"
    return text.replace("-", "−")


def _points(number: float) -> str:
    """A difference of probabilities in percentage points.

    >>> _points(0.07249), _points(-0.0004)
    ('7.2', '−0.04')
    """
    shown = 100.0 * number
    return (f"{shown:.1f}" if abs(shown) >= 0.1 or shown == 0.0 else f"{shown:.2f}").replace("-", "−")


def change_in_words(contrast: Contrast, unit: str = "") -> str:
    """The number with what it counts.

    >>> change_in_words(Contrast("risk difference", 0.0725, 0.02, 0.03, 0.11)), change_in_words(Contrast("rate ratio", 1.5, 0.1, 1.2, 1.8))
    ('+7.2 percentage points', '× 1.50')
    >>> change_in_words(Contrast("mean difference", -4.0, 1.0, -6.0, -2.0), "mmHg")
    '−4.00 mmHg'
    """
    measure = Change(contrast.measure)
    if measure is Change.RATE:
        return f"× {_shown(contrast.estimate)}"
    text = f"{_points(contrast.estimate)} percentage points" if measure is Change.RISK else _shown(contrast.estimate)
    plus = "+" if contrast.estimate > 0 and any(digit in "123456789" for digit in text) else ""
    return f"{plus}{text}{f' {unit}' if unit and measure is Change.MEAN else ''}"


def interval_in_words(contrast: Contrast) -> str:
    """Its interval; empty where there is none.

    >>> interval_in_words(Contrast("risk difference", 0.07, 0.02, 0.0312, 0.11))
    '3.1 to 11.0'
    """
    if contrast.low is None or contrast.high is None:
        return ""
    shown = _points if contrast.measure == Change.RISK else _shown
    return f"{shown(contrast.low)} to {shown(contrast.high)}"


def set_to_in_words(estimate: Estimate, contrast: Contrast) -> str:
    """What x is set to, and against what.

    >>> set_to_in_words(Estimate("smoker", "bp", (), 9, 2), Contrast("mean difference", 1.0, None, None, None, "yes", "no"))
    'smoker = yes rather than no'
    >>> set_to_in_words(Estimate("age", "bp", (), 9, 2, step=12.0, unit_x="years"), Contrast("mean difference", 1.0, None, None, None))
    '12 years more of age'
    """
    if contrast.level:
        return f"{estimate.x} = {contrast.level} rather than {contrast.reference}"
    if estimate.step is None:
        return f"more {estimate.x}"
    step = f"{estimate.step:.3g}".replace("-", "−")
    return f"{step}{f' {estimate.unit_x}' if estimate.unit_x else ''} more of {estimate.x}"


def contrast_in_words(estimate: Estimate, contrast: Contrast) -> str:
    """One contrast: what becomes of y, when, and how sure.

    >>> of = Estimate("smoker", "ill", ("age",), 500, 3)
    >>> contrast_in_words(of, Contrast("risk difference", 0.1, 0.02, 0.06, 0.14, "yes", "no", "1", 0.3, 0.2))
    'ill = 1 in 30.0 % rather than 20.0 % if smoker = yes rather than no: +10.0 percentage points (95 % interval 6.0 to 14.0)'
    """
    told = interval_in_words(contrast)
    interval = f" (95 % interval {told})" if told else ""
    change, when = change_in_words(contrast, estimate.unit_y), set_to_in_words(estimate, contrast)
    if contrast.outcome and contrast.value is not None and contrast.value_reference is not None:
        shares = f"{_points(contrast.value)} % rather than {_points(contrast.value_reference)} %"
        cause = "if" if contrast.level else "with"
        return f"{estimate.y} = {contrast.outcome} in {shares} {cause} {when}: {change}{interval}"
    return f"{estimate.y} {change} for {when}{interval}"


def contrast_cells(estimate: Estimate, contrast: Contrast) -> tuple[str, ...]:
    """One contrast as a row of text: what x is set to, of what, the change, its interval, and the value of y in both cases.

    >>> of = Estimate("smoker", "ill", ("age",), 500, 3)
    >>> contrast_cells(of, Contrast("risk difference", 0.1, 0.02, 0.06, 0.14, "yes", "no", "1", 0.3, 0.2))
    ('smoker = yes rather than no', 'ill = 1', '+10.0 percentage points', '6.0 to 14.0', '30.0 %', '20.0 %')
    """
    of = f"{estimate.y} = {contrast.outcome}" if contrast.outcome else estimate.y
    shown = (lambda value: f"{_points(value)} %") if contrast.measure == Change.RISK else _shown
    values = ("–" if value is None else shown(value) for value in (contrast.value, contrast.value_reference))
    change, when = change_in_words(contrast, estimate.unit_y), set_to_in_words(estimate, contrast)
    return when, of, change, interval_in_words(contrast) or "–", *values


def set_in_words(given: tuple[str, ...]) -> str:
    """An adjustment set.

    >>> set_in_words(("age", "sex")), set_in_words(())
    ('age, sex', 'nothing')
    """
    return ", ".join(given) or "nothing"


def estimate_in_words(estimate: Estimate) -> str:
    """An estimate as a sentence without its full stop: all contrasts, and what they rest on."""
    head = f"{estimate.x} → {estimate.y}, adjusted for {set_in_words(estimate.given)}"
    if not estimate.known:
        return f"{head}: no estimate, since {estimate.reason}"
    told = "; ".join(contrast_in_words(estimate, contrast) for contrast in estimate.contrasts)
    return f"{head}: {told}; {counted(estimate.n, 'row')} of {counted(estimate.contributors, 'site')}"
