"""How often a column of a real table is refused or doubted, and how often wrongly.

    python benchmarks/false_alarms.py

All tables that come with five packages (`tests/data/package_tables.py`, which has the judgement by eye) are read as a site would read them,
and every column is judged. Prints the tables, then every alarm with its judgement. Exit code 1 if more than one column in a hundred is
doubted wrongly, or one is refused wrongly.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.data.package_tables import judged

MOST_FALSE = 0.01


def main() -> int:
    """Count."""
    tables = list(judged())
    for table in tables:
        said = f"not read: {table.refused[:90]}" if table.refused else f"{table.columns:4} columns, {table.left_out} left out"
        print(f"{table.package:12} {table.table:42} {said}{f', {len(table.alarms)} alarms' if table.alarms else ''}")
    alarms = [alarm for table in tables for alarm in table.alarms]
    for alarm in alarms:
        print(f"{'true ' if alarm.true else 'FALSE'} {alarm.table}: {alarm.words[:140]}{f' ({alarm.true})' if alarm.true else ''}")
    false, columns = [alarm for alarm in alarms if not alarm.true], sum(table.columns for table in tables)
    read = sum(not table.refused for table in tables)
    print(f"{read} of {len(tables)} files read, {columns} columns: {len(alarms)} alarms, {len(false)} false ({len(false) / columns:.1%})")
    return 1 if len(false) > MOST_FALSE * columns or any(alarm.grade.stops for alarm in false) else 0


if __name__ == "__main__":
    sys.exit(main())
