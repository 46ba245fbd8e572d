# Sourced at the root of the project, with root set: finds a Python with PyTorch and goes to .cache/cookbook, where a
# directory has the tokenizer by the name of the model; sets what clients need, but for the address of a server.
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

site=$root/.cache/tinker
# datasets names a table by pickling what makes it, and dill takes modules whose path has no site-packages for the user's.
ln -sfn cookbook "$site/site-packages"
export PYTHONPATH=$site/site-packages:$site/0.38.0:$site/shared PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export HF_HUB_OFFLINE=1 TINKER_TELEMETRY=0 TINKER_API_KEY=${TINKER_API_KEY:-tml-local}
