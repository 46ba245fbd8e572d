#!/usr/bin/env bash
# The cookbook's arithmetic run in PyTorch and PEFT (reference.py), into .cache/cookbook/runs/NAME.
#
#   PYTHON_TORCH=path/to/python test/cookbook/reference.sh NAME [name=value ...]
#
# PYTHON_TORCH has the requirements of test/bench/train. A run of that name that was cut short goes on.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD name=$1
shift
. test/cookbook/clients.sh
file=${MODEL:-smollm2-135m-instruct}
[ -f "$file" ] || file=$("$macaron" model show "$file" --json | "$python" -c 'import json, sys; print(json.load(sys.stdin)["path"])')
exec "$python" -W ignore "$root/test/cookbook/reference.py" "$file" "runs/$name" "$@"
