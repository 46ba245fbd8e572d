-- The training service: sessions, models under training, the journal of operations,
-- samplers and checkpoints. docs/MINT.md describes them.
-- +goose Up
CREATE TABLE mint_sessions (
    owner   TEXT   NOT NULL CHECK (owner <> ''),
    id      TEXT   NOT NULL,
    about   BLOB  NOT NULL, -- JSON
    created INTEGER    NOT NULL, -- all times: nanoseconds since 1970 UTC; 0: never
    seen    INTEGER    NOT NULL,
    ended   INTEGER    NOT NULL,
    reason  TEXT   NOT NULL,
    detail  TEXT   NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT;
CREATE INDEX mint_sessions_living ON mint_sessions (ended);
CREATE TABLE mint_models (
    owner          TEXT   NOT NULL CHECK (owner <> ''),
    id             TEXT   NOT NULL,
    session        TEXT   NOT NULL,
    base           TEXT   NOT NULL,
    about          BLOB  NOT NULL, -- JSON
    created        INTEGER    NOT NULL,
    used           INTEGER    NOT NULL,
    steps          INTEGER    NOT NULL,
    applied        INTEGER    NOT NULL, -- number of the operation that was carried out last
    snapshot       TEXT   NOT NULL, -- digest of a blob
    snapshot_at    INTEGER    NOT NULL, -- operation that the snapshot was taken after
    snapshot_steps INTEGER    NOT NULL,
    form           TEXT   NOT NULL, -- of the snapshot: whole, state, masters, adapter
    unloaded       INTEGER    NOT NULL,
    corrupted      INTEGER    NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT;
CREATE INDEX mint_models_session ON mint_models (owner, session);
CREATE TABLE mint_ops (
    owner       TEXT   NOT NULL CHECK (owner <> ''),
    id          TEXT   NOT NULL,
    session     TEXT   NOT NULL,
    model       TEXT   NOT NULL,
    sampler     TEXT   NOT NULL,
    seq         INTEGER    NOT NULL,
    kind        TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
    body        BLOB, -- NULL when it is not needed any more
    body_blob   TEXT   NOT NULL,
    result      BLOB,
    result_blob TEXT   NOT NULL,
    failure     TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    bytes       INTEGER    NOT NULL,
    created     INTEGER    NOT NULL,
    done        INTEGER    NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT;
CREATE INDEX mint_ops_model ON mint_ops (owner, model, seq);
CREATE INDEX mint_ops_session ON mint_ops (owner, session);
CREATE INDEX mint_ops_pending ON mint_ops (created) WHERE state = 'pending';
CREATE TABLE mint_samplers (
    owner    TEXT NOT NULL CHECK (owner <> ''),
    id       TEXT NOT NULL,
    session  TEXT NOT NULL,
    base     TEXT NOT NULL,
    model    TEXT NOT NULL,
    path     TEXT NOT NULL,
    adapter  TEXT NOT NULL, -- digest of a blob
    inflight INTEGER  NOT NULL,
    created  INTEGER  NOT NULL,
    used     INTEGER  NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT;
CREATE INDEX mint_samplers_session ON mint_samplers (owner, session);
CREATE TABLE mint_checkpoints (
    path    TEXT  NOT NULL PRIMARY KEY,
    owner   TEXT  NOT NULL CHECK (owner <> ''),
    run     TEXT  NOT NULL,
    kind    TEXT  NOT NULL,
    name    TEXT  NOT NULL,
    base    TEXT  NOT NULL,
    about   BLOB NOT NULL, -- JSON
    state   TEXT  NOT NULL, -- digests of blobs
    adapter TEXT  NOT NULL,
    bytes   INTEGER   NOT NULL,
    created INTEGER   NOT NULL,
    expires INTEGER   NOT NULL,
    public  INTEGER   NOT NULL
) STRICT;
CREATE INDEX mint_checkpoints_run ON mint_checkpoints (owner, run, created);
CREATE INDEX mint_checkpoints_expires ON mint_checkpoints (expires) WHERE expires <> 0;
CREATE TABLE mint_holder (
    one    INTEGER  NOT NULL PRIMARY KEY CHECK (one = 1),
    who    TEXT NOT NULL, -- the process that carries out operations
    until  INTEGER  NOT NULL
) STRICT;
