"""L3: small TSX cards, written by one template per kind so that each of them compiles."""
import json

from conv import Conversation
from noise import soften
from packing import encode
from spin import SEEDS, held_out

FENCE = "````"
INTRO = {"en": "The user wanted {s}; I made the card.", "zh": "用户想要{s}，我做了卡片。",
         "es": "La persona quería {s}; hice la tarjeta.", "fr": "La personne voulait {s} ; j'ai fait la carte.",
         "de": "Gewünscht war {s}; ich habe die Karte gemacht.", "ja": "ユーザーは{s}を求め、カードを作った。",
         "pt": "A pessoa queria {s}; fiz o cartão."}
ITEMS = {"en": ["red", "green", "apples", "soap", "Tuesday", "the blue one", "call Sam", "taxes", "Lisbon", "jazz", "tent", "window", "pump", "lamp", "small", "large"],
         "zh": ["苹果", "洗碗", "周二", "蓝色", "交税", "小号", "大号", "窗户"], "es": ["manzanas", "jabón", "martes", "azul", "jazz", "tienda", "ventana"],
         "fr": ["pommes", "savon", "mardi", "bleu", "jazz", "tente", "fenêtre"], "de": ["Äpfel", "Seife", "Dienstag", "Blau", "Jazz", "Zelt", "Fenster"],
         "ja": ["りんご", "石けん", "火曜", "青", "ジャズ", "窓"], "pt": ["maçãs", "sabão", "terça", "azul", "jazz", "tenda", "janela"]}
FIELDS = {"en": ["name", "age", "phone", "email", "city", "date", "size", "colour", "comment", "room", "arrival", "budget"], "zh": ["姓名", "年龄", "电话", "城市", "日期", "预算"],
          "es": ["nombre", "edad", "teléfono", "ciudad", "fecha"], "fr": ["nom", "âge", "téléphone", "ville", "date"],
          "de": ["Name", "Alter", "Telefon", "Ort", "Datum"], "ja": ["名前", "年齢", "電話", "都市", "日付"], "pt": ["nome", "idade", "telefone", "cidade", "data"]}
LABELS = ["A,B,C", "north,south,east,west", "2022,2023,2024", "tea,coffee,juice", "May,June,July"]
EARLIER = [("hi", "The user said hi and was greeted."),
           ("what should I eat today?", "The user asked what to eat; soup and bread were suggested."),
           ("remind me to call mum", "The user wanted a reminder to call mum; no tool was connected."),
           ("reverse a string in go", "The user wanted a Go function that reverses a string; Reverse was written.")]


def js(value):
    return json.dumps(value, ensure_ascii=False)


def module(ui, body, state="", chat=False):
    """imports, one default export."""
    lines = []
    if "useState" in state:
        hooks = "useEffect, useState" if "useEffect" in state else "useState"
        lines.append(f'import { "{" } {hooks} { "}" } from "react";')
    lines.append(f'import {{ {", ".join(ui)} }} from "$ui4a/ui";')
    if chat:
        lines.append('import { sendMessage } from "$ui4a/chat";')
    lines.append("\nexport default function View() {")
    lines += ["  " + l for l in state.split("\n") if l]
    lines += ["  return ("] + ["    " + l for l in body.split("\n")] + ["  );", "}"]
    return "\n".join(lines)


def pairs(data):
    return [p.rsplit(" ", 1) for p in data.split(", ")]


def chart(kind, title, data):
    rows = ", ".join(f"{{ name: {js(n)}, value: {v} }}" for n, v in pairs(data))
    return module(["Card", "Chart"], f'<Card title={js(title)}>\n  <Chart kind="{kind}" data={{data}} x="name" y="value" />\n</Card>',
                  f"const data = [{rows}];")


def table(_, title, data):
    rows = ", ".join(f"[{js(n)}, {v}]" for n, v in pairs(data))
    return module(["Card", "Table"], f'<Card title={js(title)}>\n  <Table columns={{["", ""]}} rows={{rows}} />\n</Card>', f"const rows = [{rows}];")


def form(button, title, data):
    names = data.split(", ")
    fields = "\n".join(f'  <Field label={js(n)} value={{form[{js(n)}] ?? ""}} onChange={{(v) => set({js(n)}, v)}} />' for n in names)
    state = "const [form, setForm] = useState({});\nconst set = (key, value) => setForm({ ...form, [key]: value });"
    return module(["Card", "Field", "Button"],
                  f'<Card title={js(title)}>\n{fields}\n  <Button onClick={{() => sendMessage(JSON.stringify(form))}}>{button}</Button>\n</Card>', state, True)


def choice(_, title, data):
    options = js(data.split(", "))
    return module(["Card", "Row", "Button"],
                  f"<Card title={js(title)}>\n  <Row>\n    {{options.map((o) => <Button key={{o}} onClick={{() => sendMessage(o)}}>{{o}}</Button>)}}\n  </Row>\n</Card>",
                  f"const options = {options};", True)


def checklist(_, title, data):
    items = js(data.split(", "))
    return module(["Card", "Checkbox"],
                  f"<Card title={js(title)}>\n  {{items.map((i) => <Checkbox key={{i}} label={{i}} checked={{!!done[i]}} onChange={{(v) => setDone({{ ...done, [i]: v }})}} />)}}\n</Card>",
                  f"const items = {items};\nconst [done, setDone] = useState({{}});")


def switches(_, title, data):
    items = js(data.split(", "))
    return module(["Card", "Switch"],
                  f"<Card title={js(title)}>\n  {{items.map((i) => <Switch key={{i}} label={{i}} checked={{!!on[i]}} onChange={{(v) => setOn({{ ...on, [i]: v }})}} />)}}\n</Card>",
                  f"const items = {items};\nconst [on, setOn] = useState({{}});")


def info(_, title, data):
    rows = "\n".join(f"  <Stat label={js(k.strip())} value={js(v.strip())} />" for k, v in (p.split(":", 1) for p in data.split("; ")))
    return module(["Card", "Stat"], f"<Card title={js(title)}>\n{rows}\n</Card>")


def slider(args, title, label):
    low, high, unit = args.split()
    middle = (int(low) + int(high)) // 2
    return module(["Card", "Slider", "Button"],
                  f'<Card title={js(title)}>\n  <Slider label={js(label)} min={{{low}}} max={{{high}}} value={{value}} onChange={{setValue}} />\n  <Button onClick={{() => sendMessage({js(label)} + ": " + value)}}>{{value}} {unit}</Button>\n</Card>',
                  f"const [value, setValue] = useState({middle});", True)


def counter(_, title, label):
    return module(["Card", "Stat", "Row", "Button"],
                  f"<Card title={js(title)}>\n  <Stat label={js(label)} value={{n}} />\n  <Row>\n    <Button onClick={{() => setN(n - 1)}}>-</Button>\n    <Button onClick={{() => setN(n + 1)}}>+</Button>\n  </Row>\n</Card>",
                  "const [n, setN] = useState(0);")


def compare(_, title, data):
    cards = "\n".join(f"  <Card title={js(k.strip())}>\n    <Badge>{v.strip()}</Badge>\n    <Button onClick={{() => sendMessage({js(k.strip())})}}>{k.strip()}</Button>\n  </Card>"
                      for k, v in (p.split(":", 1) for p in data.split("; ")))
    return module(["Card", "Row", "Badge", "Button"], f"<Row>\n{cards}\n</Row>", "", True)


def progress(_, title, data):
    value, top = data.split(" / ")
    return module(["Card", "Progress", "Badge"], f'<Card title={js(title)}>\n  <Progress label={js(title)} value={{{value}}} max={{{top}}} />\n  <Badge>{value} / {top}</Badge>\n</Card>')


def timer(_, title, seconds):
    state = (f"const [left, setLeft] = useState({seconds});\nconst [on, setOn] = useState(false);\nuseEffect(() => {{\n  if (!on || left === 0) return;\n"
             "  const id = setTimeout(() => setLeft(left - 1), 1000);\n  return () => clearTimeout(id);\n}, [on, left]);")
    return module(["Card", "Stat", "Button"],
                  f'<Card title={js(title)}>\n  <Stat label="" value={{Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0")}} />\n  <Button onClick={{() => setOn(!on)}}>{{on ? "❚❚" : "▶"}}</Button>\n</Card>', state)


def tip(_, title, data):
    bill, share, total = data.split(", ")
    return module(["Card", "NumberField", "Slider", "Stat"],
                  f"<Card title={js(title)}>\n  <NumberField label={js(bill)} value={{bill}} onChange={{setBill}} />\n  <Slider label={js(share)} min={{0}} max={{30}} value={{tip}} onChange={{setTip}} />\n  <Stat label={js(total)} value={{(bill * (1 + tip / 100)).toFixed(2)}} />\n</Card>",
                  "const [bill, setBill] = useState(50);\nconst [tip, setTip] = useState(15);")


def rating(_, title, word):
    return module(["Card", "Row", "Button"],
                  f'<Card title={js(title)}>\n  <Row>\n    {{[1, 2, 3, 4, 5].map((n) => <Button key={{n}} onClick={{() => {{ setStars(n); sendMessage(n + " {word}"); }}}}>{{n <= stars ? "★" : "☆"}}</Button>)}}\n  </Row>\n</Card>',
                  "const [stars, setStars] = useState(0);", True)


def dice(_, title, word):
    return module(["Card", "Stat", "Button"],
                  f'<Card title={js(title)}>\n  <Stat label="" value={{n}} />\n  <Button onClick={{() => setN(1 + Math.floor(Math.random() * 6))}}>{word}</Button>\n</Card>',
                  "const [n, setN] = useState(1);")


def conversations(contract, rng, times):
    out = []
    for line in (SEEDS / "cards.txt").read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        kind, lang, request, title, data, short = [p.strip() for p in line.split(" | ")]
        kind, _, args = kind.partition(" ")
        dev = held_out(line, 12)
        for _ in range(1 if dev else times if "{d" in line or "{i" in line or "{f" in line else max(1, times - 1)):
            text, values, said = request, data, short
            if "{d" in request:
                start = request.index("{d")
                mark = request[start:request.index("}", start) + 1]
                names = mark[3:-1] or rng.choice(LABELS)
                values = ", ".join(f"{n} {rng.randint(2, 60)}" for n in names.split(","))
                text, said = request.replace(mark, values), short.replace("{d}", values)
            for mark, pool in (("{i}", ITEMS), ("{f}", FIELDS)):
                if mark in request:
                    names = rng.sample(pool[lang], rng.randint(2, 4))
                    text = request.replace(mark, ", ".join(names))
                    values, said = ", ".join(n[:1].upper() + n[1:] for n in names), short.replace(mark, ", ".join(names))
            text = soften(text, lang, rng)
            conv = Conversation(contract, "L3")
            if rng.random() < 0.2:
                before, was = rng.choice(EARLIER)
                conv.add("user", before).add("assistant", contract.foreign(was))
            tsx = globals()[kind](args, title, values)
            conv.add("user", text).add("assistant", f"{FENCE}ui4a/tsx\n{tsx}\n{FENCE}", True)
            out.append((conv.summarise(contract, INTRO[lang].replace("{s}", said)), dev))
    return out


def samples(contract, tok, rng, stage=1):
    train, dev = [], []
    for conv, is_dev in conversations(contract, rng, 3):
        s = encode(tok, conv.messages, conv.supervised, group=conv.messages[0]["content"])
        (dev if is_dev else train).append(s)
    return train, dev
