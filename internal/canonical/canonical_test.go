package canonical

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// The vectors of docs/formats/canonical.md: every later build must agree.
func TestGoldenVectors(t *testing.T) {
	raw, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct{ In, Out, SHA256 string }
	if err := json.Unmarshal(raw, &vectors); err != nil {
		t.Fatal(err)
	}
	if len(vectors) < 10 {
		t.Fatalf("%d vectors", len(vectors))
	}
	for _, v := range vectors {
		got, err := JSON([]byte(v.In))
		if err != nil || string(got) != v.Out {
			t.Errorf("%s\n got %s %v\nwant %s", v.In, got, err, v.Out)
		}
		if d := ids.DigestOf(got); d.Hex() != v.SHA256 {
			t.Errorf("%s: %s, not %s", v.In, d.Hex(), v.SHA256)
		}
	}
}

func TestRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty": "", "space": " ", "two values": "1 2", "trailing": `{"a":1}x`, "open": `[1,`, "key twice": `{"a":1,"b":2,"a":3}`,
		"key twice by escape": "{\"a\":1,\"\\u0061\":3}", "out of range": "1e999", "huge integer": strings.Repeat("9", 400),
		"utf-8": "\"\xff\"", "deep": strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), "bare word": "nan", "key no string": `{1:2}`,
	} {
		if got, err := JSON([]byte(text)); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s gave %.60s %v", name, got, err)
		}
	}
	for _, v := range []any{math.NaN(), math.Inf(1), map[string]any{"x": math.Inf(-1)}, make(chan int)} {
		if _, err := Hash(v); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%v gave %v", v, err)
		}
	}
	if _, err := JSON([]byte(strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth))); err != nil {
		t.Errorf("as deep as allowed: %v", err)
	}
}

// The revision hash does not depend on the order of targets or tensors, and does
// on everything else.
func TestRevisionHash(t *testing.T) {
	d := ids.DigestOf
	base := Revision{Base: d([]byte("b")), Rank: 16, Alpha: 32, Targets: []string{"v_proj", "q_proj"}, Tensors: map[string]ids.Digest{"a": d([]byte("1")), "c": d([]byte("2"))}}
	const golden = "sha256:63afb2ac66a5c416a569eb12302663446595fcca4459605edf91ace9c5b13742"
	hash := func(r Revision) ids.Digest {
		h, err := r.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	if got := hash(base); got != golden {
		t.Errorf("got %s", got)
	}
	same := base
	same.Targets = []string{"q_proj", "v_proj", "q_proj"}
	if hash(same) != hash(base) || base.Targets[0] != "v_proj" {
		t.Error("the order of targets counts, or was changed")
	}
	seen := map[ids.Digest]bool{hash(base): true}
	for _, change := range []func(*Revision){
		func(r *Revision) { r.Base = d([]byte("x")) }, func(r *Revision) { r.Rank = 8 }, func(r *Revision) { r.Alpha = 32.5 },
		func(r *Revision) { r.Targets = []string{"q_proj"} }, func(r *Revision) { r.Tensors = nil },
	} {
		other := base
		change(&other)
		if seen[hash(other)] {
			t.Errorf("%+v has the hash of another", other)
		}
		seen[hash(other)] = true
	}
}

// Canonical bytes are a fixed point, and read back as the value they came from.
func TestFloatsReadBackEqual(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := rapid.Float64().Draw(t, "f")
		b, err := Bytes(f)
		if err != nil {
			t.Fatal(err)
		}
		var back float64
		if err := json.Unmarshal(b, &back); err != nil || back != f {
			t.Fatalf("%g became %s: %v", f, b, err)
		}
		again, err := JSON(b)
		if err != nil || !bytes.Equal(b, again) {
			t.Fatalf("%s became %s: %v", b, again, err)
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"b":[1.50,-0,1e21,1E-7],"a":"\u00e9\ud83d\ude00\u0007"}`, `[[]]`, `{"a":{"a":null}}`, "123456789012345678901", `"\ud800"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := JSON(text)
		if err != nil {
			return
		}
		if !json.Valid(text) || !json.Valid(once) {
			t.Fatalf("%q gave %q", text, once)
		}
		twice, err := JSON(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q became %q: %v", once, twice, err)
		}
	})
}
