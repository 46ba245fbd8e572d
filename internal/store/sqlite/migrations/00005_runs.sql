-- Runs: the kinds run.opened, tool.called, tool.returned, cell.ran, run.note and
-- run.closed, "continues" and "cost_usd" of hops, and prompts in token blobs.
-- docs/formats/log.md describes them.
-- +goose Up
ALTER TABLE sessions ADD COLUMN run TEXT NOT NULL DEFAULT ''; -- whose session it is; '' for conversations
DROP INDEX sessions_updated;
CREATE INDEX sessions_updated ON sessions (owner, run, updated, id);

CREATE TABLE runs (
    owner   TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    session TEXT    NOT NULL,
    status  TEXT    NOT NULL,
    title   TEXT    NOT NULL,
    mode    TEXT    NOT NULL,
    suite   TEXT    NOT NULL,
    purpose TEXT    NOT NULL,
    records INTEGER NOT NULL, -- from run.opened on
    opened  INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_session ON runs (owner, session);
CREATE INDEX runs_running ON runs (owner, id) WHERE status = 'running';

CREATE TABLE memory (
    owner   TEXT    NOT NULL,
    scope   TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    session TEXT    NOT NULL,
    time    INTEGER NOT NULL,
    PRIMARY KEY (owner, scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_session ON memory (owner, session);
