package gallery_test

import (
	"testing"

	"macaron/internal/ui4a/compile"
)

// crowded is what has little room on a phone.
const crowded = `import { Chart } from "$ui4a/charts";
import { NumberField, RadioGroup } from "$ui4a/ui";
const days = ["1 January", "8 January", "15 January", "22 January", "29 January", "5 February", "12 February", "19 February"].map((day, i) => ({ day, n: i + 3 }));
const cities = ["東京都千代田区", "大阪府大阪市", "北海道札幌市", "福岡県福岡市", "愛知県名古屋市"].map((city, i) => ({ city, n: i + 3 }));
export default function Crowded() {
  return (
    <>
      <Chart kind="area" label="Days" data={days} x="day" y="n" />
      <Chart kind="line" label="Cities" data={cities} x="city" y="n" />
      <div style={{ width: 100 }}><NumberField label="Cups" value={1200} onChange={() => undefined} /></div>
      <RadioGroup label="Size" required options={["S", "M"]} />
    </>
  );
}
`

func TestWhatHasLittleRoom(t *testing.T) {
	s := newStage(t, phone)
	r, findings := compile.Compile(crowded, compile.Options{})
	if r.JS == "" {
		t.Fatal(findings)
	}
	s.mount(r.JS)
	for what, wrong := range map[string]string{
		"names along x lie upon each other": `[...document.querySelectorAll("svg")].flatMap((svg) => {
			const all = [...svg.querySelectorAll("text")].map((e) => [e.textContent, e.getBoundingClientRect()]);
			return all.flatMap(([a, p], i) => all.slice(i + 1).filter(([, q]) => p.left < q.right && q.left < p.right && p.top < q.bottom && q.top < p.bottom).map(([b]) => a + " / " + b));
		}).join(", ")`,
		"a chart has fewer than two names along x": `[...document.querySelectorAll("svg")].filter((svg) => [...svg.querySelectorAll("text")].filter((e) => /\D/.test(e.textContent)).length < 2).map((svg) => svg.ariaLabel).join()`,
		"a number is cut off":                      `(() => { const e = document.querySelector("input[type=number]"); return e.scrollWidth > e.clientWidth ? e.scrollWidth + " of " + e.clientWidth + " px" : ""; })()`,
		"the star is far from its label":           `(() => { const [a, b] = [document.querySelector(".ui-radios").previousElementSibling, [...document.querySelectorAll("span")].find((e) => e.textContent === " *")].map((e) => e.getBoundingClientRect()); return b.left - a.left > 80 ? (b.left - a.left) + " px" : ""; })()`,
	} {
		if found := s.text(wrong); found != "" {
			t.Errorf("%s: %s", what, found)
		}
	}
}
