"""The server's memory: SQLite in WAL mode, behind small interfaces.

``database`` holds the connection and the migrations; ``accounts``, ``links``, ``subjects``, ``studies``, ``members``, ``runs``,
``searches`` and ``audit`` are what the server asks of it. What a method has written is on disk when it returns.
"""

from consilience.service.store.accounts import AccountRole, AccountRow, Accounts, Principal, SessionRow, TokenKind
from consilience.service.store.audit import Audit, AuditRow
from consilience.service.store.database import Database
from consilience.service.store.links import LinkKind, LinkRow, Links
from consilience.service.store.members import Access, MemberRow, Members, Role
from consilience.service.store.origin import Origin
from consilience.service.store.runs import Event, Runs
from consilience.service.store.searches import Searches
from consilience.service.store.studies import InvitationRow, SiteRow, State, Studies, StudyRow
from consilience.service.store.subjects import Subjects

__all__ = [
    "Access",
    "AccountRole",
    "AccountRow",
    "Accounts",
    "Audit",
    "AuditRow",
    "Database",
    "Event",
    "InvitationRow",
    "LinkKind",
    "LinkRow",
    "Links",
    "MemberRow",
    "Members",
    "Origin",
    "Principal",
    "Role",
    "Runs",
    "Searches",
    "SessionRow",
    "SiteRow",
    "State",
    "Store",
    "Studies",
    "StudyRow",
    "Subjects",
    "TokenKind",
]


class Store:
    """Everything that a study server remembers, in one file."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.accounts = Accounts(database)
        self.links = Links(database)
        self.subjects = Subjects(database)
        self.studies = Studies(database)
        self.members = Members(database)
        self.runs = Runs(database)
        self.searches = Searches(database)
        self.audit = Audit(database)
        self.origin = Origin(database)
