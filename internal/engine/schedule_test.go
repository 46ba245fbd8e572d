package engine

import (
	"testing"

	"pgregory.net/rapid"

	"macaron/internal/engine/kv"
)

// TestScheduleIsFairAndBounded: a step never exceeds its rows, every sequence that
// decodes gets its row, and every prompt moves within as many steps as there are prompts.
func TestScheduleIsFairAndBounded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := kv.New(1000)
		var running []*task
		for range rapid.IntRange(1, 12).Draw(t, "tasks") {
			n := rapid.SampledFrom([]int{1, 1, 2, 63, 64, 65, 200, 700}).Draw(t, "tokens")
			s := &task{tokens: make([]int32, n), session: rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "session")}
			s.seq, _ = c.Open(kv.Key{Salt: rapid.StringN(20, 20, -1).Draw(t, "salt")}, kv.Switch{}, s.tokens, 0, n)
			running = append(running, s)
		}
		moved := map[*task]int{}
		prompts := 0
		for _, s := range running {
			if s.pending() > 1 {
				prompts++
			}
		}
		for turn := range max(prompts*prompts, 1) {
			rows, decoding := 0, 0
			for _, p := range schedule(running, turn, defaultRows) {
				if p.n < 1 || p.n > p.task.pending() {
					t.Fatalf("%d rows for a task with %d pending", p.n, p.task.pending())
				}
				if end := p.task.seq.Len() + p.n; end < len(p.task.tokens) && end%kv.PageTokens != 0 {
					t.Fatalf("a chunk ends at %d, inside a page", end)
				}
				rows += p.n
				moved[p.task] += p.n
				if p.task.pending() == 1 {
					decoding++
				}
			}
			limit := defaultRows.prompt
			if decoding > 0 {
				limit = defaultRows.mixed + decoding
			}
			if rows > limit {
				t.Fatalf("%d rows in a step, at most %d", rows, limit)
			}
		}
		for _, s := range running {
			if moved[s] == 0 {
				t.Fatalf("a task with %d tokens never moved", len(s.tokens))
			}
		}
	})
}
