package library

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestTableIsReadWhole(t *testing.T) {
	d := json.NewDecoder(bytes.NewReader(JSON()))
	d.DisallowUnknownFields()
	var read Table
	if err := d.Decode(&read); err != nil || len(read.Modules) != len(Modules()) {
		t.Fatalf("%d modules, %v", len(read.Modules), err)
	}
	for _, m := range Modules() {
		seen := map[string]bool{}
		for _, e := range m.Exports {
			if seen[e.Name] || e.Kind == Component && len(e.Props) == 0 || e.Kind == Function && e.Signature == "" {
				t.Errorf("%s: %s is there twice, or not whole: %+v", m.Name, e.Name, e)
			}
			seen[e.Name] = true
		}
	}
}

func TestWhatThereIsIsFound(t *testing.T) {
	ui, ok := Find("$ui4a/ui")
	button, has := ui.Export("Button")
	tone, knows := button.Prop("tone")
	if !ok || !has || !knows || button.Kind != Component || len(tone.Values) < 2 || tone.Required {
		t.Errorf("%v %v %v: %+v", ok, has, knows, tone)
	}
	icons, _ := Find("$ui4a/icons")
	if heart, ok := icons.Export("Heart"); !ok || heart.Kind != Icon {
		t.Errorf("%+v", heart)
	}
	if _, ok := Find("$ui4a/net"); ok {
		t.Error("a module that is not there")
	}
	if _, ok := ui.Export("Missing"); ok {
		t.Error("an export that is not there")
	}
	if _, ok := button.Prop("missing"); ok {
		t.Error("a prop that is not there")
	}
}
