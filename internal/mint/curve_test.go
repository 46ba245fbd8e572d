package mint_test

import (
	"testing"

	"macaron/internal/mint"
	"macaron/internal/train/curve"
)

// TestCurves: every step leaves one line, with what its passes came to; a restart adds none.
func TestCurves(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{})
	files := curve.Runs{Dir: t.TempDir()}
	r.more = func(o *mint.Options) { o.Curves = files }
	r.reopen(t)
	model := r.model(t, "o", r.session(t, "o"))
	ops := schedule(6)
	var loss float64
	for i, o := range ops {
		out := r.result(t, "o", must[mint.Promise](t)(r.send("o", model, int64(i+1), o)))
		if i < 2 {
			loss += out.Output.Metrics["loss:sum"]
		}
	}
	r.reopen(t)
	r.state(t, "o", model, "end")
	lines, _, err := files.Lines("o", model, 0, 9)
	if err != nil || len(lines) != 2 {
		t.Fatalf("%v %v", lines, err)
	}
	if l := lines[0]; l["step"] != 1 || l["loss"] != loss || l["tokens"] != 48 || l["learning_rate"] != adam.LearningRate || l["grad_norm"] <= 0 || lines[1]["step"] != 2 {
		t.Errorf("%v, loss %v", lines, loss)
	}
}
