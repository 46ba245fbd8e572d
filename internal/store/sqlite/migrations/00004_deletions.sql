-- Deletion of whole sessions, on the record. docs/formats/log.md describes it.
-- +goose Up
CREATE INDEX turns_session ON turns (owner, session);
CREATE INDEX chains_session ON chains (owner, session);
CREATE INDEX calls_session ON calls (owner, session);

CREATE TABLE deletions (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    owner   TEXT    NOT NULL CHECK (owner <> ''),
    session TEXT    NOT NULL CHECK (session <> ''),
    why     TEXT    NOT NULL,
    time    INTEGER NOT NULL, -- nanoseconds since 1970 UTC
    records INTEGER NOT NULL,
    turns   INTEGER NOT NULL,
    bytes   INTEGER NOT NULL, -- of bodies and blobs
    done    INTEGER NOT NULL  -- 0 only inside the transaction that deletes
) STRICT;
CREATE INDEX deletions_session ON deletions (owner, session);

-- +goose StatementBegin
CREATE TRIGGER deletions_keep_update BEFORE UPDATE ON deletions WHEN OLD.done BEGIN
    SELECT RAISE(ABORT, 'what was deleted stays on the record');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER deletions_keep_delete BEFORE DELETE ON deletions BEGIN
    SELECT RAISE(ABORT, 'what was deleted stays on the record');
END;
-- +goose StatementEnd

DROP TRIGGER records_keep_delete;
-- +goose StatementBegin
CREATE TRIGGER records_keep_delete BEFORE DELETE ON records
WHEN NOT EXISTS (SELECT 1 FROM deletions d WHERE d.owner = OLD.owner AND d.session = OLD.session AND NOT d.done) BEGIN
    SELECT RAISE(ABORT, 'the log is append-only');
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER records_stay_deleted BEFORE INSERT ON records
WHEN EXISTS (SELECT 1 FROM deletions d WHERE d.owner = NEW.owner AND d.session = NEW.session) BEGIN
    SELECT RAISE(ABORT, 'the session was deleted');
END;
-- +goose StatementEnd
