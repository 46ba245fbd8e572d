package world

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Free is a task that somebody wrote: a model, or whoever did it in production. It has no
// family of templates; its form takes that place, so that tasks of one form are on one side
// of every split whoever wrote them.
type Free struct {
	World       string               `json:"world"`
	Instruction string               `json:"instruction"`
	Answer      string               `json:"answer_format"`
	Seed        uint64               `json:"seed,omitempty"`  // of compose: names the tables
	Scale       int                  `json:"scale,omitempty"` // of compose: how large they are
	Text        string               `json:"text,omitempty"`  // of text: what is worked on
	Files       map[string]string    `json:"files,omitempty"` // of terminal
	Goal        Goal                 `json:"goal"`
	Solution    mindforge.Solution   `json:"solution"`
	Failing     []mindforge.Solution `json:"failing"`
}

// FreeFamily begins the names of the families of such tasks.
const FreeFamily = "free-"

// The bounds of a free task.
const (
	maxInstruction = 2000
	maxFreeText    = 4000
	maxFiles       = 32
	maxCalls       = 32
	maxFailing     = 8
)

// Check refuses what is out of bounds.
func (f Free) Check() error {
	texts := []string{f.Instruction, f.Answer, f.Text}
	for name, text := range f.Files {
		if !filepath.IsLocal(name) || path.Clean(name) != name || name == "." || len(name) > 100 {
			return bad("the file "+errs.Clip(name)+" does not lie in the workspace", "use a relative path")
		}
		texts = append(texts, name, text)
	}
	for _, t := range texts {
		if len(t) > maxFreeText || !utf8.ValidString(t) || strings.ContainsRune(t, 0) {
			return bad(fmt.Sprintf("a text has more than %d bytes, or is no text", maxFreeText), "")
		}
	}
	switch {
	case strings.TrimSpace(f.Instruction) == "" || len(f.Instruction) > maxInstruction || len(f.Answer) > 200 || strings.Contains(f.Answer, "\n"):
		return bad(fmt.Sprintf("the instruction is empty or has more than %d bytes, or the answer's form more than one line", maxInstruction), "")
	case len(f.Files) > maxFiles || f.Scale < 0 || f.Scale > MaxLevel:
		return bad("there are too many files, or the scale is out of bounds", "")
	case f.Goal.Empty():
		return bad("the verifier judges nothing", "give goal.asked and goal.answer, or goal.files")
	case len(f.Failing) < 3 || len(f.Failing) > maxFailing:
		return bad(fmt.Sprintf("there are %d failing solutions", len(f.Failing)), "give 3 to 8")
	}
	for _, s := range append([]mindforge.Solution{f.Solution}, f.Failing...) {
		if len(s.Calls) > maxCalls || len(s.Answer) > maxFreeText {
			return bad("a solution is too long", "")
		}
	}
	return nil
}

// Free implements World.
func (m Maker[S]) Free(f Free) (mindforge.Task, error) {
	t, err := m.free(f)
	return t.Task, err
}

func (m Maker[S]) free(f Free) (task[S], error) {
	if f.World != m.rules.Name {
		return task[S]{}, notFound("there is no world ", f.World)
	}
	if err := f.Check(); err != nil {
		return task[S]{}, err
	}
	known := m.known(f.Solution)
	if known != nil {
		return task[S]{}, known
	}
	begin, err := m.rules.Free(f)
	if err != nil {
		return task[S]{}, err
	}
	form, err := f.Solution.Form()
	if err != nil {
		return task[S]{}, err
	}
	raw, err := canonical.Bytes(f)
	if err != nil {
		return task[S]{}, err
	}
	t := mindforge.Task{World: m.rules.Name, Family: FreeFamily + form.Hex()[:12], Seed: fingerprint(raw), Instruction: f.Instruction, Answer: f.Answer}
	if f.Text != "" {
		t.Instruction += "\nText: " + f.Text
	}
	t.ID = ID(t.World, t.Family, 0, t.Seed, nil)
	t.Canary = Canary(t.ID)
	t.Shape = (&Draft[S]{rules: m.rules, calls: f.Solution.Calls}).shape()
	t.Judged = mindforge.Judgment{Spec: Verifier{Goal: f.Goal, Data: f.Text, Free: &f}.spec(), Solution: f.Solution, Failing: f.Failing, Stated: f.Text != ""}
	return task[S]{Task: t, begin: begin, goal: f.Goal, offered: m.offered(t.ID, f.Scale, f.Solution.Calls)}, nil
}

// known refuses calls of what is no function, and values of later calls.
func (m Maker[S]) known(s mindforge.Solution) error {
	names := map[string]bool{}
	for _, f := range m.rules.Functions {
		names[f.Name] = true
	}
	for i, c := range s.Calls {
		if !names[c.Tool] {
			return notFound("there is no tool ", c.Tool)
		}
		for _, v := range c.Args {
			if at, ok := Ref(v); ok && at >= i {
				return bad("a call takes the value of a later one", "")
			}
		}
	}
	return nil
}

func fingerprint(raw []byte) uint64 {
	return binary.BigEndian.Uint64([]byte(ids.DigestOf(raw).Hex())[:8])
}

// strict reads one JSON value without unknown fields.
func strict(raw []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return errs.Wrap(errs.FormatInvalid, err, "the task cannot be read: "+errs.Clip(err.Error()), "docs/formats/task.md lists the fields")
	}
	if _, err := dec.Token(); err != io.EOF {
		return errs.New(errs.FormatInvalid, "there is more than one value", "")
	}
	return nil
}

// ReadFree reads a free task. Unknown fields are refused.
func ReadFree(raw []byte) (Free, error) {
	var f Free
	const most = 1 << 18
	if len(raw) > most {
		return f, errs.Newf(errs.TooLarge, "the task has %d bytes", len(raw))
	}
	err := strict(raw, &f)
	return f, err
}
