"""Makes the goldens beside this file:

    python make_goldens.py MINILM_DIRECTORY

minilm.safetensors  embeddings of TEXTS by all-MiniLM-L6-v2 as its card says: transformers
                    in float32, mean over the tokens, length 1; and how many tokens each has
tiny/               a random BERT with two layers, tensor names with "bert." before them,
                    pooling of the first token, no normalisation; golden.safetensors in it
texts.json          TEXTS
"""
import json
import pathlib
import sys

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, decoders
from transformers import AutoModel, AutoTokenizer, BertConfig, BertModel

HERE = pathlib.Path(__file__).resolve().parent
TEXTS = [
    "",
    "A man is eating food.",
    "Ein Zug fährt über die Brücke, später als gedacht.",
    "今天天气很好，我们去公园吧。 電車は遅れています。",
    "def f(x): return x**2 + 0.5  # 1,234.56 != 'quoted' [brackets] {braces}",
    "naïve café RÉSUMÉ İstanbul ß ﬁ \u200b zero-width, emoji 🙂🙃 and\ttabs\r\nlines",
    "The lighthouse keeper wrote in the same book every evening. " * 40,
    "supercalifragilisticexpialidocious" * 6,
]


def embed(model, tok, text, limit):
    ids = tok(text, truncation=True, max_length=limit, return_tensors="pt")
    with torch.no_grad():
        return ids["input_ids"][0], model(**ids).last_hidden_state[0]


def minilm(path):
    model, tok = AutoModel.from_pretrained(path, dtype=torch.float32, attn_implementation="eager").eval(), AutoTokenizer.from_pretrained(path)
    vectors, counts = [], []
    for text in TEXTS:
        ids, states = embed(model, tok, text, 256)
        mean = states.mean(0)
        vectors.append(mean / mean.norm())
        counts.append(len(ids))
    print(counts)
    save_file({"vectors": torch.stack(vectors), "counts": torch.tensor(counts, dtype=torch.int32)}, HERE / "minilm.safetensors")


def tiny():
    torch.manual_seed(1)
    out = HERE / "tiny"
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + letters + ["##" + c for c in letters] + ["the", "food", "##ing"]
    ids = {w: i for i, w in enumerate(vocab)}
    t = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    t.normalizer, t.pre_tokenizer, t.decoder = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer(), decoders.WordPiece()
    t.post_processor = processors.TemplateProcessing(single="[CLS]:0 $A:0 [SEP]:0", pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
                                                     special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])])
    t.add_special_tokens(vocab[:5])
    model = BertModel(BertConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
                                 max_position_embeddings=40)).eval()
    for name, p in model.named_parameters():
        norm = "LayerNorm.weight" in name
        torch.nn.init.normal_(p, mean=1 if norm else 0, std=0.3 if p.dim() == 1 or "embeddings" in name else 1.6 * p.shape[1] ** -0.5)
    model.save_pretrained(out)
    weights = {"bert." + k: v.half() for k, v in load_file(out / "model.safetensors").items()}
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
    model.load_state_dict({k.removeprefix("bert."): v.float() for k, v in weights.items()}, strict=False)
    t.save(str(out / "tokenizer.json"))
    (out / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
                                                  {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]))
    (out / "1_Pooling").mkdir(exist_ok=True)
    (out / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 32, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}))
    vectors = []
    for text in TEXTS:
        tokens = torch.tensor([t.encode(text).ids])
        tokens = torch.cat([tokens[:, :39], tokens[:, -1:]], 1) if tokens.shape[1] > 40 else tokens
        with torch.no_grad():
            vectors.append(model(tokens).last_hidden_state[0, 0])
    save_file({"vectors": torch.stack(vectors)}, out / "golden.safetensors")


if __name__ == "__main__":
    minilm(sys.argv[1])
    tiny()
    (HERE / "texts.json").write_text(json.dumps(TEXTS) + "\n")
    for path in HERE.rglob("*.*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
