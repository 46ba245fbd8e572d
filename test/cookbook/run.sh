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
python=$(realpath -s "${PYTHON_TORCH:-.cache/torch/bin/python}")
macaron=${MACARON:-$root/bin/macaron}
if ! "$python" -c 'import torch, transformers' 2> /dev/null; then
  echo "the cookbook needs a Python with PyTorch and transformers: PYTHON_TORCH=path/to/python, or .cache/torch" >&2
  exit 2
fi
mkdir -p .cache/cookbook/runs
cd "$(realpath .cache/cookbook)"

# The cookbook loads the tokenizer by the model's name. From a directory of that name no network is needed.
model=HuggingFaceTB/SmolLM2-135M-Instruct
[ -d $model ] || { mkdir -p $model && "$macaron" model export-tokenizer $model > /dev/null; }

if [ -z "${TINKER_BASE_URL:-}" ]; then
  port=${PORT:-18094}
  (cd "$root" && exec "$macaron" mint serve --home "$OLDPWD/home-$name" --listen 127.0.0.1:$port --log-level warn) > "server-$name.log" 2>&1 &
  server=$!
  trap 'kill $server 2> /dev/null; wait $server || true' EXIT
  export TINKER_BASE_URL=http://127.0.0.1:$port
  until curl -sf $TINKER_BASE_URL/readyz > /dev/null; do
    kill -0 $server || { cat "server-$name.log" >&2; exit 1; }
    sleep 0.2
  done
fi
site=$root/.cache/tinker
# datasets names a table by pickling what makes it, and dill takes modules whose path has no site-packages for the user's.
ln -sfn cookbook "$site/site-packages"
export PYTHONPATH=$site/site-packages:$site/0.38.0:$site/shared PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
export HF_HUB_OFFLINE=1 TINKER_TELEMETRY=0 TINKER_API_KEY=${TINKER_API_KEY:-tml-local}
from=()
for leg in $(seq "${LEGS:-1}"); do
  run=$name
  [ "$leg" = 1 ] || run=$name-leg$leg
  # behavior_if_log_dir_exists=resume: what was cut short goes on.
  "$python" -W ignore "$root/test/cookbook/recipe.py" "$module" model_name=$model "log_path=runs/$run" \
    behavior_if_log_dir_exists=resume "$@" "${from[@]}" > "runs/$run.log" 2>&1 || { tail -20 "runs/$run.log" >&2; exit 1; }
  state=$("$python" -c 'import json, sys; print([json.loads(row)["state_path"] for row in open(sys.argv[1])][-1])' "runs/$run/checkpoints.jsonl")
  from=("load_checkpoint_path=$state")
done
