"""Names that would be code if a page took them for it."""

from __future__ import annotations

import polars as pl

from consilience.web.trial_tables import synthetic_tables
from tests.web.browser import Person

__all__ = ["FILE", "LEVELS", "STUDY_NAME", "VARIABLES", "frames", "unharmed"]

STUDY_NAME = "</title><script>window.harmed='study'</script><img src=x onerror=\"window.harmed='study'\">{{ 7*7 }}"
FILE = "<img src=x onerror=window.harmed='file'>.csv"
VARIABLES = {
    "age": "</script><script>window.harmed='variable'</script>",
    "sbp": "\"><img src=x onerror=window.harmed='variable'>",
    "stroke": "' onfocus='window.harmed=1' autofocus='",
    "disability": "]]></svg><svg onload=window.harmed='variable'>",
    "drug": "javascript:window.harmed=1//{{ 7*7 }}${7*7}",
}
LEVELS = {
    "none": "<svg onload=window.harmed='level'>",
    "ace inhibitor": "\"><script>window.harmed='level'</script>",
    "beta blocker": "</option></select><img src=x onerror=window.harmed='level'>",
    "calcium blocker": "'; window.harmed='level'; '",
}


def frames(rows: int = 450) -> dict[str, pl.DataFrame]:
    """Three hospitals, their columns and levels called so."""
    made = {}
    for name, frame in synthetic_tables(rows).frames.items():
        changes = [pl.col("drug").replace_strict(LEVELS)] if "drug" in frame.columns else []
        made[name] = frame.with_columns(changes).rename({old: new for old, new in VARIABLES.items() if old in frame.columns})
    return made


def unharmed(person: Person) -> None:
    """No name has run, not even after a moment; and none had to be stopped by the policy, which listens, too."""
    person.page.wait_for_timeout(50)
    assert person.page.evaluate("window.harmed") is None, person.page.url
    assert person.page.locator("svg[onload], img[src=x], [onfocus], [onerror]").count() == 0, person.page.url
    assert "49" not in person.page.title()
