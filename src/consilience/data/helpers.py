"""Processes beside this one that sum blocks of rows.

Two threads of Python wait for each other: each of the tens of thousands of short calls that sum a block begins and ends where only one may
run. Two processes do not. A helper is this program once more (:mod:`consilience.data.helping`); it is told what to make of blocks, and is
given the columns of a part in memory that both see. It is started when sums have taken long enough for that to pay, and until it is there
threads do its part. Whatever becomes of it, nothing is lost: what it does not say, this process makes itself.

Where the system has no memory without a name (``memfd_create``: Linux has), there are no helpers.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from threading import RLock
from typing import Any, NoReturn

from consilience.data.helping import ENOUGH, FAILED, READY
from consilience.data.slot import Slot
from consilience.data.table import Table
from consilience.parallel import environment_of_own

__all__ = ["Gone", "Helper", "Helpers", "helpers"]

POSSIBLE = hasattr(os, "memfd_create") and bool(sys.executable) and not hasattr(sys, "frozen")
"""Not where memory has a name, nor where this program is no interpreter that could be started once more."""
START_SECONDS = 0.5
"""What sums must have taken before a helper is started, which takes about as long."""
PATIENCE = 60.0
"""Seconds that a helper may take for what takes no time, and beyond those that it has been seen to need for a part. It may have been
stopped, or the computer may be busy; either way this process goes on alone."""
IDLE_SECONDS = 120.0
"""A helper that nothing is asked of for so long ends: a site that computes no more has no use for its memory."""
KEEPING = {"MALLOC_MMAP_THRESHOLD_": str(1 << 25), "MALLOC_TRIM_THRESHOLD_": str(1 << 26)}
"""For the system's allocator: what one block has used is kept for the next. By itself it gives memory back and asks for it again, a
million pages in ten seconds, and a helper took half as long again as the process that it helps; that one has used so much when it read the
table that its allocator knows better."""
MOST_LOST = 3
"""Helpers that ended without a word: then no more are started. There is a reason, and it will not go away."""
PARTS = 2
"""Parts that a helper has at a time: one to work on, and one to go on with."""
PROGRAM = (
    "import json, sys; told = json.loads(sys.argv[1]); sys.path[:] = told.pop(); from consilience.data.helping import main; main(*told)"
)
OURS = ("consilience.data.", "consilience.glm.", "consilience.protocol.")
"""Where what is made of blocks is defined: what of it is loaded here is loaded there before the first work comes."""


class Gone(Exception):  # noqa: N818  no error: the work is done elsewhere
    """A helper does not answer, or cannot do what it was asked."""


class Helper:
    """One process. It ends with :meth:`close`, when nothing was asked of it for long, or with this process, however that ends."""

    def __init__(self) -> None:
        self.waiting, self.is_over, self.was_lost = 0, False, False
        self._began, self._next = False, 0
        modules = sorted(name for name in sys.modules if name.startswith(OURS))
        path = [entry for entry in sys.path if isinstance(entry, str)]
        self._slots, self._answers = list[Slot](), list[Slot]()
        try:
            self._process, self._connection = self._started(modules, path)
        except BaseException:
            self._give_back()
            raise

    def _started(self, modules: list[str], path: list[str]) -> tuple[subprocess.Popen[bytes], Connection]:
        for _ in range(PARTS):
            self._slots.append(Slot())
            self._answers.append(Slot())
        slots, answers = ([slot.fd for slot in each] for each in (self._slots, self._answers))
        ours, theirs = socket.socketpair()
        with ours, theirs:
            limit = struct.pack("ll", int(PATIENCE), 0)
            for way in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):  # who stops in the middle of a message holds nobody up
                ours.setsockopt(socket.SOL_SOCKET, way, limit)
            told = json.dumps([theirs.fileno(), slots, answers, modules, IDLE_SECONDS, path])
            process = subprocess.Popen(  # noqa: S603  our own program
                [sys.executable, "-P", "-c", PROGRAM, told],  # -P: nothing is loaded from wherever this process happens to be
                pass_fds=[theirs.fileno(), *slots, *answers],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**environment_of_own(), **KEEPING},
            )
            return process, Connection(ours.detach())

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    @property
    def is_free(self) -> bool:
        """True if it can be given a part."""
        return self.waiting < PARTS and not self.is_over

    def is_ready(self) -> bool:
        """True if it has begun and is still there; Gone if it has ended. Nothing must be asked of it."""
        while self._connection.poll():
            self._began = self._hear() == READY
            if not self._began:
                self._end(lost=True)
        return self._began

    def begin(self, work: bytes) -> None:
        """What is to be made of the parts that follow, and their schema."""
        self._say(work)

    def give(self, part: Table) -> None:
        """A part of a table; :attr:`is_free` must be true."""
        k, self._next = self._next, (self._next + 1) % PARTS
        self.waiting += 1
        try:
            placed = self._slots[k].put({**part.numbers, **part.codes})
        except OSError:  # no room
            self._end(lost=True)
        numbers = [place for place in placed if place[0] in part.numbers]
        codes = [place for place in placed if place[0] in part.codes]
        self._say(pickle.dumps((k, numbers, codes, part.block_rows), pickle.HIGHEST_PROTOCOL))

    def has_made(self) -> bool:
        """True if something can be taken from it without waiting."""
        return self._connection.poll()

    def take(self, patience: float) -> list[Any]:
        """What it has made of the first of the parts that it was given."""
        if self.is_over:
            raise Gone
        if not self._connection.poll(patience):
            self._end(lost=True)
        said = self._hear()
        self.waiting -= 1
        if said == FAILED:
            raise Gone
        k, placed = pickle.loads(said)  # noqa: S301  from a process of ours
        found: list[Any] = pickle.loads(self._answers[k].get(placed)[""].data)  # noqa: S301
        return found

    def _say(self, what: bytes) -> None:
        if self.is_over:
            raise Gone
        self.is_over = True  # if it ends in the middle of a message, by whatever, nobody could go on from there
        try:
            self._connection.send_bytes(what)
        except OSError:
            self._end(lost=True)
        self.is_over = False

    def _hear(self) -> bytes:
        self.is_over = True
        try:
            heard = self._connection.recv_bytes()
        except (EOFError, OSError):
            self._end(lost=True)
        self.is_over = False
        if heard == ENOUGH:
            self._end(lost=False)
        return heard

    def _end(self, *, lost: bool) -> NoReturn:
        self.is_over, self.was_lost = True, lost
        raise Gone

    def close(self) -> None:
        """End it and wait until it is gone."""
        self._connection.close()
        self._process.kill()
        self._process.wait()
        self._give_back()

    def forget(self) -> None:
        """In a copy of this process (``fork``): it is the other's."""
        self._process.returncode = 0  # nothing to wait for here
        self._connection.close()
        self._give_back()

    def _give_back(self) -> None:
        for slot in (*self._slots, *self._answers):
            slot.close()


@dataclass(slots=True, eq=False)
class Helpers:
    """All helpers of this process, of whatever table. Each is lent to one sum at a time."""

    there: list[Helper] = field(default_factory=list)
    lent: list[Helper] = field(default_factory=list)
    lost: int = 0
    spent: float = 0.0
    _lock: RLock = field(default_factory=RLock)  # the collector may end a sum, which gives back what it has, in the middle of this

    def are_there(self, most: int) -> bool:
        """True if one of at most so many has nothing to do. While there are fewer, others are started if that pays."""
        with self._lock:
            return bool(self._free(most))

    @contextmanager
    def borrowed(self, most: int) -> Iterator[list[Helper]]:
        """Those that have nothing to do, at most so many."""
        taken = list[Helper]()
        try:
            with self._lock:
                taken += self._free(most)
                self.there = [helper for helper in self.there if helper not in taken]
                self.lent += taken
            yield taken
        finally:
            with self._lock:
                self.lent = [helper for helper in self.lent if helper not in taken]
                for helper in taken:
                    if helper.waiting or helper.is_over:  # in the middle of something that nobody waits for
                        self._drop(helper)
                    else:
                        self.there.append(helper)

    def _free(self, most: int) -> list[Helper]:
        if not most or not POSSIBLE:
            return []
        free = list[Helper]()
        for helper in list(self.there):
            try:
                free += [helper] if helper.is_ready() else []
            except Gone:
                self.there = [other for other in self.there if other is not helper]
                self._drop(helper)
        while len(self.lent) + len(self.there) < most and self.lost < MOST_LOST and self.spent >= START_SECONDS:
            try:
                self.there.append(Helper())
            except OSError:  # no more processes, or no files
                self.lost += 1
        return free[:most]

    def _drop(self, helper: Helper) -> None:
        self.lost += helper.was_lost
        helper.close()

    def close(self) -> None:
        """End those that are not lent."""
        with self._lock:
            for helper in self.there:
                helper.close()
            self.there.clear()

    def forget(self) -> None:
        """In a copy of this process: it has none."""
        for helper in (*self.there, *self.lent):
            helper.forget()
        self.there, self.lent, self._lock = [], [], RLock()


helpers = Helpers()
atexit.register(helpers.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=helpers.forget)
