// Package world has what the task worlds share: how a task is drawn from its family, level
// and seed, made harder in four ways without end, opened for a run of the harness, judged
// outside of the model's reach, and played by a known solution. What a task is about its
// world says (compose, terminal, text) by Rules: functions that become tools, families, and
// what can be chained. Everything is a function of names and seeds; docs/formats/task.md.
package world

import (
	"context"

	"macaron/internal/bench"
	"macaron/internal/mindforge"
)

// World is a world whose tasks can be opened.
type World interface {
	mindforge.World
	// Open begins a task of this world anew.
	Open(t mindforge.Task) (bench.Case, error)
	// Free makes a task that somebody wrote for the tools of this world. It is bounded and
	// well-formed; whether it is sound, whoever takes it finds out by playing.
	Free(f Free) (mindforge.Task, error)
	// Tools lists the tools that its tasks offer, by the names that contracts declare them with.
	Tools() []ToolDoc
}

// ToolDoc says what a tool of a world does, for whoever edits contracts.
type ToolDoc struct {
	Name   string `json:"name"`
	About  string `json:"about"`
	Effect string `json:"effect"`
}

// Prompt is what a model is asked. The canary is in it, so that whoever trained on a task
// has its canary among what was trained on.
func Prompt(t mindforge.Task) string {
	return t.Instruction + "\n" + t.Answer + "\nRef " + t.Canary
}

// Suite is a list of tasks of several worlds, for the harness.
type Suite struct {
	Worlds []World
	Tasks  []mindforge.Task
}

// Name implements bench.Suite.
func (Suite) Name() string { return "forge" }

// Items implements bench.Suite. Tasks of one family are a cluster.
func (s Suite) Items() []bench.Item {
	out := make([]bench.Item, len(s.Tasks))
	for i, t := range s.Tasks {
		out[i] = Item(t)
	}
	return out
}

// Item is a task as the bench knows it.
func Item(t mindforge.Task) bench.Item {
	family := t.World + "/" + t.Family
	return bench.Item{ID: t.ID, Family: family, Cluster: family, Depth: t.Shape.Depth}
}

// Open implements bench.Suite.
func (s Suite) Open(_ context.Context, item string) (bench.Case, error) {
	for _, t := range s.Tasks {
		if t.ID == item {
			w, err := Of(s.Worlds, t.World)
			if err != nil {
				return nil, err
			}
			return w.Open(t)
		}
	}
	return nil, notFound("the suite has no task ", item)
}

// Of gives the world of a name.
func Of(all []World, name string) (World, error) {
	for _, w := range all {
		if w.Name() == name {
			return w, nil
		}
	}
	return nil, notFound("there is no world ", name)
}
