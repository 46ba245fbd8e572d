package mutant

import (
	"testing"

	"macaron/internal/bench/ui4a"
	words "macaron/internal/ui4a"
	"macaron/internal/ui4a/compile"
)

func TestEachLayerHasTwentyKinds(t *testing.T) {
	cases, err := ui4a.Cases()
	if err != nil {
		t.Fatal(err)
	}
	n, names := map[string]int{}, map[string]bool{}
	for _, k := range Kinds() {
		n[k.Layer]++
		if names[k.Name] {
			t.Errorf("%q is there twice", k.Name)
		}
		names[k.Name] = true
		fits := 0
		for _, c := range cases {
			if !c.Wants() {
				continue
			}
			source, ok := k.Break(c)
			if !ok {
				continue
			}
			fits++
			if source == c.Card {
				t.Errorf("%s, %s: nothing is broken", k.Name, c.ID)
			}
			if k.Layer == ui4a.CompileRender || fits > 3 && fits%20 != 0 { // some cards are enough
				continue
			}
			// What breaks something behind the first layer must compile.
			if _, findings := compile.Compile(source, compile.Options{}); words.Failed(findings) {
				t.Errorf("%s, %s: %v", k.Name, c.ID, findings)
			}
		}
		if fits == 0 && len(cases) > 100 {
			t.Errorf("%s fits no card", k.Name)
		}
	}
	for _, layer := range ui4a.LayerNames {
		if n[layer] < 20 {
			t.Errorf("%s has %d kinds", layer, n[layer])
		}
	}
}
