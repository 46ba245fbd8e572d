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
