-- Saved tools: the kinds tool.saved, tool.judged, tool.used and tool.demoted.
-- docs/formats/log.md describes them.
-- +goose Up
CREATE TABLE shed (
    owner   TEXT    NOT NULL,
    tool    TEXT    NOT NULL, -- its digest
    session TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    opened  INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (owner, tool)
) STRICT, WITHOUT ROWID;
CREATE INDEX shed_session ON shed (owner, session);
