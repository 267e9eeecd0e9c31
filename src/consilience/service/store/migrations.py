"""The database's versions: script number n takes it from version n - 1 to n. Scripts are added, never changed."""

from __future__ import annotations

__all__ = ["MIGRATIONS", "ZEROING"]

# strict: SQLite would else keep text in a column of numbers. Cascades: deleting a study deletes all that was learnt in it, in one
# statement. Results are keyed by their question: those of a run that goes on meet themselves.
_FIRST = """
create table accounts (
    name text primary key,
    password text not null,
    created real not null
) strict;
create table tokens (
    digest blob primary key,
    account text references accounts (name) on delete cascade,
    study text references studies (id) on delete cascade,
    site text,
    expires real not null
) strict;
create table studies (
    id text primary key,
    owner text not null references accounts (name),
    name text not null,
    state text not null,
    variables blob,
    datasets blob,
    settings blob not null,
    contract blob,
    message text not null default '',
    rounds integer not null default 0,
    bytes integer not null default 0,
    created real not null,
    changed real not null
) strict;
create index studies_by_owner on studies (owner);
create table invitations (
    study text not null references studies (id) on delete cascade,
    site text not null,
    digest blob not null,
    expires real not null,
    primary key (study, site)
) strict;
create table sites (
    study text not null references studies (id) on delete cascade,
    name text not null,
    identity blob not null,
    declaration blob,
    consent blob,
    joined real not null,
    primary key (study, name)
) strict;
create unique index sites_by_identity on sites (study, identity);
create table journal (
    study text not null references studies (id) on delete cascade,
    number integer not null,
    entry blob not null,
    primary key (study, number)
) strict;
create table results (
    study text not null references studies (id) on delete cascade,
    x text not null,
    y text not null,
    given text not null,
    result blob not null,
    primary key (study, x, y, given)
) strict;
create table events (
    study text not null references studies (id) on delete cascade,
    number integer not null,
    time real not null,
    kind text not null,
    body text not null,
    primary key (study, number)
) strict;
create table documents (
    study text not null references studies (id) on delete cascade,
    name text not null,
    content blob not null,
    primary key (study, name)
) strict
"""

# kind: a token of a program travels in a header, a session of the pages in a cookie, and neither is good for the other. The audit names
# studies without a reference to them: that one was deleted, and by whom, is worth knowing after it is gone.
_PAGES = """
alter table tokens add column kind text not null default 'program';
alter table tokens add column created real not null default 0;
alter table tokens add column seen real not null default 0;
alter table tokens add column agent text not null default '';
create index tokens_by_account on tokens (account);
create table audit (
    number integer primary key,
    time real not null,
    account text not null references accounts (name) on delete cascade,
    study text not null default '',
    action text not null,
    detail text not null default ''
) strict;
create index audit_by_account on audit (account, number);
create index audit_by_study on audit (study, number)
"""

# What came from which site, without the answer itself: an owner compares it with what sites have in their ledgers. It outlives the journal,
# since it says nothing that a sum would be made of.
_RECEIVED = """
create table received (
    study text not null references studies (id) on delete cascade,
    number integer not null,
    time real not null,
    site text not null,
    run text not null,
    round integer not null,
    bytes integer not null,
    digest blob not null,
    refused text not null default '',
    primary key (study, number)
) strict
"""

# What is needed beside the results to look for graphs, once all tests are made: by a worker, after a restart, or once more after a failure.
_SEARCHES = """
create table searches (
    study text primary key references studies (id) on delete cascade,
    queued real not null,
    done blob not null
) strict
"""

# Whose database it is. Without it, another server's file in its place would be served, with that server's accounts.
_ORIGIN = """
create table origin (
    only integer primary key check (only = 1),
    identity blob not null
) strict
"""

# How a site stands: whether its table fits (null: it has not said), why its owner has said no, when it withdrew and why. And where a study
# comes from that is a copy of another; without a reference, since the other may be deleted.
_LIVES = """
alter table sites add column fits integer;
alter table sites add column declined text not null default '';
alter table sites add column withdrew real;
alter table sites add column withdrew_reason text not null default '';
alter table studies add column origin text not null default ''
"""

# What a one-time link opens: another password for an account, or a new account with a role. Like tokens, only digests are kept.
_LINKS = """
create table links (
    digest blob primary key,
    kind text not null,
    account text references accounts (name) on delete cascade,
    role text not null default '',
    expires real not null
) strict
"""

# Who has a study beside its owner, and as what; and what an account may do at all.
_MEMBERS = """
alter table accounts add column role text not null default 'owner';
create table members (
    study text not null references studies (id) on delete cascade,
    account text not null references accounts (name) on delete cascade,
    role text not null,
    result integer not null default 0,
    since real not null,
    primary key (study, account)
) strict;
create index members_by_account on members (account)
"""

# Where somebody logged in from.
_ADDRESSES = """
alter table tokens add column address text not null default ''
"""

# Which person of a login service an account belongs to: names are given anew there, subjects are not.
_SUBJECTS = """
create table subjects (
    issuer text not null,
    subject text not null,
    account text not null references accounts (name) on delete cascade,
    primary key (issuer, subject)
) strict;
create unique index subjects_by_account on subjects (account)
"""

MIGRATIONS: tuple[str, ...] = (_FIRST, _PAGES, _RECEIVED, _SEARCHES, _ORIGIN, _LIVES, _LINKS, _MEMBERS, _ADDRESSES, _SUBJECTS)
ZEROING = 3
"""From this version on what is deleted is overwritten; a database of before is written anew once."""
