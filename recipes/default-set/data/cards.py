"""L3: requests and the small TSX cards that answer them, and requests that no card answers.

A request is a reading of a line of seeds/cards.txt; what it names is drawn from seeds/cards.words.txt, and the card
is written with the same values by shapes.py. So a card can only be had right by reading the request.
"""
import chat
import conv
import fill
from conv import Conversation
from noise import soften
from packing import encode
from spin import LANGS, SEEDS, expand, held_out, sections

FENCE = "````"
INTRO = {"en": "The user wanted {s}; I made the card.", "zh": "用户想要{s}，我做了卡片。",
         "es": "La persona quería {s}; hice la tarjeta.", "fr": "La personne voulait {s} ; j'ai fait la carte.",
         "de": "Gewünscht war {s}; ich habe die Karte gemacht.", "ja": "ユーザーは{s}を求め、カードを作った。",
         "pt": "A pessoa queria {s}; fiz o cartão."}
EARLIER = [("hi", "The user said hi and was greeted."),
           ("what should I eat today?", "The user asked what to eat; soup and bread were suggested."),
           ("remind me to call mum", "The user wanted a reminder to call mum; no tool was connected."),
           ("reverse a string in go", "The user wanted a Go function that reverses a string; Reverse was written.")]
READINGS = {"en": 3, "de": 2, "es": 2, "fr": 2}  # of a line; 1 in other languages


def names():
    """What a summary calls a card: {(shape, language): words}"""
    out = {}
    for line in (SEEDS / "cards.names.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            shape, *called = line.split(" | ")
            out |= {(shape, c[:2]): c[3:] for c in called}
    return out


def reading(kind, lang, request, rng):
    """-> the request and its card, with values drawn anew."""
    shape, _, variant = kind.partition(".")
    text = expand(request, rng)
    values, tsx = getattr(fill, shape)(lang, variant, text, rng)
    for name, value in values.items():
        text = text.replace(f"<{name}>", str(value))
    assert "<" not in text, text
    return text, values["title"], tsx


def conversations(contract, rng):
    called, out = names(), []
    for kind, lines in sections("cards.txt").items():
        for line in lines:
            lang, request = line.split(": ", 1)
            assert lang in LANGS, line
            dev = held_out(kind + line, 12)
            for _ in range(1 if dev else READINGS.get(lang, 1)):
                text, title, tsx = reading(kind, lang, request, rng)
                c = Conversation(contract, "L3")
                if rng.random() < 0.1:
                    before, was = rng.choice(EARLIER)
                    c.add("user", before).add("assistant", contract.foreign(was))
                c.add("user", soften(text, lang, rng)).add("assistant", f"{FENCE}ui4a/tsx\n{tsx}\n{FENCE}", True)
                if rng.random() < 0.3:
                    c.summarise(contract, INTRO[lang].replace("{s}", f"{called[kind.partition('.')[0], lang]} ({title})"))
                out.append((c, dev))
    return out


def prose(contract, rng):
    """Conversations in which words are right: those about interfaces, and L0's."""
    talk = [t for t in chat.conversations(contract, "L3", rng) if "capital" not in t[0].messages[1]["content"]]  # evaluation sets ask for some
    return conv.load(contract, "L3", "cards.prose.txt", rng) + talk


def samples(contract, tok, rng, stage=1):
    train, dev = [], []
    for c, is_dev in conversations(contract, rng) + prose(contract, rng):
        s = encode(tok, c.messages, c.supervised, group=c.messages[0]["content"])
        (dev if is_dev else train).append(s)
    return train, dev
