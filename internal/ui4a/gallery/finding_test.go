package gallery_test

import (
	"fmt"
	"slices"
	"testing"
)

// What the frame measures of a card: each fault once, by rule, kind and place, and nothing
// of what stands beside it and is right. Where axe-core has a rule, it agrees.
func TestTheFrameMeasuresWhatNotEverybodyCanUse(t *testing.T) {
	s := newStage(t, phone)
	s.show("faults", `const bare = {}; const tiny = { width: 14, height: 14, padding: 0, minHeight: 0 };
const Drawn = () => <svg width="20" height="20" aria-hidden="true" />;
export default () => <div>
	<button onClick={() => 0}>Go</button> <button onClick={() => 0}><Drawn /></button>
	<button onClick={() => 0} {...bare}><img src="data:," alt="Home" /></button>
	<label>Name <input /></label> <input {...bare} /> <input type="hidden" {...bare} />
	<span id="other">Town</span> <input aria-labelledby="other" />
	<input type="checkbox" {...bare} /> <label htmlFor="c">Tea</label> <input type="checkbox" id="c" />
	<img src="data:," width="9" height="9" {...bare} /> <img src="data:," alt="" width="9" height="9" />
	<div className="flex gap-1"><button className="p-0" style={tiny} aria-label="Less" onClick={() => 0} /><button className="p-0" style={tiny} aria-label="More" onClick={() => 0} /></div>
	<p>A text with <button className="p-0" style={{ ...tiny, display: "inline" }} aria-label="a note" onClick={() => 0} /> in its line</p>
	<div className="overflow-x-auto"><p style={{ width: 900 }}>rolls</p></div>
	<table><tbody><tr><td style={{ minWidth: 800 }}>far too wide</td></tr></tbody></table>
</div>;`)
	s.wait(`said.some((m) => m.rule === "overflow")`)
	var got []string
	for _, f := range s.told("finding") {
		got = append(got, fmt.Sprintf("%v %v %v/%v", f["rule"], f["kind"], f["n"], f["of"]))
	}
	want := []string{"name button 2/6", "name field 2/3", "name checkbox 1/2", "alt picture 2/3", "target button 4/6", "target button 5/6", "overflow table 1/1"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	s.look(axeOnce)
	if rules := s.text(`axe.run(document, {runOnly: {type: "rule", values: ["button-name", "label", "image-alt", "target-size"]}}).then((r) => r.violations.map((v) => v.id + " " + v.nodes.length).sort().join(", "))`); rules != "button-name 1, image-alt 1, label 2, target-size 2" {
		t.Errorf("axe-core finds %s", rules)
	}
}

// A card that holds a private value is not measured: nothing is told of how it looks.
func TestAPrivateCardIsNotMeasured(t *testing.T) {
	s := newStage(t, phone)
	s.show("private", `import { usePrivateState } from "$ui4a/state"; const Drawn = () => <svg width="20" height="20" />;
export default function A() { const [pin] = usePrivateState("pin", "7391"); return <div><p>{pin.length}</p><button onClick={() => 0}><Drawn /></button></div>; }`)
	s.look(`new Promise((done) => setTimeout(() => done(true), 900))`) // what is not told has no end to wait for
	if told := s.told("finding"); len(told) > 0 {
		t.Errorf("told %v", told)
	}
}
