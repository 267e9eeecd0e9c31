"""Whether leaving out each site names the one whose data are wrong, and nobody where all are right.

    python benchmarks/corrupted_site.py [--studies 50] [--rows 400] [--sites 5] [--out corrupted.jsonl]

Each study has sites of one structure (five variables of mixed kinds, `simulate.mixed_sites`), with intercepts of their own. In half of the
studies one site, drawn at random, has one of these done to its table, in turn:

- *shuffled*: one variable's values in another order, as after a join by the wrong key;
- *reversed*: one variable coded the other way round (numbers with the other sign, levels from the last to the first);
- *swapped*: two of the numbers under each other's name.

A line a study goes to `--out`; what is there already is not done again.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import polars as pl

import consilience as cs

FAULTS = ("shuffled", "reversed", "swapped")
NAMES = ("A", "B", "C", "D", "E")


def corrupt(frame: pl.DataFrame, fault: str, name: str, rng: np.random.Generator) -> pl.DataFrame:
    """A site's table with one fault."""
    if fault == "swapped":
        return frame.rename({"A": "B", "B": "A"}).select(NAMES)
    column = frame[name]
    if fault == "shuffled":
        return frame.with_columns(column.gather(rng.permutation(frame.height)))
    if column.dtype.is_float():
        return frame.with_columns(-column)
    levels = sorted(column.unique().to_list())
    return frame.with_columns(column.replace_strict(dict(zip(levels, levels[::-1], strict=True)), return_dtype=column.dtype))


def study(number: int, sites: int, rows: int, method: str) -> dict[str, object]:
    """One study: who was wrong and how, who is named, and everybody's influence."""
    rng = np.random.default_rng([number, 18])
    frames = cs.simulate.mixed_sites(n=rows * sites, sites=sites, seed=1000 + number)
    wrong, fault, name = str(rng.choice(list(frames))), FAULTS[number // 2 % len(FAULTS)], str(rng.choice(NAMES))
    if number % 2:
        frames[wrong] = corrupt(frames[wrong], fault, name, rng)
    found = cs.discover(cs.Server([cs.Client(k, f) for k, f in frames.items()], method=method), leave_one_out=True).stability
    assert found is not None
    assert found.sites is not None
    influence = dict(found.sites.select("site", "influence").iter_rows())
    what = {"wrong": wrong, "fault": fault, "variable": name} if number % 2 else {"wrong": None, "fault": None, "variable": None}
    return {"study": number, **what, "named": found.suspect, "most": max(influence, key=lambda k: influence[k]), "influence": influence}


def main() -> None:
    """Run what is missing, and print how often the right site was named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--studies", type=int, default=50, help="with a site that is wrong, and as many without")
    parser.add_argument("--rows", type=int, default=400, help="of each site")
    parser.add_argument("--sites", type=int, default=5)
    parser.add_argument("--method", default="fedci")
    parser.add_argument("--out", type=Path, default=Path("corrupted.jsonl"))
    given = parser.parse_args()
    done = {line["study"]: line for line in map(json.loads, given.out.read_text().splitlines())} if given.out.exists() else {}
    for number in range(2 * given.studies):
        if number not in done:
            done[number] = study(number, given.sites, given.rows, given.method)
            with given.out.open("a") as file:
                file.write(json.dumps(done[number]) + "\n")
    lines = [done[number] for number in range(2 * given.studies)]
    wrong, right = [line for line in lines if line["wrong"]], [line for line in lines if not line["wrong"]]
    for fault in FAULTS:
        own = [line for line in wrong if line["fault"] == fault]
        print(
            f"{fault:>9}: named {sum(line['named'] == line['wrong'] for line in own)} of {len(own)}, "
            f"of most influence {sum(line['most'] == line['wrong'] for line in own)}"
        )
    print(
        f"one site wrong: named {sum(line['named'] == line['wrong'] for line in wrong)} of {len(wrong)} studies, "
        f"another one named in {sum(line['named'] not in (None, line['wrong']) for line in wrong)}"
    )
    print(f"all sites right: one named in {sum(line['named'] is not None for line in right)} of {len(right)} studies")


if __name__ == "__main__":
    main()
