"""What happens in a run: its journal, its results, its events, and the documents at its end."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from consilience.citest.result import CIResult
from consilience.federation.transport.journal import JournalEntry
from consilience.federation.transport.remote import Heard
from consilience.service.errors import LifeCycleError
from consilience.service.store.database import Database
from consilience.service.tests_done import TestsDone
from consilience.typed import msgpack_decoder

__all__ = ["Event", "Runs"]

WITHHELD = "withheld.json"
"""A document that is not for downloading: what results leave out."""


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened in a study, in order."""

    number: int
    time: float
    kind: str
    body: dict[str, Any]


_entry = msgpack_decoder(JournalEntry)
_result = msgpack_decoder(CIResult)


class Runs:
    """The runs of a database. What is here was on disk before anybody was told."""

    def __init__(self, database: Database) -> None:
        self._db = database

    def journal(self, study: str) -> list[JournalEntry]:
        """The sums of a run so far, in order."""
        return [_entry.decode(row[0]) for row in self._db.all("select entry from journal where study = ? order by number", (study,))]

    def has_journal(self, study: str) -> bool:
        """True while the sums of a run are kept: it can go on asking its sites."""
        return self._db.one("select 1 from journal where study = ? limit 1", (study,)) is not None

    def append(self, study: str, entry: JournalEntry, heard: Sequence[Heard] = ()) -> Event:
        """One round: its sum, what was heard from whom, the study's counters and an event, together."""
        # one transaction: counters and events that told of a sum which is not there, or the other way round, would differ after a restart
        with self._db.writing():
            self.hear(study, heard)
            (number,) = self._db.one("select coalesce(max(number), -1) + 1 from journal where study = ?", (study,))
            self._db.write("insert into journal (study, number, entry) values (?, ?, ?)", (study, number, msgspec.msgpack.encode(entry)))
            self._db.write("update studies set rounds = rounds + 1, bytes = bytes + ? where id = ?", (entry.size, study))
            rounds, size = self._db.one("select rounds, bytes from studies where id = ?", (study,))
            body = {"rounds": rounds, "bytes": size, **({"gone": entry.gone} if entry.gone else {})}
            return self.add_event(study, "round", body)

    def hear(self, study: str, heard: Sequence[Heard]) -> None:
        """Write down what came from whom: bytes and digests. Nothing, if the study has been deleted meanwhile."""
        if not heard:
            return
        with self._db.writing():
            now = self._db.clock()
            (number,) = self._db.one("select coalesce(max(number), 0) from received where study = ?", (study,))
            rows = [(number + i, now, *one, study) for i, one in enumerate(heard, start=1)]
            self._db.write_many(
                "insert into received (study, number, time, site, run, round, bytes, digest, refused) "
                "select id, ?, ?, ?, ?, ?, ?, ?, ? from studies where id = ?",
                rows,
            )

    def heard(self, study: str, site: str = "") -> list[Heard]:
        """What came from all sites, or from one, in order."""
        rows = self._db.all(
            "select site, run, round, bytes, digest, refused from received where study = ? and (? = '' or site = ?) order by number",
            (study, site, site),
        )
        return [Heard(*row) for row in rows]

    def clear_journal(self, study: str) -> None:
        """Forget the sums, in every file: the run is over."""
        self._db.shred()
        self._db.write("delete from journal where study = ?", (study,))

    def add_results(self, study: str, results: Sequence[CIResult], body: dict[str, Any]) -> bool:
        """Results of a batch, and an event, together. False if all of it was there before: a run that goes on repeats itself."""
        rows = [(study, r.x, r.y, json.dumps(r.given), msgspec.msgpack.encode(r)) for r in results]
        with self._db.writing():
            # A run that goes on answers its questions again, from the journal, and arrives here with the same results: written where
            # different, and told only if something was. Rows keep their place (no "replace", which would move them to the end).
            before = self._db.changes()
            self._db.write_many(
                "insert into results (study, x, y, given, result) values (?, ?, ?, ?, ?) "
                "on conflict do update set result = excluded.result where result != excluded.result",
                rows,
            )
            if self._db.changes() == before:
                return False
            self.add_event(study, "tests", body)
            return True

    def results(self, study: str) -> list[CIResult]:
        """All results so far, in the order in which they came."""
        return [_result.decode(row[0]) for row in self._db.all("select result from results where study = ? order by rowid", (study,))]

    def encoded_results(self, study: str) -> list[bytes]:
        """The same, as they are stored."""
        return [bytes(row[0]) for row in self._db.all("select result from results where study = ? order by rowid", (study,))]

    def count_results(self, study: str) -> int:
        """How many results there are."""
        return int(self._db.one("select count(*) from results where study = ?", (study,))[0])

    def copy_results(self, study: str, to: str) -> int:
        """The results of a study for another one that is made of them, with what was withheld of them; how many they are."""
        with self._db.writing():
            copied = (
                "insert into results (study, x, y, given, result) select ?, x, y, given, result from results where study = ? order by rowid"
            )
            found = self._db.write(copied, (to, study))
            kept = "insert into documents (study, name, content) select ?, name, content from documents where study = ? and name = ?"
            self._db.write(kept, (to, study, WITHHELD))
        return found

    def reused(self, study: str) -> tuple[list[CIResult], TestsDone]:
        """The results that a run begins with, since it is one again, and how they were made; none and by nobody if it is not.

        A run that goes on after a crash must begin with the same: so many as there were then, whatever has come in since.
        """
        row = self._db.one("select body from events where study = ? and kind = 'rerun' order by number desc limit 1", (study,))
        if row is None:
            return [], TestsDone((), 0, 0, 0, 0)
        body: dict[str, Any] = json.loads(row[0])
        sites, origin = tuple(body.get("sites", ())), str(body.get("of", ""))
        before = TestsDone(sites, 0, 0, int(body.get("messages", 0)), int(body.get("numbers", 0)), self.withheld(study), origin=origin)
        return self.results(study)[: int(body["tests"])], before

    def is_again(self, study: str) -> bool:
        """Whether a study is run again, and that has not begun with its sites yet."""
        last = "select kind from events where study = ? and kind in ('rerun', 'run') order by number desc limit 1"
        return bool(self._db.one(last, (study,)) == ("rerun",))

    def withheld(self, study: str) -> tuple[str, ...]:
        """What rules on disclosure kept out of the results that are there, a sentence each."""
        found = self.document(study, WITHHELD)
        return tuple(json.loads(found)) if found else ()

    def keep_withheld(self, study: str, words: Sequence[str]) -> None:
        """Keep what rules on disclosure kept out of the results: a result that is made of them later says it, too."""
        if tuple(words) != self.withheld(study):
            self.put_documents(study, [(WITHHELD, json.dumps(list(words), ensure_ascii=False).encode())])

    def add_event(self, study: str, kind: str, body: dict[str, Any] | None = None) -> Event:
        """Write down that something happened."""
        now = self._db.clock()
        with self._db.writing():
            # the foreign key would refuse it as well, as a defect; a study that was deleted under a run's feet is none
            if self._db.one("select 1 from studies where id = ?", (study,)) is None:
                raise LifeCycleError("The study has been deleted.")
            (number,) = self._db.one("select coalesce(max(number), 0) + 1 from events where study = ?", (study,))
            text = json.dumps(body or {}, ensure_ascii=False)
            self._db.write("insert into events (study, number, time, kind, body) values (?, ?, ?, ?, ?)", (study, number, now, kind, text))
        return Event(number, now, kind, body or {})

    def events(self, study: str, after: int = 0, most: int = 500) -> list[Event]:
        """What happened after an event, oldest first; at most ``most``, so that a follower who was away long is served in parts."""
        rows = self._db.all(
            "select number, time, kind, body from events where study = ? and number > ? order by number limit ?", (study, after, most)
        )
        return [Event(number, time, kind, json.loads(body)) for number, time, kind, body in rows]

    def put_documents(self, study: str, documents: Iterable[tuple[str, bytes]]) -> None:
        """Keep the documents of a result, all or none."""
        self._db.write_many("replace into documents (study, name, content) values (?, ?, ?)", [(study, n, c) for n, c in documents])

    def document(self, study: str, name: str) -> bytes | None:
        """One document, or None."""
        row = self._db.one("select content from documents where study = ? and name = ?", (study, name))
        return bytes(row[0]) if row else None
