-- The catalogue of adapter revisions. docs/formats/catalogue.md describes it.
-- +goose Up
CREATE TABLE revisions (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    owner     TEXT    NOT NULL CHECK (owner <> ''),
    hash      TEXT    NOT NULL,
    name      TEXT    NOT NULL,
    parent    TEXT    NOT NULL,
    created   INTEGER NOT NULL, -- nanoseconds since 1970 UTC
    shard     TEXT    NOT NULL, -- '' for a directory of its own
    at        INTEGER NOT NULL, -- first byte in the shard
    len       INTEGER NOT NULL,
    condemned INTEGER NOT NULL DEFAULT 0, -- when it was found that nothing reaches it; 0: something does
    signature TEXT    NOT NULL,
    body      TEXT    NOT NULL -- JSON: all that is not looked for
) STRICT;
CREATE UNIQUE INDEX revisions_hash ON revisions (owner, hash);
CREATE INDEX revisions_name ON revisions (owner, name, seq);
CREATE INDEX revisions_parent ON revisions (owner, parent, seq) WHERE parent <> '';
CREATE INDEX revisions_shard ON revisions (shard, seq) WHERE shard <> '';
CREATE INDEX revisions_condemned ON revisions (owner, condemned, seq) WHERE condemned <> 0;

CREATE TABLE recipes (
    owner TEXT NOT NULL,
    hash  TEXT NOT NULL,
    text  TEXT NOT NULL,
    PRIMARY KEY (owner, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE pointers (
    owner    TEXT    NOT NULL CHECK (owner <> ''),
    name     TEXT    NOT NULL,
    alias    TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    revision TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT    NOT NULL, -- JSON
    PRIMARY KEY (owner, name, alias)
) STRICT, WITHOUT ROWID;

CREATE TABLE moves (
    owner    TEXT    NOT NULL,
    name     TEXT    NOT NULL,
    alias    TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    revision TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (owner, name, alias, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX moves_at ON moves (owner, at);

CREATE TABLE revision_holds (
    owner    TEXT    NOT NULL,
    revision TEXT    NOT NULL,
    holder   TEXT    NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (owner, revision, holder)
) STRICT, WITHOUT ROWID;
