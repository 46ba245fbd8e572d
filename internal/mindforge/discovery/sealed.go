package discovery

import (
	"context"
	"fmt"
	"strings"

	"macaron/internal/mindforge"
	"macaron/internal/mint/filter"
)

// Guard answers for the sealed split: by runs of words and overlap as the data filter compares
// evaluation sets, by canaries, by families and by windows. It lives with the evaluator; the
// loop has the interface alone.
type Guard struct {
	words    *filter.Index
	canaries []string
	families map[string]bool
	windows  map[string]bool
}

// NewGuard makes the guard of some tasks.
func NewGuard(ctx context.Context, sealed []mindforge.Task) (*Guard, error) {
	g := &Guard{families: map[string]bool{}, windows: map[string]bool{}}
	var items []string
	for _, t := range sealed {
		items = append(items, t.Instruction)
		g.canaries = append(g.canaries, t.Canary)
		g.families[family(t)] = true
		g.windows[window(t.World, t.Seed)] = true
	}
	var err error
	g.words, err = filter.NewIndex(ctx, []filter.EvalSet{{Name: "sealed", Items: items}}, filter.Defaults().Evals.NGram, nil)
	return g, err
}

// window: tables and files of one seed may be known from another family of the world.
func window(world string, seed uint64) string { return fmt.Sprintf("%s/%d", world, seed) }

// Has implements Sealed.
func (g *Guard) Has(_ context.Context, q Question) (bool, error) {
	if g.families[q.World+"/"+q.Family] || g.windows[window(q.World, q.Seed)] {
		return true, nil
	}
	for _, text := range append([]string{q.Canary}, q.Texts...) {
		for _, c := range g.canaries {
			if strings.Contains(strings.ToLower(text), c) {
				return true, nil
			}
		}
		if _, bad := g.words.Check(text); bad {
			return true, nil
		}
	}
	return false, nil
}
