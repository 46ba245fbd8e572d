#!/bin/sh
# Checks the types of the runtime's sources with the TypeScript that npm has installed
# below $1. The compiler looks for packages beside the sources, so it gets a copy of them.
set -eu
rm -rf "$1/src"
cp -r internal/ui4a/runtime/src internal/ui4a/runtime/tsconfig.json "$1"
cd "$1"
node_modules/.bin/tsc -p tsconfig.json
