"""Small plots: where dots and lines stand, which scale they have, and that they say nothing to those who cannot see them."""

from __future__ import annotations

import re

import pytest

from consilience.citest.size import Size
from consilience.iod.report.intervals import (
    EDGE,
    WIDE,
    Scale,
    axis_plot,
    interval_plot,
    nice,
    share_plot,
    size_plot,
    size_scales,
    symmetric,
)
from tests.iod.report.sized import sized


def test_an_interval_has_its_dot_its_ends_and_the_line_of_no_effect() -> None:
    plot = interval_plot(Scale(-1.0, 1.0), 0.5, 0.0, 1.0)
    assert 'cx="80.0"' in plot
    assert "M55.0 7H105.0" in plot
    assert "M55.0 0V14" in plot
    assert 'aria-hidden="true"' in plot
    assert "<text" not in plot


def test_an_interval_that_goes_on_has_an_arrowhead_and_no_dot_outside() -> None:
    plot = interval_plot(Scale(-1.0, 1.0), 3.0, 0.5, 5.0)
    assert "<circle" not in plot
    assert f"M{WIDE:g} 7l-{EDGE:g} -4v8z" in plot
    assert "M0 7l" not in plot
    assert "M0 7l" in interval_plot(Scale(-1.0, 1.0), 0.0, -2.0, 0.5)


def test_what_has_no_interval_is_a_dot() -> None:
    plot = interval_plot(Scale(-1.0, 1.0, None), 0.0, None, None)
    assert plot.count("<path") == 0
    assert plot.count("<circle") == 1


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0, 1.5, -1.0])
def test_a_bar_is_as_long_as_the_share(share: float) -> None:
    _, inner = re.findall(r'<rect y="4" width="([^"]+)"', share_plot(share))
    assert float(inner) == pytest.approx(60.0 * min(max(share, 0.0), 1.0))


def test_scales_hold_most_intervals_and_have_no_effect_in_the_middle() -> None:
    assert symmetric([-0.1, 0.2, 0.25, 0.28, 40.0]) == Scale(-0.3, 0.3, 0.0)
    assert symmetric([]) == Scale(-1.0, 1.0, 0.0)
    assert symmetric([0.5, 1.9], ratio=True) == Scale(0.5, 2.0, 1.0, log=True)
    assert symmetric([0.001, 900.0], ratio=True).high == 10.0
    assert symmetric([], ratio=True).high == 1.25
    assert symmetric([3.0], most=1.0).high == 1.0
    for scale in (symmetric([0.4]), symmetric([3.0], ratio=True)):
        assert scale.none is not None
        assert scale.place(scale.none) == pytest.approx(WIDE / 2)


def test_the_next_nice_number_is_no_smaller() -> None:
    for value in (0.011, 0.1, 0.3, 0.99, 1.0, 1.01, 7.2, 9.99, 123.0):
        assert value <= nice(value) <= 2.0 * value
    assert nice(0.0) == nice(float("nan")) == nice(float("inf")) == 1.0


def test_sizes_of_a_kind_share_a_scale() -> None:
    scales = size_scales(sized().tests)
    assert set(scales) == {"slope", "odds ratio"}
    assert scales["slope"] == Scale(-0.5, 0.5, 0.0)
    assert scales["odds ratio"].log
    assert size_plot(scales, Size("slope", 0.41, 0.03, 0.35, 0.47, "pressure", "age")).startswith('<svg class="interval"')
    assert size_plot(scales, Size("slope", 0.41, None, None, None, "pressure", "age")) == ""
    assert size_plot(scales, Size("correlation", 0.4, 0.1, 0.2, 0.5, "pressure", "age")) == ""


def test_results_of_before_have_no_scales() -> None:
    assert size_scales(sized().tests.drop("size_low")) == {}


def test_an_axis_names_its_ends() -> None:
    plot = axis_plot(Scale(-1.0, 1.0), [(-1.0, "−1"), (0.0, "0"), (1.0, "1")])
    assert re.findall(r'text-anchor="(\w+)"[^>]*>([^<]+)<', plot) == [("start", "−1"), ("middle", "0"), ("end", "1")]
