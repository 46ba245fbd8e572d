#!/bin/sh
# Has harbor's own models read the ATIF golden, in a virtual environment of their own.
# PYTHON names a Python of at least 3.12.
set -eu
cd "$(dirname "$0")/../.."
env=.cache/harbor
if [ ! -x "$env/bin/python" ]; then
	"${PYTHON:-python3.12}" -m venv "$env"
	"$env/bin/pip" install -q harbor
fi
"$env/bin/pip" list 2>/dev/null | grep -i '^harbor '
"$env/bin/python" test/trajectory/atif.py internal/trajectory/testdata/atif.json
"$env/bin/python" test/trajectory/atif.py internal/trajectory/testdata/conversation.json
