package discovery

import (
	"encoding/binary"
	"fmt"
	"strings"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/world"
)

// Draw gives the candidates of one round: a task of level 0 of each family that may be fed,
// of the seed that the round has.
func (d *Discoverer) Draw(worlds []world.World, round uint64) ([]Candidate, error) {
	var out []Candidate
	for _, w := range worlds {
		for _, f := range w.Families() {
			if !d.fed(w.Name(), f) {
				continue
			}
			t, err := w.Make(f, 0, drawn(d.Seed, w.Name(), f, round))
			if err != nil {
				return nil, err
			}
			out = append(out, Candidate{t, w, Source{Kind: Generated}})
		}
	}
	return out, nil
}

func (d *Discoverer) fed(world, family string) bool {
	split := d.Split(world, family)
	for _, s := range d.set.Splits {
		if s == split {
			return true
		}
	}
	return false
}

// Harder gives the variants of a task that is solved, by every way that its world has for it.
// Tasks that somebody wrote have none: nothing makes them again.
func (d *Discoverer) Harder(w world.World, t mindforge.Task) []Candidate {
	if strings.HasPrefix(t.Family, world.FreeFamily) {
		return nil
	}
	var out []Candidate
	for i, way := range mindforge.Ways {
		harder, err := w.Harder(t, way, drawn(d.Seed, t.ID, string(way), uint64(i)))
		if err != nil {
			continue // a request that names nothing cannot be contradicted, and ways have a bound
		}
		out = append(out, Candidate{harder, w, Source{Kind: Variant, Parent: t.ID}})
	}
	return out
}

// drawn is a seed that depends on names alone. It has 32 bits, so that names of tasks are short.
func drawn(seed uint64, parts ...any) uint64 {
	h := ids.DigestOf(fmt.Appendf(nil, "discovery\x00%d\x00%v", seed, parts)).Hex()
	return uint64(binary.BigEndian.Uint32([]byte(h)[:4]))
}
