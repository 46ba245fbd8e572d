package recipe

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
)

var rewards = []string{"exact", "regex", "arithmetic", "command"}

var number = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?`)

func (w *Reward) check() error {
	if !slices.Contains(rewards, w.Kind) {
		return errs.New(errs.FormatInvalid, fmt.Sprintf("the recipe's rl.reward.kind is %q", errs.Clip(w.Kind)), "use one of "+strings.Join(rewards, ", "))
	}
	if _, err := regexp.Compile(w.Pattern); err != nil || w.Kind == "regex" && w.Pattern == "" {
		return errs.Wrap(errs.FormatInvalid, fmt.Errorf("%q: %w", w.Pattern, err), "the recipe's rl.reward.pattern is no regular expression", "use Go's syntax")
	}
	if w.Kind == "command" && len(w.Command) == 0 {
		return errs.New(errs.FormatInvalid, "the recipe's rl.reward.command is empty", "give a program and its arguments")
	}
	return nil
}

// score rewards an answer to a row, most kinds with 1 or 0.
func (w *Reward) score(ctx context.Context, m *Machine, l *line, answer string) (float64, error) {
	switch w.Kind {
	case "exact":
		return yes(strings.TrimSpace(answer) == strings.TrimSpace(l.Answer)), nil
	case "regex":
		found := regexp.MustCompile(w.Pattern).FindStringSubmatch(answer)
		return yes(found != nil && (len(found) == 1 || found[1] == l.Answer)), nil
	case "arithmetic":
		return yes(equalNumbers(answer, l.Answer)), nil
	}
	return w.command(ctx, m, l, answer)
}

func yes(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// equalNumbers compares the last number of a text with a number, exactly.
func equalNumbers(text, want string) bool {
	all := number.FindAllString(text, -1)
	b, ok := new(big.Rat).SetString(strings.TrimSpace(want))
	if len(all) == 0 || !ok {
		return false
	}
	last := all[len(all)-1]
	a, ok := new(big.Rat).SetString(last)
	return ok && len(last) <= 64 && a.Cmp(b) == 0
}

// command asks a program in the sandbox: its input is one JSON object, its output a number.
func (w *Reward) command(ctx context.Context, m *Machine, l *line, answer string) (float64, error) {
	if m.Command == nil {
		return 0, errs.New(errs.Unsupported, "there is no sandbox to run the reward's command in", "use another kind of reward")
	}
	in, err := json.Marshal(map[string]any{"messages": l.Messages, "expected": l.Answer, "answer": answer})
	if err != nil {
		return 0, err
	}
	out, err := m.Command(ctx, w.Command, string(in))
	if err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(out), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, errs.New(errs.InvalidRequest, "the reward's command printed no number: "+errs.Clip(out), "print one number and nothing else")
	}
	return v, nil
}
