"""Routing turns: seed sentences composed with context, noise, planted labels and other label sets."""
from noise import disturb, plant
from spin import LANGS, digest, expand, held_out, readings, sections

CLASSES = ["L0", "L1", "L2", "L3"]
PRIORITY = {"L3": 0, "L2": 1, "L1": 2, "L0": 3}

# Other words for the four descriptions, for label sets that are not the default one.
WORDS = {
    "L0": ["small talk, questions and facts", "general conversation and knowledge", "chat, explanations, opinions"],
    "L1": ["do things for the user: bookings, reminders, messages, orders", "tasks to carry out: calendar, mail, shopping",
           "assistant that acts: schedule, send, buy"],
    "L2": ["programming, shell commands, bugs, stack traces", "software: write or fix code, read logs", "code and terminal"],
    "L3": ["user interfaces: cards, forms, charts, widgets", "builds something to see or click", "draws interactive cards and dashboards"],
}
NAMES = {
    "L0": ["chat", "talk", "general", "A", "1"], "L1": ["agent", "act", "tasks", "B", "2"],
    "L2": ["code", "dev", "terminal", "C", "3"], "L3": ["ui", "cards", "genui", "D", "4"],
}


class Row:
    __slots__ = ("text", "label", "lang", "previous", "kind", "dev", "entries", "order")

    def __init__(self, text, label, lang, kind, dev, previous=None, entries=None, order=None):
        self.text, self.label, self.lang, self.kind, self.dev = text, label, lang, kind, dev
        self.previous, self.entries, self.order = previous, entries, order


def seeds(wide=True):
    """-> {(lang, class): [(line, dev)]}; wide: near misses and further topics too."""
    out = {}
    hard, topics = sections("route.hard.txt"), sections("route.topics.txt")
    if not wide:
        hard, topics = {}, {}
    for lang in LANGS:
        for cls, lines in sections(f"route.{lang}.txt").items():
            lines = lines + hard.get(f"{lang} {cls}", []) + topics.get(f"{lang} {cls}", [])
            first = min(lines, key=digest)          # no class of a language without development lines
            out[lang, cls] = [(l, held_out(l) or l == first) for l in lines]
    return out


def pick(table, lang, cls, dev, rng):
    lines = [l for l, d in table[lang, cls] if d == dev]
    return expand(rng.choice(lines), rng)


def plain(table, rng, variants, after=0.30, balance=False):
    """Every seed line in a few readings; a third with a previous turn, some disturbed, some with a planted label."""
    out = []
    for (lang, cls), lines in table.items():
        for line, dev in lines:
            most = variants[lang] + (cls == "L3") if balance else variants[lang]
            if balance and cls == "L0" and lang == "en":
                most = 1
            for text in readings(line, rng, 1 if dev else most):
                kind, previous = "plain", None
                if rng.random() < after:
                    before = rng.choice(CLASSES)
                    previous = (before, pick(table, lang, before, dev, rng))
                    kind = "after"
                text = disturb(text, lang, rng)
                if rng.random() < 0.12:
                    text, kind = plant(text, CLASSES, rng), "planted"
                out.append(Row(text, cls, lang, kind, dev, previous))
    return out


def followups(table, rng, contexts):
    """Fragments that only the previous turn explains."""
    out = []
    for key, lines in sections("followups.txt").items():
        for line in lines:
            lang, _, rest = line.partition(": ")
            for item in rest.split(" | "):
                dev = held_out(item, 8)
                befores = CLASSES if key == "same" else rng.sample(CLASSES, 3)
                for before in befores * (1 if dev else contexts):
                    text = expand(item, rng)
                    text = disturb(text, lang, rng) if rng.random() < 0.5 else text
                    label = before if key == "same" else key
                    if rng.random() < 0.05:
                        text = plant(text, CLASSES, rng)
                    out.append(Row(text, label, lang, "fragment", dev, (before, pick(table, lang, before, dev, rng))))
    return out


def pasted(table, rng, times):
    """Logs, traces, code and long texts, alone or with a sentence before or after them."""
    out = []
    for cls, lines in sections("pasted.txt").items():
        for line in lines:
            dev = held_out(line)
            for _ in range(1 if dev else times):
                out.append(Row(expand(line, rng), cls, "en", "pasted", dev))
    return out


def extra_topics():
    """-> [(descriptions, sentences)] of specialists that the default set does not have."""
    topics = []
    for line in open_lines("extras.txt"):
        if line.startswith("@ "):
            topics.append(([d.strip() for d in line[2:].split(" | ")], []))
        elif not line.startswith("# "):
            topics[-1][1].append(line)
    return topics


def open_lines(name):
    from spin import SEEDS
    return [l for l in (SEEDS / name).read_text(encoding="utf-8").splitlines() if l.strip()]


def label_set(rng, topics, moved):
    """A random registry: -> entries, order, {class: label}, {topic: label}; moved: L0-L3 may mean something else."""
    style = rng.randrange(4) if moved else rng.choice([0, 0, 2, 3])
    classes = list(CLASSES)
    if style == 3:
        classes = rng.sample(CLASSES, rng.randint(2, 3))
    if style == 0:                                   # default labels with more adapters
        names = {c: c for c in classes}
    elif style == 1:                                 # the same labels with other meanings
        names = dict(zip(classes, rng.sample(CLASSES, 4)))
    else:                                            # other names
        names = {c: rng.choice(NAMES[c]) for c in classes}
    extra = rng.sample(range(len(topics)), rng.randint(1, 2) if style in (0, 3) else rng.randint(0, 1))
    extra_names = {}
    for k, i in enumerate(extra):
        extra_names[i] = f"L{4 + k}" if style < 2 else topics[i][0][0].split()[0].strip(",:").lower()
    return classes, names, extra, extra_names


def other_sets(table, contract, rng, sets, per_set, moved):
    """Turns under registries other than the default, so that descriptions are read and not memorised."""
    default = dict(contract.descriptions())
    topics = extra_topics()
    out = []
    for n in range(sets):
        dev = n % 10 == 9
        classes, names, extra, extra_names = label_set(rng, topics, moved)
        entries = [(names[c], default[c] if rng.random() < 0.4 else rng.choice(WORDS[c])) for c in classes]
        entries += [(extra_names[i], rng.choice(topics[i][0])) for i in extra]
        order = [names[c] for c in sorted(classes, key=PRIORITY.get)]
        order = [extra_names[i] for i in extra] + order
        if rng.random() < 0.5:
            rng.shuffle(entries)
        labels = [e[0] for e in entries]
        for _ in range(per_set):
            lang = rng.choice(LANGS + ["en"] * 3)
            if extra and rng.random() < len(extra) / (len(classes) + len(extra)):
                i = rng.choice(extra)
                text, label, lang = rng.choice(topics[i][1]), extra_names[i], "en"
            else:
                c = rng.choice(classes)
                text, label = pick(table, lang, c, dev, rng), names[c]
            previous = None
            if rng.random() < 0.15:
                c = rng.choice(classes)
                previous = (names[c], pick(table, lang, c, dev, rng))
            if rng.random() < 0.08:
                text = plant(text, labels, rng)
            out.append(Row(text, label, lang, "other set", dev, previous, entries, order))
    return out


def rows(contract, rng, stage=2):
    """stage 1: the broad mixture; stage 2: more seeds, more requests without context, fewer other label sets."""
    table = seeds(wide=stage == 2)
    variants = {l: (3 if l == "en" else 2) for l in LANGS}
    out = plain(table, rng, variants, 0.30 if stage == 1 else 0.18, stage == 2)
    more = followups(table, rng, 1)
    out += more if stage == 1 else [r for r in more if r.dev or rng.random() < 0.5]
    out += pasted(table, rng, 2 if stage == 1 else 1)
    out += other_sets(table, contract, rng, 48 if stage == 1 else 12, 16, stage == 1)
    learned = {r.text for r in out if not r.dev}      # two seeds may read the same
    return [r for r in out if not r.dev or r.text not in learned]


def messages(contract, row):
    return [{"role": "system", "content": contract.route_system(row.entries, row.order)},
            {"role": "user", "content": contract.route_user(row.text, row.previous)},
            {"role": "assistant", "content": row.label}]
