package ui4a

import (
	"math"
)

// Version names the rules of scoring: checks, shares, weights. Another version is another
// bench.
const Version = "v1"

// Weights are those of the five layers. They are ours; the names of the layers are those of
// UI4A's authors.
var Weights = map[string]float64{CompileRender: 0.20, Content: 0.20, Visual: 0.20, Interaction: 0.25, Constraints: 0.15}

// The layers, in their order.
const (
	CompileRender = "Compile & Render"
	Content       = "Content"
	Visual        = "Visual"
	Interaction   = "Interaction"
	Constraints   = "Constraint Adherence"
)

// LayerNames are the layers in their order.
var LayerNames = []string{CompileRender, Content, Visual, Interaction, Constraints}

// Check is one part of a layer.
type Check struct {
	Name     string    `json:"name"`
	Share    float64   `json:"share"` // of the layer, in percent, before parts that do not apply are left out
	Applies  bool      `json:"applies"`
	Pass     float64   `json:"pass"` // 0 to 1
	Findings []Finding `json:"findings,omitempty"`
}

// check makes a part whose result is the mean of its findings.
func check(name string, share float64, findings ...Finding) Check {
	c := Check{Name: name, Share: share, Applies: len(findings) > 0, Findings: findings}
	for _, f := range findings {
		c.Pass += f.Pass / float64(len(findings))
	}
	return c
}

// Layer is the score of one layer, 0 to 100.
type Layer struct {
	Name    string   `json:"name"`
	Score   *float64 `json:"score"`   // gated and judged; nil where the layer does not apply
	Ungated *float64 `json:"ungated"` // as far as it can be seen: nil where nothing was mounted
	Rules   *float64 `json:"rules"`   // gated, without judges
	Checks  []Check  `json:"checks"`
}

// score is the mean of the checks that apply, by their shares; nil when none does.
func score(checks []Check) *float64 {
	sum, shares := 0.0, 0.0
	for _, c := range checks {
		if c.Applies {
			sum, shares = sum+c.Share*c.Pass, shares+c.Share
		}
	}
	if shares == 0 {
		return nil
	}
	v := 100 * sum / shares
	return &v
}

// JudgeShare is the part of a layer that judges have, where they have answered.
var JudgeShare = map[string]float64{Content: 0.4, Visual: 0.3, Constraints: 0.2}

// Layers scores one card on one screen. v are the judges' answers, which may be none.
// Where the card does not compile or mount, or mounts and shows nothing, everything behind
// the first layer is 0.
func (c *Case) Layers(e Evidence, v Verdicts) []Layer {
	layers := []Layer{
		{Name: CompileRender, Checks: e.renderChecks()},
		{Name: Content, Checks: c.contentChecks(e)},
		{Name: Visual, Checks: e.visualChecks()},
		{Name: Interaction, Checks: c.interactionChecks(e)},
		{Name: Constraints, Checks: c.constraintChecks(e)},
	}
	for i := range layers {
		l := &layers[i]
		l.Rules, l.Ungated = score(l.Checks), score(l.Checks)
		judged := l.judged(v[l.Name], e)
		l.Score = judged
		if i > 0 && !e.shown() {
			l.Ungated = nil
			if l.Rules != nil {
				l.Rules, l.Score = new(float64), new(float64)
			}
		}
	}
	return layers
}

// judged mixes the judges' part in. A yes without evidence is a no.
func (l *Layer) judged(v []Verdict, e Evidence) *float64 {
	if len(v) == 0 || l.Rules == nil {
		return l.Rules
	}
	var findings []Finding
	for _, x := range v {
		findings = append(findings, x.finding(e))
	}
	share := JudgeShare[l.Name]
	part := check("judges", 100*share, findings...)
	l.Checks = append(l.Checks, part)
	mixed := (1-share)**l.Rules + share*100*part.Pass
	return &mixed
}

// Composite is the weighted mean of the layers that apply, 0 to 100.
func Composite(layers []Layer, of func(Layer) *float64) float64 {
	sum, weights := 0.0, 0.0
	for _, l := range layers {
		if v := of(l); v != nil {
			sum, weights = sum+Weights[l.Name]**v, weights+Weights[l.Name]
		}
	}
	return sum / math.Max(weights, 1e-9)
}

// Judged and ByRules are the two scores of a layer.
func Judged(l Layer) *float64  { return l.Score }
func ByRules(l Layer) *float64 { return l.Rules }
