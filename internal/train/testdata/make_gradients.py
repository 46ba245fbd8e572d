"""Makes the gradients beside this file with PyTorch and PEFT:

    python make_gradients.py [NAME ...]          the tiny checkpoints of ../../engine/model/testdata/arch
    python make_gradients.py default MODEL_DIR   the default model, its GGUF file dequantised

gradients/NAME/adapter_*             a LoRA adapter with random weights for the checkpoint NAME, all linear layers
gradients/NAME/golden.safetensors    its gradients in float32
gradients/cases.json                 the sequences: tokens, targets, slopes
gradients/default.json               of the default model, with the adapter ../../engine/testdata/lora-r4: log
                                     probabilities; for each tensor its norm and 8 projections

The loss is the sum over all targets of slope * log probability, in float32, eager
attention. Some sequences begin alike, one is longer than a page and every window, and
some positions have several targets or none.
"""
import json
import pathlib
import sys

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
ENGINE = HERE.parents[1] / "engine"
ARCH = ENGINE / "model" / "testdata" / "arch"
OUT = HERE / "gradients"
NAMES = ["llama", "llama3", "mistral", "qwen2", "qwen2-window", "qwen3", "gemma3"]
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"]
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PROJECTIONS = 8


def cases(vocab, lengths):
    """Sequences that branch: two after the first, one more within the second's branch."""
    torch.manual_seed(7)
    draw = lambda n: torch.randint(0, vocab, (n,)).tolist()
    first, second = draw(lengths[0]), draw(lengths[1])
    all = [first + draw(lengths[2]), first + second + draw(lengths[3]), first + second + draw(lengths[4]), draw(lengths[5])]
    out = []
    for i, tokens in enumerate(all):
        k = 1 + i % 2
        targets, slopes = draw(len(tokens) * k), torch.randn(len(tokens) * k).tolist()
        for at in range(len(targets)):
            if i != 3 and at // k < lengths[0] - 1:  # a prompt, all but its last position
                targets[at] = -1
            if at % 5 == 3:
                slopes[at] = 0.0
        slopes = [0.0 if t < 0 else round(s, 4) for t, s in zip(targets, slopes)]
        out.append({"tokens": tokens, "k": k, "targets": targets, "slopes": slopes})
    return out


def gradients(model, sequences):
    """Backward of all sequences; gives their log probabilities."""
    logprobs = []
    for s in sequences:
        rows = torch.log_softmax(model(torch.tensor([s["tokens"]])).logits[0].float(), -1)
        targets = torch.tensor(s["targets"]).view(-1, s["k"])
        p = rows.gather(1, targets.clamp(min=0)) * (targets >= 0)
        (p * torch.tensor(s["slopes"]).view(-1, s["k"])).sum().backward()
        logprobs.append(p.flatten().detach())
    return logprobs


def named(model):
    """LoRA tensors by the names that PEFT saves them under."""
    return {n.replace(".default", ""): p for n, p in model.named_parameters() if "lora_" in n}


def tiny(name, sequences):
    torch.manual_seed(100 + NAMES.index(name))
    model = AutoModelForCausalLM.from_pretrained(ARCH / name, dtype=torch.float32, attn_implementation="eager").eval()
    model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=4, lora_alpha=6, target_modules=LINEAR)).eval()
    for p in named(model).values():
        torch.nn.init.normal_(p, std=0.25)
        p.data = p.data.half().float()
    model.peft_config["default"].base_model_name_or_path = name
    model.save_pretrained(OUT / name, save_embedding_layers=False)
    (OUT / name / "README.md").unlink(missing_ok=True)
    weights = load_file(OUT / name / "adapter_model.safetensors")
    save_file({k: v.half() for k, v in weights.items() if "lora_" in k}, OUT / name / "adapter_model.safetensors", metadata={"format": "pt"})
    logprobs = gradients(model, sequences)
    out = {n: p.grad.contiguous() for n, p in named(model).items()}
    for i, p in enumerate(logprobs):
        out[f"logprobs.{i}"] = p
    save_file(out, OUT / name / "golden.safetensors")
    print(name, "largest", max(float(p.grad.abs().max()) for p in named(model).values()))


def signs(n, j):
    """A vector of 1 and -1, the j-th: bits of a multiplicative hash."""
    i = torch.arange(n, dtype=torch.int64)
    return 1 - 2 * ((((i + 1) * 2654435761 + (j + 1) * 40503 * (i % 8191 + 1)) % 4294967296) // 32768 % 2).double()


def default(directory):
    model = AutoModelForCausalLM.from_pretrained(directory, gguf_file=FILE, dtype=torch.float32, attn_implementation="eager").eval()
    sequences = cases(model.config.vocab_size, [12, 6, 9, 5, 8, 70])
    model = PeftModel.from_pretrained(model, ENGINE / "testdata" / "lora-r4", is_trainable=True).eval()
    for p in named(model).values():
        p.data = p.data.float()
    logprobs = gradients(model, sequences)
    tensors = {}
    for n, p in named(model).items():
        g = p.grad.flatten().double()
        tensors[n] = [float(f"{x:.9g}") for x in [g.norm().item()] + [(signs(len(g), j) @ g).item() for j in range(PROJECTIONS)]]
    text = {"sequences": sequences, "logprobs": [[round(x, 6) for x in p.tolist()] for p in logprobs], "tensors": tensors}
    (OUT / "default.json").write_text(json.dumps(text) + "\n")


def main():
    OUT.mkdir(exist_ok=True)
    if sys.argv[1:2] == ["default"]:
        default(sys.argv[2])
        return
    sequences = cases(128, [20, 18, 15, 12, 10, 150])
    (OUT / "cases.json").write_text(json.dumps(sequences) + "\n")
    for name in sys.argv[1:] or NAMES:
        tiny(name, sequences)
    for path in OUT.rglob("*.*"):
        path.chmod(0o644)


if __name__ == "__main__":
    main()
