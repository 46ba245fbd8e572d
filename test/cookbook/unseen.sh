#!/usr/bin/env bash
# How often a run of cookbook-arithmetic adds rightly in the end, on pairs that it was trained on and others (unseen.py).
#
#   PYTHON_TORCH=path/to/python LEGS=3 test/cookbook/unseen.sh NAME PAIRS
#
# LEGS is what the run had: the last of them is looked at.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD name=$1
. test/cookbook/serve.sh
run=runs/$name
[ "${LEGS:-1}" = 1 ] || run=$run-leg$LEGS
"$python" -W ignore "$root/test/cookbook/unseen.py" "$run" "$2"
