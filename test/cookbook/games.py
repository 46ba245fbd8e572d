"""Writes games of the cookbook's guess_number as conversations, for a start from which reinforcement can learn.

    games.py FILE GAMES

The player knows the rules and no strategy: it guesses any number that the answers so far leave open, so that what is
better than chance in the end was not shown. The numbers are those that the recipe trains on; those that it tests
with are in no game.
"""

import json
import random
import sys

from tinker_cookbook.recipes.multiplayer_rl.guess_number import env


def numbers():
    builder = env.GuessNumberDatasetBuilder(batch_size=1, renderer_name="", train_group_size=1, model_name="")
    return builder._get_train_and_test_numbers()[0]


def play(number, rng):
    """A game in the recipe's own words, which ends as the recipe ends it."""
    game, low, high = env.GuessNumberEnv(number, None), 0, env._UPPER_BOUND
    said = [game.system_prompt]
    for _ in range(env.MAX_TURNS):
        guess = rng.randint(low, high)
        text = f"Guess: {guess}"
        answer, reward = game._get_user_turn(text)
        said += [{"role": "assistant", "content": text}, answer]
        if reward == 1:
            break
        low, high = (guess + 1, high) if guess < number else (low, guess - 1)
    return said[:-1]  # the last word is the player's


def main(path, games):
    rng = random.Random(1)
    known = numbers()
    rows = [play(rng.choice(known), rng) for _ in range(int(games))]
    with open(path, "w") as out:
        out.writelines(json.dumps({"messages": row}) + "\n" for row in rows)
    won = sum(len(row) < 2 * env.MAX_TURNS for row in rows)
    print(f"{len(rows)} games, at least {won} of them won")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
