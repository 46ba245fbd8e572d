package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"reflect"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/disk"
	"macaron/internal/engine/lora"
	"macaron/internal/train/recipe"
)

// judged is what an adapter does on rows that were held out.
type judged struct {
	Arm    arm                        `json:"arm"`
	Name   string                     `json:"name"`
	Losses map[string][]recipe.Scored `json:"losses"` // by the specialist whose rows they are
	Calls  []bool                     `json:"calls"`  // of L1's rows: whether the likeliest answer is the right call
}

// judge scores an adapter, unless that was done.
func (l *lab) judge(ctx context.Context, a arm, name string) (judged, error) {
	j := judged{Arm: a, Name: name, Losses: map[string][]recipe.Scored{}}
	path := l.o.at(a, name+".json")
	b, err := os.ReadFile(path)
	if err == nil {
		return j, json.Unmarshal(b, &j)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return j, err
	}
	adapter, err := l.engine.LoadAdapter(l.o.at(a, name))
	if err != nil {
		return j, err
	}
	for _, dev := range names {
		if j.Losses[dev], err = l.machine.Score(ctx, adapter, l.dev[dev]); err != nil {
			return j, err
		}
	}
	if name == "L1" || name == union {
		if j.Calls, err = l.calls(ctx, adapter); err != nil {
			return j, err
		}
	}
	if b, err = json.Marshal(j); err != nil {
		return j, err
	}
	return j, disk.Replace(path, b, 0o644)
}

// line is what is read of a row.
type line struct {
	Messages []struct{ Role, Content string }
	Train    []int
}

// calls asks for the calls of L1's rows, each by the likeliest tokens.
func (l *lab) calls(ctx context.Context, a *lora.Adapter) (out []bool, err error) {
	for _, text := range l.dev["L1"] {
		var row line
		if err := json.Unmarshal(text, &row); err != nil {
			return nil, err
		}
		at, want, ok := row.call()
		if !ok {
			continue
		}
		if len(out) == l.o.answers {
			break
		}
		var before []chat.Message
		for _, m := range row.Messages[:at] {
			before = append(before, chat.Text(chat.Role(m.Role), m.Content))
		}
		prompt, err := l.machine.Encode(before, true)
		if err != nil {
			return nil, err
		}
		said, err := l.answer(ctx, a, prompt)
		if err != nil {
			return nil, err
		}
		got, ok := called(said)
		out = append(out, ok && reflect.DeepEqual(got, want))
	}
	return out, nil
}

// call finds the first call that a row teaches.
func (r *line) call() (at int, want any, ok bool) {
	for _, i := range r.Train {
		if want, ok = called(r.Messages[i].Content); ok {
			return i, want, true
		}
	}
	return 0, nil, false
}

// called is the first call of an answer, as JSON.
func called(text string) (out any, ok bool) {
	_, rest, found := strings.Cut(text, "<tool_call>")
	body, _, closed := strings.Cut(rest, "</tool_call>")
	ok = found && closed && json.Unmarshal([]byte(body), &out) == nil
	return out, ok
}
