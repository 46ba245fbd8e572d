-- The ledger of the loop that improves releases. docs/formats/ledger.md describes it.
-- +goose Up
CREATE TABLE forge_entries (
    owner TEXT    NOT NULL CHECK (owner <> ''),
    seq   INTEGER NOT NULL, -- from 1, without a gap
    run   TEXT    NOT NULL,
    place INTEGER NOT NULL, -- in the run, from 1
    key   TEXT    NOT NULL CHECK (key <> ''),
    kind  TEXT    NOT NULL,
    at    INTEGER NOT NULL, -- nanoseconds since 1970 UTC
    prev  TEXT    NOT NULL, -- hash of the entry before
    hash  TEXT    NOT NULL,
    body  TEXT    NOT NULL, -- canonical JSON
    PRIMARY KEY (owner, seq)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX forge_entries_key ON forge_entries (owner, run, key);
CREATE UNIQUE INDEX forge_entries_place ON forge_entries (owner, run, place);

CREATE TABLE forge_aliases (
    owner   TEXT    NOT NULL CHECK (owner <> ''),
    name    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    release TEXT    NOT NULL, -- '' for none
    at      INTEGER NOT NULL,
    body    TEXT    NOT NULL, -- JSON
    PRIMARY KEY (owner, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE forge_texts (
    owner TEXT NOT NULL CHECK (owner <> ''),
    what  TEXT NOT NULL,
    name  TEXT NOT NULL,
    text  TEXT NOT NULL,
    PRIMARY KEY (owner, what, name)
) STRICT, WITHOUT ROWID;

-- +goose StatementBegin
CREATE TRIGGER forge_entries_keep_update BEFORE UPDATE ON forge_entries BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER forge_entries_keep_delete BEFORE DELETE ON forge_entries BEGIN
    SELECT RAISE(ABORT, 'the ledger is append-only');
END;
-- +goose StatementEnd
