"""A site in a job: bytes in, bytes out. It is the site of a study server, with its folder, its ledger, its memory and its guard; whether it
agrees is what the site's own settings say.

FLARE has proved before who the two sides are, which the challenge does elsewhere. Nothing else is taken on trust: the contract, and every
message after it, may come from somebody who has the server.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec

from consilience.errors import AccessError, ConsilienceError, ProtocolError, RefusalError
from consilience.federation import Client
from consilience.federation.site.ledger import printable
from consilience.protocol.errors import MessageSizeError, OutOfTurnError, code_of
from consilience.protocol.framing import decode, encode
from consilience.protocol.handshake import Challenge, Closing, Declined, Proposal, Welcome, from_server
from consilience.protocol.messages import KeyAsk, KeySet, Refused, Round
from consilience.service.agent.asking import Asked, Decide, Decision, unattended
from consilience.service.agent.home import Home, Joined, StudyFolder
from consilience.service.agent.result import keep_result
from consilience.service.agent.site import Site
from consilience.service.config import AgentConfig
from consilience.service.contract import Contract, decode_contract
from consilience.service.errors import ChangedIdentityError
from consilience.service.invitation import check_study_id
from consilience.service.tls import write_private

__all__ = ["NETWORK", "Participant", "folder_of", "table_of"]

NETWORK = "nvflare"
"""In place of a server's address, in the folder of a study."""
CANNOT = "The site cannot take part; its log says why."
"""What the study's owner is told of a site whose settings, files or records keep it from taking part: nothing about them."""
NOBODY = (
    "Nobody is here to be asked. Agree to this contract with `consilience nvflare consent KIT JOB`, or to all that a policy allows, with "
    "yes = true and policy = FILE in the site's settings. Nothing has left this site."
)


class Participant:
    """The site ``name``, which is what it is called in the federation, with its own ``settings``; ``say`` is for its owner's eyes.

    It takes part in one study: that of the first contract that comes. :meth:`close` lets go of the study's folder.
    """

    def __init__(self, name: str, settings: AgentConfig, say: Callable[[str], None]) -> None:
        self._name, self._settings, self._say = name, settings, say
        self._site: Site | None = None
        self._folder: StudyFolder | None = None
        self._client: Client | None = None
        self._lock: IO[bytes] | None = None

    def answer(self, data: bytes) -> bytes:
        """The answer to a message; empty where there is nothing to say.

        Raises
        ------
        ProtocolError
            What came is no message, too long, or has no place in a job.
        """
        if len(data) > self._settings.max_message_bytes:
            raise MessageSizeError(f"A message may have {self._settings.max_message_bytes} bytes here; got {len(data)}.")
        message = decode(data, from_server)
        if isinstance(message, Proposal):
            return encode(self._propose(message))
        if not isinstance(message, KeyAsk | KeySet | Round | Closing):
            raise ProtocolError(f"{type(message).__name__} has no place in a job.")
        if self._site is None:
            return encode(Refused(code_of(OutOfTurnError("")), "This site has not been shown a contract in this job; propose it first."))
        reply = self._site.handle(message)
        if isinstance(reply, Refused):
            self._say(f"refused: {printable(reply.message)}")
        return b"" if reply is None else encode(reply)

    def _propose(self, message: Proposal) -> msgspec.Struct:
        """Consent, or a no in words that tell nothing of this site; what it is about, its owner reads here and in the ledger."""
        try:
            site = self._site or self._join(decode_contract(message.contract))
            reply: msgspec.Struct = site.handle(message)
        except ConsilienceError as error:
            self._say(f"does not take part: {printable(str(error))}")
            self._note(error)
            return Declined(CANNOT)
        if isinstance(reply, Declined):
            self._say(f"does not take part: {printable(str(site.failure))} {site.advice}".rstrip())
            self._note(site.failure)
        return reply

    def _note(self, why: ConsilienceError) -> None:
        """A contract that is refused stands in the ledger, where one can be written: no person was there to see it.

        What does not fit in the table is not for the ledger, which is handed over for audits: the site has written down only that.
        """
        if self._site is not None and isinstance(why, RefusalError | AccessError | ProtocolError):
            with suppress(ConsilienceError):  # the records themselves may be what is wrong, which was said
                self._site.note_refusal("the contract of a job", str(why))

    def _join(self, contract: Contract) -> Site:
        """The site in the study of this contract, as if it had just been welcomed."""
        settings = self._settings
        decide = unattended(settings) or _nobody
        home = Home(Path(settings.home), settings.identity_password)
        folder = folder_of(home, contract.study, self._name)
        self._lock = folder.lock()
        self._client = table_of(self._name, settings)
        self._folder = folder
        self._site = Site(self._client, folder, lambda *_: False, settings.peers, decide=self._telling(decide))
        self._site.state.moves(Challenge)  # FLARE's mutual TLS was it
        self._site.handle(Welcome(self._name, contract.study, contract.name, "running"))
        return self._site

    def _telling(self, decide: Decide) -> Decide:
        def decided(asked: Asked) -> Decision:
            found = decide(asked)
            if found.yes:
                self._say(f"agreed to {asked.contract.digest.hex()} by {found.by}")
            return found

        return decided

    def keep(self, result: bytes) -> list[Path]:
        """Write the study's result into its folder, as data that were looked at; the paths."""
        if self._folder is None or self._client is None or self._folder.contract is None:
            raise ProtocolError("A result has no place here: this site has agreed to no contract in this job.")
        return keep_result(self._folder, result, set(self._client.declarations) & set(self._folder.contract.schema))

    def close(self) -> None:
        """Let go of the study's folder."""
        if self._lock is not None:
            self._lock.close()


def table_of(name: str, settings: AgentConfig) -> Client:
    """The site's table, by its settings."""
    return Client(
        name,
        settings.data,
        kinds=settings.kinds,
        levels=settings.levels,
        harmonise=settings.harmonise or None,
        identity=Home(Path(settings.home), settings.identity_password).identity(),
        min_cell=settings.min_cell,
        rare_levels=settings.rare_levels,
    )


def folder_of(home: Home, study: str, site: str) -> StudyFolder:
    """The folder of a study in a site's home, made if there is none; an error if the study came another way, or to another name."""
    folder = StudyFolder(home.path / "studies" / check_study_id(study))
    if not (folder.path / "study.json").exists():
        write_private(folder.path / "study.json", msgspec.json.encode(Joined(NETWORK, study, site, "")))
    joined = folder.joined
    if (joined.url, joined.site) != (NETWORK, site):
        raise ChangedIdentityError(
            f"This site has the study {study} from {joined.url!r} as {joined.site!r}; a job of FLARE's asks {site!r} for it. Its memory of "
            f"what was answered is for one of them. Nothing is sent. Ask the study's owner."
        )
    return folder


def _nobody(_asked: Asked) -> Decision:
    return Decision(yes=False, why=NOBODY)
