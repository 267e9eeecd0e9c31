"""Write ``docs/settings.md`` from the declaration: ``python tests/settings/make_page.py``."""

from __future__ import annotations

from pathlib import Path

from consilience.settings.page import settings_page

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"

if __name__ == "__main__":
    PAGE.write_text(settings_page(), encoding="utf-8")
