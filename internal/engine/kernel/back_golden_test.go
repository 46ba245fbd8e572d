package kernel

import (
	"encoding/json"
	"os"
	"testing"
)

// backCase is a function as PyTorch differentiates it; testdata/make_back.py wrote it.
type backCase struct {
	Kind          string
	Inputs, Grads [][]byte // float32
	Dy            []byte
	Target        int32
	N, Pos0       int
	Heads, Dim    int
	KVHeads       int `json:"kv_heads"`
	Decay         float64
}

func (c *backCase) input(i int) []float32 { return floatsOf(c.Inputs[i]) }

// TestBackwardAsPyTorch compares gradients, and steps of AdamW, with those that PyTorch
// computes in float32.
func TestBackwardAsPyTorch(t *testing.T) {
	raw, err := os.ReadFile("testdata/back.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []backCase
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		c := &cases[i]
		got := c.compute(t)
		for j, g := range got {
			for k, want := range floatsOf(c.Grads[j]) {
				near(t, c.Kind, k, g[k], float64(want), 2e-5, 2e-6)
			}
		}
		if len(got) != len(c.Grads) || len(got) == 0 {
			t.Fatalf("%s: %d gradients, want %d", c.Kind, len(got), len(c.Grads))
		}
	}
	if len(cases) != 8 {
		t.Errorf("the file has %d cases", len(cases))
	}
}

func (c *backCase) compute(t *testing.T) [][]float32 {
	dy := floatsOf(c.Dy)
	a, b := make([]float32, len(dy)), make([]float32, len(dy))
	switch c.Kind {
	case "rms_norm":
		RMSNormBack(a, dy, c.input(0), c.input(1), 1e-5)
		return [][]float32{a}
	case "swiglu":
		SwiGLUBack(a, b, dy, c.input(0), c.input(1))
		return [][]float32{a, b}
	case "geglu":
		GeGLUBack(a, b, dy, c.input(0), c.input(1))
		return [][]float32{a, b}
	case "log_prob":
		x := c.input(0)
		LogProbBack(x, LogSumExp(x), []int32{c.Target}, dy)
		return [][]float32{x}
	case "attention":
		return c.attention(dy)
	case "adamw":
		return c.steps()
	}
	t.Fatalf("a case of %s", c.Kind)
	return nil
}

func (c *backCase) attention(dy []float32) [][]float32 {
	p := NewPool(2)
	defer p.Close()
	q, k, v := c.input(0), c.input(1), c.input(2)
	var pages []*Page
	for pos := range c.Pos0 + c.N {
		if pos%PageTokens == 0 {
			pages = append(pages, NewPages(1, c.KVHeads, c.Dim)[0])
		}
		pages[pos/PageTokens].Put(pos%PageTokens, k[pos*c.KVHeads*c.Dim:], v[pos*c.KVHeads*c.Dim:], c.KVHeads, c.Dim)
	}
	g := AttnGrad{AttnSeq: AttnSeq{Pages: pages, Pos0: c.Pos0, N: c.N}, DK: make([]float32, len(k)), DV: make([]float32, len(v))}
	att, dq := make([]float32, len(q)), make([]float32, len(q))
	Attend(p, att, q, c.Heads, c.KVHeads, c.Dim, 0.25, []AttnSeq{g.AttnSeq})
	AttendBack(p, dq, q, att, dy, c.Heads, c.KVHeads, c.Dim, 0.25, []AttnGrad{g})
	return [][]float32{dq, g.DK, g.DV}
}

func (c *backCase) steps() (out [][]float32) {
	p := NewPool(2)
	defer p.Close()
	w := c.input(0)
	m, v := make([]float32, len(w)), make([]float32, len(w))
	for i := range c.Inputs[1:] {
		AdamW{Rate: 1e-2, Beta1: 0.9, Beta2: 0.95, Eps: 1e-12, Decay: c.Decay, T: i + 1, Clip: 1}.Step(p, w, m, v, c.input(i+1))
		out = append(out, clone(w))
	}
	return out
}

// TestRoundedAsFilesHoldIt: what is appended is read back as what a matrix holds.
func TestRoundedAsFilesHoldIt(t *testing.T) {
	x := []float32{1, -1.00390625, 1.01171875, 3e38, 65520, 1e-8, 0x1p-24, -0}
	want := map[Format][]float32{
		F32:  x,
		F16:  {1, -1.00390625, 1.0117188, 65504, 65504, 0, 0x1p-24, 0},
		BF16: {1, -1, 1.015625, 3.0040553e38, 65536, 1.0011718e-8, 0x1p-24, 0},
	}
	for f, values := range want {
		w, err := Pack(f, 1, len(x), AppendRounded(nil, f, x))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float32, len(x))
		w.Row(0, got)
		sameBits(t, f.String(), got, values)
	}
}

func TestSumSquares(t *testing.T) {
	if got := SumSquares([]float32{1, 2, 3, 4, 5, 6, 7}); got != 140 {
		t.Fatalf("%g, want 140", got)
	}
}
