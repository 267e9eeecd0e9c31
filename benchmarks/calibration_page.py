"""What :mod:`calibration` keeps, and the page it makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from statistics import mode

from scipy import stats

from consilience.simulate.violations import SITUATIONS
from consilience.wording import with_contents

LEVELS = (0.05, 0.01)
MOST_ELSEWHERE = 0.075
LABELS = {"fedci": "fedci", "residual": "residual", "smooth": "residual, smooth", "random": "random", "fisher": "Fisher", "kci": "KCI"}
OURS = ("residual", "smooth")
"""Methods that must be inside their intervals in the second table too."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some replications of one method on one row of a table, at one size; how many were rejected at each level, once that is known."""

    row: str
    n: int
    method: str
    first: int
    count: int
    rejected: tuple[int, ...] = (0,) * len(LEVELS)
    seconds: float = 0.0

    def answered(self, p: Iterable[float], seconds: float) -> Block:
        """The same block with its rejections."""
        found = list(p)
        return replace(self, rejected=tuple(sum(value < level for value in found) for level in LEVELS), seconds=round(seconds, 3))

    def joined(self, other: Block) -> Block:
        """This block and the one that comes right after it."""
        rejected = tuple(a + b for a, b in zip(self.rejected, other.rejected, strict=True))
        return replace(self, count=self.count + other.count, rejected=rejected, seconds=round(self.seconds + other.seconds, 3))


@dataclass(slots=True)
class Kept:
    """All rejections so far, by row, size and method."""

    blocks: dict[tuple[str, int, str], Block] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> Kept:
        """What a file has; nothing, if there is none."""
        kept = cls()
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                made = json.loads(line)
                kept._take(Block(**made | {"rejected": tuple(made["rejected"])}))
        return kept

    def _take(self, done: Block) -> None:
        key = done.row, done.n, done.method
        if done.first == self.count(*key):  # blocks are kept in their order, so what is there is complete up to its end
            self.blocks[key] = self.blocks[key].joined(done) if key in self.blocks else done

    def add(self, done: Block, path: Path) -> None:
        """Take a block, and append it to the file."""
        self._take(done)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(done), ensure_ascii=False) + "\n")

    def write(self, path: Path) -> None:
        """The same file with one line for each cell of the tables."""
        lines = [json.dumps(asdict(self.blocks[key]), ensure_ascii=False) for key in sorted(self.blocks)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def count(self, row: str, n: int, method: str) -> int:
        """How many replications are there."""
        found = self.blocks.get((row, n, method))
        return 0 if found is None else found.count

    def share(self, row: str, n: int, method: str, level: float) -> float:
        """The share of rejections."""
        found = self.blocks[row, n, method]
        return found.rejected[LEVELS.index(level)] / found.count

    def cells(self, rows: Sequence[str]) -> Iterator[tuple[str, int, str]]:
        """What there is for some rows."""
        return (key for key in self.blocks if key[0] in rows)

    def outside(self, held: set[str]) -> dict[tuple[str, int, str], str]:
        """What is wrong, in words, by cell: a share outside its interval where assumptions hold, or too large elsewhere."""
        found = {}
        for row, n, method in self.cells([*SITUATIONS, *held]):
            if method not in OURS:
                continue
            tries = self.count(row, n, method)
            for level in LEVELS:
                share = self.share(row, n, method, level)
                # a conservative answer is no false edge: only too many rejections are wrong
                high = stats.binom.isf(0.005, tries, level) / tries if row in held else MOST_ELSEWHERE
                if share > high:
                    words = f"{row}, n = {n:,}, {method}: {share:.4f} at {level}, at most {high:.4f} ({tries:,} replications)"
                    found[row, n, method] = words
        return found

    def text(self, *tables: Sequence[str]) -> str:
        """Everything as plain lines."""
        lines = []
        for row, n, method in sorted(self.cells([name for table in tables for name in table])):
            tries = self.count(row, n, method)
            shares = " ".join(f"{self.share(row, n, method, level):.4f}" for level in LEVELS)
            lines.append(f"{row:45s} {n:6d} {method:9s} {shares}  {tries:5d}  {1e3 * self.blocks[row, n, method].seconds / tries:.0f} ms")
        return "\n".join(lines)


def table(kept: Kept, rows: Sequence[str], level: float) -> str:
    """A table in Markdown: a row per situation, a column per method with its sizes; bold where a test rejects too often."""
    cells = list(kept.cells(rows))
    methods = [m for m in LABELS if any(key[2] == m for key in cells)]
    sizes = {m: sorted({n for _, n, method in cells if method == m}) for m in methods}
    head = " | ".join(f"{LABELS[m]}, n = {' / '.join(f'{n:,}' for n in sizes[m])}" for m in methods)
    lines = [f"| data | {head} |", "|---|" + "---|" * len(methods)]
    for row in rows:
        about = SITUATIONS[row].about if row in SITUATIONS else row
        found = [[_cell(kept, row, n, m, level) for n in sizes[m]] for m in methods]
        if any(share for shares in found for share in shares):
            lines.append(f"| {about} | {' | '.join(' / '.join(share or '–' for share in shares) for shares in found)} |")
    return "\n".join(lines)


def _cell(kept: Kept, row: str, n: int, method: str, level: float) -> str:
    tries = kept.count(row, n, method)
    if not tries:
        return ""
    share = kept.share(row, n, method, level)
    return f"**{share:.3f}**" if share > stats.binom.isf(0.005, tries, level) / tries else f"{share:.3f}"


def page(kept: Kept, others: Sequence[str], pairs: Sequence[str]) -> str:
    """The page in docs/."""
    usual = mode([block.count for block in kept.blocks.values() if block.method in OURS] or [1])
    bounds = {a: [stats.binom.ppf(q, usual, a) / usual for q in (0.005, 0.995)] for a in LEVELS}
    interval = ", ".join(f"{low:.4f} to {high:.4f} at {a}" for a, (low, high) in bounds.items())
    counts = sorted({(m, kept.count(r, n, m)) for r, n, m in kept.cells([*others, *pairs])})
    asked = [m for m in LABELS if any(method == m for method, _ in counts)]
    done = "; ".join(f"{LABELS[m]} {', '.join(f'{c:,}' for method, c in counts if method == m)}" for m in asked)
    return with_contents(f"""# Calibration

How often a test rejects a true independence. X and Y are independent given Z in all rows of both tables; what differs is whether the
models of a test hold. Made by `make calibration`; the data are those of `consilience.simulate.violations`. Bold: more rejections
than the 99% interval of the binomial distribution allows (with {usual:,} replications {interval}).
Where a test says that it cannot tell (`informative=False`), that is no rejection. Replications: {done}.
There are some two hundred figures for each of our methods, and one in two hundred is above its interval by chance: such a cell is asked
five times as often, and judged by all of its replications. What they are compared with is asked fewer times where that takes long, and
no more once it is settled that it does not hold.

- `fedci`, `random`, Fisher: nested generalised linear models, straight lines, one slope for all sites, independent rows.
- `residual`: smooth means, slopes of their own for sites, any variances, wards where there are any (`cluster="ward"`); it looks for
  covariance. `residual, smooth` looks for any smooth dependence (`alternatives="smooth"`).
- KCI: the kernel test of causal-learn, on pooled rows, given Z and the site. pycomets' measure is not on the package index that these
  figures were made with.

## Where the linear model does not hold

Rejected at 0.05:

{table(kept, others, 0.05)}

Rejected at 0.01:

{table(kept, others, 0.01)}

A step has no smooth mean: there `residual` is bound to 0.075 only. Eight wards (n = 400) are too few to tell. Three rows for each of 200
codes (n = 600 and below) are too few to tell.

## Where every model holds

Every pair of kinds, drawn from its own response model; intercepts of their own at four sites; Z of each kind in turn. Rejected at 0.05:

{table(kept, pairs, 0.05)}

Rejected at 0.01:

{table(kept, pairs, 0.01)}

The combined p-value of the likelihood test, min{{2 min(p), max(p)}}, is not exactly uniform where its two directions differ; what matters
for decisions is the share of rejections.
""")
