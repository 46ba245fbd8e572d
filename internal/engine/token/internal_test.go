package token

import (
	"maps"
	"slices"
)

// Families lists the names of pre-tokenisers.
func Families() []string { return slices.Sorted(maps.Keys(families)) }
