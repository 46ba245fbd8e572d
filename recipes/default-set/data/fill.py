"""What a request for each shape of card says: values drawn from seeds/cards.words.txt, and the card that has them.

Each function gives the values of the request's <names>, `title` among them, and the card.
"""
import functools
import re

import shapes
from spin import sections

SEP = {"zh": "、", "ja": "、"}
AND = {"en": " and ", "es": " y ", "fr": " et ", "de": " und ", "pt": " e "}
KINDS = {"email": "email", "e-mail": "email", "邮箱": "email", "correo": "email", "メール": "email", "password": "password", "passwort": "password",
         "phone": "tel", "telefon": "tel", "teléfono": "tel", "téléphone": "tel", "telefone": "tel", "电话": "tel", "電話": "tel",
         "date": "date", "datum": "date", "fecha": "date", "data": "date", "日期": "date", "日付": "date", "date of birth": "date",
         "time": "time", "uhrzeit": "time", "hora": "time", "heure": "time", "时间": "time", "時間": "time"}
SEND = {"en": ["Send", "Save", "Submit", "Go", "Done"], "zh": ["提交", "保存"], "es": ["Enviar", "Guardar"], "fr": ["Envoyer", "Enregistrer"],
        "de": ["Senden", "Speichern"], "ja": ["送信", "保存"], "pt": ["Enviar", "Salvar"]}
WORDS = {  # titles and labels that a request does not say
    "form": {"en": "Form", "zh": "表单", "es": "Formulario", "fr": "Formulaire", "de": "Formular", "ja": "フォーム", "pt": "Formulário"},
    "list": {"en": "Checklist", "zh": "清单", "es": "Lista", "fr": "Liste", "de": "Checkliste", "ja": "リスト", "pt": "Lista"},
    "switch": {"en": "Settings", "zh": "设置", "es": "Ajustes", "fr": "Réglages", "de": "Einstellungen", "ja": "設定", "pt": "Ajustes"},
    "choose": {"en": "Choose", "zh": "请选择", "es": "Elige", "fr": "Choix", "de": "Auswahl", "ja": "選択", "pt": "Escolha"},
    "chart": {"en": "Chart", "zh": "图表", "es": "Gráfico", "fr": "Graphique", "de": "Diagramm", "ja": "グラフ", "pt": "Gráfico"},
    "table": {"en": "Table", "zh": "表格", "es": "Tabla", "fr": "Tableau", "de": "Tabelle", "ja": "表", "pt": "Tabela"},
    "value": {"en": "Value", "zh": "数值", "es": "Valor", "fr": "Valeur", "de": "Wert", "ja": "値", "pt": "Valor"},
    "note": {"en": "Note", "zh": "备注", "es": "Nota", "fr": "Note", "de": "Notiz", "ja": "メモ", "pt": "Nota"},
    "status": {"en": "Status"}, "figures": {"en": "Figures"},
    "progress": {"en": "Progress", "zh": "进度", "es": "Progreso", "fr": "Progrès", "de": "Fortschritt", "ja": "進捗", "pt": "Progresso"},
    "dice": {"en": "Dice Roll", "zh": "骰子 掷", "es": "Dado Lanzar", "fr": "Dé Lancer", "de": "Würfel Würfeln", "ja": "サイコロ 振る", "pt": "Dado Rolar"},
    "stars": {"en": "stars", "zh": "星", "es": "estrellas", "fr": "étoiles", "de": "Sterne", "ja": "つ星", "pt": "estrelas"},
    "timer": {"en": "Timer", "zh": "计时器", "es": "Temporizador", "fr": "Minuteur", "de": "Timer", "ja": "タイマー", "pt": "Temporizador"},
    "left": {"en": "Left", "zh": "剩余", "es": "Quedan", "fr": "Reste", "de": "Übrig", "ja": "残り", "pt": "Faltam"},
    "minutes": {"en": "minutes", "zh": "分钟", "es": "minutos", "fr": "minutes", "de": "Minuten", "ja": "分", "pt": "minutos"},
    "tip": {"en": "Tip,Bill,Total", "zh": "小费,账单,合计", "es": "Propina,Cuenta,Total", "fr": "Pourboire,Addition,Total", "de": "Trinkgeld,Rechnung,Summe",
            "ja": "チップ,会計,合計", "pt": "Gorjeta,Conta,Total"},
    "right": {"en": "Right!", "zh": "答对了！", "es": "¡Correcto!", "fr": "Exact !", "de": "Richtig!", "ja": "正解！", "pt": "Certo!"},
    "wrong": {"en": "Not quite, try again.", "zh": "不对，再试试。", "es": "No, prueba otra vez.", "fr": "Non, essaie encore.", "de": "Leider nein, versuch es noch einmal.",
              "ja": "ちがいます。もう一度。", "pt": "Não, tente de novo."}}
SEED = {"@flight": ["OS 201", "BA 318", "LH 77", "AF 1042", "TP 9", "KL 650"], "@train": ["IC 512", "G 102", "ICE 77", "RE 4", "D 305", "TGV 88"],
        "@code": ["A-1042", "X77", "B 2210", "ZK-9", "4471", "QR-305"]}


@functools.cache
def pool(lang, name):
    return tuple(w.strip() for line in sections("cards.words.txt")[f"{lang} {name}"] for w in (line.split(", ") if ";" not in line else [line]))


def lines(lang, name, rng):
    """One line of a pool, as its parts."""
    return [p.strip() for p in rng.choice(sections("cards.words.txt")[f"{lang} {name}"]).split(";")]


def upper(s):
    return s[:1].upper() + s[1:]


def number(span, rng):
    """A number of `low-high`; low may be negative."""
    low, high = map(int, re.match(r"(-?\d+)-(\d+)", span).groups())
    return round(rng.uniform(low, high), 1) if high < 100 and rng.random() < 0.15 else rng.randint(low, high)


def joined(words, lang, rng):
    if lang in AND and rng.random() < 0.4 and len(words) > 1:
        return ", ".join(words[:-1]) + AND[lang] + words[-1]
    return SEP.get(lang, ", " if rng.random() < 0.9 else "; ").join(words)


def pairs(lang, data, unit, rng):
    form = rng.choice(["{n} {v}", "{n} {v}", "{n} {v}", "{n}: {v}", "{n} = {v}", "{n} {v} {u}" if unit else "{n} {v}"])
    texts = [form.replace("{n}", n).replace("{v}", str(v)).replace("{u}", unit) for n, v in data]
    return joined(texts, lang, rng), "\n".join(texts), unit if "{u}" in form else ""


def topic(lang, rng, most=5):
    """-> topic, pool of the names, [(name, value)], unit"""
    what, pools, span, unit = lines(lang, "topics", rng)
    group = rng.choice([p for p in pools.split() if f"{lang} {p}" in sections("cards.words.txt")])
    words = pool(lang, group)
    names = rng.sample(words, rng.randint(2, min(most, len(words))))
    if group in ("months", "days", "quarters", "years"):  # in their order
        names.sort(key=words.index)
    return what, group, [(n, number(span, rng)) for n in names], unit


def head(lang, group):
    return dict(p.strip().split(" ", 1) for line in sections("cards.words.txt")[f"{lang} heads"] for p in line.split(";"))[group]


def chart(lang, kind, text, rng):
    what, group, data, unit = topic(lang, rng)
    said, below, unit = pairs(lang, data, unit, rng)
    title = upper(what) if "<topic>" in text or "<Topic>" in text else WORDS["chart"][lang]
    if "<values>" in text:
        unit = ""
    values = {"topic": what, "Topic": upper(what), "pairs": said, "lines": "\n" + below, "head": head(lang, group).lower(), "title": title,
              "names": joined([n for n, _ in data], lang, rng), "values": joined([str(v) for _, v in data], lang, rng)}
    return values, shapes.chart(kind, title, data, unit)


def table(lang, variant, text, rng):
    what, group, data, unit = topic(lang, rng, 6)
    said, below, _ = pairs(lang, data, "", rng)
    named = "<topic>" in text
    title = upper(what) if named else WORDS["table"][lang]
    heads = [head(lang, group), (upper(what) + (f" ({unit})" if unit and rng.random() < 0.3 else "")) if named else WORDS["value"][lang]]
    notes = rng.sample(pool(lang, "options"), len(data))
    triples = "; ".join(f"{n} {v} {o}" for (n, v), o in zip(data, notes))
    rows = [(*d, o) for d, o in zip(data, notes)] if variant == "wide" else data
    values = {"topic": what, "pairs": said, "lines": below + "\n", "head": heads[0].lower(), "title": title, "triples": triples}
    return values, shapes.table(title, heads + [WORDS["note"][lang]] * (variant == "wide"), rows, variant == "sort")


def drawn(lang, part, rng):
    """A phrase with its @names drawn -> the phrase, and what was drawn."""
    def draw(m):
        if m[0].startswith("@("):
            return rng.choice(m[0][2:-1].split("/"))
        if m[0].startswith("@num"):
            return str(rng.randint(*map(int, re.match(r"@num:(-?\d+)-(\d+)", m[0]).groups())))
        more = {"@time": f"{rng.randint(6, 23)}:{rng.choice(['00', '05', '15', '20', '30', '40', '45', '50'])}", "@gate": f"{rng.choice('ABCDEF')}{rng.randint(1, 60)}",
                "@seat": f"{rng.randint(1, 40)}{rng.choice('ABCDEF')}"}
        return more.get(m[0]) or rng.choice(SEED.get(m[0]) or pool(lang, m[0][1:]))
    return re.sub(r"@\([^)]*\)|@num:-?\d+-\d+|@[a-z]+", draw, part)


def facts(lang, variant, text, rng):
    if variant == "profile":
        person, job, city = rng.choice(pool(lang, "people")), rng.choice(pool(lang, "jobs")), rng.choice(pool(lang, "cities"))
        return {"person": person, "job": job, "city": city, "title": person}, shapes.facts(person, [("Job", upper(job)), ("City", city)])
    if variant == "status":
        states = [(s, rng.choice(["ok", "ok", "up", "slow", "down", "failing"])) for s in rng.sample(pool(lang, "services"), rng.randint(2, 4))]
        tones = {"ok": "success", "up": "success", "slow": "warn", "down": "danger", "failing": "danger"}
        return ({"states": joined([f"{a} {b}" for a, b in states], lang, rng), "title": "Status"},
                shapes.facts("Status", [(upper(a) if len(a) > 3 else a.upper(), b, "", "", tones[b]) for a, b in states]))
    if variant == "figures":
        stats, said = figures(lang, rng)
        return {"figures": said, "title": "Figures"}, shapes.facts("Figures", stats)
    what, title, *parts = lines(lang, "scenes", rng)
    parts = [p.split("=", 1) for p in sorted(rng.sample(parts, rng.randint(2, min(4, len(parts)))), key=parts.index)]
    said, stats = [], []
    for label, phrase in parts:
        phrase = drawn(lang, phrase, rng)
        said.append(phrase)
        stats.append((label, upper(phrase)))
    return {"what": what, "parts": joined(said, lang, rng), "title": title}, shapes.facts(title, [(l, shown(l, v)) for l, v in stats])


def shown(label, phrase):
    """A value without the word that its label says: "gate B4" under Gate is B4."""
    first, _, rest = phrase.partition(" ")
    return rest if rest and first.lower() == label.lower() else phrase


def figures(lang, rng):
    stats = []
    for _ in range(rng.randint(2, 4)):
        what, _, span, unit = lines(lang, "topics", rng)
        if what not in [s[0].lower() for s in stats]:
            stats.append((upper(what), number(span, rng), unit))
    return stats, joined([f"{l.lower()} {v}{' ' + u if u else ''}" for l, v, u in stats], lang, rng)


def progress(lang, variant, text, rng):
    if variant == "several":
        group = rng.choice([g for g in ("subjects", "costs", "tasks") if f"{lang} {g}" in sections("cards.words.txt")])
        bars = [(n, rng.randint(1, 99), 100) for n in rng.sample(pool(lang, group), rng.randint(2, 4))]
        title = WORDS["progress"][lang]
        return {"percents": joined([f"{n} {v} %" for n, v, _ in bars], lang, rng), "title": title}, shapes.progress(title, [(upper(n), v, m) for n, v, m in bars])
    unit, title, span = lines(lang, "goals", rng)
    goal = number(span, rng)
    goal = round(goal)
    done = rng.randint(1, goal)
    shown = upper(title) if "<title>" in text or "<Title>" in text else WORDS["progress"][lang]
    values = {"unit": unit, "title": title, "Title": upper(title), "goal": goal, "done": done}
    return values, shapes.progress(shown, [(shown, done, goal)], f"{done} / {goal} {unit if '<unit>' in text else ''}".rstrip())


def some(lang, rng, groups, most=5):
    return rng.sample(pool(lang, rng.choice(groups)), rng.randint(2, most))


def choice(lang, variant, text, rng):
    items = some(lang, rng, ["options", "options", "cities", "people", "days"], 4)
    if variant == "asked":
        question = rng.choice(["Where do we meet?", "Who goes first?", "Which one do you like?", "When are you free?", "What shall we play?", "How was it?", "Which size?", "What next?"])
        return {"question": question, "items": joined(items, lang, rng), "title": question}, shapes.choice(question, [upper(i) for i in items])
    return {"items": joined(items, lang, rng), "title": WORDS["choose"][lang]}, shapes.choice(WORDS["choose"][lang], [upper(i) for i in items])


def compare(lang, variant, text, rng):
    head_, *parts = lines(lang, "compared", rng)
    what, names = head_.split(": ")
    names = rng.sample(names.split(", "), rng.randint(2, 3))
    parts = parts[:rng.randint(1, len(parts))]
    cards = [(n, [drawn(lang, p, rng) for p in parts]) for n in names]
    mark = rng.choice([" ", " ", ": "])
    said = ("; " if len(parts) > 1 else ", ").join(n + mark + ", ".join(b) for n, b in cards)
    return {"what": what, "offers": said, "title": upper(what)}, shapes.compare(cards)


def board(lang, variant, text, rng):
    stats, said = figures(lang, rng)
    unit, title, span = lines(lang, "goals", rng)
    goal = round(number(span, rng))
    done = rng.randint(1, goal)
    warning = rng.choice(["stock is low", "two tasks are late", "server restart at 22:00", "rain in the afternoon", "budget nearly used", "one pump is off"])
    send = rng.choice(["Refresh", "Order more", "Tell the team", "Details", "Close the day"])
    heading = upper(title) if "Topic" not in text else "Shop"
    bar = (heading if "Topic" not in text else "", done, goal) if "<done>" in text else None
    values = {"figures": said, "done": done, "goal": goal, "unit": unit, "title": title, "Topic": "Shop", "warning": warning, "send": send}
    return values, shapes.board("Dashboard" if "Topic" not in text else "Shop", stats, bar, upper(warning) if "<warning>" in text else "", send if "<send>" in text else "")


def fields(labels):
    return [(upper(l), KINDS.get(l.lower(), ""), False, 3 if l.lower() in ("message", "comment", "nachricht", "mensaje", "mensagem", "留言", "本文") else 0) for l in labels]


def form(lang, variant, text, rng):
    if variant == "scene":
        what, title, send, labels = lines(lang, "forms", rng)
        return {"what": what, "labels": labels.lower(), "title": title}, shapes.form(title, fields(labels.split(", ")), send)
    names = some(lang, rng, ["fields"], 4)
    send = rng.choice(SEND[lang])
    return {"fields": joined(names, lang, rng), "send": send, "title": WORDS["form"][lang]}, shapes.form(WORDS["form"][lang], fields(names), send)


SAID = {"Select": "{l} from {o}", "RadioGroup": "{l} ({o})", "NumberField": "{l} {o}", "Slider": "{l} slider {o}", "Checkbox": "tick {l}", "Switch": "switch {l}", "Field": "{l}"}


def inputs(lang, variant, text, rng):
    what, title, send, *parts = lines(lang, "inputs", rng)
    controls, said = [], []
    for part in parts:
        kind, rest = part.split(" ", 1)
        label, _, options = rest.partition("=")
        args = options.split("/") if "/" in options else options.split("-") if options else ("", False, 3 if label == "Comment" else 0)
        controls.append((kind, label, args))
        said.append(SAID[kind].replace("{l}", label.lower()).replace("{o}", options.replace("/", ", ")))
    return {"what": what, "controls": joined(said, lang, rng), "title": title}, shapes.inputs(title, controls, send)


def checks(lang, variant, text, rng):
    group = next((g for g in ("foods", "packing", "habits") if f"<{g}>" in text), "")
    items = some(lang, rng, [group] if group else ["tasks", "tasks", "packing", "foods"])
    title = rng.choice(["Weekend", "Trip", "Garden", "Office", "Party"]) if "<list>" in text else WORDS["list"][lang]
    values = {"items": joined(items, lang, rng), "list": title, "title": title}
    values |= {group: values["items"]} if group else {}
    return values, shapes.checks(title, [upper(i) for i in items])


def toggles(lang, variant, text, rng):
    items = some(lang, rng, ["devices"], 4)
    return {"items": joined(items, lang, rng), "title": WORDS["switch"][lang]}, shapes.toggles(WORDS["switch"][lang], [upper(i) for i in items])


def level(lang, variant, text, rng):
    what, span, unit = lines(lang, "levels", rng)
    low, high = map(int, span.split("-"))
    if variant == "upto":
        low = 0
    if variant != "plain" and rng.random() < 0.5:  # other bounds than usual
        high = rng.choice([high * 2, high * 3, high + 10, high + 50])
    title = upper(what)
    return {"what": what, "low": low, "high": high, "unit": unit, "title": title}, shapes.level(title, title, low, high, unit, (low + high) // 2)


def count(lang, variant, text, rng):
    what, title, label = lines(lang, "counts", rng)
    start, by = rng.choice([0, 5, 10, 20, 50, 100]), rng.choice([2, 5, 10])
    values = {"what": what, "start": start, "by": by, "title": title}
    if variant == "steps":
        if "<start>" in text:
            return values, shapes.count(title, label, [(f"-{by}", -by), (f"+{by}", by)], start)
        return values, shapes.count(title, label, [("+1", 1), (f"+{by}", by)], 0, "Reset")
    return values, shapes.count(title, label, [("-", -1), ("+", 1)])


def dice(lang, variant, text, rng):
    title, roll = WORDS["dice"][lang].split()
    sides = rng.choice([4, 6, 8, 10, 12, 20, 100]) if "<sides>" in text else 6
    return {"sides": sides, "title": title}, shapes.dice(title, title, sides, roll)


def rating(lang, variant, text, rng):
    what, title = lines(lang, "rated", rng)
    return {"what": what, "title": title}, shapes.rating(title, WORDS["stars"][lang])


def timer(lang, variant, text, rng):
    n = rng.choice([*range(1, 21), 25, 30, 35, 40, 45, 50, 60, 90])
    if lang == "en" and rng.random() < 0.2:
        return {"span": f"{n} seconds", "spanned": f"{n} second", "title": "Timer"}, shapes.timer("Timer", "Left", n)
    said = f"{n}{'' if lang in SEP else ' '}{WORDS['minutes'][lang]}"
    if n == 1:
        said = said.removesuffix("s") if lang in ("en", "es", "fr", "pt") else said.replace("Minuten", "Minute")
    return {"span": said, "spanned": f"{n} minute", "title": WORDS["timer"][lang]}, shapes.timer(WORDS["timer"][lang], WORDS["left"][lang], 60 * n)


def tip(lang, variant, text, rng):
    share, bill, total = WORDS["tip"][lang].split(",")
    start, percent = rng.choice([rng.randint(8, 250), round(rng.uniform(8, 120), 2)]), rng.choice([5, 8, 10, 12, 15, 18, 20])
    values = {"bill": start, "percent": percent, "title": share}
    return values, shapes.tip(share, bill, share, total, start if "<bill>" in text else 50, percent if "<percent>" in text else 10, 30)


def quiz(lang, variant, text, rng):
    what, question, right, *others = lines(lang, "quizzes", rng)
    options = rng.sample([right] + others, 1 + len(others))
    values = {"topic": what, "question": question, "options": joined(options, lang, rng), "right": right, "title": what}
    return values, shapes.quiz("Quiz", question, options, right, WORDS["right"][lang], WORDS["wrong"][lang])
