package exam

import (
	_ "embed"
	"fmt"

	"github.com/pelletier/go-toml/v2"

	"macaron/internal/bench/ui4a"
)

// Anchors fix the scale of a version: the composite of a card that shows nothing becomes 0,
// that of the hand-written set 100. They are measured once, by rules alone, and are never
// fitted to what is submitted. The map is affine, so no order changes by it.
type Anchors struct {
	Version   string  `toml:"version"`
	Cases     int     `toml:"cases"`     // of the set on which they were measured
	Null      float64 `toml:"null"`      // composite
	Reference float64 `toml:"reference"` // composite
}

//go:embed anchors.toml
var anchorsFile string

var anchors = func() Anchors {
	var a Anchors
	if err := toml.Unmarshal([]byte(anchorsFile), &a); err != nil || a.Version != ui4a.Version || a.Reference <= a.Null {
		panic(fmt.Sprintf("anchors.toml: %v, %+v", err, a)) // a test reads it
	}
	return a
}()

// final maps a composite onto the scale.
func (a Anchors) final(i Interval) Interval {
	scale := func(v float64) float64 { return clamp(100 * (v - a.Null) / (a.Reference - a.Null)) }
	return Interval{Mean: scale(i.Mean), Low: scale(i.Low), High: scale(i.High), N: i.N}
}

// ThisVersion gives the anchors in force.
func ThisVersion() Anchors { return anchors }
