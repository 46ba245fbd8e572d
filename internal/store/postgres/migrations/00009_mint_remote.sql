-- What backends elsewhere have for clients of the training service, by the names that
-- clients know. docs/MINT.md describes the pass-through.
-- +goose Up
CREATE TABLE mint_remote (
    owner   TEXT   NOT NULL CHECK (owner <> ''),
    kind    TEXT   NOT NULL, -- session, model, sampler, request or checkpoint
    id      TEXT   NOT NULL, -- what clients say
    backend TEXT   NOT NULL,
    there   TEXT   NOT NULL, -- what the backend says
    session TEXT   NOT NULL,
    state   TEXT   NOT NULL,
    about   BYTEA  NOT NULL, -- JSON
    created BIGINT    NOT NULL, -- nanoseconds since 1970 UTC
    PRIMARY KEY (owner, kind, id)
);
CREATE INDEX mint_remote_session ON mint_remote (owner, session);
CREATE INDEX mint_remote_due ON mint_remote (created) WHERE state = 'due';
