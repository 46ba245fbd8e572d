-- What keys and tenants have used of their bounds. docs/formats/log.md describes it.
-- +goose Up
CREATE TABLE accounts (
    owner        TEXT    NOT NULL CHECK (owner <> ''),
    account      TEXT    NOT NULL, -- a key's id; '' for the tenant
    at           BIGINT  NOT NULL, -- up to when requests and tokens have refilled; nanoseconds since 1970 UTC
    requests     BIGINT  NOT NULL, -- taken out of a minute's, in millionths
    tokens       BIGINT  NOT NULL, -- the same
    day          TEXT    NOT NULL, -- 2006-01-02, UTC
    day_tokens   BIGINT  NOT NULL,
    day_cost     BIGINT  NOT NULL, -- billionths of a US dollar
    month_tokens BIGINT  NOT NULL,
    month_cost   BIGINT  NOT NULL,
    PRIMARY KEY (owner, account)
);
