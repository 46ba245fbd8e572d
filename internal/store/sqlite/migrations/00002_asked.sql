-- Records may have "asked" (turn.opened, tool.results), and the kind response.deleted. No
-- table changes; older builds, which cannot read these records, refuse the file.
-- +goose Up
SELECT 1;
