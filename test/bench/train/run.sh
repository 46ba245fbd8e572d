#!/usr/bin/env bash
# A step of training, ours next to PyTorch with PEFT, in turn on the same threads.
#
#   PYTHON_TORCH=path/to/python test/bench/train/run.sh [STEPS]
#
# PYTHON_TORCH has requirements.txt installed; without it .cache/torch is used.
set -euo pipefail
cd "$(dirname "$0")/../../.."

python=${PYTHON_TORCH:-.cache/torch/bin/python}
macaron=${MACARON:-bin/macaron}
model=${MODEL:-smollm2-135m-instruct}

if ! "$python" -c 'import torch, transformers, peft, gguf' 2> /dev/null; then
  cat >&2 << 'END'
bench-train needs a Python with PyTorch and PEFT. Name one, PYTHON_TORCH=path/to/python, or make one:
  python3 -m venv .cache/torch
  .cache/torch/bin/pip install -r test/bench/train/requirements.txt
END
  exit 2
fi
file=$model
if [ ! -f "$file" ]; then
  file=$("$macaron" model show "$model" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["path"])')
fi
CGO_ENABLED=0 go build -o bin/bench-train ./test/bench/train
exec bin/bench-train -model "$file" -python "$python" -steps "${1:-5}" -threads "${THREADS:-2}" ${ONLY:+-only "$ONLY"} ${PEERS:+-peers "$PEERS"}
