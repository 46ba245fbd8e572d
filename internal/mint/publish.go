package mint

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// Publisher takes an exported adapter as a revision of an owner's catalogue. To publish
// what is there changes nothing.
type Publisher interface {
	Publish(ctx context.Context, owner string, r Revision) (ids.Digest, error)
}

// Revision is an adapter that was saved for sampling, and where it comes from.
type Revision struct {
	Path string // of the checkpoint
	Adapter
	Parent     ids.Digest         // that training began from, or that the run published before
	Checkpoint ids.Digest         // the last saved state of the run, with the optimizer's
	Contract   ids.Digest         // as the client says, that it was trained for; "": the one in force
	Data       ids.Digest         // as the client says, of what it trains on
	Recipe     string             // as the client says
	Metrics    map[string]float64 // as the client says, and optimizer steps
}

// publish enters the adapter of a checkpoint in the catalogue. The model's next revision
// has this one as its parent.
func (s *Service) publish(m *model, r Save, a Adapter, c *ledger.Checkpoint) ([]ledger.Model, error) {
	rev := Revision{Path: c.Path, Adapter: a, Parent: m.about.From, Metrics: map[string]float64{"steps": float64(m.row.Steps)}}
	for _, said := range []json.RawMessage{m.about.Metadata, r.Metadata} {
		rev.said(said)
	}
	last, err := s.o.Store.Last(s.ctx, m.row.Owner, m.row.ID, string(Training))
	if err != nil && errs.CodeOf(err) != errs.NotFound {
		return nil, err
	}
	rev.Checkpoint = last.State
	hash, err := s.o.Publisher.Publish(s.ctx, m.row.Owner, rev)
	if err != nil {
		return nil, err
	}
	of, err := aboutOf(*c)
	if err != nil {
		return nil, err
	}
	row, next := m.row, m.about
	of.Revision, next.From = hash, hash
	if c.About, err = of.bytes(); err == nil {
		row.About, err = next.bytes()
	}
	return []ledger.Model{row}, err
}

// said takes over what a client's metadata say of a revision: data and contract (digests),
// recipe (its text) and metric.NAME (a number, or the text of one). The rest is the client's own.
func (r *Revision) said(metadata json.RawMessage) {
	var all map[string]any
	if json.Unmarshal(metadata, &all) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(all)) { // the same ones each time, where they are too many
		v := all[name]
		text, _ := v.(string)
		number, ok := v.(float64)
		if !ok {
			var err error
			number, err = strconv.ParseFloat(text, 64)
			ok = err == nil && !math.IsNaN(number) && !math.IsInf(number, 0)
		}
		metric, isMetric := strings.CutPrefix(name, "metric.")
		switch d, err := ids.ParseDigest(text); {
		case name == "data" && err == nil:
			r.Data = d
		case name == "contract" && err == nil:
			r.Contract = d
		case name == "recipe" && len(text) <= maxAbout:
			r.Recipe = text
		case isMetric && ok && len(r.Metrics) < maxMetrics:
			r.Metrics[metric] = number
		}
	}
}

// maxMetrics bounds the metrics of a revision.
const maxMetrics = 64
