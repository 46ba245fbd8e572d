-- Cards have records (card.rendered, card.action, card.state, card.outcome). No table
-- changes; older builds, which cannot read these records, refuse the database.
-- +goose Up
SELECT 1;
