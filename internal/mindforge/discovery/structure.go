package discovery

import (
	"sort"

	"macaron/internal/canonical"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// Structure is the problem that a task is, without its constants: the form of its solution,
// and what of its ways is not in that form. A task with other constants, other names of
// arguments' values or another size is the same problem.
func Structure(t mindforge.Task) (ids.Digest, error) {
	form, err := t.Judged.Solution.Form()
	if err != nil {
		return "", err
	}
	ways := []string{}
	for _, s := range t.Ways {
		if s.Way == mindforge.Prefer || s.Way == mindforge.Contradict {
			ways = append(ways, string(s.Way))
		}
	}
	sort.Strings(ways)
	return canonical.Hash(map[string]any{"world": t.World, "form": form, "ways": ways})
}
