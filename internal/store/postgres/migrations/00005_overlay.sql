-- Route decisions may have "overlay". No table changes; older builds, which cannot read
-- these records, refuse the schema.
-- +goose Up
SELECT 1;
