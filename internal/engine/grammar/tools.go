package grammar

import (
	"encoding/json"
	"strings"

	"macaron/internal/engine/grammar/auto"
	"macaron/internal/engine/grammar/jsonschema"
	"macaron/internal/engine/grammar/rtn"
	"macaron/internal/errs"
)

// Tool is a function that the model may call.
type Tool struct {
	Name       string
	Parameters json.RawMessage // JSON Schema; the arguments are an object in any case. Empty: any object
}

// Layout is how a family of models writes calls: Begin, a call, Between, a call, End.
// A call is Open, the name as within a JSON string, Middle, the arguments, Close. These
// texts may spell tokens that are special to the model.
type Layout struct {
	Begin, Between, End string
	Open, Middle, Close string
	Trigger             string // the beginning of Begin+Open from which on free text has become a call; empty: all of it
}

// ToolMode says whether the answer calls tools.
type ToolMode uint8

// The modes.
const (
	Auto     ToolMode = iota // text, calls, or text and then calls
	Required                 // calls only; a named tool is required by offering it alone
)

// ToolOptions decide how tools are called.
type ToolOptions struct {
	Mode     ToolMode
	Parallel bool // more than one call
	Schema   SchemaOptions
}

// Tools keeps the calls in an answer to the tools offered.
func (v *Vocab) Tools(tools []Tool, l Layout, o ToolOptions) (*Grammar, error) {
	if len(tools) == 0 {
		return nil, errs.New(errs.InvalidRequest, "there is no tool to call", "offer at least one").In("tools")
	}
	b := &rtn.Builder{}
	w := &toolWriter{v: v, b: b, budget: auto.NewBudget(autoBudget), o: o}
	call, err := w.call(tools, l)
	if err != nil {
		return nil, err
	}
	r := b.Rule()
	start, end := b.Start(r), b.End(r)
	if o.Mode == Auto {
		opening := w.spelled(l.Begin + l.Open)
		trigger := w.spelled(l.Trigger)
		if !strings.HasPrefix(opening, trigger) || opening == "" {
			return nil, errs.New(errs.InvalidRequest, "the trigger of tool calls is not how they begin", "let Trigger be the beginning of Begin and Open")
		}
		if trigger == "" {
			trigger = opening
		}
		behind := b.Node()
		w.free(start, trigger, behind, end)
		start = w.text(behind, opening[len(trigger):])
	} else {
		start = w.text(start, w.spelled(l.Begin+l.Open))
	}
	w.calls(start, call, l, end)
	return v.compile(b, r)
}

// toolWriter writes the network of calls.
type toolWriter struct {
	v      *Vocab
	b      *rtn.Builder
	budget *auto.Budget
	o      ToolOptions
}

// calls takes calls, the first of which is open already.
func (w *toolWriter) calls(from rtn.Node, call rtn.Rule, l Layout, end rtn.Node) {
	behind := w.b.Node()
	w.b.Call(from, call, behind)
	w.b.Text(behind, w.spelled(l.End), end)
	if w.o.Parallel {
		w.b.Eps(w.text(behind, w.spelled(l.Between+l.Open)), from)
	}
}

// call is the rule of one call behind its opening.
func (w *toolWriter) call(tools []Tool, l Layout) (rtn.Rule, error) {
	r := w.b.Rule()
	var all []rtn.Rule
	for _, t := range tools {
		args, err := w.arguments(t)
		if err != nil {
			return 0, err
		}
		all = append(all, args)
		name := jsonschema.Quote(t.Name)
		at, behind := w.text(w.b.Start(r), name[1:len(name)-1]+w.spelled(l.Middle)), w.b.Node()
		w.b.Call(at, args, behind)
		w.b.Text(behind, w.spelled(l.Close), w.b.End(r))
	}
	if i := w.b.Empty(all); i >= 0 {
		return 0, errs.New(errs.InvalidRequest, "tool "+errs.Clip(tools[i].Name)+": no object satisfies its parameters", "look for keywords that contradict each other").In("tools")
	}
	return r, nil
}

func (w *toolWriter) arguments(t Tool) (rtn.Rule, error) {
	raw := t.Parameters
	if len(raw) == 0 || string(raw) == "null" {
		raw = json.RawMessage("{}")
	}
	o := w.o.Schema.options()
	o.Object = true
	r, err := jsonschema.Build(w.b, raw, w.budget, o)
	if err != nil {
		e := *errs.As(err)
		e.Message = "tool " + errs.Clip(t.Name) + ": " + e.Message
		return 0, &e
	}
	return r, nil
}

func (w *toolWriter) text(from rtn.Node, s string) rtn.Node {
	to := w.b.Node()
	w.b.Text(from, s, to)
	return to
}

// spelled replaces the tokens in a text that are special to the model by the names under
// which the trie files them.
func (w *toolWriter) spelled(text string) string {
	var out strings.Builder
	for text != "" {
		id, n := w.v.special(text)
		if n > 0 {
			out.WriteString(controlName(id))
		} else {
			n = 1
			out.WriteByte(text[0])
		}
		text = text[n:]
	}
	return out.String()
}

// special finds the longest control token that a text begins with.
func (v *Vocab) special(text string) (id int32, n int) {
	for _, c := range v.controls {
		if piece := v.tok.Piece(c); len(piece) > n && strings.HasPrefix(text, string(piece)) {
			id, n = c, len(piece)
		}
	}
	return id, n
}

// free takes text that may end anywhere, until the trigger is complete: the automaton
// of Knuth, Morris and Pratt (1977), whose state is how much of the trigger has come.
func (w *toolWriter) free(from rtn.Node, trigger string, behind, end rtn.Node) {
	nodes := make([]rtn.Node, len(trigger)+1)
	for i := range trigger {
		nodes[i] = w.b.Node()
		w.b.Eps(nodes[i], end)
	}
	nodes[len(trigger)] = behind
	w.b.Eps(from, nodes[0])
	for i := range trigger {
		for lo := 0; lo < 0x100; {
			to := progress(trigger, i, byte(lo))
			hi := lo
			for hi < 0xFF && progress(trigger, i, byte(hi+1)) == to {
				hi++
			}
			if last := min(hi, 0xFE); last >= lo { // 0xFF begins the name of a special token
				w.b.Bytes(nodes[i], byte(lo), byte(last), nodes[to])
			}
			if hi == 0xFF && to > 0 {
				w.b.Bytes(nodes[i], 0xFF, 0xFF, nodes[to])
			}
			lo = hi + 1
		}
	}
}

// progress is how much of a trigger has come when n bytes of it had and then b does.
func progress(trigger string, n int, b byte) int {
	for s := trigger[:n] + string([]byte{b}); s != ""; s = s[1:] {
		if strings.HasPrefix(trigger, s) {
			return len(s)
		}
	}
	return 0
}
