package harness

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/tool/builtin"
)

// scope is where the run's memory is kept.
func (r *run) scope() string {
	if r.contract.Memory.Scope == contract.MemoryRun {
		return r.id
	}
	return r.contract.Name
}

// items are what is remembered, the oldest first.
func (r *run) items(ctx context.Context) ([]record.Memory, error) {
	if r.contract.Memory.MaxItems == 0 {
		return nil, nil
	}
	return r.h.Log.Memory(ctx, r.owner, r.scope(), r.contract.Memory.MaxItems)
}

// remembered are the items as the head of a run shows them.
func (r *run) remembered(ctx context.Context) ([]string, error) {
	items, err := r.items(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(items))
	for i, m := range items {
		lines[i] = m.ID + ": " + strings.Join(strings.Fields(m.Text), " ")
	}
	return lines, nil
}

// remember adds an item. Where there are as many as the contract allows, the oldest goes.
func (r *run) remember(ctx context.Context, call string, args json.RawMessage) (any, error) {
	text, err := argument(args, "text")
	if err != nil {
		return nil, err
	}
	m := r.contract.Memory
	if m.MaxItems == 0 {
		return nil, errs.New(errs.Unsupported, "the contract has no memory", "set memory.max_items")
	}
	if n := len([]rune(text)); n > m.MaxItemChars {
		return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("the text has %d characters; an item has at most %d", n, m.MaxItemChars), "say it shorter")
	}
	item := "mem_" + strings.TrimPrefix(r.id, "run_") + "_" + fmt.Sprint(r.ordinal(record.NoteMemoryAdded, call))
	if r.noted(record.NoteMemoryAdded, call) {
		return map[string]string{"item": item}, nil // before a crash
	}
	items, err := r.items(ctx)
	if err != nil {
		return nil, err
	}
	var notes []record.Body
	for i := 0; i <= len(items)-m.MaxItems; i++ {
		notes = append(notes, record.RunNote{Note: record.NoteMemoryForgotten, Name: r.scope(), Item: items[i].ID})
	}
	notes = append(notes, record.RunNote{Note: record.NoteMemoryAdded, Name: r.scope(), Item: item, Text: r.clean(text), Call: call})
	return map[string]string{"item": item}, r.append(ctx, notes...)
}

// forget removes an item.
func (r *run) forget(ctx context.Context, call string, args json.RawMessage) (any, error) {
	item, err := argument(args, "item")
	if err != nil {
		return nil, err
	}
	gone := map[string]string{"forgotten": item}
	if r.noted(record.NoteMemoryForgotten, call) {
		return gone, nil
	}
	items, err := r.items(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range items {
		if m.ID == item {
			return gone, r.append(ctx, record.RunNote{Note: record.NoteMemoryForgotten, Name: r.scope(), Item: item, Call: call})
		}
	}
	return nil, errs.New(errs.InvalidRequest, "there is no item "+errs.Clip(item), "search for it first")
}

// recall is the search over memory.
func (r *run) recall() builtin.Memory {
	return builtin.Memory{Items: func(ctx context.Context) ([]builtin.Item, error) {
		items, err := r.items(ctx)
		var out []builtin.Item
		for _, m := range items {
			out = append(out, builtin.Item{ID: m.ID, Text: m.Text, Time: m.Time})
		}
		return out, err
	}}
}

// noted reports whether the call has left a note of a kind: it was carried out, whether or
// not its result is on record.
func (r *run) noted(note, call string) bool {
	r.state.Lock()
	defer r.state.Unlock()
	for _, n := range r.t.Notes {
		if n.Note == note && n.Call == call {
			return true
		}
	}
	return false
}

// ordinal numbers the notes of a kind: that of the call if there is one, else the next.
func (r *run) ordinal(note, call string) int {
	r.state.Lock()
	defer r.state.Unlock()
	i := 1
	for _, n := range r.t.Notes {
		if n.Note != note {
			continue
		}
		if n.Call == call {
			break
		}
		i++
	}
	return i
}

// readSkill gives the text of a skill.
func (r *run) readSkill(ctx context.Context, call string, args json.RawMessage) (any, error) {
	name, err := argument(args, "name")
	if err != nil {
		return nil, err
	}
	s, ok := r.contract.Skill(name)
	if !ok {
		var names []string
		for _, s := range r.contract.Skills {
			names = append(names, s.Name)
		}
		return nil, errs.New(errs.InvalidRequest, "there is no skill "+errs.Clip(name), "there are "+strings.Join(names, ", "))
	}
	if r.noted(record.NoteSkill, call) {
		return s.Text, nil
	}
	return s.Text, r.append(ctx, record.RunNote{Note: record.NoteSkill, Name: s.Name, Call: call})
}
