-- Turns of trials, and the pair that a turn begins with (pair in turn.opened), which older
-- builds cannot read. docs/formats/ledger.md describes them.
-- +goose Up
CREATE TABLE forge_trials (
    owner        TEXT    NOT NULL CHECK (owner <> ''),
    trial        INTEGER NOT NULL, -- version of the canary's alias
    turn         TEXT    NOT NULL,
    session      TEXT    NOT NULL,
    conversation TEXT    NOT NULL, -- the session where it began
    arm          TEXT    NOT NULL CHECK (arm IN ('champion', 'canary')),
    PRIMARY KEY (owner, trial, turn)
) STRICT, WITHOUT ROWID;
CREATE INDEX forge_trials_session ON forge_trials (owner, session);
