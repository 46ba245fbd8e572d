"""Encodes random texts with the tokenizers of real models and writes model_goldens.jsonl.gz.

Run: python make_model_goldens.py GEMMA.gguf LLAMA-SPM.gguf MINILM-DIRECTORY
(made with sentencepiece 0.2.3, gguf 0.19.0, transformers 5.24.0, tokenizers 0.23.3)

The two GGUF files hold SentencePiece models taken apart. They are put together again as the library's own protocol
buffer, and the library encodes. It never takes a control piece from text, so for the ids with special tokens control
pieces are declared user-defined; for plain ids, user-defined pieces that look like tags are declared control, and no
text gives them. The library cannot put the space before every stretch of text, as llama.cpp does: texts with special
tokens are encoded for a model without that space only, and LLAMA-SPM gets texts without them.
A line is a JSON list: model, text, and 8 hex digits each of the SHA-256 of the ids with special tokens, of the
plain ids (int32, little-endian), and of the text to which the latter decode.
"""
import gzip
import hashlib
import json
import pathlib
import struct
import sys

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2 as pb
from transformers import AutoTokenizer

from make_hf_goldens import known
from texts import Texts

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, BYTE = 1, 2, 3, 4, 6
WORDS = ["<start_of_turn>", "<end_of_turn>\n", "<bos>", "<eos>", "<unused7>", "<table>", "</h1>", "[multimodal]", "[CLS]", "[SEP]", "[MASK]", "<0x0A>", "▁", "▁▁", "\t\t", "\n\n\n",
         "Straße", "naïve café", "ﬁne", "don't", "日本語のテキスト", "русский язык", "العربية", "हिन्दी", "한국어", "unbelievably", "tokenization", "x" * 130]


def tag(text):
    return len(text) > 2 and (text[0] == "<" and text[-1] == ">" or text[0] == "[" and text[-1] == "]")


def field(reader, name):
    return reader.fields["tokenizer.ggml." + name].contents()


def sentencepieces(path, prefix):
    reader = gguf.GGUFReader(path)
    texts, scores, kinds = field(reader, "tokens"), field(reader, "scores"), field(reader, "token_type")

    def build(kind_of):
        m = pb.ModelProto()
        m.trainer_spec.model_type = pb.TrainerSpec.BPE
        m.trainer_spec.byte_fallback = True
        m.trainer_spec.vocab_size = len(texts)
        m.normalizer_spec.name = "identity"
        m.normalizer_spec.add_dummy_prefix = prefix
        m.normalizer_spec.remove_extra_whitespaces = False
        m.normalizer_spec.escape_whitespaces = True
        for text, score, kind in zip(texts, scores, kinds):
            kind = kind_of(text, kind)
            m.pieces.add(piece=text.replace(" ", "▁") if kind == USER_DEFINED else text, score=score, type=kind)
        for i, kind in enumerate(kinds):
            if kind == UNKNOWN:
                m.trainer_spec.unk_id, m.trainer_spec.unk_piece = i, texts[i]
        if not any(k == UNKNOWN for k in kinds):
            i = texts.index("<unk>")
            m.pieces[i].type = UNKNOWN
            m.trainer_spec.unk_id, m.trainer_spec.unk_piece = i, "<unk>"
        for key in ("bos", "eos", "pad"):
            setattr(m.trainer_spec, key + "_id", -1)
        sp = sentencepiece.SentencePieceProcessor()
        sp.LoadFromSerializedProto(m.SerializeToString())
        return sp

    special = build(lambda text, kind: USER_DEFINED if kind == CONTROL else kind)
    plain = build(lambda text, kind: CONTROL if kind == USER_DEFINED and tag(text) else kind)
    return special, plain


def digest(data):
    return hashlib.sha256(data).hexdigest()[:8]


def ids(row):
    return digest(struct.pack(f"<{len(row)}i", *row))


def main():
    lines = []
    special, plain = sentencepieces(sys.argv[1], prefix=False)
    for text in Texts(31, WORDS * 3).distinct(2100):
        if "<unk>" in text:
            continue
        row = plain.EncodeAsIds(text)
        lines.append(["gemma3", text, ids(special.EncodeAsIds(text)) + ids(row) + digest(plain.Decode(row).encode())])
    _, plain = sentencepieces(sys.argv[2], prefix=True)
    for text in Texts(32).distinct(1500):
        if "<s>" in text or "</s>" in text or "<unk>" in text:
            continue
        row = plain.EncodeAsIds(text)
        lines.append(["llama-spm", text, ids(row) + ids(row) + digest(plain.Decode(row).encode())])
    tok = AutoTokenizer.from_pretrained(sys.argv[3])
    state = json.loads(tok.backend_tokenizer.to_str())
    state["added_tokens"], state["truncation"], state["padding"] = [], None, None
    bare = type(tok.backend_tokenizer).from_str(json.dumps(state))
    texts = [t for t in Texts(33, WORDS * 3).distinct(1700) if all(map(known, t))]
    for text in texts:
        row = tok.encode(text, add_special_tokens=False)
        plain_row = bare.encode(text, add_special_tokens=False).ids
        lines.append(["minilm", text, ids(row) + ids(plain_row) + digest(bare.decode(plain_row, skip_special_tokens=False).encode())])
    print(len(texts), len(lines))
    out = pathlib.Path(__file__).parent / "model_goldens.jsonl.gz"
    with open(out, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as f:
        f.write(("\n".join(json.dumps(x, ensure_ascii=False, separators=(",", ":")) for x in lines) + "\n").encode("utf-8"))


main()
