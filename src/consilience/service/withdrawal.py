"""A site that has withdrawn: what is said of it, and the mark that a result bears of which it was part.

What was summed cannot be taken out again: a sum over three sites has no third that could be erased, and to make it anew over two would tell
the third's part. So what is there stays, nothing is added, and whoever reads the result is told.
"""

from __future__ import annotations

from datetime import UTC, datetime

from consilience.service.result_files import marked
from consilience.service.store import SiteRow, Store, StudyRow
from consilience.wording import printable

__all__ = ["mark_documents", "sentence_of", "sentences_of"]

STAYS = "What it had contributed before is part of the sums behind this result, and cannot be taken out of them."


def sentence_of(site: SiteRow) -> str:
    """That a site has withdrawn, when, and why if it has said so; empty if it has not withdrawn.

    >>> sentence_of(SiteRow("mainz", b"", None, True, 0.0, withdrew=0.0, withdrew_reason="a mistake in the table"))
    'mainz withdrew on 1970-01-01: a mistake in the table.'
    """
    if site.withdrew is None:
        return ""
    why = f": {printable(site.withdrew_reason).rstrip('.')}" if site.withdrew_reason else ""
    return f"{site.name} withdrew on {datetime.fromtimestamp(site.withdrew, UTC):%Y-%m-%d}{why}."


def sentences_of(store: Store, row: StudyRow) -> list[str]:
    """Of all sites that have withdrawn from a study, or from the one whose tests it decides again."""
    found = [site for study in (row.id, row.origin) if study for site in store.studies.sites(study)]
    took_part = found if row.contract is not None else []
    return [f"{words} {STAYS}" for words in map(sentence_of, took_part) if words]


def mark_documents(store: Store, row: StudyRow) -> None:
    """Mark the result of a study, if it has one, with who has withdrawn; also those that were decided again from its tests."""
    with store.database.writing():
        for study in (row, *store.studies.made_from(row.id)):
            sentences = sentences_of(store, study)
            found = {name: store.runs.document(study.id, name) for name in ("result.json", "report.html")} if sentences else {}
            store.runs.put_documents(study.id, [(name, marked(name, body, sentences)) for name, body in found.items() if body])
