package main

import (
	_ "embed" // where every arm begins
	"fmt"
	"path/filepath"
)

//go:embed start.toml
var agent string

// sizes are those of a generation, the same in every arm. What an arm does not spend on weights it
// spends on attempts, and the other way round: see of.
type sizes struct {
	tasks     int // of discovery; half of them is shown to proposers and trained on
	rated     int // attempts of the champion at a task
	minibatch int
	search    int // attempts of the search for a contract
	rounds    int // of coverage, at the tasks that are shown
	variety   int // attempts at each other task that coverage learns from beforehand
	own       int // attempts at each of them under the pair that is trained
	tokens    int // of a training, all rows of all passes, at most
	perFamily int // sealed tasks of each family that a champion is measured on
}

var (
	whole = sizes{tasks: 48, rated: 4, minibatch: 4, search: 300, rounds: 1, variety: 1, own: 6, tokens: 20_000, perFamily: 3}
	small = sizes{tasks: 8, rated: 4, minibatch: 2, search: 40, rounds: 1, variety: 1, own: 4, tokens: 2_000, perFamily: 1} // a look at the program itself
)

// attempt is how many tokens of a training take as much processor time as an attempt: 0.64 s, the
// mean of 1,158, at 318 tokens a second of two cores.
const attempt = 0.64 * 318 / 2

// compute is what an arm may spend in a generation between discovery and gate: attempts, with the
// tokens of a training counted as the attempts that take as long.
type compute struct {
	Search   int `json:"search"`   // attempts of the search for a contract
	Rounds   int `json:"rounds"`   // of coverage: attempts of a task, at most
	Variety  int `json:"variety"`  // of coverage, at each other task before
	Own      int `json:"own"`      // attempts of a task under the pair that is trained
	Tokens   int `json:"tokens"`   // of the training
	Attempts int `json:"attempts"` // all of it
}

func (s sizes) of(arm string) compute {
	shown := s.tasks / 2
	all := s.search + (s.rounds+s.variety+s.own)*shown + int(float64(s.tokens)/attempt)
	switch arm {
	case "full":
		return compute{s.search, s.rounds, s.variety, s.own, s.tokens, all}
	case "contract":
		return compute{all, 0, 0, 0, 0, all}
	case "weights":
		return compute{0, s.rounds, 0, s.own + s.variety + s.search/shown, s.tokens, all}
	}
	return compute{} // nothing is looked for
}

// settings is the forge.toml of an arm and seed in a directory.
func (s sizes) settings(dir, arm string, seed uint64, generations int) string {
	c := s.of(arm)
	return fmt.Sprintf(`schema = "macaron.forge/1"
name = "compounding-%s"
seed = %d
arm = %q
actor = "harness"
generations = %d
plateau = 0
batch = 8
[canary]
share = 0.0
[evaluation]
dir = %q
contract = %q
key = %q
[discovery]
tasks = %d
attempts = %d
harder = false
proposals = 4
per_structure = 4
failing = 0.4
[expansion]
attempts = %d
minibatch = %d
greedy = 0.3
max_edits = 8
controls = false
coverage = %d
variety = %d
[update]
rows = 8
attempts = %d
tokens = %d
learning_rate = 2e-4
[update.selection]
effective = 2.0
`, arm, seed, arm, generations, filepath.Join(dir, "judge"), filepath.Join(dir, "evaluation.toml"), filepath.Join(dir, "judge", "key.pub"), s.tasks, s.rated, max(1, c.Search), s.minibatch, c.Rounds, max(1, c.Variety), c.Own, c.Tokens)
}
