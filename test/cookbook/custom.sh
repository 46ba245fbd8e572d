#!/usr/bin/env bash
# Losses that the client computes in PyTorch, against the service's own (custom.py).
#
#   PYTHON_TORCH=path/to/python test/cookbook/custom.sh
#
# With TINKER_BASE_URL set that server is used, and MACARON_HOME is its home.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD name=custom
. test/cookbook/serve.sh
"$python" -W ignore "$root/test/cookbook/custom.py" "${MACARON_HOME:-$PWD/home-$name}"
