package stream

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/ui4a/compile"
)

// writer writes cards as models do, each of a seed: with hooks or without, with lists,
// choices, nested components, constants, handlers, comments, templates and texts of
// several scripts.
type writer struct {
	*rand.Rand
	depth int
}

func (w *writer) pick(list ...string) string { return list[w.IntN(len(list))] }

func (w *writer) text() string {
	return w.pick("Budget", "It's due — soon", "预算 表", "a &amp; b", "größer als 3 µm", "50 % off", "مرحبا", "x → y", "two\n        lines", "{\"{\"} and {\"}\"}", "🍰 cake")
}

func (w *writer) value() string {
	return w.pick("{n}", "{n * 2 + 1}", "{`${n} of ${ITEMS.length}`}", "{ITEMS[0].name}", "{n > 2 ? \"many\" : \"few\"}", "{ITEMS.filter((x) => x.size > n).length}", "{Math.round(n / 3)}", "{/* a comment */}", "{on && \"yes\"}", "{String(n).replace(/[0-9]/g, \"#\")}")
}

func (w *writer) attrs() string {
	return w.pick("", ` className="flex gap-2"`, " className={on ? \"p-2\" : \"p-4\"}", " style={{ color: \"var(--accent)\", padding: n + 1 }}", ` title="a > b"`, ` data-x='"'`, " {...REST}", "\n      className=\"text-muted\"\n      id={`a${n}`}\n    ", " hidden={n > 100}")
}

// node is a child of an element.
func (w *writer) node() string {
	if w.depth > 4 {
		return w.text()
	}
	w.depth++
	defer func() { w.depth-- }()
	switch w.IntN(12) {
	case 0, 1:
		return w.text()
	case 2:
		return w.value()
	case 3:
		return "<br />"
	case 4:
		return fmt.Sprintf("{ITEMS.map((item) => (\n      <li key={item.name}%s>{item.name}: %s</li>\n    ))}", w.attrs(), w.node())
	case 5:
		return fmt.Sprintf("{on ? <b>%s</b> : <i>%s</i>}", w.node(), w.node())
	case 6:
		return fmt.Sprintf("{n > 1 && <Badge>%s</Badge>}", w.node())
	case 7:
		return fmt.Sprintf("<Button onClick={() => { setN(n + 1); setOn(!on); }}>%s</Button>", w.text())
	case 8:
		return fmt.Sprintf("<Card title=\"%s\"%s>%s</Card>", w.pick("A", "B & C", "数"), w.pick("", " footer={<Badge>end</Badge>}"), w.nodes())
	case 9:
		return fmt.Sprintf("<Line item={ITEMS[%d]} />", w.IntN(2))
	case 10:
		return "<Table label=\"t\" columns={[\"a\", \"b\"]} rows={[[\"1\", \"2\"], [\"3, 4\", \"5\"], [\"6\", `7`]]} />"
	default:
		return fmt.Sprintf("<%s%s>%s</%[1]s>", w.pick("p", "div", "section", "span"), w.attrs(), w.nodes())
	}
}

func (w *writer) nodes() string {
	var b strings.Builder
	for range 1 + w.IntN(3) {
		b.WriteString("\n    " + w.node())
	}
	return b.String() + "\n  "
}

const constants = `const ITEMS = [
  { name: "tea", size: 2 },
  { name: "milk, cold", size: 5 }, // { not a bracket
];
const REST = { lang: "en" };
`

const line = `function Line({ item }: { item: { name: string; size: number } }) {
  const [open, setOpen] = useState<boolean>(false);
  if (!item) return null;
  return <p onClick={() => setOpen(!open)}>{open ? item.name : "…"}</p>;
}
`

// card writes one card.
func card(seed uint64) string {
	w := &writer{Rand: rand.New(rand.NewPCG(seed, 4))}
	hooks := "  const [n, setN] = useState(0);\n  const [on, setOn] = useState(false);\n" + w.pick("", "  const sum = useMemo(() => ITEMS.reduce((s, x) => s + x.size, 0), []);\n", "  useEffect(() => { document.title = \"x\"; }, [n]);\n", "  /* `${ */ const half = n / 2, third = n / 3;\n")
	body := fmt.Sprintf("<Card title=\"%s\">%s</Card>", w.pick("Plan", "Übersicht", "It is `x`"), w.nodes())
	component := "() {\n" + hooks + w.pick("  return (\n    "+body+"\n  );\n", "  return "+body+";\n", "  if (n > 1000) {\n    return <p>too many</p>;\n  }\n  return (\n    "+body+"\n  )\n") + "}\n"
	imports := "import { Badge, Button, Card, Table } from \"$ui4a/ui\";\n" + w.pick("", "import { useEffect, useMemo, useState } from \"react\";\n", "import React from 'react';\n")
	export := w.pick("export default function Plan"+component, "function Plan"+component+"\nexport default Plan;\n", "const Plan = "+strings.Replace(component, "() {", "() => {", 1)+"export default Plan\n")
	return imports + constants + w.pick(line+export, export+line)
}

// corpus are n written cards, and the cards of the bench that compile.
func corpus(t testing.TB, n int) []string {
	t.Helper()
	files, err := filepath.Glob("../../bench/ui4a/cases/*/card.tsx")
	if err != nil || len(files) == 0 {
		t.Fatal("no cards of the bench", err)
	}
	var cards []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if r, _ := compile.Compile(string(b), compile.Options{}); r.JS != "" {
			cards = append(cards, string(b))
		}
	}
	for seed := range n {
		cards = append(cards, card(uint64(seed)))
	}
	return cards
}
