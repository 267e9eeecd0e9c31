BEGIN TRANSACTION;
CREATE TABLE accounts (
    name text primary key,
    password text not null,
    created real not null
, role text not null default 'owner') strict;
INSERT INTO "accounts" VALUES('ada','hash',1.0,'owner');
CREATE TABLE audit (
    number integer primary key,
    time real not null,
    account text not null references accounts (name) on delete cascade,
    study text not null default '',
    action text not null,
    detail text not null default ''
) strict;
INSERT INTO "audit" VALUES(1,1.0,'ada','00112233aabbccdd','created','');
CREATE TABLE documents (
    study text not null references studies (id) on delete cascade,
    name text not null,
    content blob not null,
    primary key (study, name)
) strict
;
INSERT INTO "documents" VALUES('00112233aabbccdd','result.json',X'7B7D');
CREATE TABLE events (
    study text not null references studies (id) on delete cascade,
    number integer not null,
    time real not null,
    kind text not null,
    body text not null,
    primary key (study, number)
) strict;
INSERT INTO "events" VALUES('00112233aabbccdd',1,1.0,'created','{}');
CREATE TABLE invitations (
    study text not null references studies (id) on delete cascade,
    site text not null,
    digest blob not null,
    expires real not null,
    primary key (study, site)
) strict;
INSERT INTO "invitations" VALUES('00112233aabbccdd','marburg',X'0000000000000000000000000000000000000000000000000000000000000000',9000000000.0);
CREATE TABLE journal (
    study text not null references studies (id) on delete cascade,
    number integer not null,
    entry blob not null,
    primary key (study, number)
) strict;
INSERT INTO "journal" VALUES('00112233aabbccdd',0,X'612073756D');
CREATE TABLE links (
    digest blob primary key,
    kind text not null,
    account text references accounts (name) on delete cascade,
    role text not null default '',
    expires real not null
) strict
;
CREATE TABLE members (
    study text not null references studies (id) on delete cascade,
    account text not null references accounts (name) on delete cascade,
    role text not null,
    result integer not null default 0,
    since real not null,
    primary key (study, account)
) strict;
CREATE TABLE origin (
    only integer primary key check (only = 1),
    identity blob not null
) strict
;
CREATE TABLE received (
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
;
INSERT INTO "received" VALUES('00112233aabbccdd',1,1.0,'muenster','ab',1,100,X'0000000000000000000000000000000000000000000000000000000000000000','');
CREATE TABLE results (
    study text not null references studies (id) on delete cascade,
    x text not null,
    y text not null,
    given text not null,
    result blob not null,
    primary key (study, x, y, given)
) strict;
CREATE TABLE searches (
    study text primary key references studies (id) on delete cascade,
    queued real not null,
    done blob not null
) strict
;
CREATE TABLE sites (
    study text not null references studies (id) on delete cascade,
    name text not null,
    identity blob not null,
    declaration blob,
    consent blob,
    joined real not null, fits integer, declined text not null default '', withdrew real, withdrew_reason text not null default '',
    primary key (study, name)
) strict;
INSERT INTO "sites" VALUES('00112233aabbccdd','muenster',X'000102030405060708090A0B0C0D0E0F101112131415161718191A1B1C1D1E1F',NULL,NULL,1.5,NULL,'',NULL,'');
CREATE TABLE studies (
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
, origin text not null default '') strict;
INSERT INTO "studies" VALUES('00112233aabbccdd','ada','stroke','failed',NULL,NULL,X'81A5616C706861CB3FA999999999999A',NULL,'TooFewRowsError: two rows',3,400,1.0,2.0,'');
CREATE TABLE tokens (
    digest blob primary key,
    account text references accounts (name) on delete cascade,
    study text references studies (id) on delete cascade,
    site text,
    expires real not null
, kind text not null default 'program', created real not null default 0, seen real not null default 0, agent text not null default '', address text not null default '') strict;
INSERT INTO "tokens" VALUES(X'202122232425262728292A2B2C2D2E2F303132333435363738393A3B3C3D3E3F','ada',NULL,NULL,9000000000.0,'program',0.0,0.0,'','');
CREATE INDEX studies_by_owner on studies (owner);
CREATE UNIQUE INDEX sites_by_identity on sites (study, identity);
CREATE INDEX tokens_by_account on tokens (account);
CREATE INDEX audit_by_account on audit (account, number);
CREATE INDEX audit_by_study on audit (study, number)
;
CREATE INDEX members_by_account on members (account)
;
PRAGMA user_version = 9;
COMMIT;
