package builtin

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"macaron/internal/tool"
)

// Memory is the tool that looks through what earlier runs have kept. Items gives those of
// the run's tenant and scope.
type Memory struct {
	Items func(ctx context.Context) ([]Item, error)
}

// Item is one thing kept.
type Item struct {
	ID   string    `json:"id"`
	Text string    `json:"text"`
	Time time.Time `json:"time"`
}

type memoryQuery struct {
	Query string `json:"query"`
	Limit int    `json:"limit"`
}

// Tools lists it.
func (x Memory) Tools() map[string]tool.Tool {
	return map[string]tool.Tool{"memory.search": function[memoryQuery]{tool.Def{Name: "memory_search", Effect: tool.Read,
		Parameters:  schema(`"query":{"type":"string","minLength":1,"maxLength":1024},"limit":{"type":"integer","minimum":1,"maximum":50}`, `"query"`),
		Description: "Find what was kept in memory, by its words; the best first."}, x.search}}
}

// search ranks by how many different words of the query an item has, then by age, newest first.
func (x Memory) search(ctx context.Context, q memoryQuery) (any, error) {
	items, err := x.Items(ctx)
	if err != nil {
		return nil, err
	}
	asked := words(q.Query)
	score := map[string]int{}
	for _, i := range items {
		has := words(i.Text)
		for w := range asked {
			if has[w] {
				score[i.ID]++
			}
		}
	}
	hits := slices.DeleteFunc(slices.Clone(items), func(i Item) bool { return score[i.ID] == 0 })
	slices.SortStableFunc(hits, func(a, b Item) int {
		if score[a.ID] != score[b.ID] {
			return score[b.ID] - score[a.ID]
		}
		return b.Time.Compare(a.Time)
	})
	limit := 10
	if q.Limit > 0 {
		limit = min(q.Limit, 50)
	}
	return struct {
		Items []Item `json:"items"`
	}{append([]Item{}, hits[:min(len(hits), limit)]...)}, nil
}

func words(s string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out[w] = true
	}
	return out
}
