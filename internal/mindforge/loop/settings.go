package loop

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/discovery"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/scripted"
	"macaron/internal/mindforge/update"
)

// Schema names the form of forge.toml.
const Schema = "macaron.forge/1"

// MaxBytes bounds forge.toml.
const MaxBytes = 64 << 10

// Arm says what of the loop is done: the whole, or a control.
type Arm string

// The arms.
const (
	Full     Arm = "full"
	Contract Arm = "contract" // search only: weights stay
	Weights  Arm = "weights"  // update only: the contract stays
	None     Arm = "none"     // attempts are made, and nothing is proposed
)

// The actors.
const (
	Scripted = "scripted" // a policy of known skill at a planted problem
	Harness  = "harness"  // this machine's model, in the harness of production
)

// Settings are forge.toml: what a run follows from, beside outcomes. docs/formats/forge.md has
// the keys.
type Settings struct {
	Schema      string `toml:"schema" json:"schema"`
	Name        string `toml:"name" json:"name"`
	Seed        uint64 `toml:"seed" json:"seed"`
	Arm         Arm    `toml:"arm" json:"arm"`
	Actor       string `toml:"actor" json:"actor"`
	Generations int    `toml:"generations" json:"generations"`
	Plateau     int    `toml:"plateau" json:"plateau"` // generations in a row without a promotion that end the run; 0: none
	Batch       int    `toml:"batch" json:"batch"`     // attempts that are kept at once: so many are made again after a kill
	AtOnce      int    `toml:"at_once" json:"at_once"` // attempts that the harness makes at once

	Evaluation Evaluation     `toml:"evaluation" json:"evaluation"`
	Budget     Budget         `toml:"budget" json:"budget"`
	Discovery  Discovery      `toml:"discovery" json:"discovery"`
	Expansion  Expansion      `toml:"expansion" json:"expansion"`
	Update     Update         `toml:"update" json:"update"`
	Canary     Canary         `toml:"canary" json:"canary"`
	Scripted   scripted.Setup `toml:"scripted" json:"scripted"`
}

// Evaluation says where the evaluator is. None of it can be written by the loop.
type Evaluation struct {
	Dir      string `toml:"dir" json:"dir"`           // the evaluator's own
	Contract string `toml:"contract" json:"contract"` // evaluation.toml, with its signature beside it
	Key      string `toml:"key" json:"key"`           // the evaluator's public key, PEM
}

// Budget bounds a run; 0 bounds nothing.
type Budget struct {
	Attempts int     `toml:"attempts" json:"attempts"`
	Trained  int64   `toml:"trained_tokens" json:"trained_tokens"`
	USD      float64 `toml:"usd" json:"usd"`
	Seconds  float64 `toml:"seconds" json:"seconds"` // of attempts, decisions and trainings
}

// Discovery says which tasks a generation works on.
type Discovery struct {
	Worlds   []string `toml:"worlds" json:"worlds"` // none: all
	Tasks    int      `toml:"tasks" json:"tasks"`
	Attempts int      `toml:"attempts" json:"attempts"` // of the champion at a task
	Level    int      `toml:"level" json:"level"`
	Low      float64  `toml:"low" json:"low"` // solved at least so often, or never
	High     float64  `toml:"high" json:"high"`
	Failing  float64  `toml:"failing" json:"failing"` // share of the tasks that may be such as are never solved
	Harder   bool     `toml:"harder" json:"harder"`   // what is solved too often is made harder, once

	PerStructure int             `toml:"per_structure" json:"per_structure"` // tasks of one structure, at most
	Likeness     float64         `toml:"likeness" json:"likeness"`           // of texts, from which two are one
	Floor        discovery.Floor `toml:"floor" json:"floor"`                 // of diversity
	Proposals    int             `toml:"proposals" json:"proposals"`         // tasks that the actor's model may choose; 0: none

	// Production is how many tasks of a generation may come from what people had done. 0 leaves the name of a run as it was.
	Production int `toml:"production" json:"production,omitempty"`
}

// room are the settings of the room that looks at each task.
func (d Discovery) room() discovery.Settings {
	s := discovery.Defaults()
	s.MostFailing = int(d.Failing * float64(d.Tasks))
	s.Attempts, s.Low, s.High, s.PerStructure, s.Likeness, s.Floor, s.Splits = d.Attempts, d.Low, d.High, d.PerStructure, d.Likeness, d.Floor, []string{string(evaluation.Train)}
	return s
}

// Expansion bounds the search with frozen weights.
type Expansion struct {
	Attempts  int     `toml:"attempts" json:"attempts"`
	Minibatch int     `toml:"minibatch" json:"minibatch"`
	Greedy    float64 `toml:"greedy" json:"greedy"`
	MaxEdits  int     `toml:"max_edits" json:"max_edits"`
	Proposer  string  `toml:"proposer" json:"proposer"` // uniform, reflective
	Controls  bool    `toml:"controls" json:"controls"` // random search, and the controls of coverage, at equal attempts
	Coverage  int     `toml:"coverage" json:"coverage"` // attempts of an item, at most, in search of any contract that solves it; 0: none
	Variety   int     `toml:"variety" json:"variety"`   // random contracts of the controls of coverage, and attempts at each other task by the arms that learn
}

// Update bounds what a generation trains.
type Update struct {
	Rows     int `toml:"rows" json:"rows"`         // fewer passes than these are not trained on
	Attempts int `toml:"attempts" json:"attempts"` // at each task under the pair that is trained, beside what the search harvested; of grpo its groups

	Absorb bool    `toml:"absorb" json:"absorb"` // what the search found in words is moved into the adapter, and left out of the contract
	Held   int     `toml:"held" json:"held"`     // tasks of validation that this is measured on
	Margin float64 `toml:"margin" json:"margin"` // by which the shorter contract may pass less often there
	update.Settings
}

// check looks at what an update of a pair would follow. What the pair and the training service
// give where nothing is said, counts as said.
func (u Update) check() error {
	s := u.Settings
	s.Adapter, s.Base = cmp.Or(s.Adapter, "the agent's"), cmp.Or(s.Base, "the first")
	if u.Method == update.GRPO && u.Attempts < 2 {
		return errs.New(errs.FormatInvalid, "forge.toml has no possible value of update.attempts", "grpo compares attempts at one task: make 2 at least").In("update.attempts")
	}
	return s.Check()
}

// Canary is the trial on a share of the conversations.
type Canary struct {
	Share float64 `toml:"share" json:"share"` // 0: there is none, and the evaluation contract asks for none
}

// defaults are what forge.toml leaves out.
func defaults() Settings {
	return Settings{
		Arm: Full, Actor: Scripted, Generations: 3, Plateau: 2, Batch: 16, AtOnce: 4,
		Discovery: Discovery{Tasks: 24, Attempts: 4, High: 0.8, Low: 0.2, Failing: 0.5, Harder: true, PerStructure: 2, Likeness: discovery.Defaults().Likeness, Floor: discovery.Defaults().Floor, Proposals: 8},
		Expansion: Expansion{Attempts: 400, Minibatch: 4, MaxEdits: 16, Proposer: "uniform", Controls: true, Coverage: 4, Variety: 64},
		Update:    Update{Rows: 4, Held: 12, Margin: 0.05, Settings: update.Defaults()}, Canary: Canary{Share: 0.05}, Scripted: scripted.DefaultSetup,
	}
}

// Parse reads forge.toml strictly.
func Parse(text []byte) (Settings, error) {
	s := defaults()
	if len(text) > MaxBytes {
		return s, errs.Newf(errs.TooLarge, "forge.toml is larger than %d bytes", MaxBytes)
	}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return s, malformed(err)
	}
	return s, s.check()
}

func malformed(err error) error {
	message, next := strings.TrimPrefix(err.Error(), "toml: "), "docs/formats/forge.md lists the keys"
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		message = "there is no key " + errs.Clip(strings.Join(strict.Errors[0].Key(), "."))
		next = "the sections are evaluation, budget, discovery, expansion, update, canary, scripted; " + next
	}
	return errs.New(errs.FormatInvalid, "forge.toml is malformed: "+errs.Clip(message), next)
}

func (s *Settings) check() error {
	for _, c := range []struct {
		key string
		ok  bool
	}{
		{"schema", s.Schema == Schema},
		{"name", len(s.Name) <= 40 && s.Name != "" && strings.Trim(s.Name, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""},
		{"arm", s.Arm == Full || s.Arm == Contract || s.Arm == Weights || s.Arm == None},
		{"actor", s.Actor == Scripted || s.Actor == Harness},
		{"generations", 1 <= s.Generations && s.Generations <= 100},
		{"plateau", 0 <= s.Plateau && s.Plateau <= 100},
		{"batch", 1 <= s.Batch && s.Batch <= 1000},
		{"at_once", 1 <= s.AtOnce && s.AtOnce <= 64},
		{"evaluation.dir", s.Evaluation.Dir != ""},
		{"evaluation.contract", s.Evaluation.Contract != ""},
		{"evaluation.key", s.Evaluation.Key != ""},
		{"budget", s.Budget.Attempts >= 0 && s.Budget.Trained >= 0 && s.Budget.USD >= 0 && s.Budget.Seconds >= 0},
		{"discovery.tasks", 2 <= s.Discovery.Tasks && s.Discovery.Tasks <= 2000},
		{"discovery.attempts", 4 <= s.Discovery.Attempts && s.Discovery.Attempts <= 64},
		{"discovery.failing", 0 < s.Discovery.Failing && int(s.Discovery.Failing*float64(s.Discovery.Tasks)) >= 1 && s.Discovery.Failing <= 1},
		{"discovery.level", 0 <= s.Discovery.Level && s.Discovery.Level <= 16},
		{"discovery.proposals", 0 <= s.Discovery.Proposals && s.Discovery.Proposals <= 1000},
		{"discovery.production", 0 <= s.Discovery.Production && s.Discovery.Production <= s.Discovery.Tasks && (s.Discovery.Production == 0 || s.Actor == Harness)},
		{"expansion.attempts", 1 <= s.Expansion.Attempts && s.Expansion.Attempts <= 1_000_000},
		{"expansion.minibatch", 1 <= s.Expansion.Minibatch && s.Expansion.Minibatch <= s.Discovery.Tasks/2},
		{"expansion.greedy", 0 <= s.Expansion.Greedy && s.Expansion.Greedy <= 1},
		{"expansion.max_edits", 1 <= s.Expansion.MaxEdits && s.Expansion.MaxEdits <= 64},
		{"expansion.proposer", s.Expansion.Proposer == "uniform" || s.Expansion.Proposer == "reflective"},
		{"expansion.variety", 1 <= s.Expansion.Variety && s.Expansion.Variety <= 1000},
		{"expansion.coverage", 0 <= s.Expansion.Coverage && s.Expansion.Coverage <= 64},
		{"update.rows", s.Update.Rows >= 1},
		{"update.absorb", !s.Update.Absorb || s.Actor == Harness},
		{"update.held", 1 <= s.Update.Held && s.Update.Held <= 1000},
		{"update.margin", 0 <= s.Update.Margin && s.Update.Margin <= 1},
		{"update.attempts", 0 <= s.Update.Attempts && s.Update.Attempts <= 64},
		{"scripted.families", 12 <= s.Scripted.Families && s.Scripted.Families <= 2000},
		{"scripted.shift", 0 <= s.Scripted.Shift && s.Scripted.Shift <= 100},
		{"scripted.broken", 0 <= s.Scripted.Broken && s.Scripted.Broken < 1},
		{"scripted.most", 0 <= s.Scripted.Most && s.Scripted.Most <= 100},
		{"scripted.sly", -1 <= s.Scripted.Sly && s.Scripted.Sly <= 9},
		{"canary.share", 0 <= s.Canary.Share && s.Canary.Share < 1},
	} {
		if !c.ok {
			return errs.New(errs.FormatInvalid, "forge.toml has no possible value of "+c.key, "docs/formats/forge.md has the bounds").In(c.key)
		}
	}
	if err := s.Discovery.room().Check(); err != nil {
		return err
	}
	if err := s.searchable(); err != nil {
		return err
	}
	if _, err := s.Hash(); err != nil {
		return errs.Wrap(errs.FormatInvalid, err, "forge.toml has a number that is none or has no bound (nan, inf)", "docs/formats/forge.md has the bounds")
	}
	return s.Update.check()
}

// searchable refuses a search that could not come to its end on as many tasks as discovery may
// find: it would be found out only after discovery is paid.
func (s *Settings) searchable() error {
	valid := s.Discovery.Tasks / 2
	least := expansion.Least(valid)
	if s.Arm == Weights || s.Arm == None || s.Expansion.Attempts >= least {
		return nil
	}
	return errs.New(errs.FormatInvalid, fmt.Sprintf("expansion.attempts = %d is too small: %d of the %d tasks of a generation (discovery.tasks) decide within the search, and that takes %d attempts", s.Expansion.Attempts, valid, s.Discovery.Tasks, least),
		fmt.Sprintf("make it %d at least, or discovery.tasks smaller", least)).In("expansion.attempts")
}

// Hash names the settings. Where the evaluator lies does not count: its contract does, by its
// own hash. Nor does how many attempts are made at once: what comes of them is the same.
func (s Settings) Hash() (ids.Digest, error) {
	s.Evaluation, s.AtOnce = Evaluation{}, 0
	return canonical.Hash(s)
}

// Run is the name of the run that the settings make: the same settings are the same run, which
// goes on where it is.
func (s Settings) Run() (string, error) {
	h, err := s.Hash()
	if err != nil {
		return "", err
	}
	return s.Name + "-" + h.Hex()[:8], nil
}
