package jsonscan

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var texts = []string{
	`{}`, `[]`, ` { "a" : [ 1 , -0.5e+3 , null ] , "b":{"c":{}},"a":true } `, `[{"x":"\"\\\/\b\f\n\r\t\u00e9"},"日本"," "]`, `"plain"`, `"\ud83d\ude00"`,
	"\"tab\there\"", "\"\xff\"", `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a" 1}`, `{"a":1,}`, `[1,]`, `[,]`, `{`, `[`, `{"a"`, `{"a":`, `"open`, `"\`, `"\u12`, `"\x"`,
	`nul`, `-`, `{} {}`, ``, ` `, strings.Repeat("[", 40) + strings.Repeat("]", 40), `{"k\n":1}`, "[1\x00]", `"0123456 \"89abcdef"`,
}

// check holds a text against encoding/json: what is read here is read alike there.
func check(t interface{ Errorf(string, ...any) }, text []byte) {
	if members, ok := Object(text); ok {
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Errorf("%q is no object: %v", text, err)
		}
		got := map[string]json.RawMessage{}
		for _, m := range members {
			got[m.Key] = m.Value
		}
		for k, v := range want {
			if !bytes.Equal(got[k], v) {
				t.Errorf("%q: %q is %q, not %q", text, k, got[k], v)
			}
		}
		if len(got) != len(want) {
			t.Errorf("%q: %d members, not %d", text, len(got), len(want))
		}
	}
	if items, ok := Array(text); ok {
		var want []json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil || len(want) != len(items) {
			t.Errorf("%q: %d items, not %d: %v", text, len(items), len(want), err)
			return
		}
		for i := range want {
			if !bytes.Equal(items[i], want[i]) {
				t.Errorf("%q: %q, not %q", text, items[i], want[i])
			}
		}
	}
	if s, ok := String(text); ok {
		var want string
		if err := json.Unmarshal(text, &want); err != nil || s != want {
			t.Errorf("%q: %q, not %q: %v", text, s, want, err)
		}
	}
}

func TestReadsAsEncodingJSONDoes(t *testing.T) {
	for _, text := range texts {
		check(t, []byte(text))
		check(t, []byte(`{"a":`+text+`}`))
		check(t, []byte(`["`+strings.Repeat("x", 13)+`",`+text+`]`))
	}
}

// What requests and streams are made of is read here, not left to encoding/json.
func TestReadsWhatIsCommon(t *testing.T) {
	members, ok := Object([]byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"a\nb \"c\""}],"n":1.5}`))
	if !ok || len(members) != 4 || string(members[3].Value) != "1.5" {
		t.Fatal(members, ok)
	}
	items, ok := Array(members[2].Value)
	if !ok || len(items) != 1 {
		t.Fatal(items, ok)
	}
	message, ok := Object(items[0])
	text, read := String(message[1].Value)
	if !ok || !read || text != "a\nb \"c\"" {
		t.Error(text, ok, read)
	}
}

func TestQuoteIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		quoted := Quote([]byte("x"), s)[1:]
		var back string
		if err := json.Unmarshal(quoted, &back); err != nil || back != s {
			t.Errorf("%q became %s: %v", s, quoted, err)
		}
	})
	if got := string(Quote(nil, "<a & \xff>")); !json.Valid([]byte(got)) || !strings.Contains(got, `\ufffd`) {
		t.Error(got)
	}
}

func FuzzScan(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}
