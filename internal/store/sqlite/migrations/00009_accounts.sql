-- What keys and tenants have used of their bounds. docs/formats/log.md describes it.
-- +goose Up
CREATE TABLE accounts (
    owner        TEXT    NOT NULL CHECK (owner <> ''),
    account      TEXT    NOT NULL, -- a key's id; '' for the tenant
    at           INTEGER NOT NULL, -- up to when requests and tokens have refilled; nanoseconds since 1970 UTC
    requests     INTEGER NOT NULL, -- taken out of a minute's, in millionths
    tokens       INTEGER NOT NULL, -- the same
    day          TEXT    NOT NULL, -- 2006-01-02, UTC
    day_tokens   INTEGER NOT NULL,
    day_cost     INTEGER NOT NULL, -- billionths of a US dollar
    month_tokens INTEGER NOT NULL,
    month_cost   INTEGER NOT NULL,
    PRIMARY KEY (owner, account)
) STRICT, WITHOUT ROWID;
