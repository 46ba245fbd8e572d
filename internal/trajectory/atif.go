// Package trajectory shows and exports runs: for people, as ATIF documents, as rows to
// train on, and as a comparison of two. It reads the fold of a run's records alone and
// shows of a tool's result what the model was shown, never the rest. Pure;
// docs/formats/trajectories.md has the forms.
package trajectory

import (
	"encoding/json"
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/transcript"
)

// ATIFVersion is the version of Harbor's trajectory format that ATIF makes.
const ATIFVersion = "ATIF-v1.8"

// Document is an ATIF trajectory.
type Document struct {
	SchemaVersion string         `json:"schema_version"`
	SessionID     string         `json:"session_id"`
	TrajectoryID  string         `json:"trajectory_id"`
	Agent         Agent          `json:"agent"`
	Steps         []Step         `json:"steps"`
	FinalMetrics  *FinalMetrics  `json:"final_metrics,omitempty"`
	Extra         map[string]any `json:"extra,omitempty"`
}

// Agent says what acted.
type Agent struct {
	Name            string         `json:"name"`
	Version         string         `json:"version"`
	ModelName       string         `json:"model_name,omitempty"`
	ToolDefinitions []any          `json:"tool_definitions,omitempty"`
	Extra           map[string]any `json:"extra,omitempty"`
}

// Step is one message, with what an agent's led to.
type Step struct {
	StepID       int            `json:"step_id"`
	Timestamp    string         `json:"timestamp,omitempty"`
	Source       string         `json:"source"` // system, user, agent
	Message      string         `json:"message"`
	ModelName    string         `json:"model_name,omitempty"`
	Reasoning    string         `json:"reasoning_content,omitempty"`
	ToolCalls    []ToolCall     `json:"tool_calls,omitempty"`
	Observation  *Observation   `json:"observation,omitempty"`
	Metrics      *Metrics       `json:"metrics,omitempty"`
	LLMCallCount *int           `json:"llm_call_count,omitempty"`
	Extra        map[string]any `json:"extra,omitempty"`
}

// ToolCall is what the model asked for.
type ToolCall struct {
	ID        string         `json:"tool_call_id"`
	Name      string         `json:"function_name"`
	Arguments map[string]any `json:"arguments"`
	Extra     map[string]any `json:"extra,omitempty"`
}

// Observation is what it was shown then.
type Observation struct {
	Results []Result `json:"results"`
}

// Result is one answer of an observation.
type Result struct {
	SourceCallID string         `json:"source_call_id,omitempty"`
	Content      string         `json:"content"`
	Extra        map[string]any `json:"extra,omitempty"`
}

// Metrics are those of one model call.
type Metrics struct {
	PromptTokens     int       `json:"prompt_tokens"`
	CompletionTokens int       `json:"completion_tokens"`
	CachedTokens     int       `json:"cached_tokens"`
	CostUSD          float64   `json:"cost_usd"`
	PromptIDs        []int32   `json:"prompt_token_ids,omitempty"`
	CompletionIDs    []int32   `json:"completion_token_ids,omitempty"`
	Logprobs         []float32 `json:"logprobs,omitempty"`
}

// FinalMetrics are those of the run.
type FinalMetrics struct {
	PromptTokens     int     `json:"total_prompt_tokens"`
	CompletionTokens int     `json:"total_completion_tokens"`
	CachedTokens     int     `json:"total_cached_tokens"`
	CostUSD          float64 `json:"total_cost_usd"`
	Steps            int     `json:"total_steps"`
}

// ATIF makes the document of a run. version is that of the program.
func ATIF(r *transcript.Run, version string) Document {
	d := Document{SchemaVersion: ATIFVersion, SessionID: r.Head.Session, TrajectoryID: r.Head.Run, Agent: agent(r, version), Extra: outcome(r)}
	at := r.Head.Time
	for _, m := range r.Opened.Messages {
		d.add(Step{Source: source(m.Role), Message: m.Text(), Timestamp: stamp(at)})
	}
	for _, s := range r.Said {
		d.add(Step{Source: "user", Message: s, Timestamp: stamp(at)})
	}
	prompts := Prompts(r)
	for i, t := range r.Turns {
		d.add(turn(t, prompts[i]))
		for _, s := range t.Said {
			d.add(Step{Source: "user", Message: s, Timestamp: stamp(t.Head.Time)})
		}
	}
	u := r.Totals.Usage
	d.FinalMetrics = &FinalMetrics{u.PromptTokens, u.OutputTokens, u.CachedTokens, r.Totals.CostUSD.Dollars(), len(d.Steps)}
	return d
}

func (d *Document) add(s Step) {
	s.StepID = len(d.Steps) + 1
	d.Steps = append(d.Steps, s)
}

func agent(r *transcript.Run, version string) Agent {
	o := r.Opened
	a := Agent{Name: "macaron", Version: version, ModelName: model(o.Pins.Adapter.Name, o.Pins.Engine.Base), Extra: map[string]any{
		"mode": o.Mode, "contract": r.Head.Contract, "revision": r.Head.Revision, "engine": o.Pins.Engine, "tools": o.Pins.Tools, "seed": o.Seed,
	}}
	for _, t := range o.Tools {
		a.ToolDefinitions = append(a.ToolDefinitions, definition(t))
	}
	return a
}

// model names who spoke: the adapter, or the base without one.
func model(adapter, base string) string {
	if adapter != "" {
		return adapter
	}
	return base
}

// definition is a tool in the form that OpenAI's API gave it.
func definition(t chat.ToolDef) map[string]any {
	f := map[string]any{"name": t.Name, "description": t.Description, "parameters": t.Parameters}
	if t.Parameters == nil {
		f["parameters"] = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	return map[string]any{"type": "function", "function": f}
}

func outcome(r *transcript.Run) map[string]any {
	x := map[string]any{"status": r.Status, "purpose": r.Head.Purpose, "task": r.Opened.Task.ID, "suite": r.Opened.Task.Suite}
	if r.Closed != nil {
		x["answer"], x["reason"] = r.Closed.Answer, r.Closed.Reason
	}
	return x
}

func source(r chat.Role) string {
	switch r {
	case chat.System:
		return "system"
	case chat.Assistant:
		return "agent"
	}
	return "user"
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

func turn(t *transcript.Turn, prompt []int32) Step {
	one := 1
	h := t.Hop
	s := Step{Source: "agent", Message: h.Message.Text(), Reasoning: h.Message.Reasoning, ModelName: model(h.Adapter.Name, h.Engine.Base), Timestamp: stamp(t.Head.Time), LLMCallCount: &one,
		Metrics: &Metrics{PromptTokens: h.Usage.PromptTokens, CompletionTokens: h.Usage.OutputTokens, CachedTokens: h.Usage.CachedTokens, CostUSD: h.CostUSD.Dollars()}}
	if b := t.Head.Blob; b != nil {
		s.Metrics.PromptIDs, s.Metrics.CompletionIDs = prompt, b.Tokens
		if finite(b.Logps) {
			s.Metrics.Logprobs = b.Logps
		}
	}
	for _, c := range h.Message.ToolCalls {
		s.ToolCalls = append(s.ToolCalls, ToolCall{ID: c.ID, Name: c.Name, Arguments: arguments(c.Arguments)})
	}
	var results []Result
	for i := range t.Acts {
		a := &t.Acts[i]
		if a.Fenced { // code in the text is a call that the format can show
			code, _ := transcript.Code(h.Message.Text())
			s.ToolCalls = append(s.ToolCalls, ToolCall{ID: a.ID, Name: a.Name, Arguments: map[string]any{"code": code}, Extra: map[string]any{"fenced": true}})
		}
		if text, ok := a.Shown(); ok {
			results = append(results, Result{SourceCallID: a.ID, Content: text, Extra: below(a)})
		}
	}
	if results != nil {
		s.Observation = &Observation{results}
	}
	return s
}

// arguments are those of a call as an object; a text that is none is kept under "text".
func arguments(text string) map[string]any {
	var m map[string]any
	if json.Unmarshal([]byte(text), &m) != nil || m == nil {
		return map[string]any{"text": text}
	}
	return m
}

// below tells of what an act did: its effect, and the calls that its code made. Values of
// results are told by their digest: code may use what the model must not see.
func below(a *transcript.Act) map[string]any {
	x := map[string]any{}
	if a.Call != nil {
		x["call"] = nested(a.Call)
	}
	if a.Cell != nil {
		var calls []map[string]any
		for _, c := range a.Cell.Calls {
			calls = append(calls, nested(c))
		}
		x["nested_calls"] = calls
		if a.Cell.Ran != nil {
			x["status"], x["wall_ms"] = a.Cell.Ran.Status, a.Cell.Ran.Wall.Milliseconds()
		}
	}
	if len(x) == 0 {
		return nil
	}
	return x
}

func nested(c *transcript.Call) map[string]any {
	x := map[string]any{"id": c.ID}
	if c.Called != nil {
		x["name"], x["effect"], x["attempt"] = c.Called.Name, c.Called.Effect, c.Called.Attempt
		x["arguments"] = c.Visible()
	}
	for _, inner := range c.Calls {
		below, _ := x["nested_calls"].([]map[string]any)
		x["nested_calls"] = append(below, nested(inner))
	}
	if c.Returned != nil {
		x["name"], x["wall_ms"] = c.Returned.Name, c.Returned.Wall.Milliseconds()
		if c.Returned.Value != nil {
			x["value_digest"] = ids.DigestOf(c.Returned.Value)
		}
		if c.Returned.Error != nil {
			x["error"] = c.Returned.Error.Code
		}
	}
	return x
}

// Prompts gives the whole prompt of each turn as token ids, as it was served: a hop that
// continues another has only what is new. Nil where ids were not recorded.
func Prompts(r *transcript.Run) [][]int32 {
	out := make([][]int32, len(r.Turns))
	whole := map[string][]int32{} // hop -> its prompt and its answer
	for i, t := range r.Turns {
		b := t.Head.Blob
		if b == nil || len(b.Prompt) == 0 && t.Hop.Continues == "" {
			continue
		}
		before, known := whole[t.Hop.Continues]
		if t.Hop.Continues != "" && !known {
			continue
		}
		out[i] = append(append([]int32(nil), before...), b.Prompt...)
		whole[t.Hop.ID] = append(append([]int32(nil), out[i]...), b.Tokens...)
	}
	return out
}
