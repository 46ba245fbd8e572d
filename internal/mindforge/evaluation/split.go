package evaluation

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"macaron/internal/mindforge"
)

// Split is the part of the families that one belongs to.
type Split string

// The splits.
const (
	Train      Split = "train"
	Validation Split = "validation"
	Sealed     Split = "sealed"
)

// Of gives the split of a world's family. All its tasks are of the same one, whatever their
// seeds, levels and variants.
func (s Splits) Of(world, family string) Split {
	sum := sha256.Sum256([]byte(s.Salt + "\x00" + world + "/" + family))
	switch at := int(binary.BigEndian.Uint64(sum[:8]) % 100); {
	case at < s.Train:
		return Train
	case at < s.Train+s.Validation:
		return Validation
	}
	return Sealed
}

// Family is a world's family.
type Family struct{ World, Name string }

// String is WORLD/FAMILY, as contracts write it.
func (f Family) String() string { return f.World + "/" + f.Name }

// Families lists what a suite has of a split, in the order of the worlds.
func (c *Contract) Families(s Suite, worlds []mindforge.World, split Split) []Family {
	var out []Family
	for _, w := range worlds {
		if !slices.Contains(s.Worlds, w.Name()) {
			continue
		}
		for _, name := range w.Families() {
			f := Family{w.Name(), name}
			if c.takes(s, f) && c.Splits.Of(f.World, f.Name) == split {
				out = append(out, f)
			}
		}
	}
	return out
}

// takes: a suite has the families that it names, and one of the rest has what no other names.
func (c *Contract) takes(s Suite, f Family) bool {
	if slices.Contains(s.Families, f.String()) {
		return true
	}
	if !slices.Contains(s.Families, Rest) {
		return false
	}
	return !slices.ContainsFunc(c.Suites, func(o Suite) bool { return o.Name != s.Name && slices.Contains(o.Families, f.String()) })
}
