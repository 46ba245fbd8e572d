package scripted

// Setup is a planted problem with everything that a loop needs of it, by numbers that a file can
// have.
type Setup struct {
	Seed     uint64  `toml:"seed" json:"seed"`
	Families int     `toml:"families" json:"families"`
	Shift    float64 `toml:"shift" json:"shift"`   // of each family by each contract and revision, in logits
	Broken   float64 `toml:"broken" json:"broken"` // share of attempts in which the machinery fails
	Most     float64 `toml:"most" json:"most"`     // logits that a family can gain in one training
	// Sly is the number of an improving edit that fails a share of live turns, and shows it nowhere
	// else; -1: there is none.
	Sly int `toml:"sly" json:"sly"`
	// Decoys are put through the gate in each generation: an edit that does nothing, and one that
	// harms.
	Decoys bool `toml:"decoys" json:"decoys"`
}

// DefaultSetup is a problem that a loop solves in seconds.
var DefaultSetup = Setup{Seed: 1, Families: 60, Most: 1, Sly: -1, Decoys: true}

// Plant makes the problem. Harder tasks cost half a logit each.
func (s Setup) Plant() (*Problem, error) {
	plan := DefaultPlan
	plan.Families = max(12, s.Families)
	p, err := Plant(s.Seed, plan)
	if err != nil {
		return nil, err
	}
	p.Policy.Shift, p.Policy.Broken, p.Policy.Steep = s.Shift, s.Broken, 0.5
	return p, nil
}

// Learner is what training does here.
func (s Setup) Learner() Learner { return Learner{Most: s.Most, Rows: 4, Forget: 0.1, Tokens: 100} }
