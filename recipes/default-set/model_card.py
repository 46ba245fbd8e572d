"""Write an adapter's card from runs.jsonl and notes.toml: python model_card.py L1 [L2 ...]"""
import json
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

TRAINED = "PyTorch and PEFT in f32 on two CPU cores, AdamW, cosine schedule. Tokens are those computed, shared beginnings counted once."


def sha256(path):
    import hashlib
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def chain(runs, label, digest):
    """The runs that led to these bytes: the last one and, if it continued, those before it."""
    own = [r for r in runs if r["adapter"] == label]
    last = max(i for i, r in enumerate(own) if r["sha256"] == digest)
    first = last
    while own[first]["continued"] and first > 0:
        first -= 1
    return own[first:last + 1]


def card(label, root):
    notes = tomllib.loads((HERE / "notes.toml").read_text(encoding="utf-8"))
    recipe = tomllib.loads((HERE / "recipe.toml").read_text(encoding="utf-8"))
    weights = root / "adapters" / label / "adapter_model.safetensors"
    digest = sha256(weights)
    runs = [json.loads(l) for l in (HERE / "runs.jsonl").read_text().splitlines() if l.strip()]
    own, note = chain(runs, label, digest), notes[label]
    table = "\n".join(f"| {i} | {r['samples']} | {r['steps']} | {r['tokens']:,} | {r['seconds'] / 60:.0f} | {r['lr']:g} | {r['dev_loss']} |"
                      for i, r in enumerate(own, 1))
    return f"""# {label}: {note['title']}

{note['what']}

| | |
|---|---|
| base | `{recipe['base']['name']}`, trained on the dequantised `{recipe['base']['file']}` |
| base file SHA-256 | `{recipe['base']['sha256']}` |
| adapter | LoRA rank {recipe['lora']['rank']}, alpha {recipe['lora']['alpha']}, {', '.join(recipe['lora']['targets'])}; f16; {weights.stat().st_size:,} bytes |
| `adapter_model.safetensors` SHA-256 | `{digest}` |
| data | {note['data']} |
| licence | adapter Apache-2.0, as the base; data CC0 1.0 |
| recipe | `recipes/default-set` |

## Training
{note.get('trained', TRAINED).strip()}

| run | samples | steps | tokens | minutes | top rate | development loss |
|---|---|---|---|---|---|---|
{table}

```bash
{note['commands'].strip()}
```

{note.get('results', '').strip()}

## Known limits
{note['limits'].strip()}
"""


def main():
    root = HERE.parents[1]
    for label in sys.argv[1:]:
        text = card(label, root)
        while "\n\n\n" in text:
            text = text.replace("\n\n\n", "\n\n")
        (root / "adapters" / label / "README.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
