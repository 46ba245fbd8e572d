-- The log as in the SQLite store, and the processes that share it.
-- docs/formats/log.md describes it.
-- +goose Up
CREATE TABLE records (
    seq         BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- rising within a session as commits do
    id          TEXT    NOT NULL,
    owner       TEXT    NOT NULL CHECK (owner <> ''),
    session     TEXT    NOT NULL CHECK (session <> ''),
    run         TEXT    NOT NULL,
    turn        TEXT    NOT NULL,
    parent_turn TEXT    NOT NULL,
    request     TEXT    NOT NULL,
    time        BIGINT  NOT NULL, -- nanoseconds since 1970 UTC
    contract    TEXT    NOT NULL,
    revision    TEXT    NOT NULL,
    purpose     TEXT    NOT NULL CHECK (purpose IN ('production', 'evaluation', 'discovery', 'training', 'replay')),
    consent     TEXT    NOT NULL CHECK (consent IN ('none', 'train')),
    kind        TEXT    NOT NULL,
    body        TEXT    NOT NULL, -- JSON, byte for byte as written
    blob        BYTEA             -- token ids and logprobs of a hop, or null
);
CREATE UNIQUE INDEX records_id ON records (owner, id);
CREATE INDEX records_session ON records (owner, session, seq);
CREATE INDEX records_turn ON records (owner, turn, seq) WHERE turn <> '';

CREATE TABLE sessions (
    owner       TEXT    NOT NULL,
    id          TEXT    NOT NULL,
    scope       TEXT    NOT NULL,
    root        TEXT    NOT NULL,
    forked_from TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    opened      BIGINT  NOT NULL,
    updated     BIGINT  NOT NULL,
    turns       INTEGER NOT NULL,
    PRIMARY KEY (owner, id)
);
CREATE INDEX sessions_updated ON sessions (owner, updated, id);

CREATE TABLE turns (
    owner    TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    scope    TEXT    NOT NULL,
    parent   TEXT    NOT NULL,
    status   TEXT    NOT NULL,
    awaited  BOOLEAN NOT NULL, -- true once the client has seen tool calls of it
    instance TEXT    NOT NULL DEFAULT '', -- the process that opened it, or opened it again
    PRIMARY KEY (owner, id)
);
CREATE INDEX turns_parent ON turns (owner, parent) WHERE parent <> '';
CREATE INDEX turns_session ON turns (owner, session);
CREATE INDEX turns_open ON turns (owner, id) WHERE status = 'open';

CREATE TABLE chains (
    owner    TEXT    NOT NULL,
    scope    TEXT    NOT NULL,
    hash     BYTEA   NOT NULL,
    turn     TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    messages INTEGER NOT NULL, -- of the turn's trace
    ending   BOOLEAN NOT NULL, -- true at the turn's end, false at its tool calls
    PRIMARY KEY (owner, scope, hash, turn)
);
CREATE INDEX chains_session ON chains (owner, session);

CREATE TABLE calls (
    owner    TEXT    NOT NULL,
    scope    TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    messages INTEGER NOT NULL,
    PRIMARY KEY (owner, scope, id, turn)
);
CREATE INDEX calls_session ON calls (owner, session);

CREATE TABLE summaries (
    owner    TEXT    NOT NULL,
    turn     TEXT    NOT NULL,
    session  TEXT    NOT NULL,
    attempts INTEGER NOT NULL,
    due      BIGINT  NOT NULL, -- nobody may take it before
    instance TEXT    NOT NULL DEFAULT '', -- the process that holds it
    PRIMARY KEY (owner, turn)
);
CREATE INDEX summaries_due ON summaries (due); -- the workers' list, read for no owner

-- The processes that serve this log. One whose time has passed has ended, and what
-- it had open is taken over by the others.
CREATE TABLE instances (
    id    TEXT        PRIMARY KEY,
    since TIMESTAMPTZ NOT NULL DEFAULT now(),
    until TIMESTAMPTZ NOT NULL
);

CREATE TABLE deletions (
    id      BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner   TEXT    NOT NULL CHECK (owner <> ''),
    session TEXT    NOT NULL CHECK (session <> ''),
    why     TEXT    NOT NULL,
    time    BIGINT  NOT NULL, -- nanoseconds since 1970 UTC
    records BIGINT  NOT NULL,
    turns   BIGINT  NOT NULL,
    bytes   BIGINT  NOT NULL, -- of bodies and blobs
    done    BOOLEAN NOT NULL  -- false only inside the transaction that deletes
);
CREATE INDEX deletions_session ON deletions (owner, session);

-- +goose StatementBegin
CREATE FUNCTION macaron_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0] USING ERRCODE = 'restrict_violation';
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION macaron_keep_record() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM deletions d WHERE d.owner = OLD.owner AND d.session = OLD.session AND NOT d.done) THEN
        RAISE EXCEPTION 'the log is append-only' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN OLD;
END $$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION macaron_stay_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM deletions d WHERE d.owner = NEW.owner AND d.session = NEW.session) THEN
        RAISE EXCEPTION 'the session was deleted' USING ERRCODE = 'restrict_violation';
    END IF;
    RETURN NEW;
END $$;
-- +goose StatementEnd

CREATE TRIGGER records_keep_update BEFORE UPDATE ON records FOR EACH ROW EXECUTE FUNCTION macaron_refuse('the log is append-only');
CREATE TRIGGER records_keep_truncate BEFORE TRUNCATE ON records FOR EACH STATEMENT EXECUTE FUNCTION macaron_refuse('the log is append-only');
CREATE TRIGGER records_keep_delete BEFORE DELETE ON records FOR EACH ROW EXECUTE FUNCTION macaron_keep_record();
CREATE TRIGGER records_stay_deleted BEFORE INSERT ON records FOR EACH ROW EXECUTE FUNCTION macaron_stay_deleted();
CREATE TRIGGER deletions_keep_update BEFORE UPDATE ON deletions FOR EACH ROW WHEN (OLD.done) EXECUTE FUNCTION macaron_refuse('what was deleted stays on the record');
CREATE TRIGGER deletions_keep_delete BEFORE DELETE ON deletions FOR EACH ROW EXECUTE FUNCTION macaron_refuse('what was deleted stays on the record');
