package discovery

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
	"macaron/internal/mint/filter"
	"macaron/internal/record"
	"macaron/internal/trajectory"
	"macaron/internal/transcript"
)

// Production makes tasks of runs that people have consented to be trained on. Such a task has
// the run's request and files, and its verifier is the outcome that the run's gates accepted.
type Production struct {
	Contract func(hash ids.Digest) (*contract.Contract, error)
	File     func(ctx context.Context, owner, run string, d ids.Digest) ([]byte, error)
	Filter   filter.Settings
	Index    *filter.Index // of public evaluation sets; may be nil
}

// maxExact bounds an answer that is compared exactly, in characters: longer ones could be said
// in another way as well.
const maxExact = 80

// From makes the candidate of a run.
func (d *Discoverer) From(ctx context.Context, p Production, r *transcript.Run) (*Candidate, *Refusal, error) {
	c, refusal, err := p.Candidate(ctx, r)
	if refusal != nil {
		return nil, d.Refuse(*refusal), nil
	}
	return c, nil, err
}

// Candidate makes the candidate of a run, or says why it is none. Nothing is counted.
func (p Production) Candidate(ctx context.Context, r *transcript.Run) (*Candidate, *Refusal, error) {
	c, refusal, err := p.candidate(ctx, r)
	if refusal != nil {
		refusal.Source = source(r)
	}
	return c, refusal, err
}

// Remade makes a candidate of production again, by what its task's verifier carries.
func Remade(spec json.RawMessage, from Source) (*Candidate, error) {
	var v world.Verifier
	if err := strictly(spec, maxLine, &v); err != nil || v.Free == nil {
		return nil, errs.New(errs.FormatInvalid, "the task of the run "+errs.Clip(from.Run)+" cannot be read", "go on with the build that wrote it")
	}
	t, err := replays{}.Free(*v.Free)
	return &Candidate{t, replays{}, from}, err
}

func source(r *transcript.Run) Source {
	return Source{Kind: FromRun, Run: r.Head.Run, Owner: r.Head.Owner}
}

func (p Production) candidate(ctx context.Context, r *transcript.Run) (*Candidate, *Refusal, error) {
	if refusal, err := p.admitted(ctx, r); refusal != nil || err != nil {
		return nil, refusal, err
	}
	c, err := p.Contract(r.Head.Contract)
	if err != nil {
		return nil, no(Unverified, "its contract is not kept"), nil //nolint:nilerr // that is the finding
	}
	if !verified(c) {
		return nil, no(Unverified, "no gate of its contract says more than that there is an answer"), nil
	}
	f, recorded, refusal, err := p.written(ctx, c, r)
	if refusal != nil || err != nil {
		return nil, refusal, err
	}
	t, refusal, err := replayable(ctx, f, recorded)
	if refusal != nil || err != nil {
		return nil, refusal, err
	}
	return &Candidate{t, replays{}, source(r)}, nil, nil
}

// admitted asks for consent, an end, and the data filter.
func (p Production) admitted(ctx context.Context, r *transcript.Run) (*Refusal, error) {
	t, err := trajectory.Training(r)
	switch {
	case err != nil || r.Head.Purpose != record.Production:
		return no(Unconsented, ""), nil //nolint:nilerr // that is the finding
	case r.Status != record.RunDone || r.Closed == nil:
		return no(Unfinished, "it is %s", r.Status), nil
	case len(r.Cells()) > 0:
		return no(Unreplayed, "it ran code"), nil
	}
	reason, _, err := filter.Screen(ctx, p.Filter, p.Index, t)
	if err != nil || reason != "" {
		return no(Screened, "%s", reason), err
	}
	return nil, nil
}

// verified: the outcome was checked by more than being there.
func verified(c *contract.Contract) bool {
	for _, h := range c.HooksOn(contract.OnStop) {
		if h.Check != "answer.present" {
			return true
		}
	}
	return len(c.Workspace.Outputs) > 0
}

// written is the run as a task, with what its calls gave.
func (p Production) written(ctx context.Context, c *contract.Contract, r *transcript.Run) (world.Free, []json.RawMessage, *Refusal, error) {
	f := world.Free{World: replays{}.Name(), Instruction: r.Opened.Task.Instruction, Files: map[string]string{}, Answer: "When it is done, answer done."}
	for _, file := range r.Opened.Task.Files {
		text, refusal, err := p.text(ctx, r, file)
		if refusal != nil || err != nil {
			return f, nil, refusal, err
		}
		f.Files[file.Path] = text
	}
	if a := strings.TrimSpace(r.Closed.Answer); a != "" && a != world.Last && utf8.RuneCountInString(a) <= maxExact && !strings.Contains(a, "\n") {
		f.Goal.Asked, f.Goal.Answer, f.Answer = true, a, "Answer with the result alone."
	}
	for _, file := range r.Closed.Outputs {
		text, refusal, err := p.text(ctx, r, file)
		if refusal != nil || err != nil {
			return f, nil, refusal, err
		}
		if f.Goal.Files == nil {
			f.Goal.Files = map[string]string{}
		}
		f.Goal.Files[file.Path] = text
	}
	var recorded []json.RawMessage
	var refusal *Refusal
	if f.Solution, recorded, refusal = solved(c, r); refusal != nil {
		return f, nil, refusal, nil
	}
	f.Failing = mistaken(f)
	if err := f.Check(); err != nil {
		return f, nil, no(Unverified, "%s", err), nil //nolint:nilerr // that is the finding
	}
	return f, recorded, private(f), nil
}

func (p Production) text(ctx context.Context, r *transcript.Run, file record.RunFile) (string, *Refusal, error) {
	if file.Bytes > maxLine {
		return "", no(TooLong, "the file %s has %d bytes", file.Path, file.Bytes), nil
	}
	raw, err := p.File(ctx, r.Head.Owner, r.Head.Run, file.Digest)
	if err != nil {
		return "", no(Unreplayed, "a file of it is not kept"), nil //nolint:nilerr // that is the finding
	}
	if !utf8.Valid(raw) {
		return "", no(Unreplayed, "the file %s is no text", file.Path), nil
	}
	return string(raw), nil, nil
}

// solved are the calls of a run that did not fail, by the tools of the program that they used,
// and what each gave.
func solved(c *contract.Contract, r *transcript.Run) (s mindforge.Solution, recorded []json.RawMessage, refusal *Refusal) {
	s = mindforge.Solution{What: "the run", Answer: mindforge.Literal(r.Closed.Answer)}
	use := map[string]string{}
	for _, t := range c.Tools {
		use[t.Name] = strings.TrimPrefix(t.Use, contract.UseBuiltin)
	}
	for _, call := range r.Calls() {
		if call.Called == nil || call.Returned == nil || call.Returned.Error != nil {
			continue
		}
		tool := use[call.Called.Name]
		if !strings.HasPrefix(tool, "files.") {
			return s, nil, no(Unreplayed, "it called %s", call.Called.Name)
		}
		var args map[string]json.RawMessage
		if json.Unmarshal(call.Called.Arguments, &args) != nil {
			return s, nil, no(Unreplayed, "arguments of %s cannot be read", call.Called.Name)
		}
		made := mindforge.Call{Tool: tool, Args: map[string]string{}}
		for name, v := range args {
			var text string
			if json.Unmarshal(v, &text) != nil {
				text = string(v)
			}
			made.Args[name] = mindforge.Literal(text)
		}
		s.Calls, recorded = append(s.Calls, made), append(recorded, call.Returned.Value)
	}
	return s, recorded, nil
}

// mistaken are solutions that must fail: nothing, a constant, and what the run would have come
// to without its last change, or with its answer cut short.
func mistaken(f world.Free) []mindforge.Solution {
	constant := "0"
	if f.Goal.Answer == constant {
		constant = "1"
	}
	out := []mindforge.Solution{{What: "empty answer"}, {What: "constant answer", Answer: constant}}
	if f.Goal.Asked {
		wrong := f.Solution
		wrong.What, wrong.Answer = "the answer is said twice", f.Goal.Answer+" "+f.Goal.Answer
		out = append(out, wrong)
	}
	for i := len(f.Solution.Calls) - 1; i >= 0; i-- {
		if t := f.Solution.Calls[i].Tool; t == "files.write" || t == "files.patch" {
			wrong := f.Solution
			wrong.What, wrong.Calls = "the last change is left out", append(append([]mindforge.Call{}, f.Solution.Calls[:i]...), f.Solution.Calls[i+1:]...)
			if len(f.Goal.Files) > 0 {
				out = append(out, wrong)
			}
			break
		}
	}
	return out
}

// private refuses what has personal data or secrets in it, files and arguments too.
func private(f world.Free) *Refusal {
	texts := []string{f.Instruction, f.Goal.Answer}
	for _, files := range []map[string]string{f.Files, f.Goal.Files} {
		for _, name := range sortedKeys(files) {
			texts = append(texts, name, files[name])
		}
	}
	for _, c := range f.Solution.Calls {
		for _, name := range sortedKeys(c.Args) {
			texts = append(texts, c.Args[name])
		}
	}
	for _, t := range texts {
		if found := filter.Find(t, filter.Types); len(found) > 0 {
			return no(Screened, "pii")
		}
	}
	return nil
}

// templated is the family of a run: requests of one template are on one side of every split.
func templated(f world.Free) (string, error) {
	if n := filter.Template(f.Instruction); n != 0 {
		return fmt.Sprintf("t-%016x", n), nil
	}
	form, err := f.Solution.Form()
	return world.FreeFamily + form.Hex()[:12], err
}
