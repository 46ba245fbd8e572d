"""Trains small tokenizers with the tokenizers library, one for each shape of tokenizer.json that is built in, and
writes hf_goldens.jsonl.gz.

Run: python make_hf_goldens.py   (made with tokenizers 0.23.3)
The first line is the list of texts. Each other line is an object: name, tokenizer (a tokenizer.json), config (a
tokenizer_config.json), front and back (what is put around a text), and rows: for each text 24 hex digits, 8 each of the
SHA-256 of its ids (int32, little-endian) with added tokens, of its ids without control tokens and tags, and of the
text to which the latter decode.
"""
import gzip
import hashlib
import json
import pathlib
import struct
import unicodedata

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from texts import Texts

ADDED = [
    AddedToken("<s>", special=True, normalized=False),
    AddedToken("</s>", special=True, normalized=False),
    AddedToken("<|im_start|>", special=True, normalized=False),
    AddedToken("<mask>", special=True, normalized=False, lstrip=True),
    AddedToken("<|end|>", special=True, normalized=False, rstrip=True),
    AddedToken("<tool>", special=False, normalized=False),
    AddedToken("cat", special=False, normalized=False, single_word=True),
    AddedToken("   ", special=False, normalized=False),
]
NORMALIZED = [AddedToken("NoRm é", special=False, normalized=True), AddedToken("İz", special=False, normalized=True, rstrip=True)]
WORDS = ["<s>", "</s>", " <mask> ", "<|end|>  ", "<|end|>\n\n", "<tool>", "cat", "cats", " cat.", "_cat", "catcat", "NoRm é", "norm e", "NORM É", "İz", "izi\u0307z",
         "i\u0307z", "aͅ", "McDonald", "HTTPServer", "ΑΣ", "ǅ", "ﬁ", "①", "Å", "한", "[CLS]", "don't!", "1234567890", "你好吗", "ありがとう", "x" * 120]
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace("{1,3}", "")
QWEN35 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
U, L, LEAD, FOLD = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"[^\r\n\p{L}\p{N}]?", r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
REST = r"| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
TEKKEN = f"{LEAD}{U}*{L}+|{LEAD}{U}+{L}*|\\p{{N}}{REST}"
GPT4O = f"{LEAD}{U}*{L}+{FOLD}|{LEAD}{U}+{L}*{FOLD}|\\p{{N}}{{1,3}}{REST}"
DEEPSEEK3 = ["\\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",
             "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"]
DEEPCODE = ["[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿]+"]
CORPUS = [t.replace("<|", " ") for t in Texts(7).distinct(3000)] + ["the cat sat on the mat and said hello world " * 3, "don't you think it's 12345 or 2026?"] * 30


def digest(data):
    return hashlib.sha256(data).hexdigest()[:8]


def ids(row):
    return digest(struct.pack(f"<{len(row)}i", *row))


def split(*expressions):
    return [pre_tokenizers.Split(Regex(e), "isolated") for e in expressions]


def in_bytes(*before, regex=False, prefix=False):
    last = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=regex)
    return pre_tokenizers.Sequence([*before, last]) if before else last


def bpe(normalizer=None, pre=None, decoder=None, added=ADDED, **options):
    tok = Tokenizer(models.BPE(unk_token=options.pop("unk_token", None)))
    if normalizer:
        tok.normalizer = normalizer
    if pre:
        tok.pre_tokenizer = pre
    byte_level = "ByteLevel" in tok.to_str()
    alphabet = pre_tokenizers.ByteLevel.alphabet() if byte_level else []
    trainer = trainers.BpeTrainer(vocab_size=700, initial_alphabet=alphabet, limit_alphabet=300, special_tokens=options.pop("specials", []), show_progress=False)
    tok.train_from_iterator(CORPUS, trainer)
    tok.decoder = decoders.ByteLevel() if byte_level else decoder
    state = json.loads(tok.to_str())
    state["model"].update(options)
    if options.get("byte_fallback"):
        vocab = state["model"]["vocab"]
        for b in range(256):
            vocab[f"<0x{b:02X}>"] = len(vocab)
    tok = Tokenizer.from_str(json.dumps(state))
    tok.add_tokens(added)
    return tok


def wordpiece(normalizer, pre, cleanup=True, added=()):
    tok = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tok.normalizer, tok.pre_tokenizer = normalizer, pre
    trainer = trainers.WordPieceTrainer(vocab_size=600, limit_alphabet=250, special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], show_progress=False)
    tok.train_from_iterator(CORPUS, trainer)
    tok.decoder = decoders.WordPiece(cleanup=cleanup)
    tok.add_tokens(list(added))
    tok.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", tok.token_to_id("[CLS]")), ("[SEP]", tok.token_to_id("[SEP]"))])
    return tok


def pieces(strip):
    steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    return decoders.Sequence(steps + [decoders.Strip(" ", 1, 0)] if strip else steps)


def with_bos(tok):
    tok.post_processor = processors.TemplateProcessing(single="<s> $A", pair="<s> $A <s> $B", special_tokens=[("<s>", tok.token_to_id("<s>"))])
    return tok


def shapes():
    n, p = normalizers, pre_tokenizers
    fallback = dict(byte_fallback=True, fuse_unk=True, unk_token="<unk>", specials=["<unk>"])
    yield "gpt-2", bpe(pre=in_bytes(regex=True))
    yield "gpt-2 with a space first", bpe(pre=in_bytes(regex=True, prefix=True))
    yield "smollm", bpe(pre=in_bytes(p.Digits(individual_digits=True), regex=True))
    yield "llama-bpe", with_bos(bpe(pre=in_bytes(*split(LLAMA3)), ignore_merges=True))
    yield "qwen2", bpe(n.NFC(), in_bytes(*split(QWEN2)), added=ADDED + NORMALIZED[:1])
    yield "qwen35", bpe(n.NFC(), in_bytes(*split(QWEN35)))
    yield "tekken", bpe(pre=in_bytes(*split(TEKKEN)), ignore_merges=True)
    yield "gpt-4o", bpe(pre=in_bytes(*split(GPT4O)))
    yield "deepseek-v3", bpe(pre=in_bytes(*split(*DEEPSEEK3)))
    yield "deepseek-coder", bpe(pre=in_bytes(*split(*DEEPCODE), p.Digits(individual_digits=True)))
    yield "falcon", bpe(pre=p.Sequence([p.Punctuation("contiguous"), p.ByteLevel(add_prefix_space=False)]))
    yield "llama-2", with_bos(bpe(n.Sequence([n.Prepend("▁"), n.Replace(" ", "▁")]), None, pieces(True), **dict(fallback)))
    yield "mistral", with_bos(bpe(None, p.Metaspace("▁", "first", False), pieces(True), **dict(fallback)))
    yield "metaspace always", bpe(None, p.Metaspace("▁", "always", True), decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace("▁", "always", True)]),
                                 **dict(fallback))
    yield "gemma", with_bos(bpe(n.Replace(" ", "▁"), p.Split(" ", "merged_with_previous"), pieces(False),
                                added=ADDED + [AddedToken("\n\n", normalized=False), AddedToken("  ", normalized=False)], **dict(fallback)))
    yield "no fallback", bpe(n.Sequence([n.NFKC(), n.Lowercase(), n.StripAccents()]), p.Metaspace("▁", "never", True), decoders.Metaspace("▁", "never", True),
                             added=ADDED + NORMALIZED, unk_token="<unk>", specials=["<unk>"])
    yield "bert-uncased", wordpiece(n.BertNormalizer(), p.BertPreTokenizer())
    yield "bert-cased", wordpiece(n.BertNormalizer(lowercase=False), p.BertPreTokenizer(), added=ADDED + NORMALIZED)
    yield "bert-lower-accents", wordpiece(n.BertNormalizer(strip_accents=False), p.BertPreTokenizer(), cleanup=False)
    yield "wordpiece words", wordpiece(n.Sequence([n.NFD(), n.Lowercase(), n.StripAccents(), n.Strip()]), p.Whitespace(), added=NORMALIZED)
    yield "wordpiece blanks", wordpiece(n.NFKD(), p.WhitespaceSplit())


def tag(text):
    return len(text) > 2 and (text[0] == "<" and text[-1] == ">" or text[0] == "[" and text[-1] == "]")


def line(name, tok, texts):
    state = json.loads(tok.to_str())
    plain_state = json.loads(tok.to_str())
    # Guarded tokens get a text that no input has; the unknown token keeps its own.
    vocab, unk = plain_state["model"]["vocab"], state["model"]["unk_token"]
    kept = []
    for a in plain_state["added_tokens"]:
        if a["content"] == unk:
            continue
        if a["special"] or tag(a["content"]):
            hidden = f"\U0010fffd{a['id']}"
            if a["content"] in vocab:
                vocab[hidden] = vocab.pop(a["content"])
            a["content"] = hidden
        kept.append(a)
    plain_state["added_tokens"] = kept
    plain_state["post_processor"] = None
    plain = Tokenizer.from_str(json.dumps(plain_state))
    rows = []
    for text in texts:
        a, b = tok.encode(text, add_special_tokens=False).ids, plain.encode(text, add_special_tokens=False).ids
        rows.append(ids(a) + ids(b) + digest(tok.decode(b, skip_special_tokens=False).encode("utf-8")))
    around = tok.encode("cat", add_special_tokens=True).ids
    inside = tok.encode("cat", add_special_tokens=False).ids
    at = next(i for i in range(len(around)) if around[i:i + len(inside)] == inside)
    config = {"bos_token": "<s>", "eos_token": {"content": "</s>"}} if tok.token_to_id("<s>") is not None else {"cls_token": "[CLS]"}
    return dict(name=name, tokenizer=state, config=config, front=around[:at], back=around[at + len(inside):], rows=rows)


SEEN = {}


def known(c):
    """Tells whether the library's tables of Unicode, which are older, say of c what Python's say."""
    if c not in SEEN:
        category = unicodedata.category(c)
        mark = pre_tokenizers.BertPreTokenizer().pre_tokenize_str(f"a{c}a")
        SEEN[c] = (not normalizers.StripAccents().normalize_str(c)) == category.startswith("M") \
            and (category[0] == "P" or ord(c) < 128 or c.isspace() or len(mark) == 1) and (category[0] != "P" or len(mark) == 3) \
            and normalizers.Lowercase().normalize_str(c) == c.lower() \
            and all(f().normalize_str(c) == unicodedata.normalize(f.__name__, c) for f in (normalizers.NFC, normalizers.NFD, normalizers.NFKC, normalizers.NFKD)) \
            and (category != "Cf" or not normalizers.BertNormalizer().normalize_str(c)) \
            and unicodedata.category(c.lower()[0]) != "Cn"
    return SEEN[c]


def main():
    texts = [t for t in Texts(11, WORDS * 3).distinct(560) if all(map(known, t))] + ["", " ", "a", " a", "a ", "\n", "x" * 120, "é" * 101, "e\u0301" * 60]
    lines = [texts] + [line(name, tok, texts) for name, tok in shapes()]
    out = pathlib.Path(__file__).parent / "hf_goldens.jsonl.gz"
    with open(out, "wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as f:
        for value in lines:
            f.write((json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8"))


if __name__ == "__main__":
    main()
