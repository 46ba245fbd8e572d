"""L1: requests with tools, without them, with the wrong ones, and what the tools answered."""
import json
import re

from conv import Conversation, load
from packing import encode
from spin import SEEDS, held_out

WORDS = {   # language: summary, failure, failure summary, no tool, no tool summary, draft for later
    "en": ("The user wanted {s}; it was done.", "That did not work: {e}. Nothing was done.", "The user wanted {s}; it failed: {e}.",
           "I can't do that here: no tool for it is connected. What I would do: {s}. Nothing has been done yet.",
           "The user wanted {s}; nothing was done because no tool is connected."),
    "zh": ("用户想要{s}，已完成。", "没有成功：{e}。什么都没有执行。", "用户想要{s}，但失败了：{e}。",
           "我现在做不了：没有连接相应的工具。要做的是：{s}。目前还没有执行。", "用户想要{s}；没有工具，未执行。"),
    "es": ("La persona quería {s}; quedó hecho.", "No ha funcionado: {e}. No se hizo nada.", "La persona quería {s}; falló: {e}.",
           "Aquí no puedo hacerlo: no hay una herramienta conectada para eso. Lo que haría: {s}. Todavía no se ha hecho nada.",
           "La persona quería {s}; no se hizo porque no hay herramienta."),
    "fr": ("La personne voulait {s} ; c'est fait.", "Cela n'a pas marché : {e}. Rien n'a été fait.", "La personne voulait {s} ; échec : {e}.",
           "Je ne peux pas le faire ici : aucun outil n'est connecté pour cela. Ce que je ferais : {s}. Rien n'est encore fait.",
           "La personne voulait {s} ; rien n'est fait, faute d'outil."),
    "de": ("Gewünscht war {s}; es ist erledigt.", "Das hat nicht geklappt: {e}. Es wurde nichts getan.", "Gewünscht war {s}; fehlgeschlagen: {e}.",
           "Das kann ich hier nicht tun: Dafür ist kein Werkzeug verbunden. Ich würde Folgendes tun: {s}. Noch ist nichts geschehen.",
           "Gewünscht war {s}; ohne Werkzeug wurde nichts getan."),
    "ja": ("ユーザーは{s}を頼み、完了した。", "うまくいきませんでした：{e}。何も実行していません。", "ユーザーは{s}を頼んだが失敗した：{e}。",
           "ここではできません。そのためのツールがつながっていません。行う内容：{s}。まだ何も実行していません。",
           "ユーザーは{s}を頼んだが、ツールがなく実行していない。"),
    "pt": ("A pessoa queria {s}; foi feito.", "Não deu certo: {e}. Nada foi feito.", "A pessoa queria {s}; falhou: {e}.",
           "Não consigo fazer isso aqui: não há ferramenta conectada para isso. O que eu faria: {s}. Nada foi feito ainda.",
           "A pessoa queria {s}; nada foi feito por falta de ferramenta."),
}
ERRORS = ["no free slot", "service unavailable", "contact not found", "payment refused", "timeout", "permission denied"]


class Intent:
    def __init__(self, header):
        name, names, about, args, result = [p.strip() for p in header.split(" | ")]
        self.name, self.names, self.about, self.result = name, names.split(","), about, result
        self.args = []
        for part in args.split(" ; "):
            keys, value = part.split("=", 1)
            kind = "string"
            for k in ("int ", "bool "):
                if value.startswith(k):
                    kind, value = {"int ": "integer", "bool ": "boolean"}[k], value[len(k):]
            self.args.append((keys.split(","), kind, value))
        self.lines = []


def read():
    """-> slots {lang: {name: [values]}}, intents"""
    slots, intents, mode = {}, [], None
    for line in (SEEDS / "acting.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# slots "):
            mode = slots.setdefault(line.split()[-1], {})
        elif line.startswith("# intent "):
            intents.append(Intent(line[9:]))
            mode = intents[-1]
        elif isinstance(mode, dict) and " = " in line:
            key, values = line.split(" = ", 1)
            mode[key] = values.split("|")
        elif line.strip():
            mode.lines.append([p.strip() for p in line.split(" | ")])
    return slots, intents


def tool(intent, style):
    """The schema under one of the names that clients might give it."""
    props = {keys[style]: {"type": kind} for keys, kind, _ in intent.args}
    return {"type": "function", "function": {
        "name": intent.names[style], "description": intent.about,
        "parameters": {"type": "object", "properties": props, "required": list(props)}}}


def fill(text, values):
    return re.sub(r"\{(\w+|#)\}", lambda m: values.get(m.group(1), m.group(0)), text)


def call(intent, style, values):
    args = {}
    for keys, kind, value in intent.args:
        v = fill(value, values)
        args[keys[style]] = int(v) if kind == "integer" else v == "true" if kind == "boolean" else v
    body = json.dumps({"name": intent.names[style], "arguments": args}, ensure_ascii=False)
    return f"<tool_call>{body}</tool_call>"


def turn(contract, conv, intent, line, style, slots, rng, outcome):
    """One request and what came of it: done, failed or no tool."""
    lang, request, done, short = line
    values = {k: rng.choice(v) for k, v in slots[lang].items()}
    values["#"] = str(rng.randint(11, 98))
    summary, failed, failed_summary, missing, missing_summary = WORDS[lang]
    short, error = fill(short, values), rng.choice(ERRORS)
    put = lambda t: t.replace("{s}", short).replace("{e}", error)
    text = fill(request, values)
    if rng.random() < 0.3:
        text = text[:1].upper() + text[1:]
    conv.add("user", text)
    if outcome == "missing":
        conv.add("assistant", put(missing), True)
        return put(missing_summary)
    conv.add("assistant", call(intent, style, values), True)
    if outcome == "failed":
        conv.add("tool", json.dumps({"error": error}))
        conv.add("assistant", put(failed), True)
        return put(failed_summary)
    conv.add("tool", fill(intent.result, values))
    conv.add("assistant", fill(done, values), True)
    return put(summary)


def conversations(contract, rng, sets=52, per_set=8):
    slots, intents = read()
    out = []
    for n in range(sets):
        dev, style = n % 13 == 12, rng.randrange(3)
        chosen = rng.sample(intents, rng.choice([1, 2, 3, 3, 4]))
        tools = [tool(i, style) for i in chosen]
        bare = n % 5 == 4                                    # no tools at all
        compact = rng.random() < 0.5
        for _ in range(per_set):
            conv = Conversation(contract, "L1")
            if not bare:
                conv.messages[0]["content"] = contract.system("L1", "", tools, compact)
            others = [i for i in intents if i not in chosen]
            outcome = "missing" if bare or rng.random() < 0.12 else "failed" if rng.random() < 0.15 else "done"
            intent = rng.choice(others if outcome == "missing" and not bare else chosen if not bare else intents)
            first = rng.random()
            if first < 0.15:                                 # another specialist answered before
                conv.add("user", rng.choice(["hi", "what is a good day for a party?", "write a loop in bash", "show my week as a chart"]))
                conv.add("assistant", contract.foreign("The user asked something else and got an answer."))
            summary = turn(contract, conv, intent, rng.choice(intent.lines), style, slots, rng, outcome)
            if 0.15 <= first < 0.25 and not bare:            # a second request in the same conversation
                intent = rng.choice(chosen)
                second = turn(contract, conv, intent, rng.choice(intent.lines), style, slots, rng, "done")
                summary = second
            out.append((conv.summarise(contract, summary), dev))
    return out + 2 * load(contract, "L1", "acting.hand.txt", rng)


def samples(contract, tok, rng, stage=1):
    train, dev = [], []
    for conv, is_dev in conversations(contract, rng):
        s = encode(tok, conv.messages, conv.supervised, group=conv.messages[0]["content"])
        (dev if is_dev else train).append(s)
    return train, dev
