package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/cmd/macaron/data"
	"macaron/internal/bench/ui4a"
	"macaron/internal/mint/filter"
)

// asked is stricter than the filter of conversations: no request of the recipe has four
// words in a row of a request by which the specialist for cards is measured.
const asked = 4

// Nothing that the specialist for cards is trained on stands in an evaluation set: neither
// what is asked, nor a part of the cards that are references.
func TestTheRecipesCardsAreInNoEvaluationSet(t *testing.T) {
	sets, err := data.Evaluations("")
	if err != nil {
		t.Fatal(err)
	}
	all, strict := index(t, sets, 13), index(t, slices.DeleteFunc(slices.Clone(sets), func(s filter.EvalSet) bool { return s.Name != "cardgrammar" }), asked)
	references := index(t, []filter.EvalSet{referenceTexts(t)}, 13)
	rows := 0
	for line := range bytes.Lines(recipeRows(t)) {
		var row struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.Unmarshal(line, &row); err != nil {
			t.Fatal(err)
		}
		rows++
		for _, m := range row.Messages[1:] {
			for _, x := range []*filter.Index{all, strict, references} {
				if m.Role == "user" && x == references || m.Role != "user" && x == strict {
					continue
				}
				if found, ok := x.Check(m.Content); ok {
					t.Errorf("%+v: %s", found, m.Content)
				}
			}
		}
	}
	if rows < 800 || len(strict.Sets[0].Items) != 63 {
		t.Errorf("%d rows, %d requests", rows, len(strict.Sets[0].Items))
	}
}

func index(t *testing.T, sets []filter.EvalSet, n int) *filter.Index {
	t.Helper()
	x, err := filter.NewIndex(t.Context(), sets, n, nil)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// referenceTexts are the lines of reference cards and answers, which say what is theirs;
// imports and the like are everybody's.
func referenceTexts(t *testing.T) filter.EvalSet {
	t.Helper()
	cases, err := ui4a.Cases()
	if err != nil {
		t.Fatal(err)
	}
	s := filter.EvalSet{Name: "references"}
	for _, c := range cases {
		for line := range strings.Lines(c.Card + "\n" + c.Answer) {
			if !strings.HasPrefix(line, "import ") && !strings.Contains(line, "usePersistedState(") {
				s.Items = append(s.Items, line)
			}
		}
	}
	return s
}

func recipeRows(t *testing.T) (rows []byte) {
	t.Helper()
	dir := t.TempDir()
	export := exec.CommandContext(t.Context(), cmp.Or(os.Getenv("MACARON_PYTHON"), "python3"), filepath.Join("..", "..", "recipes", "default-set", "export.py"), dir, "L3")
	if text, err := export.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	for _, split := range []string{"train", "dev"} {
		part, err := os.ReadFile(filepath.Join(dir, "L3."+split+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, part...)
	}
	return rows
}
