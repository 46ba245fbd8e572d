"""TSX of the cards: one function for each shape of the card grammar (internal/ui4a/grammar), written as it has them."""
import json

CHAT = 'import { sendMessage } from "$ui4a/chat";'
HELD = 'import { usePersistedState } from "$ui4a/state";'
CHART = 'import { Chart } from "$ui4a/charts";'


def js(value):
    return json.dumps(value, ensure_ascii=False)


def module(ui, body, state="", before="", chat=False):
    """Imports, one default export."""
    head = [before] * bool(before) + [f'import {{ {ui} }} from "$ui4a/ui";'] + [CHAT] * chat
    lines = head + ["", "export default function View() {"] + ["  " + l for l in state.split("\n") if l]
    return "\n".join(lines + ["  return ("] + ["    " + l for l in body.split("\n")] + ["  );", "}"])


def box(title, lines, name="Card", subtitle=""):
    head = f"<{name}" + (f" title={js(title)}" if title else "") + (f" subtitle={js(subtitle)}" if subtitle else "") + ">"
    return "\n".join([head] + ["  " + l for line in lines for l in line.split("\n")] + [f"</{name}>"])


def kept(name, initial):
    return f'const [{name}, set{name[0].upper()}{name[1:]}] = usePersistedState("{name}", {initial});'


def button(code, inside, tone=""):
    return f"<Button onClick={{() => {code}}}" + (f' tone="{tone}"' if tone else "") + f">{inside}</Button>"


def stat(label, value, unit="", delta="", tone=""):
    value = js(value) if isinstance(value, str) else f"{{{value}}}"
    more = (f" unit={js(unit)}" if unit else "") + (f" delta={js(delta)}" if delta else "") + (f' tone="{tone}"' if tone else "")
    return f"<Stat label={js(label)} value={value}{more} />"


def paragraphs(note):
    return [f"<p>{note}</p>"] if note else []


def chart(kind, title, pairs, unit="", note=""):
    data = ", ".join(f"{{ name: {js(n)}, value: {v} }}" for n, v in pairs)
    drawn = f'<Chart label={js(title)} kind="{kind}" x={{"name"}} y={{"value"}} data={{data}}' + (f" unit={js(unit)}" if unit else "") + " />"
    return module("Card", box(title, [drawn] + paragraphs(note)), f"const data = [{data}];", CHART)


def table(title, heads, rows, sort=False):
    keys = ["name", "value", "note"]
    data = ", ".join("{ " + ", ".join(f"{k}: {js(v) if isinstance(v, str) else v}" for k, v in zip(keys, row)) + " }" for row in rows)
    columns = ", ".join(f'{{ key: "{k}", label: {js(h)} }}' for k, h in zip(keys, heads))
    drawn = f"<Table label={js(title)} rows={{rows}} columns={{[{columns}]}}" + " sort" * sort + " />"
    return module("Card, Table", box(title, [drawn]), f"const rows = [{data}];")


def facts(title, stats, note="", subtitle=""):
    return module("Card, Stat", box(title, [stat(*s) for s in stats] + paragraphs(note), subtitle=subtitle))


def progress(title, bars, badge=""):
    lines = [f"<Progress label={js(l)} value={{{v}}} max={{{m}}} />" for l, v, m in bars]
    return module("Card, Progress, Badge", box(title, lines + [f"<Badge>{badge}</Badge>"] * bool(badge)))


def choice(title, options, note=""):
    each = "<Row>\n  {options.map((o) => <Button key={o} onClick={() => sendMessage(o)}>{o}</Button>)}\n</Row>"
    return module("Card, Row, Button", box(title, paragraphs(note) + [each]), f"const options = {js(options)};", chat=True)


def compare(cards):
    lines = [box(name, [f"<Badge>{b}</Badge>" for b in badges] + [button(f"sendMessage({js(name)})", name)]) for name, badges in cards]
    return module("Card, Row, Badge, Button", box("", lines, "Row"), chat=True)


def board(title, stats, bar, alert, send):
    lines = [box("", [stat(*s) for s in stats], "Row")]
    lines += [f"<Progress label={js(bar[0])} value={{{bar[1]}}} max={{{bar[2]}}} />"] if bar else []
    rest = [f'<Alert tone="warn">{alert}</Alert>'] * bool(alert) + [button(f"sendMessage({js(send)})", send)] * bool(send)
    return module("Stack, Card, Row, Stat, Badge, Progress, Alert, Button", box("", [box(title, lines)] + rest, "Stack"), chat=True)


FORM = kept("form", "{}") + "\nconst set = (key, value) => setForm({ ...form, [key]: value });"
SEND = "sendMessage(JSON.stringify(form))"


def bound(label, missing='""'):
    return f"value={{form[{js(label)}] ?? {missing}}} onChange={{(v) => set({js(label)}, v)}}"


def field(label, kind="", required=False, rows=0):
    return (f"<Field label={js(label)}" + (f" rows={{{rows}}}" if rows else "") + f" {bound(label)}"
            + (f' type="{kind}"' if kind else "") + " required" * required + " />")


def form(title, fields, send):
    return module("Card, Field, Button", box(title, [field(*f) for f in fields] + [button(SEND, send)]), FORM, HELD, True)


def control(kind, label, args):
    if kind in ("Select", "RadioGroup"):
        return f"<{kind} label={js(label)} options={{{js(args)}}} {bound(label)} />"
    if kind in ("NumberField", "Slider"):
        low, high = args
        return f"<{kind} label={js(label)} min={{{low}}} max={{{high}}} {bound(label, low)} />"
    if kind in ("Checkbox", "Switch"):
        return f"<{kind} label={js(label)} checked={{!!form[{js(label)}]}} onChange={{(v) => set({js(label)}, v)}} />"
    return field(label, *args)


def inputs(title, controls, send):
    ui = "Card, Field, Select, RadioGroup, NumberField, Slider, Checkbox, Switch, Button"
    return module(ui, box(title, [control(*c) for c in controls] + [button(SEND, send)]), FORM, HELD, True)


def checks(title, items, name="Checkbox", state="done", note=""):
    set_ = f"set{state[0].upper()}{state[1:]}"
    each = f"{{items.map((i) => <{name} key={{i}} label={{i}} checked={{!!{state}[i]}} onChange={{(v) => {set_}({{ ...{state}, [i]: v }})}} />)}}"
    return module(f"Card, {name}", box(title, paragraphs(note) + [each]), f"const items = {js(items)};\n" + kept(state, "{}"), HELD)


def toggles(title, items):
    return checks(title, items, "Switch", "on")


def level(title, label, low, high, unit, start):
    slider = f"<Slider label={js(label)} min={{{low}}} max={{{high}}} value={{value}} onChange={{setValue}}" + (f" unit={js(unit)}" if unit else "") + " />"
    send = button(f'sendMessage({js(label)} + ": " + value)', "{value}" + (f" {unit}" if unit else ""))
    return module("Card, Slider, Button", box(title, [slider, send]), kept("value", start), HELD, True)


def count(title, label, steps, start=0, reset=""):
    """steps: [(text of the button, what it adds)]"""
    row = [button(f"setN(n {'-' if by < 0 else '+'} {abs(by)})", text) for text, by in steps]
    row += [button(f"setN({start})", reset)] * bool(reset)
    return module("Card, Stat, Row, Button", box(title, [f"<Stat label={js(label)} value={{n}} />", box("", row, "Row")]), kept("n", start), HELD)


def dice(title, label, sides, roll):
    press = button(f"setN(1 + Math.floor(Math.random() * {sides}))", roll)
    return module("Card, Stat, Button", box(title, [f"<Stat label={js(label)} value={{n}} />", press]), kept("n", 1), HELD)


def rating(title, word, note=""):
    stars = ('<Row>\n  {[1, 2, 3, 4, 5].map((n) => <Button key={n} onClick={() => { setStars(n); sendMessage(n + " " + ' + js(word)
             + '); }}>{n <= stars ? "★" : "☆"}</Button>)}\n</Row>')
    return module("Card, Row, Button", box(title, paragraphs(note) + [stars]), kept("stars", 0), HELD, True)


def timer(title, label, seconds):
    state = (kept("left", seconds) + "\nconst [on, setOn] = useState(false);\nuseEffect(() => {\n  if (!on || left === 0) return;\n"
             "  const id = setTimeout(() => setLeft(left - 1), 1000);\n  return () => clearTimeout(id);\n}, [on, left]);")
    clock = 'Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0")'
    return module("Card, Stat, Button", box(title, [f"<Stat label={js(label)} value={{{clock}}} />", button("setOn(!on)", '{on ? "❚❚" : "▶"}')]), state, HELD)


def tip(title, bill, share, total, start, percent, most, unit=""):
    unit = f" unit={js(unit)}" if unit else ""
    lines = [f"<NumberField label={js(bill)} value={{bill}} onChange={{setBill}}{unit} />",
             f"<Slider label={js(share)} min={{0}} max={{{most}}} value={{tip}} onChange={{setTip}} unit=\"%\" />",
             f"<Stat label={js(total)} value={{(bill * (1 + tip / 100)).toFixed(2)}}{unit} />"]
    return module("Card, NumberField, Slider, Stat", box(title, lines), kept("bill", start) + "\n" + kept("tip", percent), HELD)


def quiz(title, question, options, right, yes, no):
    lines = [f"<RadioGroup label={js(question)} options={{{js(options)}}} value={{picked}} onChange={{setPicked}} />",
             f'{{picked === {js(right)} && <Alert tone="success">{yes}</Alert>}}',
             f'{{picked !== "" && picked !== {js(right)} && <Alert tone="danger">{no}</Alert>}}']
    return module("Card, RadioGroup, Alert", box(title, lines), kept("picked", '""'), HELD)
