package expansion_test

import (
	"testing"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
)

// The frontier has who wins some item that nobody who is left wins too.
func TestFrontier(t *testing.T) {
	var m expansion.Matrix
	put := func(c string, points ...float64) {
		for i, p := range points {
			m.Add(expansion.Cell{Candidate: ids.Digest(c), Item: string(rune('a' + i)), Outcome: mindforge.Outcome{Points: p}})
		}
	}
	put("all", 1, 1, 0, 0)
	put("some", 1, 0, 0, 0)   // wins what "all" wins
	put("other", 0, 0, 1, 0)  // wins alone
	put("never", 0, 0, 0, 0)  // wins nothing
	put("twin", 1, 1, 0.5, 0) // wins with "all"
	m.Add(expansion.Cell{Candidate: "broken", Item: "d", Outcome: mindforge.Outcome{Points: 1, Failure: mindforge.Infrastructure}})
	wins := m.Frontier()
	if wins["other"] != 1 || wins["some"] != 0 || wins["never"] != 0 || wins["broken"] != 0 || wins["all"]+wins["twin"] != 2 || len(wins) != 2 {
		t.Errorf("%v", wins)
	}
	m.Add(expansion.Cell{Candidate: "all", Item: "a", Repeat: 1})
	if got, _ := m.At("all", "a"); got != 0.5 {
		t.Errorf("two repeats have the mean %v", got)
	}
}
