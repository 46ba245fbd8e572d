package reflect

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
	"macaron/internal/mindforge/expansion"
)

var ctx = context.Background()

func ask(t *testing.T) expansion.Ask {
	t.Helper()
	text, err := os.ReadFile("../../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	a := expansion.Ask{Contract: c, Seed: 3, Traces: []expansion.Trace{
		{Family: "item_room", Failure: mindforge.MissingTool, Evidence: []string{"the solution calls room_of, which the run was not offered"}},
		{Family: "item_price", Pass: true}}}
	for _, e := range edit.Committed().Fitting(c) {
		x, _ := edit.Committed().Choice(e)
		a.Options = append(a.Options, expansion.Option{Edit: e, About: x.About, Answers: x.Answers})
	}
	return a
}

// says answers with a letter or a text, and keeps what it was asked.
func says(asked *backend.Request, answer func(q backend.Request) chat.Event) *backendtest.Scripted {
	return &backendtest.Scripted{On: func(_ context.Context, q backend.Request, emit func(chat.Event) bool) (bool, error) {
		*asked = q
		backendtest.Emit(emit, answer(q))
		return true, nil
	}}
}

// The model chooses by a letter among few options, of which those for what failed are some;
// a tool that the evidence names is one of them.
func TestModelChoosesByLetter(t *testing.T) {
	var q backend.Request
	pick := func(q backend.Request) chat.Event {
		for _, line := range strings.Split(q.Messages[0].Text(), "\n") {
			if strings.Contains(line, "tools.room_of") {
				return chat.Event{Choice: &chat.Choice{Label: line[:1]}}
			}
		}
		t.Errorf("the tool that is missing is not offered:\n%s", q.Messages[0].Text())
		return chat.Event{Choice: &chat.Choice{Label: "A"}}
	}
	m := Model{Called: "test", Generator: says(&q, pick)}
	p, err := m.Propose(ctx, ask(t))
	if err != nil || p.Edit.Component != "tools.room_of" || !slices.Equal(p.Prediction.Fixes, []string{"item_room"}) || p.Prediction.Gain != 0.25 {
		t.Errorf("%+v %v", p, err)
	}
	if len(q.Choices) != letters || strings.Contains(q.Messages[0].Text(), "item_price") {
		t.Errorf("%v\n%s", q.Choices, q.Messages[0].Text())
	}
	m.Generator = says(&q, func(backend.Request) chat.Event { return chat.Event{Choice: &chat.Choice{Label: "Z"}} })
	if _, err := m.Propose(ctx, ask(t)); err == nil {
		t.Error("a letter that was not offered is a change")
	}
}

// What a model writes is read as JSON and admitted by the catalogue.
func TestModelWrites(t *testing.T) {
	a := ask(t)
	a.Free = true
	var q backend.Request
	for text, fine := range map[string]bool{
		`{"edit":{"kind":"prompt.append","component":"agent.prompts.system#own-words","value":"Use the last result."},"prediction":{"fixes":["item_room"],"regress":[],"gain":0.1}}`: true,
		`{"edit":{"kind":"tool.add","component":"tools.shell","value":"use = 'builtin:shell.run'"},"prediction":{"fixes":[],"regress":[],"gain":0.1}}`:                               false,
		`{"edit":{"kind":"prompt.append","component":"agent.prompts.system#look-first","value":"Use the last result."},"prediction":{"fixes":[],"regress":[],"gain":0.1}}`:           false,
		`I would add a tool.`: false,
	} {
		m := Model{Called: "test", Free: edit.Committed(), Generator: says(&q, func(backend.Request) chat.Event { return chat.Event{Text: text} })}
		p, err := m.Propose(ctx, a)
		if (err == nil) != fine {
			t.Errorf("%s: %+v %v", text, p, err)
		}
	}
	if said := q.Messages[0].Text(); !strings.Contains(said, "own-words") || !strings.Contains(said, "room_of") || len(q.Choices) > 0 {
		t.Errorf("%s", said)
	}
}

// A task is chosen under a schema, drawn by the seed; an engine that holds no answer to a schema is
// not asked.
func TestModelChoosesATask(t *testing.T) {
	var q backend.Request
	g := says(&q, func(backend.Request) chat.Event { return chat.Event{Text: ` {"family":"w/f"} `} })
	m := Model{Called: "test", Generator: g}
	if _, err := m.Choose(ctx, []byte(`{}`), 7); errs.CodeOf(err) != errs.Unsupported || len(q.Messages) > 0 {
		t.Errorf("without schemas: %v", err)
	}
	g.Can = &backend.Capabilities{JSONSchema: true}
	got, err := m.Choose(ctx, []byte(`{"type":"object"}`), 7)
	if err != nil || string(got) != `{"family":"w/f"}` || q.Constraint.Kind != backend.JSONSchema || q.Constraint.Text != `{"type":"object"}` || !q.Constraint.Whole || *q.Sampling.Seed != 3 || *q.Sampling.Temperature != 1 {
		t.Errorf("%s %v %+v", got, err, q)
	}
}
