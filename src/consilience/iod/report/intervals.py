"""Numbers with their intervals as small plots, for a cell of a table or the end of a sentence.

A plot has no words and is hidden from those who cannot see it: the cell or sentence beside it says the same. Plots of one table share a
scale, so that they can be compared by eye, as in a forest plot. They take their colour from the text around them, and need no style.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from consilience.citest.size import Measure, Size
from consilience.frames import pl
from consilience.iod.report.html import Html

__all__ = ["Scale", "axis_plot", "interval_plot", "nice", "p_scale", "share_plot", "size_plot", "size_scales", "symmetric"]

WIDE, HIGH, BAR = 110.0, 14.0, 60.0
"""Of a plot, and the width of a bar, in pixels."""
EDGE = 5.0
"""Room at either end, where the arrowhead of an interval stands that goes on."""
_STEPS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.0)
_RATIOS = (1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
MOST = 0.8
"""The share of intervals that a scale has to hold as a whole: a few wide ones would make dots of all others."""
SMALLEST_P = 1e-4
"""Where the scale of p-values ends."""


class Scale(NamedTuple):
    """From where to where a plot reaches, where nothing happens (None for no such line), and whether equal steps are equal factors.

    >>> Scale(-1.0, 1.0, 0.0).place(0.0), round(Scale(0.1, 10.0, 1.0, log=True).place(1.0), 9)
    (55.0, 55.0)
    """

    low: float
    high: float
    none: float | None = 0.0
    log: bool = False

    def place(self, value: float) -> float:
        """Where a value stands, in pixels; what lies outside stands at the end."""
        low, high, at = (self._linear(one) for one in (self.low, self.high, value))
        share = (at - low) / (high - low)
        return EDGE + min(max(share, 0.0), 1.0) * (WIDE - 2 * EDGE)

    def _linear(self, value: float) -> float:
        return math.log(max(value, 1e-300)) if self.log else value


def interval_plot(scale: Scale, estimate: float | None, low: float | None, high: float | None) -> Html:
    """A dot, a line from end to end of the interval, and the line of no effect; an arrowhead where the interval goes on.

    >>> interval_plot(Scale(-1.0, 1.0), 0.5, 0.2, 2.0).count("<path")
    3
    """
    middle = HIGH / 2
    shapes = []
    if scale.none is not None:
        shapes.append(f'<path d="M{scale.place(scale.none):.1f} 0V{HIGH:g}" stroke-opacity=".7" stroke-dasharray="2 1.5"/>')
    if low is not None and high is not None:
        a, b = scale.place(low), scale.place(high)
        shapes.append(f'<path d="M{a:.1f} {middle:g}H{b:.1f}" stroke-width="2"/>')
        if low < scale.low:
            shapes.append(f'<path d="M0 {middle:g}l{EDGE:g} -4v8z" fill="currentColor" stroke="none"/>')
        if high > scale.high:
            shapes.append(f'<path d="M{WIDE:g} {middle:g}l-{EDGE:g} -4v8z" fill="currentColor" stroke="none"/>')
    if estimate is not None and scale.low <= estimate <= scale.high:
        shapes.append(f'<circle cx="{scale.place(estimate):.1f}" cy="{middle:g}" r="3.2" fill="currentColor" stroke="none"/>')
    return _plot("interval", WIDE, HIGH, "".join(shapes))


def share_plot(share: float) -> Html:
    """A bar that is filled as far as the share goes.

    >>> 'width="30"' in share_plot(0.5)
    True
    """
    bars = (
        f'<rect y="4" width="{BAR:g}" height="7" fill="currentColor" fill-opacity=".2" stroke="none"/>'
        f'<rect y="4" width="{BAR * min(max(share, 0.0), 1.0):.4g}" height="7" fill="currentColor" stroke="none"/>'
    )
    return _plot("interval share", BAR, HIGH, bars)


def axis_plot(scale: Scale, words: Iterable[tuple[float, str]]) -> Html:
    """The scale itself, with words at some of its values, for the head or the foot of a column of plots.

    >>> axis_plot(Scale(-1.0, 1.0), [(0.0, "0")]).count("<text")
    1
    """
    shapes = [f'<path d="M{EDGE:g} 3H{WIDE - EDGE:g}" stroke-opacity=".6"/>']
    for value, said in words:
        x = scale.place(value)
        anchor = "start" if x < 2 * EDGE else "end" if x > WIDE - 2 * EDGE else "middle"
        at = 0.0 if anchor == "start" else WIDE if anchor == "end" else x
        shapes.append(f'<path d="M{x:.1f} 0V6" stroke-opacity=".6"/>')
        # numbers of ours and nobody's words, so that there is nothing to escape
        shapes.append(f'<text x="{at:.1f}" y="17" font-size="10" text-anchor="{anchor}" fill="currentColor" stroke="none">{said}</text>')
    return _plot("interval axis", WIDE, 20.0, "".join(shapes))


def _plot(name: str, wide: float, high: float, shapes: str) -> Html:
    return Html(
        f'<svg class="{name}" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}" fill="none" stroke="currentColor"'
        f' aria-hidden="true" focusable="false">{shapes}</svg>'
    )


def nice(value: float) -> float:
    """The next 1, 1.5, 2, 3, 5 or 7 with noughts.

    >>> nice(0.3), nice(0.013), nice(7.0), nice(2.0)
    (0.3, 0.015, 7.0, 2.0)
    """
    if not value > 0.0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    for step in (*_STEPS, 10.0):
        if value <= step * power * (1.0 + 1e-9):
            return float(f"{step * power:.6g}")
    return 10.0 * power  # pragma: no cover  the last step is no smaller than any value


def symmetric(numbers: Iterable[float], *, ratio: bool = False, most: float = math.inf, held: float = MOST) -> Scale:
    """A scale with no effect in its middle that holds these ends of intervals, or the share of them that is asked for.

    >>> symmetric([-0.1, 0.42]), symmetric([0.8, 1.4], ratio=True)
    (Scale(low=-0.5, high=0.5, none=0.0, log=False), Scale(low=0.6666666666666666, high=1.5, none=1.0, log=True))
    """
    if ratio:
        reaches = sorted(abs(math.log(one)) for one in numbers if one > 0.0 and math.isfinite(one))
        wanted = math.exp(_most(reaches, held)) if reaches else _RATIOS[0]
        factor = next((one for one in _RATIOS if wanted <= one * (1.0 + 1e-9)), _RATIOS[-1])
        return Scale(1.0 / factor, factor, 1.0, log=True)
    reach = min(nice(_most(sorted(abs(one) for one in numbers if math.isfinite(one)) or [0.0], held)), most)
    return Scale(-reach, reach, 0.0)


def _most(ordered: list[float], held: float) -> float:
    return ordered[min(math.ceil(held * len(ordered)), len(ordered)) - 1]


def size_scales(tests: pl.DataFrame) -> dict[str, Scale]:
    """One scale for each measure of sizes in a table of tests, so that plots of the same kind compare.

    >>> import consilience as cs
    >>> sorted(size_scales(cs.discover(cs.Oracle(cs.PAG.parse("A o-o B"))).tests))
    []
    """
    if "size_low" not in tests.columns:
        return {}
    told = tests.filter(pl.col("size_low").is_not_null() & pl.col("size_high").is_not_null()).select("size_of", "size_low", "size_high")
    ends: dict[str, list[float]] = {}
    for measure, low, high in told.iter_rows():
        ends.setdefault(measure, []).extend((low, high))
    return {
        measure: symmetric(numbers, ratio=Measure(measure).ratio, most=1.0 if measure == Measure.CORRELATION else math.inf)
        for measure, numbers in ends.items()
    }


def size_plot(scales: Mapping[str, Scale], size: Size | None) -> Html:
    """A size with its interval; nothing where there is none.

    >>> size_plot({}, None)
    ''
    """
    if size is None or size.low is None or size.high is None or size.measure not in scales:
        return Html("")
    return interval_plot(scales[size.measure], size.estimate, size.low, size.high)


def p_scale(alpha: float) -> Scale:
    """A scale of p-values with its line at the level: what lies to the left of it is significant.

    >>> p_scale(0.05).none
    0.05
    """
    return Scale(SMALLEST_P, 1.0, alpha, log=True)
