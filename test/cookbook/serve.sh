# Sourced at the root of the project, with root and name set: what clients.sh does, then starts the training
# service of this build in .cache/cookbook. With TINKER_BASE_URL set that server is used.
. test/cookbook/clients.sh
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

# recipe RUN MODULE [name=value ...] runs a recipe into runs/RUN; what was cut short goes on.
recipe() {
  local run=$1 module=$2
  shift 2
  "$python" -W ignore "$root/test/cookbook/recipe.py" "$module" model_name=$model "log_path=runs/$run" \
    behavior_if_log_dir_exists=resume "$@" > "runs/$run.log" 2>&1 || { tail -20 "runs/$run.log" >&2; exit 1; }
}

# state_of RUN is the last state that a run has saved.
state_of() {
  "$python" -c 'import json, sys; print([json.loads(row)["state_path"] for row in open(sys.argv[1])][-1])' "runs/$1/checkpoints.jsonl"
}
