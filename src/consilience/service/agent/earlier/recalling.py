"""What a site's home remembers that matters for a contract which is proposed, or would be: the memory's side of a consent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from consilience.disclosure.shield import Shielded
from consilience.federation import Client
from consilience.service.agent.earlier.marks import marks_of_table
from consilience.service.agent.earlier.past import Answered, Past, TookPart
from consilience.service.agent.earlier.subtracting import Subtraction, other_identities, subtractions
from consilience.service.agent.home import StudyFolder
from consilience.service.contract import Contract

__all__ = ["Recalled", "recall"]


@dataclass(frozen=True, slots=True)
class Recalled:
    """What the site would take part with, what it and earlier studies tell together, and sites that had another identity then.

    ``written`` says that this was agreed to before. ``again`` says that it must be agreed to again all the same: sums of this very study
    have left the site, of another table; or it had ended without an answer, and other studies were agreed to as if it had never been.
    """

    contract: Contract
    past: Past
    took: TookPart
    subtractions: tuple[Subtraction, ...]
    identities: tuple[str, ...]
    again: bool
    written: bool

    @property
    def warnings(self) -> list[str]:
        """All of it, in words."""
        return [*(one.words for one in self.subtractions), *self.identities]

    @property
    def names(self) -> frozenset[str]:
        """What a consent must name."""
        return frozenset(one.key for one in self.subtractions)

    def keep(self, by: str) -> Recalled:
        """Write down that the site takes part, before its consent leaves; what there is to recall after that."""
        answered = self.took.contract in self.past.answered()
        self.past.add(msgspec.structs.replace(self.took, by=by))
        if answered:  # in an older home the folder says so, as long as there is no line
            self.past.add(Answered(contract=self.took.contract))
        return replace(self, again=False, written=True)


def recall(folder: StudyFolder, contract: Contract, client: Client, shielded: Shielded) -> Recalled:
    """Look up what matters for a contract, by what of the client's table takes part (what ``disclosing`` shows of it)."""
    past = Past(folder.home)
    held = tuple(sorted(client.held(contract.schema)))
    took = TookPart.of(contract, folder.joined.url, held, marks_of_table(shielded.table, client.identity))
    earlier = past.counting(took.contract)
    others = [one for one in earlier if one.contract != took.contract]
    written = any((one.contract, one.marks.table) == (took.contract, took.marks.table) for one in past.studies())
    found = tuple(subtractions(took, others if written else earlier))
    again = took.contract in past.over() or any(one.earlier == (took.contract,) for one in found)
    return Recalled(contract, past, took, found, tuple(other_identities(took, others)), again, written)
