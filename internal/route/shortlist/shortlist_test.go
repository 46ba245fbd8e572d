package shortlist

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lengths embeds a text as its number of words and of bytes: enough to tell it is asked.
type lengths struct {
	err   error
	asked int
}

func (l *lengths) Embed(_ context.Context, texts []string) ([][]float32, int, error) {
	l.asked += len(texts)
	var out [][]float32
	for _, t := range texts {
		out = append(out, []float32{float32(len(strings.Fields(t))), float32(len(t))})
	}
	return out, 0, l.err
}

func set(t *testing.T) *Set {
	t.Helper()
	s, err := ReadSet("testdata/adapters.tsv")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheSetIsWhole(t *testing.T) {
	s := set(t)
	if len(s.Contract.Adapters) != 200 || len(s.Requests) != 600 {
		t.Errorf("%d adapters, %d requests", len(s.Contract.Adapters), len(s.Requests))
	}
	seen := map[string]bool{}
	for _, q := range s.Requests {
		if seen[q.Text] {
			t.Errorf("%q stands there twice", q.Text)
		}
		seen[q.Text] = true
	}
}

func TestWordsRank(t *testing.T) {
	s, r := set(t), &Ranker{}
	got, by := r.Rank(t.Context(), s.Contract, s.Contract.Labels(), "prune the hedge and the fruit trees", 3)
	if by != Lexical || got[0] != "trees-pruning" || len(got) != 3 {
		t.Errorf("%q by %s", got, by)
	}
	// Only what the tenant has, and equal scores in the contract's order.
	got, _ = r.Rank(t.Context(), s.Contract, []string{"wine", "baking", "coffee"}, "zzz", 2)
	if d := cmp.Diff([]string{"baking", "wine"}, got); d != "" {
		t.Error(d)
	}
}

func TestAFailingEncoderLeavesWords(t *testing.T) {
	s, l := set(t), &lengths{err: errors.New("broken")}
	told := 0
	r := &Ranker{Embedder: l, Failed: func(error) { told++ }}
	if _, by := r.Rank(t.Context(), s.Contract, s.Contract.Labels(), "x", 5); by != Lexical || told != 1 {
		t.Errorf("by %s, told %d times", by, told)
	}
	l.err = nil
	if _, by := r.Rank(t.Context(), s.Contract, s.Contract.Labels(), "x", 5); by != Embedding {
		t.Errorf("it does not recover: %s", by)
	}
	l.asked = 0
	if r.Rank(t.Context(), s.Contract, s.Contract.Labels(), "y", 5); l.asked != 1 {
		t.Errorf("%d texts are embedded for a request", l.asked)
	}
}

func TestTerms(t *testing.T) {
	got := terms("How do I fix the Batteries' wiring? 東京都 駅")
	if want := []string{"fix", "battery", "wiring", "東京", "京都", "駅"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
