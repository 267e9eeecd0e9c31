"""Studies whose tests are all made, and whose graphs are sought or still to be sought: the queue, as a restart finds it again."""

from __future__ import annotations

import msgspec

from consilience.service.store.database import Database
from consilience.service.tests_done import TestsDone
from consilience.typed import msgpack_decoder

__all__ = ["Searches"]

_done = msgpack_decoder(TestsDone)


class Searches:
    """The searches of a database. A row stays until there are graphs, so that a search that failed can be made again."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def put(self, study: str, done: TestsDone) -> None:
        """All tests of a study are made; its place is behind those that are there. Told again, it keeps its place."""
        self._db.write(
            "insert into searches (study, queued, done) values (?, ?, ?) on conflict do update set done = excluded.done",
            (study, self._db.clock(), msgspec.msgpack.encode(done)),
        )

    def requeue(self, study: str) -> None:
        """To the end of the queue."""
        self._db.write("update searches set queued = ? where study = ?", (self._db.clock(), study))

    def get(self, study: str) -> TestsDone | None:
        """How the tests of a study were made, if all are and there are no graphs yet."""
        row = self._db.one("select done from searches where study = ?", (study,))
        return None if row is None else _done.decode(row[0])

    def queued(self) -> list[str]:
        """The studies, first come first."""
        return [str(study) for (study,) in self._db.all("select study from searches order by queued, rowid")]

    def remove(self, study: str) -> None:
        """There are graphs, or there never will be."""
        self._db.write("delete from searches where study = ?", (study,))
