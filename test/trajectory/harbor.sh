#!/bin/sh
# Has harbor's own models read the ATIF golden, in a virtual environment of their own.
# PYTHON names a Python of at least 3.12.
set -eu
cd "$(dirname "$0")/../.."
env=.cache/harbor python="${PYTHON:-python3.12}"
if ! "$env/bin/python" -c 'import harbor' 2>/dev/null; then
	if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then
		echo "$python is no Python of at least 3.12: name one with PYTHON=" >&2
		exit 1
	fi
	rm -rf "$env" # half of one, or a link that leads nowhere
	"$python" -m venv "$env"
	"$env/bin/pip" install -q harbor
fi
"$env/bin/pip" list 2>/dev/null | grep -i '^harbor '
"$env/bin/python" test/trajectory/atif.py internal/trajectory/testdata/atif.json
"$env/bin/python" test/trajectory/atif.py internal/trajectory/testdata/conversation.json
