package tool

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/errs"
)

func TestVisibleHidesWhatPointersName(t *testing.T) {
	for _, c := range []struct{ value, noai, want string }{
		{`{"a":1,"b":"x"}`, "/b", `{"a":1,"b":"[NoAI]"}`},
		{`{"a":1}`, "/b", `{"a":1}`},
		{`{"b":null}`, "/b/c", `{"b":null}`},
		{`{"rows":[{"mail":"m","n":1},{"n":2}]}`, "/rows/*/mail", `{"rows":[{"mail":"[NoAI]","n":1},{"n":2}]}`},
		{`{"rows":[1,2,3]}`, "/rows/1", `{"rows":[1,"[NoAI]",3]}`},
		{`{"a/b":{"~":5}}`, "/a~1b/~0", `{"a/b":{"~":"[NoAI]"}}`},
		{`{"m":{"x":1,"y":2}}`, "/m/*", `{"m":{"x":"[NoAI]","y":"[NoAI]"}}`},
		{`[1]`, "", `"[NoAI]"`},
		{`{"a":{"b":1}}`, "/a /a/b", `{"a":"[NoAI]"}`},
		{`{"a":{"b":1}}`, "/a/b /a", `{"a":"[NoAI]"}`},
		{`{"n":12345678901234567890.5,"b":1}`, "/b", `{"b":"[NoAI]","n":12345678901234567890.5}`},
		{`{"b":"first","b":"second"}`, "/b", `{"b":"[NoAI]"}`},
		// Another shape than declared: nothing is shown.
		{`[{"b":"x"}]`, "/b", withheld},
		{`"b: x"`, "/b", withheld},
		{`{"rows":"m@x"}`, "/rows/*/mail", withheld},
		{`not json`, "/b", withheld},
	} {
		got := Result{Value: json.RawMessage(c.value)}.Visible(Def{NoAI: strings.Split(c.noai, " ")})
		if string(got) != c.want {
			t.Errorf("%s without %q is %s, want %s", c.value, c.noai, got, c.want)
		}
	}
	if got := (Result{Value: json.RawMessage(`{ "z" : 1 }`)}).Visible(Def{}); string(got) != `{ "z" : 1 }` {
		t.Errorf("a value without NoAI was changed: %s", got)
	}
}

// TestModelNeverSeesNoAI: whatever a result holds, and however its NoAI values come back
// in its other fields, its error, its artifacts or what code prints, the model's text has none.
func TestModelNeverSeesNoAI(t *testing.T) {
	secret := rapid.StringMatching(`[A-Za-zäöü日€"'\\ \n/+]{3}Q[0-9a-zß🎈"'\\]{4,12}`)
	rapid.Check(t, func(t *rapid.T) {
		s := secret.Draw(t, "secret")
		n := rapid.IntRange(1, 4).Draw(t, "rows")
		rows := make([]map[string]any, n)
		for i := range rows {
			rows[i] = map[string]any{"id": i, "key": s, "deep": map[string]any{"list": []any{s, i}}}
		}
		value, err := json.Marshal(map[string]any{"rows": rows, "note": "the key is " + s, "raw": base64.StdEncoding.EncodeToString([]byte(s))})
		if err != nil {
			t.Fatal(err)
		}
		d := Def{Name: "f", NoAI: []string{"/rows/*/key", "/rows/*/deep/list"}}
		r := Result{Value: value, Error: &Error{Code: errs.UpstreamFailed, Message: "bad key " + s}, Artifacts: []Artifact{{Name: "of " + s}, {Name: "hidden", NoAI: true}}}
		limit := rapid.IntRange(0, 2000).Draw(t, "limit")
		var taint Taint
		if err := taint.Learn(d, r); err != nil {
			t.Fatal(err)
		}
		ascii, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		printed := taint.Clean(fmt.Sprintf("x%sy %s %q %+q", s, ascii, s, s))
		for _, text := range []string{r.ForModel(d, limit), r.ForModel(d, 1<<20), printed} {
			for _, form := range append(forms(s), s[len(s)-4:]) {
				if strings.Contains(text, form) {
					t.Fatalf("%q shows %q of %q", text, form, s)
				}
			}
		}
		if strings.Contains(r.ForModel(d, 1<<20), "hidden") {
			t.Fatal("a NoAI artifact was told")
		}
		if !strings.Contains(string(r.Value), "rows") {
			t.Fatal("code lost the value")
		}
	})
}

func TestTaintIsBounded(t *testing.T) {
	var taint Taint
	d := Def{NoAI: []string{"/*"}}
	for i := 0; ; i++ {
		value := fmt.Sprintf(`["%06d%s"]`, i, strings.Repeat("x", 100_000))
		if err := taint.Learn(d, Result{Value: json.RawMessage(value)}); err != nil {
			if errs.CodeOf(err) != errs.TooLarge {
				t.Error(err)
			}
			return
		}
		if i > 100 {
			t.Fatal("it remembers without end")
		}
	}
}

func TestBoundedCutsBetweenRunes(t *testing.T) {
	if got := Bounded("ab€de", 4); got != "ab\n[5 of 7 bytes are left out]" {
		t.Errorf("%q", got)
	}
	if got := Bounded("abc", 3); got != "abc" {
		t.Errorf("%q", got)
	}
}

func TestDefinitionsAreChecked(t *testing.T) {
	ok := Def{Name: "f", Effect: Pure}
	if err := ok.Check(); err != nil {
		t.Fatal(err)
	}
	for field, spoil := range map[string]func(*Def){
		"name":        func(d *Def) { d.Name = "f.g" },
		"effect":      func(d *Def) { d.Effect = "maybe" },
		"noai":        func(d *Def) { d.NoAI = []string{"b"} },
		"retries":     func(d *Def) { d.Retries = 99 },
		"timeout_ms":  func(d *Def) { d.TimeoutMS = -1 },
		"parameters":  func(d *Def) { d.Parameters = make([]byte, MaxSchema+1) },
		"description": func(d *Def) { d.Description = strings.Repeat("x", MaxDescription+1) },
	} {
		d := ok
		spoil(&d)
		if e := errs.As(d.Check()); e == nil || e.Code != errs.InvalidRequest || e.Field != field {
			t.Errorf("%s: %v", field, e)
		}
	}
}

func FuzzVisible(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":1}]}`), "/a/*/b")
	f.Add([]byte(`[[[]]]`), "/0/0/~1")
	f.Fuzz(func(t *testing.T, value []byte, pointer string) {
		d := Def{Name: "f", Effect: Read, NoAI: []string{pointer}}
		if d.Check() != nil {
			return
		}
		if got := (Result{Value: value}).Visible(d); len(value) > 0 && !json.Valid(got) {
			t.Fatalf("%q without %q is %q", value, pointer, got)
		}
	})
}
