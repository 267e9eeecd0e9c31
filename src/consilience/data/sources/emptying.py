"""Codes that an owner names as missing, in tables that come with types: numbers by their value, words in any case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from consilience.data.kinds import level_label
from consilience.data.sources.loaded import Loaded
from consilience.data.sources.missing import codes_of
from consilience.frames import pl

__all__ = ["emptied_of"]


def emptied_of(loaded: Loaded, missing: Sequence[str]) -> Loaded:
    """The table with the owner's codes missing, and counted. What a text file's reader has emptied is empty already.

    >>> found = emptied_of(Loaded(pl.DataFrame({"chol": [233, -9], "sex": ["m", "K.A."]})), ("-9", "k.a."))
    >>> found.frame.rows(), found.emptied
    ([(233, 'm'), (None, None)], {'chol': {'-9': 1}, 'sex': {'K.A.': 1}})
    """
    if not missing:
        return loaded
    codes, words = codes_of(missing), {word.strip().lower() for word in missing}
    done = {column.name: _one(column, codes, words) for column in loaded.frame}
    counted = {name: dict(loaded.emptied.get(name, {})) | counts for name, (_, counts) in done.items() if counts}
    levels = {name: tuple(v for v in order if v.strip().lower() not in words) for name, order in loaded.levels.items()}
    frame = pl.DataFrame([column for column, _ in done.values()])
    return replace(loaded, frame=frame, levels=levels, emptied={**loaded.emptied, **counted})


def _one(column: pl.Series, codes: list[float], words: set[str]) -> tuple[pl.Series, dict[str, int]]:
    if column.dtype.is_numeric():
        gone = column.cast(pl.Float64).is_in(pl.Series(codes, dtype=pl.Float64)) if codes else None
    elif column.dtype in (pl.String, pl.Categorical) or isinstance(column.dtype, pl.Enum):
        gone = column.cast(pl.String).str.strip_chars().str.to_lowercase().is_in(sorted(words))
    else:
        return column, {}
    if gone is None or not gone.any():
        return column, {}
    counts = column.filter(gone).alias("value").value_counts()
    left = column.to_frame().select(pl.when(~gone.fill_null(value=False)).then(pl.nth(0))).to_series().alias(column.name)
    if isinstance(column.dtype, pl.Enum):  # a code is no level
        kept = [level for level in column.dtype.categories.to_list() if level.strip().lower() not in words]
        left = left.cast(pl.String).cast(pl.Enum(kept))
    return left, {level_label(value): count for value, count in counts.iter_rows()}
