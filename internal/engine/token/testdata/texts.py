"""Random texts that are rich in what tokenizers trip over; for the scripts beside this file."""
import random
import unicodedata

WORDS = ("the quick brown fox I'll you've can't it's We'RE 'S 'tis don't naïve über señor привет мир γειά שלום مرحبا "
         "नमस्ते สวัสดี 你好 世界 こんにちは カタカナ 안녕하세요 import def return self.x != None; x += 1; <div class=\"a\"> http://a.b/c?d=e "
         "<|im_start|> <|im_end|> <|endoftext|> <repo_name> <|im_end <empty_output> assistant system user").split(" ")
BLANKS = [" ", "  ", "   ", "\t", "\n", "\n\n", "\r\n", " \n", "\u00a0", "\u3000", "\u2003", "\u2028", "\u0085", "\x0b", "\x1f"]
RANGES = [(0x20, 0x7E), (0x00, 0x1F), (0x7F, 0xFF), (0x100, 0x24F), (0x300, 0x36F), (0x370, 0x58F), (0x590, 0x6FF),
          (0x900, 0xDFF), (0xE00, 0x10FF), (0x1100, 0x1FFF), (0x2000, 0x2BFF), (0x2E80, 0x33FF), (0x4E00, 0x9FFF),
          (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xF900, 0xFFFD), (0x10000, 0x107FF), (0x1D400, 0x1D7FF), (0x1F000, 0x1FAFF),
          (0x20000, 0x2A6DF), (0xE0100, 0xE01EF), (0x10FF00, 0x10FFFF)]


def assigned(c):
    return unicodedata.category(c) not in ("Cn", "Cs")


class Texts:
    """A row of texts, the same for the same seed."""

    def __init__(self, seed, words=()):
        self.rng = random.Random(seed)
        self.words = WORDS + list(words)

    def some(self, low, high):
        while not assigned(c := chr(self.rng.randint(low, high))):
            pass
        return c

    def piece(self):
        rng = self.rng
        kind = rng.randrange(8)
        if kind == 0:
            return rng.choice(self.words)
        if kind == 1:
            return rng.choice(BLANKS)
        if kind == 2:
            return str(rng.randrange(10 ** rng.randrange(1, 7)))
        if kind == 3:
            return "".join(rng.choice("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~") for _ in range(rng.randrange(1, 5)))
        if kind == 4:
            low, high = rng.choice(RANGES)
            return "".join(self.some(low, high) for _ in range(rng.randrange(1, 6)))
        if kind == 5:
            return rng.choice(["½", "٣", "Ⅷ", "①", "௧", "²", "😀", "👩‍👩‍👧", "🇩🇪", "e\u0301", "'", "’s", "\u200d", "\ufe0f"])
        if kind == 6:
            return rng.choice(["a", "B", "é", "ß", " ", "  ", "'"]) * rng.randrange(1, 8)
        return " " + rng.choice(self.words)

    def distinct(self, count):
        seen = set()
        while len(seen) < count:
            text = "".join(self.piece() for _ in range(self.rng.randrange(1, 14)))
            if text not in seen:
                seen.add(text)
                yield text
