-- The first schema of the log. docs/formats/log.md describes it.
-- +goose Up
PRAGMA application_id = 1296257585; -- "MCR1"

CREATE TABLE records (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT, -- never given twice
    id          TEXT    NOT NULL,
    owner       TEXT    NOT NULL CHECK (owner <> ''),
    session     TEXT    NOT NULL CHECK (session <> ''),
    run         TEXT    NOT NULL,
    turn        TEXT    NOT NULL,
    parent_turn TEXT    NOT NULL,
    request     TEXT    NOT NULL,
    time        INTEGER NOT NULL, -- nanoseconds since 1970 UTC
    contract    TEXT    NOT NULL,
    revision    TEXT    NOT NULL,
    purpose     TEXT    NOT NULL CHECK (purpose IN ('production', 'evaluation', 'discovery', 'training', 'replay')),
    consent     TEXT    NOT NULL CHECK (consent IN ('none', 'train')),
    kind        TEXT    NOT NULL,
    body        TEXT    NOT NULL, -- JSON
    blob        BLOB              -- token ids and logprobs of a hop, or null
) STRICT;
CREATE UNIQUE INDEX records_id ON records (owner, id);
CREATE INDEX records_session ON records (owner, session, seq);
CREATE INDEX records_turn ON records (owner, turn, seq) WHERE turn <> '';

-- +goose StatementBegin
CREATE TRIGGER records_keep_update BEFORE UPDATE ON records BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER records_keep_delete BEFORE DELETE ON records BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
-- +goose StatementEnd

-- What follows is derived from the records, in the same transaction.
CREATE TABLE sessions (
    owner       TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    root        TEXT    NOT NULL,
    forked_from TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    opened      INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    turns       INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_updated ON sessions (owner, updated, id);

CREATE TABLE turns (
    owner   TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    session TEXT    NOT NULL,
    scope   TEXT    NOT NULL,
    parent  TEXT    NOT NULL,
    status  TEXT    NOT NULL,
    awaited INTEGER NOT NULL, -- 1 once the client has seen tool calls of it
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX turns_parent ON turns (owner, parent) WHERE parent <> '';
CREATE INDEX turns_open ON turns (owner, id) WHERE status = 'open';

CREATE TABLE chains (
    owner    TEXT    NOT NULL,
    scope    TEXT    NOT NULL,
    hash     BLOB    NOT NULL,
    turn     TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    messages INTEGER NOT NULL, -- of the turn's trace
    ending   INTEGER NOT NULL, -- 1 at the turn's end, 0 at its tool calls
    PRIMARY KEY (owner, scope, hash, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
    owner    TEXT    NOT NULL,
    scope    TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (owner, scope, id, turn)
) STRICT, WITHOUT ROWID;

CREATE TABLE summaries (
    owner    TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    attempts INTEGER NOT NULL,
    due      INTEGER NOT NULL, -- nobody may take it before
    PRIMARY KEY (owner, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX summaries_due ON summaries (due); -- the workers' list, read for no owner
