-- Saved tools: the kinds tool.saved, tool.judged, tool.used and tool.demoted.
-- docs/formats/log.md describes them.
-- +goose Up
CREATE TABLE shed (
    owner   TEXT   NOT NULL,
    tool    TEXT   NOT NULL, -- its digest
    session TEXT   NOT NULL,
    name    TEXT   NOT NULL,
    opened  BIGINT NOT NULL,
    updated BIGINT NOT NULL,
    PRIMARY KEY (owner, tool)
);
CREATE INDEX shed_session ON shed (owner, session);
