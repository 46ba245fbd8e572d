#!/usr/bin/env bash
# The cookbook's guess_number, unmodified, from games: the default model does not begin to play by itself, and a reward that
# never differs teaches nothing.
#
#   PYTHON_TORCH=path/to/python test/cookbook/guess.sh NAME GAMES [name=value ...]
#
# chat_sl learns GAMES games (games.py) into runs/NAME-games. The recipe has no option for what it begins with; it goes on
# from the last checkpoint of its directory, and there the games' last state is put as that of batch 0.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD name=$1 games=$2
shift 2
. test/cookbook/serve.sh
if [ ! -f "runs/$name/checkpoints.jsonl" ]; then
  "$python" -W ignore "$root/test/cookbook/games.py" games.jsonl "$games"
  recipe "$name-games" tinker_cookbook.recipes.chat_sl.train dataset=games.jsonl renderer_name=macaron/chatml \
    batch_size=16 lora_rank=32 learning_rate=5e-4 save_every=20 eval_every=0
  mkdir -p "runs/$name"
  printf '{"name": "games", "batch": 0, "state_path": "%s"}\n' "$(state_of "$name-games")" > "runs/$name/checkpoints.jsonl"
fi
recipe "$name" tinker_cookbook.recipes.multiplayer_rl.guess_number.train renderer_name=macaron/chatml "$@"
