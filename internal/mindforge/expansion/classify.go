package expansion

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/record"
	"macaron/internal/transcript"
)

// Attempt is a run of the harness at a task, as the record has it, with the verdict of the
// world. Task has its judgment: who classifies is no proposer.
type Attempt struct {
	Run      *transcript.Run
	Contract *contract.Contract
	Task     mindforge.Task
	Answer   string
	Pass     bool
}

// Finding is what an attempt failed by, with the lines of its record that show it.
type Finding struct {
	Failure  mindforge.Failure `json:"failure"`
	Evidence []string          `json:"evidence"`
}

const (
	maxEvidence = 8
	maxLine     = 200 // bytes of a line of evidence
)

// Classify says what a failed attempt failed by. What the record shows goes before what only
// the task's solution tells; where nothing else is shown, the model could not do it.
func Classify(a Attempt) Finding {
	for _, look := range []func(Attempt) (mindforge.Failure, []string){tooLong, machinery, contradicted, unknownTool, spentBudget, malformed, missingTool} {
		if f, evidence := look(a); f != "" {
			return Finding{f, clip(evidence)}
		}
	}
	return Finding{mindforge.Capability, clip(a.told())}
}

func clip(lines []string) []string {
	lines = lines[:min(len(lines), maxEvidence)]
	for i, l := range lines {
		if len(l) > maxLine {
			lines[i] = strings.ToValidUTF8(l[:maxLine], "") + " ..."
		}
	}
	return lines
}

// tooLong: what the contract says and the run has come to does not fit the model's context. Made
// again it comes to the same, so it is no failure of the machinery.
func tooLong(a Attempt) (mindforge.Failure, []string) {
	for _, t := range a.Run.Failed {
		if c := a.Run.Closed; c != nil && c.Status == record.RunFailed && t.Hop.Error == string(errs.ContextExceeded) {
			return mindforge.Budget, []string{ended(c)}
		}
	}
	return "", nil
}

// machinery: the run did not end by what the model did.
func machinery(a Attempt) (mindforge.Failure, []string) {
	closed := a.Run.Closed
	switch {
	case closed == nil:
		return mindforge.Infrastructure, []string{"the run has no end on record"}
	case closed.Status == record.RunFailed && !strings.HasPrefix(closed.Reason, "the hook "),
		closed.Status == record.RunStopped, closed.Status == record.RunInDoubt, closed.Status == record.RunCancelled:
		return mindforge.Infrastructure, append([]string{ended(closed)}, failedHops(a.Run)...)
	case closed.Status == record.RunTime && a.Run.Totals.Usage.OutputTokens == 0:
		return mindforge.Infrastructure, []string{ended(closed), "no model call came to its end"}
	case len(a.Run.Turns) == 0 && len(a.Run.Failed) > 0:
		return mindforge.Infrastructure, failedHops(a.Run)
	}
	return "", nil
}

func ended(c *record.RunClosed) string {
	return "the run is " + string(c.Status) + ": " + c.Reason
}

func failedHops(r *transcript.Run) (out []string) {
	for _, t := range r.Failed {
		out = append(out, "a model call failed: "+t.Hop.Error+" "+t.Hop.Detail)
	}
	return out
}

// contradicted: two things that the contract says cannot both be kept to. A gate wants a tool
// to be called that another hook refuses or that nobody has declared, two gates say no to the
// same answers in turn, or a hook does not let the task begin.
func contradicted(a Attempt) (mindforge.Failure, []string) {
	refused, words := map[string]bool{}, []string{}
	for _, c := range a.Run.Calls() {
		if r := c.Returned; r != nil && r.Error != nil && r.Error.Refused && r.Error.Code == string(errs.Forbidden) {
			refused[r.Name] = true
			words = append(words, "the call of "+r.Name+" was refused: "+r.Error.Message)
		}
	}
	for _, h := range a.Contract.HooksOn(contract.OnStop) {
		if h.Check != "tools.called" || !saidNo(a.Run, h.Name) {
			continue
		}
		for _, name := range wanted(h) {
			if refused[name] || !offered(a.Run, name) {
				return mindforge.Contradiction, append([]string{fmt.Sprintf("the gate %s wants %s to be called, and it is %s", h.Name, name, why(refused[name]))}, words...)
			}
		}
	}
	if no := gatesAtOdds(a.Run); no != nil {
		return mindforge.Contradiction, no
	}
	if c := a.Run.Closed; c.Status == record.RunFailed {
		return mindforge.Contradiction, []string{ended(c)}
	}
	if len(refused) > 0 && needsOneOf(a.Task, refused) {
		return mindforge.Contradiction, append([]string{"the contract declares a tool that the task needs, and does not let it be called"}, words...)
	}
	return "", nil
}

func why(refused bool) string {
	if refused {
		return "refused by another hook or policy"
	}
	return "not declared"
}

func wanted(h contract.Hook) (out []string) {
	list, _ := h.With["tools"].([]any)
	for _, x := range list {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func saidNo(r *transcript.Run, hook string) bool {
	return slices.ContainsFunc(r.Notes, func(n transcript.Note) bool {
		return n.Note == record.NoteHook && n.Name == hook && n.OK != nil && !*n.OK
	})
}

func offered(r *transcript.Run, name string) bool {
	return slices.ContainsFunc(r.Opened.Tools, func(d chat.ToolDef) bool { return d.Name == name })
}

func needsOneOf(t mindforge.Task, names map[string]bool) bool {
	return slices.ContainsFunc(t.Judged.Solution.Calls, func(c mindforge.Call) bool { return names[c.Tool] })
}

// gatesAtOdds: the run was given up by a gate, and another gate has said no to an answer that
// this one had let pass.
func gatesAtOdds(r *transcript.Run) []string {
	if r.Closed.Status != record.RunGated {
		return nil
	}
	said := map[string][]string{}
	for _, n := range r.Notes {
		if n.Note == record.NoteHook && n.Round > 0 && n.OK != nil && !*n.OK {
			said[n.Name] = append(said[n.Name], "the gate "+n.Name+" says no: "+n.Text)
		}
	}
	if len(said) < 2 {
		return nil
	}
	out := []string{ended(r.Closed)}
	for _, n := range r.Notes {
		if n.Note == record.NoteHook && n.Round > 0 && n.OK != nil && !*n.OK && len(out) < maxEvidence {
			out = append(out, "the gate "+n.Name+" says no: "+n.Text)
		}
	}
	return out
}

// spentBudget: the run was ended by a bound of the contract, or an answer was cut off.
func spentBudget(a Attempt) (mindforge.Failure, []string) {
	switch a.Run.Closed.Status {
	case record.RunTurns, record.RunTokens, record.RunTime, record.RunCalls, record.RunMoney:
		return mindforge.Budget, []string{ended(a.Run.Closed)}
	}
	for _, t := range a.Run.Turns {
		if t.Hop.Finish == chat.FinishLength {
			return mindforge.Budget, []string{fmt.Sprintf("an answer was cut off after %d tokens", t.Hop.Usage.OutputTokens)}
		}
	}
	for _, c := range a.Run.Calls() {
		if r := c.Returned; r != nil && r.Error != nil && r.Error.Refused && (r.Error.Code == string(errs.RateLimited) || strings.Contains(r.Error.Message, "times")) {
			return mindforge.Budget, []string{"the call of " + r.Name + " was refused: " + r.Error.Message}
		}
	}
	return "", nil
}

// unknownTool: the model called, or wrote a call of, what it was not given.
func unknownTool(a Attempt) (mindforge.Failure, []string) {
	var out []string
	for _, c := range a.Run.Calls() {
		if r := c.Returned; r != nil && r.Error != nil && r.Error.Refused && r.Error.Code == string(errs.NotFound) {
			out = append(out, "the call of "+r.Name+" was refused: "+r.Error.Message)
		}
	}
	for _, t := range a.Run.Turns {
		for _, m := range written.FindAllStringSubmatch(t.Hop.Message.Text(), 4) {
			if !offered(a.Run, m[1]) {
				out = append(out, "the model wrote a call of "+m[1]+", which it was not given")
			}
		}
	}
	if len(out) > 0 {
		return mindforge.MissingTool, out
	}
	return "", nil
}

// written is a call in an answer's text.
var written = regexp.MustCompile(`"name"\s*:\s*"([A-Za-z_][A-Za-z0-9_]{0,63})"\s*,\s*"arguments"`)

// missingTool: the task's own solution calls what the contract does not declare.
func missingTool(a Attempt) (mindforge.Failure, []string) {
	var out []string
	for _, c := range a.Task.Judged.Solution.Calls {
		line := "the solution calls " + c.Tool + ", which the run was not offered"
		has := func(d chat.ToolDef) bool { return a.tool(d.Name) == c.Tool }
		if !slices.ContainsFunc(a.Run.Opened.Tools, has) && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	if len(out) > 0 {
		return mindforge.MissingTool, out
	}
	return "", nil
}

// malformed: the run was given up over the form of its answer, or the right answer is there
// and not in the form that was asked for.
func malformed(a Attempt) (mindforge.Failure, []string) {
	closed := a.Run.Closed
	if closed.Status == record.RunGated {
		return mindforge.Format, []string{ended(closed)}
	}
	want, got := plain(a.Task.Judged.Solution.Answer), plain(a.Answer)
	if want == "" || a.Pass {
		return "", nil
	}
	if got == "" {
		return mindforge.Format, []string{"the answer is empty"}
	}
	if got == want || hasWord(got, want) {
		return mindforge.Format, []string{"the answer has what was asked for, and more or in another form: " + a.Answer}
	}
	return "", nil
}

var notWord = regexp.MustCompile(`[^\p{L}\p{N}.,:/_-]+`)

// plain is a text by its words alone.
func plain(s string) string {
	return strings.Trim(notWord.ReplaceAllString(strings.ToLower(s), " "), " .,:")
}

// hasWord reports whether words stand in a text, whatever marks stand between them in either.
func hasWord(text, words string) bool {
	return strings.Contains(" "+spaced(text)+" ", " "+spaced(words)+" ")
}

func spaced(s string) string {
	for _, mark := range []string{". ", ", ", ": "} {
		s = strings.ReplaceAll(s, mark, " ")
	}
	return strings.Join(strings.Fields(s), " ")
}

// told says what the model did, for a failure that nothing else explains.
func (a Attempt) told() []string {
	out := []string{ended(a.Run.Closed)}
	for _, c := range a.Run.Calls() {
		if c.Called == nil || c.Returned == nil {
			continue
		}
		line := c.Called.Name + " " + string(c.Visible())
		if e := c.Returned.Error; e != nil {
			line += " failed: " + e.Message
		} else {
			line += " gave " + c.Returned.Shown
		}
		out = append(out, line)
	}
	return append(out[:min(len(out), maxEvidence-1)], "the answer is "+a.Answer)
}
