package runs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/harness"
	"macaron/internal/limits"
	"macaron/internal/money"
	"macaron/internal/record"
	"macaron/internal/wire/chatapi"
)

var (
	taskFields  = []string{"instruction", "mode", "files", "limits", "seed", "purpose", "consent", "suite", "id", "metadata"}
	limitFields = []string{"turns", "tokens", "wall_ms", "tool_calls", "cost_usd"}
)

// only refuses members that are not known, and lists those that are.
func only(m map[string]json.RawMessage, known []string) error {
	for name := range m {
		if !slices.Contains(known, name) {
			return errs.New(errs.InvalidRequest, "the field "+errs.Clip(name)+" is not known", "known are "+strings.Join(known, ", ")).In(errs.Clip(name))
		}
	}
	return nil
}

// readTask reads the body of POST /v1/runs.
func readTask(w http.ResponseWriter, r *http.Request) (task harness.Task, o harness.Options, err error) {
	body, err := chatapi.Body(w, r)
	if err != nil {
		return task, o, err
	}
	m, err := limits.Object("", body)
	if err == nil {
		err = only(m, taskFields)
	}
	if err != nil {
		return task, o, err
	}
	if task.Instruction, err = limits.Text("instruction", m["instruction"], limits.TextBytes); err != nil {
		return task, o, err
	}
	var mode, purpose, consent string
	for _, f := range []struct {
		name    string
		at      *string
		allowed []string
	}{
		{"mode", &mode, []string{"functions", "repl", "hybrid"}},
		{"purpose", &purpose, []string{"production", "evaluation", "discovery", "training", "replay"}},
		{"consent", &consent, []string{"none", "train"}},
	} {
		if limits.Absent(m[f.name]) {
			continue
		}
		if *f.at, err = chatapi.OneOf(f.name, m[f.name], f.allowed...); err != nil {
			return task, o, err
		}
	}
	o.Mode, task.Purpose, task.Consent = contract.Mode(mode), record.Purpose(purpose), record.Consent(consent)
	for name, at := range map[string]*string{"suite": &task.Suite, "id": &task.ID} {
		if *at, err = chatapi.Optional(name, m[name], limits.NameBytes); err != nil {
			return task, o, err
		}
	}
	if !limits.Absent(m["seed"]) {
		n, err := limits.Whole("seed", m["seed"], 0, 1<<53)
		if err != nil {
			return task, o, err
		}
		task.Seed = uint64(n)
	}
	if task.Meta, err = metadata(m["metadata"]); err != nil {
		return task, o, err
	}
	if o.Limits, err = readLimits(m["limits"]); err != nil {
		return task, o, err
	}
	task.Files, err = readFiles(m["files"])
	return task, o, err
}

func metadata(raw json.RawMessage) (map[string]string, error) {
	if limits.Absent(raw) {
		return nil, nil
	}
	if err := chatapi.Metadata("metadata", raw); err != nil {
		return nil, err
	}
	var out map[string]string
	err := json.Unmarshal(raw, &out)
	return out, errs.Wrap(errs.InvalidRequest, err, "metadata is no object of texts", "")
}

func readLimits(raw json.RawMessage) (l record.RunLimits, err error) {
	if limits.Absent(raw) {
		return l, nil
	}
	m, err := limits.Object("limits", raw)
	if err == nil {
		err = only(m, limitFields)
	}
	if err != nil {
		return l, err
	}
	whole := func(name string, at func(int64)) {
		if err != nil || limits.Absent(m[name]) {
			return
		}
		var n int64
		if n, err = limits.Whole("limits."+name, m[name], 1, 1<<40); err == nil {
			at(n)
		}
	}
	whole("turns", func(n int64) { l.Turns = int(n) })
	whole("tokens", func(n int64) { l.Tokens = int(n) })
	whole("wall_ms", func(n int64) { l.WallMS = n })
	whole("tool_calls", func(n int64) { l.ToolCalls = int(n) })
	if err != nil || limits.Absent(m["cost_usd"]) {
		return l, err
	}
	x, err := limits.Number("limits.cost_usd", m["cost_usd"], 0, 1e6)
	if err == nil {
		l.CostUSD = money.Of(*x)
	}
	return l, err
}

// readFiles reads {"PATH": "text"} or {"PATH": {"base64": "..."}}.
func readFiles(raw json.RawMessage) (map[string][]byte, error) {
	if limits.Absent(raw) {
		return nil, nil
	}
	m, err := limits.Object("files", raw)
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for name, content := range m {
		field := fmt.Sprintf("files[%s]", errs.Clip(name))
		if text, err := limits.Text(field, content, limits.BodyBytes); err == nil {
			out[name] = []byte(text)
			continue
		}
		inner, err := limits.Object(field, content)
		if err == nil {
			err = only(inner, []string{"base64"})
		}
		if err != nil {
			return nil, err
		}
		text, err := limits.Text(field+".base64", inner["base64"], limits.BodyBytes)
		if err != nil {
			return nil, err
		}
		if out[name], err = base64.StdEncoding.DecodeString(text); err != nil {
			return nil, errs.New(errs.InvalidRequest, field+".base64 is not base64", "use the standard alphabet with padding").In(field)
		}
	}
	return out, nil
}
