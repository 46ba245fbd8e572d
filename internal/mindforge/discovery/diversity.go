package discovery

import (
	"math"

	"macaron/internal/ids"
)

// Diversity measures how the kept tasks are spread. The effective number is the exponential
// of the Shannon entropy of the shares (Hill number of order 1): as many equally large groups
// would be spread as widely.
type Diversity struct {
	Tasks     int     `json:"tasks"`
	Families  Spread  `json:"families"`
	Forms     Spread  `json:"structures"`
	BelowIt   bool    `json:"below_floor"`
	Families0 float64 `json:"floor_families"`
	Share0    float64 `json:"floor_share"`
}

// Spread is one grouping.
type Spread struct {
	Groups    int     `json:"groups"`
	Entropy   float64 `json:"entropy"` // nats
	Effective float64 `json:"effective"`
	Largest   string  `json:"largest,omitempty"`
	Share     float64 `json:"largest_share"`
}

func spread(counts map[string]int) Spread {
	total, out := 0, Spread{Groups: len(counts)}
	for _, name := range sortedKeys(counts) {
		if total += counts[name]; out.Largest == "" || counts[name] > counts[out.Largest] {
			out.Largest = name
		}
	}
	for _, name := range sortedKeys(counts) { // in one order, so that the bits are the same
		p := float64(counts[name]) / float64(total)
		out.Entropy -= p * math.Log(p)
	}
	if total > 0 {
		out.Effective, out.Share = math.Exp(out.Entropy), float64(counts[out.Largest])/float64(total)
	}
	return out
}

// diversity of what is kept.
func (s *Shelf) Diversity() Diversity {
	forms := map[string]int{}
	for d, n := range s.structures {
		forms[string(d)] = n
	}
	f := s.set.Floor
	d := Diversity{Tasks: len(s.kept), Families: spread(s.families), Forms: spread(forms), Families0: f.Families, Share0: f.Share}
	d.BelowIt = d.Tasks >= f.After && (d.Families.Effective < f.Families || d.Families.Share > f.Share || d.Forms.Share > f.Share)
	return d
}

// monotone refuses more of the largest family or structure while the kept tasks lie below
// the floor of diversity.
func (s *Shelf) monotone(family string, structure ids.Digest) *Refusal {
	d := s.Diversity()
	if !d.BelowIt || family != d.Families.Largest && string(structure) != d.Forms.Largest {
		return nil
	}
	return no(Monotone, "%.2f families in effect, the largest has a share of %.2f", d.Families.Effective, d.Families.Share)
}
