# Sourced at the root of the project, with root and name set: finds a Python with PyTorch, starts the training
# service of this build in .cache/cookbook, and sets what its clients need. With TINKER_BASE_URL set that server is used.
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
