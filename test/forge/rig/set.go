package rig

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"

	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/world"
)

// Schema of a set of tasks that the base fails.
const Schema = "macaron.base-failing/1"

// Set is the tasks at which a model did not succeed once under a contract, of those that the
// hashes draw: none was chosen.
type Set struct {
	Schema   string         `json:"schema"`
	Hashes   Hashes         `json:"hashes"`
	Families int            `json:"families"` // of the train split
	Level    int            `json:"level"`
	Samples  int            `json:"samples"` // attempts of each task, of which none passed
	Drawn    int            `json:"drawn"`   // tasks up to the last of the set
	Solved   []string       `json:"solved"`  // of them, those that passed at least once
	Tasks    []Failing      `json:"tasks"`
	Cost     mindforge.Cost `json:"cost"`
}

// Failing is a task of the set, with the classes of its failures.
type Failing struct {
	ID       string                    `json:"id"`
	Asked    ids.Digest                `json:"asked"` // hash of what the model is shown of it
	Seed     uint64                    `json:"seed"`
	Failures map[mindforge.Failure]int `json:"failures"`
}

// ReadSet reads a set and makes its tasks again.
func ReadSet(path string) (s Set, tasks []mindforge.Task, err error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return s, nil, disk.OpenError(err, path+" cannot be read", "`make forge-base-failing` draws it")
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return s, nil, errs.Wrap(errs.FormatInvalid, err, path+" is no set of tasks", "")
	}
	tasks, err = s.Items()
	return s, tasks, err
}

// Items makes the tasks of the set again.
func (s Set) Items() ([]mindforge.Task, error) {
	out := make([]mindforge.Task, len(s.Tasks))
	for i, f := range s.Tasks {
		t, err := world.Again(Worlds, f.ID)
		if err != nil {
			return nil, err
		}
		if Asked(t) != f.Asked {
			return nil, errs.New(errs.ChecksumMismatch, "the task "+errs.Clip(f.ID)+" asks something else than it did when it was measured", "draw the set anew: make forge-base-failing")
		}
		out[i] = t
	}
	return out, nil
}

// Asked is the hash of what a model is shown of a task.
func Asked(t mindforge.Task) ids.Digest { return ids.DigestOf([]byte(world.Prompt(t))) }

// Draw gives the n-th task of a family in a draw that is named. Its seed follows from the
// hashes, so that nobody can have chosen it before contract and catalogue were what they are.
func Draw(h Hashes, name string, f evaluation.Family, level, n int) (mindforge.Task, error) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s\x00%s\x00%s\x00%d", name, h.Base, h.Contract, h.Catalogue, h.Evaluation, f, n))
	return Make(f, level, uint64(binary.BigEndian.Uint32(sum[:4])))
}
