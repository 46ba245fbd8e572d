package harness

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

// checks are those that a hook names by check, with the arguments of with. Each gives "" or
// why not.
var checks = map[string]func(r *run, h contract.Hook, e event) (string, error){
	"answer.present": answerPresent,
	"answer.matches": answerMatches,
	"answer.json":    answerJSON,
	"files.present":  filesPresent,
	"outputs":        outputsPresent,
	"tools.called":   toolsCalled,
}

func answerPresent(_ *run, _ contract.Hook, e event) (string, error) {
	if strings.TrimSpace(e.Answer) == "" {
		return "there is no answer", nil
	}
	return "", nil
}

// answerMatches wants the answer, without space around it, to match the whole of pattern.
func answerMatches(_ *run, h contract.Hook, e event) (string, error) {
	pattern, err := word(h, "pattern")
	if err != nil {
		return "", err
	}
	re, err := regexp.Compile(`^(?:` + pattern + `)$`)
	if err != nil {
		return "", errs.Wrap(errs.InvalidRequest, err, "the pattern of the hook "+h.Name+" is no regular expression", "use Go's syntax")
	}
	if !re.MatchString(strings.TrimSpace(e.Answer)) {
		why, _ := h.With["say"].(string)
		return firstOf(why, "the answer must match "+pattern), nil
	}
	return "", nil
}

func answerJSON(_ *run, _ contract.Hook, e event) (string, error) {
	if !json.Valid([]byte(e.Answer)) {
		return "the answer must be JSON and nothing else", nil
	}
	return "", nil
}

// filesPresent wants files that fit each of patterns.
func filesPresent(r *run, h contract.Hook, _ event) (string, error) {
	patterns, err := list(h, "patterns")
	if err != nil {
		return "", err
	}
	return r.lacking(patterns)
}

// outputsPresent wants every declared output.
func outputsPresent(r *run, _ contract.Hook, _ event) (string, error) {
	return r.lacking(r.contract.Workspace.Outputs)
}

func (r *run) lacking(patterns []string) (string, error) {
	files, err := r.scan(everything)
	if err != nil {
		return "", err
	}
	for _, p := range patterns {
		found := false
		for _, f := range files {
			found = found || matches([]string{p}, f.Path)
		}
		if !found {
			return fmt.Sprintf("the file %s is missing", p), nil
		}
	}
	return "", nil
}

// toolsCalled wants that each of tools was called and did not fail.
func toolsCalled(r *run, h contract.Hook, _ event) (string, error) {
	wanted, err := list(h, "tools")
	if err != nil {
		return "", err
	}
	done := r.succeeded()
	for _, name := range wanted {
		if !slices.Contains(done, name) {
			return name + " was not called, or failed", nil
		}
	}
	return "", nil
}

// word is a text among a hook's arguments.
func word(h contract.Hook, name string) (string, error) {
	s, ok := h.With[name].(string)
	if !ok || s == "" {
		return "", errs.New(errs.InvalidRequest, "the hook "+h.Name+" lacks with."+name+", a text", "see docs/HARNESS.md")
	}
	return s, nil
}

func list(h contract.Hook, name string) ([]string, error) {
	all, ok := h.With[name].([]any)
	var out []string
	for _, x := range all {
		s, is := x.(string)
		ok = ok && is
		out = append(out, s)
	}
	if !ok || len(out) == 0 {
		return nil, errs.New(errs.InvalidRequest, "the hook "+h.Name+" lacks with."+name+", a list of texts", "see docs/HARNESS.md")
	}
	return out, nil
}

// succeeded lists the tools that were called and gave something.
func (r *run) succeeded() []string {
	r.state.Lock()
	defer r.state.Unlock()
	var out []string
	for _, c := range r.t.Calls() {
		if c.Returned != nil && c.Returned.Error == nil {
			out = append(out, c.Returned.Name)
		}
	}
	return out
}
