package gallery_test

import (
	"fmt"
	"strings"
	"testing"

	"macaron/internal/ui4a/compile"
)

// A careless card is told what is wrong, and shows the rest.
func TestCarelessCardsAreTold(t *testing.T) {
	s := newStage(t, phone)
	for name, c := range map[string]struct {
		card        string
		told, shown []string
	}{
		"objects and functions as children": {
			`<Stack><Badge>{{ a: 1 }}</Badge><Card title={["x"]}>{() => 1}</Card><Alert>{new Date(NaN)}</Alert><p>rest</p></Stack>`,
			[]string{"Badge: an object cannot be shown as it is", "Card title: a text is expected here", "Card: a function cannot be shown"}, []string{`{"a":1}`, "rest"},
		},
		"values of another type": {
			`<Stack><Slider label="S" value={"many" as any} /><Select label="C" options={"abc" as any} /><NumberField label="N" min={"low" as any} />
				<Button onClick={"go" as any}>B</Button><Progress label="P" value={undefined as any} max={0} /><Table label="T" rows={{} as any} />
				<Field label="F" value={{} as any} onChange={() => 0} /><Badge tone={"pink" as any}>tone</Badge></Stack>`,
			[]string{"Slider value: many is no number", "Select options: a list is expected here", "NumberField min: low is no number", "Table rows: a list is expected here",
				"Field value: a text is expected here", "Badge tone: pink is none of its values"}, []string{"tone", "S", "N"},
		},
		"no labels": {
			`<Stack><Field /><Switch /><RadioGroup options={["a"]} /><Chart kind="bar" data={[{ m: "Jan", v: 2 }]} x="m" y="w" /></Stack>`,
			[]string{"Field: label is missing", "Switch: label is missing", "RadioGroup: label is missing", "Chart: label is missing", "Chart: no row has a field w"}, []string{"a"},
		},
		"half-written data": {
			`<Stack><Chart label="C" kind="line" data={undefined as any} x="m" y="v" /><Table label="T" rows={undefined as any} /><Tabs label="Tabs">{undefined as any}</Tabs>
				<Chart label="D" kind="pie" data={[null, { m: "a" }, { m: "b", v: "x" }] as any} x="m" y="v" /><Stat label="L" value={undefined as any} /></Stack>`,
			[]string{"Chart y: x is no number"}, []string{"No data", "L"},
		},
		"charts and tables of lists": {
			`<Stack><Chart label="Sum" kind="bar" x={["a", "b"]} y={[1, 2]} /><Chart label="D" kind="line" x={["a", 3]} y={{ One: [1], Two: "x" as any }} /><Chart label="E" kind="bar" x="m" y="v" />
				<Table label="T" columns={["Name", { key: "n", label: "Number" }]} rows={[["Ada", 7], { Name: "Bo", n: 8 }, ["Cy", 9, "more"]]} /></Stack>`,
			[]string{"Chart y Two: a list is expected here", "Chart: data is missing"}, []string{"Sum", "One", "Ada", "7", "Bo", "8", "Cy"},
		},
		"tabs of something else": {
			`<Tabs label="T"><p>no tab</p><Tab label="one">first</Tab></Tabs>`,
			[]string{"Tabs: something that is no Tab is not shown"}, []string{"first"},
		},
		"a formula that is none": {
			`<Stack><MathBlock tex="\frac{1" /><p>rest</p></Stack>`,
			[]string{`formula not understood: \frac{1`}, []string{"rest"},
		},
	} {
		r, findings := compile.Compile("import { LaTeX, MathBlock } from \"$ui4a/katex\";\nimport { Chart } from \"$ui4a/charts\";\nexport default function Careless() {\n  return "+c.card+";\n}\n", compile.Options{})
		if r.JS == "" {
			t.Fatalf("%s: %v", name, findings)
		}
		s.mount(r.JS)
		said, shown := fmt.Sprint(s.told("problem")), s.visible()
		for _, want := range c.told {
			if !strings.Contains(said, want) {
				t.Errorf("%s: nothing is said of %q: %s", name, want, said)
			}
		}
		for _, want := range c.shown {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: %q is not shown: %q", name, want, shown)
			}
		}
		if failed := s.told("error"); len(failed) > 0 {
			t.Errorf("%s: it throws: %v", name, failed)
		}
	}
}

// An icon of an unknown name is an empty square, and told with the nearest names.
func TestUnknownIconsAreTold(t *testing.T) {
	s := newStage(t, phone)
	s.mount(`globalThis.__ui4a.define({revision: "r"}, (registry) => () => registry["react/jsx-runtime"].jsx(registry["$ui4a/icons"].Hart, {size: 30}));`)
	s.wait(`document.querySelector("#card svg rect")?.ownerSVGElement.getBoundingClientRect().width === 30`)
	if said := fmt.Sprint(s.told("problem")); !strings.Contains(said, "unknown icon Hart, near: Heart") {
		t.Errorf("it says %s", said)
	}
}

// A control whose value the card does not keep works all the same.
func TestControlsWithoutStateWork(t *testing.T) {
	s := newStage(t, phone)
	r, _ := compile.Compile(`export default function Loose() { return <Switch label="Wi-Fi" checked={false} />; }`, compile.Options{})
	s.mount(r.JS)
	s.must(s.Press("\t "))
	s.wait(`document.querySelector("[role=switch]").ariaChecked === "true"`)
	if said := fmt.Sprint(s.told("problem")); !strings.Contains(said, "Switch: checked without onChange") {
		t.Errorf("it says %s", said)
	}
}
