-- Route decisions may have "preferred", "offered", "ranked_by" and "earlier". No table
-- changes; older builds, which cannot read these records, refuse the file.
-- +goose Up
SELECT 1;
