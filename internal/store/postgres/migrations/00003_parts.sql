-- Turns may be parts of others (turn.opened "part", the kind turn.joined), views may be
-- compacted (view.compacted), and hops may be of the kind split. No table changes; older
-- builds, which cannot read these records, refuse the schema.
-- +goose Up
SELECT 1;
