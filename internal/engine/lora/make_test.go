package lora

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// random are values for some targets of every layer, the head once.
func random(seed uint64, rank int, base Shape, targets ...Target) []Values {
	r := rand.New(rand.NewPCG(seed, 1))
	fill := func(n int) []float32 {
		out := make([]float32, n)
		for i := range out {
			out[i] = float32(r.NormFloat64() * math.Pow(10, float64(r.IntN(8)-5)))
		}
		return out
	}
	var all []Values
	for layer := range base.Layers {
		for _, t := range targets {
			if in, out := base.Dims(t); t != Head || layer == 0 {
				all = append(all, Values{layer, t, fill(rank * in), fill(out * rank)})
			}
		}
	}
	return all
}

func digested() Shape {
	s := base()
	s.Base, s.Name = ids.DigestOf([]byte("base")), "org/Small-1"
	return s
}

// TestMadeIsWhatIsReadAgain: an adapter made in memory has the revision, the key and the
// bytes of the same adapter written as a PEFT directory and read again, and of its files
// in memory.
func TestMadeIsWhatIsReadAgain(t *testing.T) {
	every := []Target{Q, K, V, O, Gate, Up, Down}
	for name, c := range map[string]struct {
		plan   Plan
		values []Values
	}{
		"all":       {Plan{Rank: 4, Alpha: 32}, random(1, 4, base(), append(every, Head)...)},
		"attention": {Plan{Rank: 1, Alpha: 0.3}, random(2, 1, base(), Q, V)},
		"rslora":    {Plan{Rank: 3, Alpha: 7, RsLoRA: true}, random(3, 3, base(), every...)},
		"head":      {Plan{Rank: 2, Alpha: 1}, random(4, 2, base(), Head)},
		"activated": {Plan{Rank: 2, Alpha: 1, Invocation: []int32{3, 4}}, random(5, 2, base(), Up)},
		"one layer": {Plan{Rank: 2, Alpha: 1}, random(6, 2, base(), K, O)[2:]},
	} {
		for _, shape := range []Shape{base(), digested()} {
			made, err := Make(shape, c.plan, c.values)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			want, err := made.Adapter(shape)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			dir := filepath.Join(t.TempDir(), "a")
			if err := made.WritePEFT(dir); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			got, err := Load(dir, shape)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sameAdapter(t, name, want, got)
			if err := made.WritePEFT(dir); errs.CodeOf(err) != errs.InvalidRequest {
				t.Errorf("%s: written over: %v", name, err)
			}
			again, err := Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			configuration, weights, err := again.PEFT()
			if err != nil || again.Close() != nil {
				t.Fatal(err)
			}
			parsed, err := Parse(configuration, weights)
			if err != nil {
				t.Fatal(err)
			}
			if got, err = parsed.Adapter(shape); err != nil {
				t.Fatal(err)
			}
			sameAdapter(t, name, want, got)
			if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 1 {
				t.Errorf("%s: left behind: %v, %v", name, left, err)
			}
		}
	}
}

func sameAdapter(t *testing.T, name string, want, got *Adapter) {
	t.Helper()
	if want.Revision.Hash == "" || got.Revision.Hash != want.Revision.Hash || got.Key != want.Key || got.Scale != want.Scale || got.Revision.Base != want.Revision.Base ||
		got.Revision.Bytes != want.Revision.Bytes || got.Revision.Params != want.Revision.Params || !slices.Equal(got.Invocation, want.Invocation) {
		t.Errorf("%s: read again it is %+v, not %+v", name, got, want)
	}
	for layer := range want.Layers() {
		for target := range Head + 1 {
			a, b := want.At(layer, target), got.At(layer, target)
			if (a == nil) != (b == nil) || a != nil && !(equal(a.A, b.A) && equal(a.B, b.B)) {
				t.Errorf("%s: layer %d, target %d: other values", name, layer, target)
			}
		}
	}
}

func equal(a, b *kernel.Matrix) bool {
	for i := range a.Rows() {
		x, y := make([]float32, a.K()), make([]float32, b.K())
		a.Row(i, x)
		b.Row(i, y)
		if !slices.Equal(x, y) {
			return false
		}
	}
	return a.Rows() == b.Rows() && a.Format() == b.Format()
}

// TestMadeHoldsTheRoundedValues, rows of q where the engine wants them.
func TestMadeHoldsTheRoundedValues(t *testing.T) {
	s := base()
	values := random(9, 2, s, Q, Head)
	c, err := Make(s, Plan{Rank: 2, Alpha: 1}, values)
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Adapter(s)
	if err != nil {
		t.Fatal(err)
	}
	row := make([]float32, 2)
	for i, from := range s.Order(Q) {
		a.At(1, Q).B.Row(i, row)
		for k, got := range row {
			if want := values[len(values)-1].B[from*2+k]; math.Abs(float64(got-want)) > max(math.Abs(float64(want))/2048, 3e-8) {
				t.Fatalf("row %d is %v, want %v", i, got, want)
			}
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	s := base()
	good := func() []Values { return random(1, 2, s, Q, V) }
	for name, c := range map[string]struct {
		plan   Plan
		change func([]Values) []Values
		code   errs.Code
	}{
		"rank 0":         {plan: Plan{Alpha: 1}, code: errs.FormatInvalid},
		"no alpha":       {plan: Plan{Rank: 2}, code: errs.FormatInvalid},
		"nothing":        {change: func([]Values) []Values { return nil }, code: errs.FormatInvalid},
		"not a number":   {change: func(v []Values) []Values { v[0].A[3] = float32(math.NaN()); return v }, code: errs.InvalidRequest},
		"too large":      {change: func(v []Values) []Values { v[0].B[3] = 65520; return v }, code: errs.InvalidRequest},
		"too few":        {change: func(v []Values) []Values { v[1].B = v[1].B[1:]; return v }, code: errs.InvalidRequest},
		"twice":          {change: func(v []Values) []Values { return append(v, v[0]) }, code: errs.Unsupported},
		"no such layer":  {change: func(v []Values) []Values { v[0].Layer = 2; return v }, code: errs.InvalidRequest},
		"no such target": {change: func(v []Values) []Values { v[0].Target = Head + 1; return v }, code: errs.InvalidRequest},
		"other layers":   {change: func(v []Values) []Values { return v[1:] }, code: errs.Unsupported},
		"some and head":  {change: func(v []Values) []Values { return append(v[:2], random(1, 2, s, Head)...) }, code: errs.Unsupported},
		"head twice":     {change: func(v []Values) []Values { h := random(1, 2, s, Head); return append(append(v, h...), h...) }, code: errs.FormatInvalid},
	} {
		values := good()
		if c.change != nil {
			values = c.change(values)
		}
		if c.change != nil {
			c.plan = Plan{Rank: 2, Alpha: 1}
		}
		if _, err := Make(s, c.plan, values); errs.CodeOf(err) != c.code {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A directory of which a file cannot be written is not there at all.
func TestAllFilesOrNone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	if err := WriteFiles(dir, []byte("{}"), nil, Beside{"none/such", nil}); err == nil {
		t.Error("a file of no directory was written")
	}
	if left, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := WriteFiles(dir, []byte("{}"), nil, Beside{"provenance.json", []byte("from")}); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(dir, "provenance.json")); string(raw) != "from" {
		t.Errorf("%q %v", raw, err)
	}
}
