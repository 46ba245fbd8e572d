#!/usr/bin/env bash
# A recipe of tinker-cookbook, unmodified, against the training service of this build.
#
#   PYTHON_TORCH=path/to/python test/cookbook/run.sh NAME MODULE [name=value ...]
#
# The run's metrics.jsonl ends in .cache/cookbook/runs/NAME; a run of that name that was cut short
# goes on from its last checkpoint. A recipe has so many batches and no more: LEGS=3 runs it three times, each from
# the weights that the one before ended with and with a fresh optimizer, into runs/NAME, NAME-leg2, NAME-leg3. PYTHON_TORCH has PyTorch and transformers (see
# test/bench/train/requirements.txt). With TINKER_BASE_URL set that server is used, else one is started.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD name=$1 module=$2
shift 2
. test/cookbook/serve.sh
from=()
for leg in $(seq "${LEGS:-1}"); do
  run=$name
  [ "$leg" = 1 ] || run=$name-leg$leg
  recipe "$run" "$module" "$@" "${from[@]}"
  from=("load_checkpoint_path=$(state_of "$run")")
done
