package main

import (
	"encoding/json"
	"testing"

	"macaron/cmd/macaron/model"
)

// A model directory is shown as a file is.
func TestModelShowTakesADirectory(t *testing.T) {
	t.Setenv("MACARON_HOME", t.TempDir())
	code, out, said := invoke(t, "", "model", "show", "../../internal/engine/model/testdata/arch/gemma3", "--json")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, said)
	}
	var v model.ModelView
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	if v.Name != "gemma3" || v.Architecture != "gemma3_text" || v.Layers != 3 || v.Context != 256 || v.Formats["F32"] != int64(v.Tensors) || v.Parameters == 0 || v.Resident == 0 || v.KVBytes != 2*2*3*32 {
		t.Errorf("%+v", v)
	}
}
