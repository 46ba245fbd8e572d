#!/usr/bin/env bash
# Holds a real server to the contract of dialects; docs/formats/engines.md says how.
set -euo pipefail
cd "$(dirname "$0")/../.."
kind=${LIVE_KIND:-llama-server} url=${LIVE_URL:-}
if [ -z "$url" ]; then
	[ -n "${LLAMA_SERVER:-}" ] && [ -n "${LORA:-}" ] && [ -n "${MODEL:-}" ] || { echo "set LLAMA_SERVER, LORA and MODEL (a GGUF file), or LIVE_URL and LIVE_KIND" >&2; exit 2; }
	port=${PORT:-9461} url=http://127.0.0.1:${PORT:-9461}/v1
	LD_LIBRARY_PATH=$(dirname "$LLAMA_SERVER") "$LLAMA_SERVER" -m "$MODEL" --lora "$LORA/L0.gguf,$LORA/L1.gguf,$LORA/L2.gguf,$LORA/L3.gguf" \
		-c 8192 -np 4 --jinja --cache-ram 0 --host 127.0.0.1 --port "$port" >/dev/null 2>&1 &
	trap "kill $!" EXIT
	for _ in $(seq 100); do curl -sf "http://127.0.0.1:$port/health" >/dev/null && break; sleep 0.3; done
fi
"${GO:-go}" test -count=1 -timeout 15m ./internal/backend/upstream -run ContractLive -v -args -live-url "$url" -live-kind "$kind" -live-told "${TOLD:-$kind}" ${RECORD:+-record}
