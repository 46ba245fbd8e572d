#!/bin/sh
# Fuzzes every target of the module, one after the other, for the time given.
set -eu
time=${1:-5s}
go list -f '{{if .TestGoFiles}}{{.ImportPath}}{{else if .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | while read -r package; do
	[ -n "$package" ] || continue
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 20x "$package"
	done
done
