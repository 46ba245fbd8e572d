"""Runs a recipe of tinker-cookbook as it is, with renderers for models whose names the cookbook does not know,
and with the steps that are planned and the rewards of reinforcement learning told to the service.

    recipe.py MODULE [name=value ...]

The recipes take any registered renderer by its name:

    macaron/chatml  what chat models of this family were trained on
    macaron/lines   a turn is a line, and answers begin with "= ": for sums, which a small model has seen in this form
"""

import runpy
import sys

import tinker
from tinker_cookbook.renderers import register_renderer
from tinker_cookbook.renderers.base import ParseTermination, RenderedMessage, Renderer, ensure_text, parse_response_for_stop_token


class Plain(Renderer):
    """Messages as text between two marks, the second of which ends an answer."""

    def marks(self, role):
        raise NotImplementedError

    @property
    def has_extension_property(self):
        return True  # nothing of the history is ever taken away

    def encode(self, text):
        return tinker.types.EncodedTextChunk(tokens=self.tokenizer.encode(text, add_special_tokens=False))

    def render_message(self, message, ctx):
        before, after = self.marks(message["role"])
        return RenderedMessage(header=self.encode(before), output=[self.encode(ensure_text(message["content"]) + after)])

    @property
    def _bos_tokens(self):
        return []

    def get_stop_sequences(self):
        return self.encode(self.marks("assistant")[1]).tokens[:1]

    def parse_response(self, response):
        return parse_response_for_stop_token(response, self.tokenizer, self.get_stop_sequences()[0])


class ChatML(Plain):
    def marks(self, role):
        # Games write what the model has said as "player"; it is rendered as it was sampled.
        return f"<|im_start|>{'assistant' if role == 'player' else role}\n", "<|im_end|>\n"


class Lines(Plain):
    def marks(self, role):
        return ("= ", "\n\n") if role == "assistant" else ("", "\n")

    def parse_response(self, response):
        end = self.get_stop_sequences()[0]
        message, how = parse_response_for_stop_token(response, self.tokenizer, end)
        if how is not ParseTermination.STOP_SEQUENCE and response and response[-1] == self.tokenizer.eos_token_id:
            message["content"] = self.tokenizer.decode(response[:-1])
            how = ParseTermination.EOS
        return message, how


register_renderer("macaron/chatml", lambda tokenizer, _: ChatML(tokenizer))
register_renderer("macaron/lines", lambda tokenizer, _: Lines(tokenizer))

def tell_rewards():
    """The mean reward of a step goes along with its passes, so that the service's curves have it."""
    from tinker_cookbook.rl import train

    measure, send = train.compute_trajectory_metrics, tinker.TrainingClient.forward_backward_async
    last = {}

    def measured(*args, **kwargs):
        metrics = measure(*args, **kwargs)
        last.update(reward=metrics["env/all/reward/total"])
        return metrics

    async def sent(self, data, loss_fn, loss_fn_config=None):
        return await send(self, data, loss_fn, {**(loss_fn_config or {}), **last})

    train.compute_trajectory_metrics, tinker.TrainingClient.forward_backward_async = measured, sent


def tell_steps(steps):
    """What is made to be trained says how many steps it will have, so that the service can tell what time is left."""
    for name in "create_lora_training_client_async", "create_training_client_from_state_async", "create_training_client_from_state_with_optimizer_async":
        make = getattr(tinker.ServiceClient, name)

        def made(*args, make=make, user_metadata=None, **kwargs):
            return make(*args, user_metadata={**(user_metadata or {}), "steps": steps}, **kwargs)

        setattr(tinker.ServiceClient, name, made)


if __name__ == "__main__":
    module, sys.argv = sys.argv[1], sys.argv[1:]
    for option in sys.argv:
        if option.startswith("max_steps="):
            tell_steps(option.removeprefix("max_steps="))
    tell_rewards()
    runpy.run_module(module, run_name="__main__", alter_sys=True)
