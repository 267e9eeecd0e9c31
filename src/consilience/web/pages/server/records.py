"""What a study has on record: what came from each site, the tests that are done, and all of it as one file."""

from __future__ import annotations

from hashlib import sha256

from starlette.responses import Response

from consilience.service.server.exporting import EXPORTED, export
from consilience.service.server.received import totals_of
from consilience.web.pages.server.life import steps
from consilience.web.pages.server.visit import Visit, shows

__all__ = ["archive", "records"]

MOST_TESTS = 200


def _records(visit: Visit) -> Response:
    row, store, shown = visit.seen, visit.services.store, visit.access.result
    sites = [site.name for site in store.studies.sites(row.id)]
    results = store.runs.results(row.id) if shown else []
    informative = sorted((one for one in results if one.informative), key=lambda one: one.p_value)
    return visit.show(
        "records.html",
        "Records",
        steps=steps(row, visit.request.url.path, result=shown),
        shown=shown,
        study=row,
        totals=totals_of(sites, store.runs.heard(row.id)),
        tests=informative[:MOST_TESTS],
        informative=len(informative),
        silent=[one for one in results if not one.informative][:MOST_TESTS],
        done=store.runs.count_results(row.id),
        most=MOST_TESTS,
    )


def _archive(visit: Visit) -> Response:
    row = visit.whole
    content = export(visit.services, row)
    visit.services.store.audit.add(row.by, EXPORTED, study=row.id, detail=f"SHA-256 {sha256(content).hexdigest()}")
    return Response(content, media_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{row.id}.zip"'})


records = shows(_records)
archive = shows(_archive)
