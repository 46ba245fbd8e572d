-- Route decisions may have "overlay". No table changes; older builds, which cannot read
-- these records, refuse the file.
-- +goose Up
SELECT 1;
