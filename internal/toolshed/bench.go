package toolshed

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/repl"
	"macaron/internal/tool"
)

//go:embed judge.py
var program string

// judge names the programs that judge.
var judge = ids.DigestOf([]byte(program))

// report is what the program in the sandbox tells. It may be forged: nothing that is
// wanted of a tool was ever in there.
type report struct {
	Results    []result        `json:"results"`
	Effects    []string        `json:"effects"`
	Parameters json.RawMessage `json:"parameters"`
	Doc        string          `json:"doc"`
	Mutants    []string        `json:"mutants"`
	Cases      []Case          `json:"cases"`
}

type result struct {
	Value json.RawMessage `json:"value"`
	Error string          `json:"error"`
}

// bench is a sandbox in which the judge's program runs.
type bench struct {
	session *repl.Session
	roots   []string // first parts of the names of the tools that code can see

	mu     sync.Mutex
	got    *report
	answer repl.Caller
}

// bench opens a fresh sandbox in which code sees the named tools.
func (s *Shed) bench(ctx context.Context, names []string, seed uint64, wallMS int) (*bench, error) {
	b := &bench{roots: []string{}}
	stubs := []repl.Stub{{Name: "report"}, {Name: "advance"}}
	for _, n := range names {
		stubs = append(stubs, repl.Stub{Name: n})
		if root, _, _ := strings.Cut(n, "."); !slices.Contains(b.roots, root) {
			b.roots = append(b.roots, root)
		}
	}
	var err error
	b.session, err = s.Sandbox.Session(ctx, repl.SessionOptions{Stubs: stubs, Seed: seed, Call: b.call, Limits: repl.Limits{WallMS: wallMS}})
	return b, err
}

func (b *bench) close() {
	// What a sandbox leaves behind when it ends badly is swept by its pool.
	_ = b.session.Close()
}

// call takes the report, and hands on what else code asks.
func (b *bench) call(ctx context.Context, cell, name string, args json.RawMessage) (json.RawMessage, error) {
	b.mu.Lock()
	if name != "report" {
		answer := b.answer
		b.mu.Unlock()
		return answer(ctx, cell, name, args)
	}
	defer b.mu.Unlock()
	r := &report{}
	if err := json.Unmarshal(args, r); err != nil || b.got != nil {
		return nil, errs.New(errs.InvalidRequest, "no report", "")
	}
	b.got = r
	return json.RawMessage("null"), nil
}

// run calls a function of the judge's program and gives its report, or why there is none.
// The arguments are read from JSON, so that none is code.
func (b *bench) run(ctx context.Context, answer repl.Caller, function string, args ...any) (*report, string, error) {
	data, err := json.Marshal(args)
	if err != nil {
		return nil, "", errs.Wrap(errs.InvalidRequest, err, "the cases are not JSON", "")
	}
	text, err := json.Marshal(string(data)) // a JSON string is a string of Python, too
	if err != nil {
		return nil, "", err
	}
	b.mu.Lock()
	b.got, b.answer = nil, answer
	b.mu.Unlock()
	out, err := b.session.Run(ctx, repl.Cell{ID: "judge", Code: fmt.Sprintf("%s\n%s(*_json.loads(%s))", program, function, text)})
	if ctx.Err() != nil {
		return nil, "", errs.Wrap(errs.Canceled, ctx.Err(), "judging was stopped", "")
	}
	if err != nil {
		return nil, "", err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if out.Status != repl.OK || b.got == nil {
		return nil, reason(out), nil
	}
	return b.got, "", nil
}

// reason tells how a cell ended that did not report: the last line of its traceback.
func reason(out repl.Outcome) string {
	lines := strings.Split(strings.TrimSpace(out.Traceback), "\n")
	return tool.Bounded(strings.TrimSpace(out.Reason+" "+lines[len(lines)-1]), 300)
}

// once runs one function of the judge's program in a sandbox of its own.
func (s *Shed) once(ctx context.Context, function string, args ...any) (*report, string, error) {
	b, err := s.bench(ctx, nil, 0, s.wall())
	if err != nil {
		return nil, "", err
	}
	defer b.close()
	return b.run(ctx, nothing, function, args...)
}

func nothing(context.Context, string, string, json.RawMessage) (json.RawMessage, error) {
	return json.RawMessage("null"), nil
}

// sign reads a tool's parameters and docstring from its source.
func (s *Shed) sign(ctx context.Context, t *record.ToolSaved) error {
	r, why, err := s.once(ctx, "_signature", t.Source, t.Name)
	if err != nil {
		return err
	}
	if r == nil {
		return errs.New(errs.InvalidRequest, "the source cannot be read: "+why, "it is Python that defines the function "+t.Name+" once").In("source")
	}
	if len(t.Parameters) == 0 {
		if t.Parameters, err = canonical.JSON(r.Parameters); err != nil {
			return err
		}
	}
	if t.Doc == "" {
		t.Doc = tool.Bounded(r.Doc, 4096)
	}
	return nil
}
