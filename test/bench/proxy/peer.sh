#!/usr/bin/env bash
# Gets the Python proxy that Macaron is compared with, at one commit, and an interpreter with
# what it requires: .cache/peer/harness and .cache/peer/venv. PEER names a clone that is there
# already; it is used as it is.
set -euo pipefail
cd "$(dirname "$0")/../../.."

url=https://github.com/MindLab-Research/Mixture-of-LoRA-Harness.git
commit=4dccbf1758270fbc822c80d00bbd9b39c811b532
peer=${PEER:-.cache/peer/harness}

if [ ! -d "$peer/mol_harness" ]; then
  rm -rf "$peer.new"
  if ! { git clone -q "$url" "$peer.new" && git -C "$peer.new" checkout -q "$commit"; }; then
    rm -rf "$peer.new"
    cat >&2 <<MESSAGE
The peer could not be cloned from $url.
Clone it where that is possible, check out $commit, and name the directory:
  make bench-proxy PEER=/path/to/Mixture-of-LoRA-Harness
Without it, to measure Macaron and the bare loop alone:
  make bench-proxy PEER=none
MESSAGE
    exit 1
  fi
  mv "$peer.new" "$peer"
fi
if [ ! -f .cache/peer/venv/.ready ]; then
  "${PYTHON:-python3}" -m venv .cache/peer/venv
  .cache/peer/venv/bin/python -m pip install --quiet --disable-pip-version-check -r "$peer/requirements.txt" || {
    echo "pip could not install what the peer requires; see $peer/requirements.txt" >&2
    exit 1
  }
  touch .cache/peer/venv/.ready
fi
