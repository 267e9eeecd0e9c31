"""Effects in four real hospitals, as a page: what the graphs of the UCI Heart Disease data say of each pair of variables.

    python benchmarks/effects_heart.py FOLDER [--out docs/effects-heart.md]

The data are not part of this repository: `examples/heart.py` says where they go. Age and sex are taken as exogenous, as there. Prints the
page, or writes it.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import warnings
from pathlib import Path
from types import ModuleType

import consilience as cs
from consilience.citest.effect import Contrast, Estimate
from consilience.citest.effect_words import change_in_words, interval_in_words, set_in_words, set_to_in_words
from consilience.iod.effects import Effects
from consilience.iod.effects_words import share_in_words
from consilience.wording import with_contents

HOSPITALS = ("cleveland", "hungarian", "switzerland", "va")
ALPHA = 0.01
HEAD = """# Effects in four hospitals

What would change if something were set, by the UCI Heart Disease data of four hospitals (Cleveland, Budapest, Zurich and Basel, Long
Beach), which stay where they are: [how effects are estimated](effects.md). Made by `python benchmarks/effects_heart.py FOLDER --out
docs/effects-heart.md`; every number comes from masked sums over the hospitals.

*How to read it.* A row says by how much an outcome would change if the variable before it were set to one value rather than another, and
nothing else were changed by hand. It holds if the graph does, which rests on {tests} tests at α = {alpha:g}. Age and sex were taken as
exogenous: that decided which graphs there are; that nothing hidden acts on the two is in no mark of a graph, and so is not used here.

{headline} Patients were sent for angiography, so that all of it is about such patients, and the graphs do not allow for how they were
chosen. The data are from 1988, and no advice for anybody.

The graphs:

    {graphs}

"""


def example() -> ModuleType:
    """``examples/heart.py``, which reads the hospitals' files."""
    spec = importlib.util.spec_from_file_location("heart", Path(__file__).parents[1] / "examples" / "heart.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def number(value: float | None) -> str:
    """A risk, or nothing for an outcome that has none."""
    return "" if value is None else f"{value:.0%}"


def rows(effects: Effects) -> list[str]:
    """The rows of one pair, for every set of graphs that gives an estimate."""
    found = []
    for say in effects.says:
        if say.estimate is not None and say.estimate.known:
            share = share_in_words(len(say.graphs), len(effects.graphs))
            found += [row(say.estimate, one, share) for one in say.estimate.contrasts]
    return found


def row(estimate: Estimate, one: Contrast, share: str) -> str:
    """One contrast."""
    outcome = f"{estimate.y} = {one.outcome}" if one.outcome else estimate.y
    change = f"**{change_in_words(one, estimate.unit_y)}**" if one.clear else change_in_words(one, estimate.unit_y)
    cells = (set_to_in_words(estimate, one), outcome, number(one.value_reference), number(one.value), change)
    rest = (interval_in_words(one), set_in_words(estimate.given), f"{estimate.n} of {estimate.contributors}", share)
    return f"| {' | '.join((*cells, *rest))} |"


def page(found: cs.Discovery) -> str:
    """The whole page."""
    graphs = "\n    ".join(map(str, found.pags))
    parts = [HEAD.format(tests=found.tests.height, alpha=found.alpha, headline=found.headline, graphs=graphs)]
    told = [line for one in found.effects for line in rows(one)]
    parts.append("## What the graphs identify\n\nIn bold what the interval tells apart from nothing. Rows: patients, and hospitals.\n\n")
    parts.append("| if | outcome | else | then | change | 95 % interval | adjusted for | rows | graphs |\n")
    parts.append("|---|---|---|---|---|---|---|---|---|\n" + "\n".join(told) + "\n\n")
    parts.append("## What cannot be told\n\nAssociations that must not be called effects, each with what stands in the way.\n\n")
    parts += [f"- {one.in_words()}\n" for one in found.effects if not one.known]
    zero: dict[str, list[str]] = {}
    for one in found.effects:
        if one.known and not one.estimates:
            zero.setdefault(one.x, []).append(one.y)
    parts.append("\n## What the graphs rule out\n\nOf these no effect is possible in any listed graph: at most the other way round.\n\n")
    parts += [f"- {x} on {', '.join(ys)}\n" for x, ys in zero.items()]
    return with_contents("".join(parts))


def main() -> int:
    """Discover, estimate, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    warnings.simplefilter("ignore", cs.DoubtfulDataWarning)  # two hospitals have a cholesterol of 0, as the example says
    heart = example()
    server = cs.Server([heart.hospital(asked.folder / f"{name}.csv") for name in HOSPITALS])
    found = cs.discover(server, alpha=ALPHA, knowledge=cs.Knowledge(exogenous=["age", "sex"]), effects=["* -> *"])
    text = page(found)
    if asked.out is None:
        print(text)
    else:
        asked.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
