-- The workers' list by when a summary may be taken and then by turn, whose ids are in the
-- order in which turns began.
-- +goose Up
DROP INDEX summaries_due;
CREATE INDEX summaries_due ON summaries (due, turn);
