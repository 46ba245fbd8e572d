package bfcl

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"macaron/internal/bench"
	"macaron/internal/errs"
	"macaron/internal/tool"
)

// Categories are the parts of BFCL that are run: one request with the calls judged by their
// form, and several requests with the state that the calls lead to judged.
var Categories = []string{"simple_python", "multiple", "parallel", "parallel_multiple", "irrelevance",
	"multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context"}

// task is one of the package's, as the worker gives it.
type task struct {
	ID      string `json:"id"`
	Cluster string `json:"cluster"`
	Turns   []struct {
		Text  string `json:"text"`
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Parameters  json.RawMessage `json:"parameters"`
		} `json:"tools"`
	} `json:"turns"`
	category string
}

func (t task) many() bool { return strings.HasPrefix(t.category, "multi_turn") }

// Suite is tasks of some categories.
type Suite struct {
	w     *Worker
	tasks []task
}

// NewSuite loads categories, of each at most so many tasks (0: all), evenly spread.
func NewSuite(w *Worker, categories []string, most int) (*Suite, error) {
	s := &Suite{w: w}
	for _, c := range categories {
		if !slices.Contains(Categories, c) {
			return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("%.40q is no category", c), "use some of "+strings.Join(Categories, ", "))
		}
		var all []task
		if err := w.do(map[string]any{"do": "load", "category": c}, &all); err != nil {
			return nil, err
		}
		n := len(all)
		if most > 0 {
			n = min(n, most)
		}
		for i := range n {
			t := all[i*len(all)/n]
			t.category = c
			s.tasks = append(s.tasks, t)
		}
	}
	return s, nil
}

// Name implements bench.Suite.
func (*Suite) Name() string { return "bfcl" }

// Items implements bench.Suite. A family is a category; tasks with the same functions are
// one cluster.
func (s *Suite) Items() []bench.Item {
	var out []bench.Item
	for _, t := range s.tasks {
		out = append(out, bench.Item{ID: t.ID, Family: t.category, Cluster: t.Cluster})
	}
	return bench.Spread(out)
}

// Open implements bench.Suite.
func (s *Suite) Open(_ context.Context, item string) (bench.Case, error) {
	for _, t := range s.tasks {
		if t.ID == item {
			c := &dialog{task: t, w: s.w}
			for range t.Turns {
				c.made = append(c.made, []made{}) // a list in JSON, too, when no call is made
			}
			if t.many() {
				var none any
				return c, s.w.do(map[string]any{"do": "begin", "task": t.ID}, &none)
			}
			return c, nil
		}
	}
	return nil, errs.New(errs.NotFound, "the suite has no task "+errs.Clip(item), "")
}

// made is a call that was made: its name and arguments.
type made [2]any

// dialog is a task under way.
type dialog struct {
	task
	w    *Worker
	made [][]made // by request
}

// Steps implements bench.Case.
func (d *dialog) Steps() int { return len(d.Turns) }

// Step implements bench.Case. Each request is a run of its own: the requests before it
// stand in the instruction, with the calls that were made and the answers; what the calls
// have done lasts in the simulated APIs.
func (d *dialog) Step(_ context.Context, n int, earlier []string) (bench.Step, error) {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Before, the user asked: %s\n", d.Turns[i].Text)
		for _, m := range d.made[i] {
			args, _ := json.Marshal(m[1]) // it was JSON
			fmt.Fprintf(&b, "Called: %s %s\n", m[0], args)
		}
		fmt.Fprintf(&b, "Answered: %s\n\n", earlier[i])
	}
	b.WriteString(d.Turns[n].Text)
	step := bench.Step{Instruction: b.String()}
	for _, t := range d.Turns[n].Tools {
		step.Tools = append(step.Tools, hosted{d, n, tool.Def{Name: t.Name, Description: t.Description, Parameters: t.Parameters, Effect: tool.Read}})
	}
	return step, nil
}

// hosted is a function of a task. All are declared as reading, as the package tells
// nothing of effects: hybrid mode may compose any of them.
type hosted struct {
	d   *dialog
	n   int
	def tool.Def
}

// Def implements tool.Tool.
func (h hosted) Def() tool.Def { return h.def }

// Invoke implements tool.Tool: the call is kept for the checker, and in tasks of several
// requests carried out.
func (h hosted) Invoke(_ context.Context, c tool.Call) (tool.Result, error) {
	var args map[string]any
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return tool.Result{}, errs.New(errs.InvalidRequest, "the arguments cannot be read", "")
	}
	h.d.made[h.n] = append(h.d.made[h.n], made{c.Name, c.Arguments})
	if !h.d.many() {
		return tool.Result{Value: json.RawMessage(`{"status":"noted"}`)}, nil
	}
	var out struct{ Value json.RawMessage }
	err := h.d.w.do(map[string]any{"do": "call", "task": h.d.ID, "name": c.Name, "arguments": args}, &out)
	return tool.Result{Value: out.Value}, err
}

// Score implements bench.Case.
func (d *dialog) Score(_ context.Context, _ []string) (bench.Score, error) {
	return score(d.w, d.ID, d.made)
}

func score(w *Worker, id string, calls any) (bench.Score, error) {
	var v struct {
		Valid bool            `json:"valid"`
		Error json.RawMessage `json:"error"`
		Text  string          `json:"error_message"`
	}
	if err := w.do(map[string]any{"do": "score", "task": id, "turns": calls}, &v); err != nil {
		return bench.Score{}, err
	}
	if v.Valid {
		return bench.Score{Points: 1}, nil
	}
	return bench.Score{Note: errs.Clip(v.Text + string(v.Error))}, nil
}

// Close implements bench.Case.
func (*dialog) Close() error { return nil }
