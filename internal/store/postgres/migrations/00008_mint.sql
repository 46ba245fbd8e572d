-- The training service: sessions, models under training, the journal of operations,
-- samplers and checkpoints. docs/MINT.md describes them.
-- +goose Up
CREATE TABLE mint_sessions (
    owner   TEXT   NOT NULL CHECK (owner <> ''),
    id      TEXT   NOT NULL,
    about   BYTEA  NOT NULL, -- JSON
    created BIGINT    NOT NULL, -- all times: nanoseconds since 1970 UTC; 0: never
    seen    BIGINT    NOT NULL,
    ended   BIGINT    NOT NULL,
    reason  TEXT   NOT NULL,
    detail  TEXT   NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX mint_sessions_living ON mint_sessions (ended);
CREATE TABLE mint_models (
    owner          TEXT   NOT NULL CHECK (owner <> ''),
    id             TEXT   NOT NULL,
    session        TEXT   NOT NULL,
    base           TEXT   NOT NULL,
    about          BYTEA  NOT NULL, -- JSON
    created        BIGINT    NOT NULL,
    used           BIGINT    NOT NULL,
    steps          BIGINT    NOT NULL,
    applied        BIGINT    NOT NULL, -- number of the operation that was carried out last
    snapshot       TEXT   NOT NULL, -- digest of a blob
    snapshot_at    BIGINT    NOT NULL, -- operation that the snapshot was taken after
    snapshot_steps BIGINT    NOT NULL,
    form           TEXT   NOT NULL, -- of the snapshot: whole, state, masters, adapter
    unloaded       BIGINT    NOT NULL,
    corrupted      BIGINT    NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX mint_models_session ON mint_models (owner, session);
CREATE TABLE mint_ops (
    owner       TEXT   NOT NULL CHECK (owner <> ''),
    id          TEXT   NOT NULL,
    session     TEXT   NOT NULL,
    model       TEXT   NOT NULL,
    sampler     TEXT   NOT NULL,
    seq         BIGINT    NOT NULL,
    kind        TEXT   NOT NULL,
    state       TEXT   NOT NULL CHECK (state IN ('pending', 'done', 'failed')),
    body        BYTEA, -- NULL when it is not needed any more
    body_blob   TEXT   NOT NULL,
    result      BYTEA,
    result_blob TEXT   NOT NULL,
    failure     TEXT   NOT NULL,
    category    TEXT   NOT NULL,
    bytes       BIGINT    NOT NULL,
    created     BIGINT    NOT NULL,
    done        BIGINT    NOT NULL,
    PRIMARY KEY (owner, id)
);
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
    inflight BIGINT  NOT NULL,
    created  BIGINT  NOT NULL,
    used     BIGINT  NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX mint_samplers_session ON mint_samplers (owner, session);
CREATE TABLE mint_checkpoints (
    path    TEXT  NOT NULL PRIMARY KEY,
    owner   TEXT  NOT NULL CHECK (owner <> ''),
    run     TEXT  NOT NULL,
    kind    TEXT  NOT NULL,
    name    TEXT  NOT NULL,
    base    TEXT  NOT NULL,
    about   BYTEA NOT NULL, -- JSON
    state   TEXT  NOT NULL, -- digests of blobs
    adapter TEXT  NOT NULL,
    bytes   BIGINT   NOT NULL,
    created BIGINT   NOT NULL,
    expires BIGINT   NOT NULL,
    public  BIGINT   NOT NULL
);
CREATE INDEX mint_checkpoints_run ON mint_checkpoints (owner, run, created);
CREATE INDEX mint_checkpoints_expires ON mint_checkpoints (expires) WHERE expires <> 0;
CREATE TABLE mint_holder (
    one    BIGINT  NOT NULL PRIMARY KEY CHECK (one = 1),
    who    TEXT NOT NULL, -- the process that carries out operations
    until  BIGINT  NOT NULL
);
