package main

import (
	"bytes"
	"path/filepath"
	"slices"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge/evaluation"
	"macaron/test/forge/rig"
)

// TestTheSuiteIsWhatItsHashesDraw: nobody has chosen a task of the committed suite, and all of them
// can be made again.
func TestTheSuiteIsWhatItsHashesDraw(t *testing.T) {
	s, splits := committed(t), research(t)
	want, err := draw(s.Hashes, splits, whole.perFamily)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(s.Tasks, want) {
		t.Errorf("the suite has %d tasks, and its hashes draw %d others", len(s.Tasks), len(want))
	}
	tasks, err := s.items()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range tasks {
		if got := splits.Of(x.World, x.Family); got != evaluation.Sealed {
			t.Errorf("%s is of split %s", x.ID, got)
		}
	}
}

// TestAnotherStartHasAnotherSuite: a suite is refused for another start, and one is drawn where
// there is none.
func TestAnotherStartHasAnotherSuite(t *testing.T) {
	s, splits := committed(t), research(t)
	now := s.Hashes
	now.Contract = ids.DigestOf([]byte("another start"))
	here := lab{dir: "results", sizes: whole}
	if _, err := here.sealed(now, splits); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Errorf("another start: %v", err)
	}
	there := lab{dir: filepath.Join(t.TempDir(), "results"), sizes: small}
	first, err := there.sealed(now, splits)
	if err != nil {
		t.Fatal(err)
	}
	again, err := there.sealed(now, splits)
	if err != nil || !slices.Equal(again.Tasks, first.Tasks) || len(first.Tasks) == 0 {
		t.Errorf("%d tasks, then %d: %v", len(first.Tasks), len(again.Tasks), err)
	}
}

// TestADeclaredStartIsTheSameAnywhere: where a checkout lies is no part of what is compared.
func TestADeclaredStartIsTheSameAnywhere(t *testing.T) {
	const base = "../../../macaron.toml"
	declared, err := rig.Declared(base, agent)
	if err != nil {
		t.Fatal(err)
	}
	placed, err := rig.Placed(base, declared)
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(declared, []byte(root)) || bytes.Count(placed, []byte(root)) != bytes.Count(declared, []byte(`"adapters/`)) {
		t.Errorf("the start names %s", root)
	}
}

func committed(t *testing.T) suite {
	t.Helper()
	s, err := readSuite("sealed.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// research is the split of families of the evaluation contract that every arm has.
func research(t *testing.T) evaluation.Splits {
	t.Helper()
	text, err := evaluation.Research()
	if err != nil {
		t.Fatal(err)
	}
	e, err := evaluation.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return e.Splits
}
