package mint_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/internal/mint"
	"macaron/internal/train"
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

// TestRewardsAreInTheCurves: a client tells the mean reward of a pass, which no loss reads, and
// the line of the step has the mean over its data; a negative and a zero reward are rewards too.
func TestRewardsAreInTheCurves(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{})
	files := curve.Runs{Dir: t.TempDir()}
	r.more = func(o *mint.Options) { o.Curves = files }
	r.reopen(t)
	model := r.model(t, "o", r.session(t, "o"))
	pass := func(advantages []float32, config map[string]float64) {
		t.Helper()
		rows := data(3, len(advantages), 4)
		for i, a := range advantages {
			q := r.result(t, "o", must[mint.Promise](t)(r.Forward(ctx, "o", mint.Forward{Model: model, Seq: mint.NoSeq, Data: rows[i : i+1], Loss: crossEntropy, Only: true}))).Output.Logprobs[0]
			rows[i].Inputs = map[string]train.Tensor{"target_tokens": rows[i].Inputs["target_tokens"], "logprobs": {Floats: q.Floats}, "advantages": {Floats: []float32{0, 0, a, a}}}
		}
		r.result(t, "o", must[mint.Promise](t)(r.Forward(ctx, "o", mint.Forward{Model: model, Seq: mint.NoSeq, Data: rows, Loss: train.Loss{Name: "ppo", Config: config}})))
	}
	step := func() { r.result(t, "o", must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{step: true}))) }
	told := map[string]float64{"reward": 0.75, "clip_high_threshold": 1.3}
	pass([]float32{0.5, -0.5, 0}, told)
	pass([]float32{0}, map[string]float64{"reward": -1})
	step()
	pass([]float32{1}, map[string]float64{"reward": 0})
	step()
	pass([]float32{1}, nil)
	step()
	r.state(t, "o", model, "end") // the line of a step is written behind its result, before what comes next
	if told["reward"] != 0.75 {
		t.Error("the request was changed")
	}
	lines, _, err := files.Lines("o", model, 0, 9)
	if err != nil || len(lines) != 3 {
		t.Fatalf("%v %v", lines, err)
	}
	if l := lines[0]; l["reward"] != (3*0.75-1)/4 || l["advantage"] != math.Sqrt(0.5/4) || l["level"] != 0.5 || l["kl"] != 0 {
		t.Errorf("%v", l)
	}
	if x, there := lines[1]["reward"]; x != 0 || !there {
		t.Errorf("a reward of 0: %v", lines[1])
	}
	if _, there := lines[2]["reward"]; there || lines[2]["advantage"] != 1 {
		t.Errorf("nobody told one: %v", lines[2])
	}
}

// TestRowsKeepWhereTheyCameFrom: what a client says of a row's origins is in the journal and,
// once the row was trained on, on disk beside the metrics; of a pass that only looks, nothing is.
func TestRowsKeepWhereTheyCameFrom(t *testing.T) {
	r := &room{}
	*r = *open(t, openEngine(t), t.TempDir(), mint.Limits{})
	files := curve.Runs{Dir: t.TempDir()}
	r.more = func(o *mint.Options) { o.Curves = files }
	r.reopen(t)
	model := r.model(t, "o", r.session(t, "o"))
	rows := data(1, 3, 6)
	rows[1].From = train.Origins{Input: []train.Origin{{Sequence: "q/0", Offset: 2, Length: 4}, {Sequence: "q/0", Length: 2, Sampled: true}}, Targets: []train.Origin{{Sequence: "q/0", Length: 6, Sampled: true}}}
	for _, only := range []bool{true, false} {
		r.result(t, "o", must[mint.Promise](t)(r.Forward(ctx, "o", mint.Forward{Model: model, Seq: mint.NoSeq, Data: rows, Loss: crossEntropy, Only: only})))
	}
	r.reopen(t) // the pass is carried out again, and leaves no second row
	r.result(t, "o", must[mint.Promise](t)(r.send("o", model, mint.NoSeq, op{step: true})))
	text := must[[]byte](t)(os.ReadFile(filepath.Join(filepath.Dir(files.Path("o", model)), curve.RowsFile)))
	var got curve.Row
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if strings.Count(string(text), "\n") != 1 || got.Step != 1 || got.Operation != 2 || got.Datum != 1 || got.Tokens != 6 || got.Row == "" ||
		len(got.Input) != 2 || got.Input[0] != (curve.Stretch{Sequence: "q/0", Of: "prompt", Offset: 2, Length: 4}) || got.Input[1].Of != "answer" || len(got.Targets) != 1 {
		t.Errorf("%s", text)
	}
}
