-- The ledger of the loop that improves releases, as in the SQLite store.
-- docs/formats/ledger.md describes it.
-- +goose Up
CREATE TABLE forge_entries (
    owner TEXT   NOT NULL CHECK (owner <> ''),
    seq   BIGINT NOT NULL, -- from 1, without a gap
    run   TEXT   NOT NULL,
    place BIGINT NOT NULL, -- in the run, from 1
    key   TEXT   NOT NULL CHECK (key <> ''),
    kind  TEXT   NOT NULL,
    at    BIGINT NOT NULL, -- nanoseconds since 1970 UTC
    prev  TEXT   NOT NULL, -- hash of the entry before
    hash  TEXT   NOT NULL,
    body  TEXT   NOT NULL, -- canonical JSON
    PRIMARY KEY (owner, seq)
);
CREATE UNIQUE INDEX forge_entries_key ON forge_entries (owner, run, key);
CREATE UNIQUE INDEX forge_entries_place ON forge_entries (owner, run, place);

CREATE TABLE forge_aliases (
    owner   TEXT   NOT NULL CHECK (owner <> ''),
    name    TEXT   NOT NULL,
    version BIGINT NOT NULL,
    release TEXT   NOT NULL, -- '' for none
    at      BIGINT NOT NULL,
    body    TEXT   NOT NULL, -- JSON
    PRIMARY KEY (owner, name)
);

CREATE TABLE forge_texts (
    owner TEXT NOT NULL CHECK (owner <> ''),
    what  TEXT NOT NULL,
    name  TEXT NOT NULL,
    text  TEXT NOT NULL,
    PRIMARY KEY (owner, what, name)
);

CREATE TRIGGER forge_entries_keep_update BEFORE UPDATE ON forge_entries FOR EACH ROW EXECUTE FUNCTION macaron_refuse('the ledger is append-only');
CREATE TRIGGER forge_entries_keep_delete BEFORE DELETE ON forge_entries FOR EACH ROW EXECUTE FUNCTION macaron_refuse('the ledger is append-only');
CREATE TRIGGER forge_entries_keep_truncate BEFORE TRUNCATE ON forge_entries FOR EACH STATEMENT EXECUTE FUNCTION macaron_refuse('the ledger is append-only');
