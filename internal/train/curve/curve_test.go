package curve

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLinesAreReadAsTheyCome(t *testing.T) {
	r := Runs{t.TempDir()}
	add := func(l Line) {
		t.Helper()
		if err := r.Add("o", "a:b/../c", l); err != nil {
			t.Fatal(err)
		}
	}
	if lines, next, err := r.Lines("o", "a:b/../c", 0, 9); lines != nil || next != 0 || err != nil {
		t.Errorf("before the first: %v %d %v", lines, next, err)
	}
	add(Line{"step": 1, "loss": 2.5, "bad": math.NaN()})
	add(Line{"step": 2})
	lines, next, err := r.Lines("o", "a:b/../c", 0, 1)
	if d := cmp.Diff([]Line{{"step": 1, "loss": 2.5}}, lines); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	f, err := os.OpenFile(r.Path("o", "a:b/../c"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("no JSON\n{\"step\":3"); err != nil {
		t.Fatal(err)
	}
	lines, next, err = r.Lines("o", "a:b/../c", next, 9)
	if d := cmp.Diff([]Line{{"step": 2}}, lines); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
	if _, err := f.WriteString("}\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	lines, _, err = r.Lines("o", "a:b/../c", next, 9)
	if d := cmp.Diff([]Line{{"step": 3}}, lines); d != "" || err != nil {
		t.Errorf("half a line was read, or its rest is lost: %v %s", err, d)
	}
	if lines, _, _ := r.Lines("p", "a:b/../c", 0, 9); lines != nil {
		t.Error("another owner reads it")
	}
	if rel, err := filepath.Rel(r.Dir, r.Path("o", "../../../etc")); err != nil || !filepath.IsLocal(rel) {
		t.Errorf("a run's name leads to %s", rel)
	}
}

func TestStampAndMLflow(t *testing.T) {
	l := Line{"step": 1, "loss": 3}.Stamp(time.Unix(100, 0), 500, 2*time.Second)
	if l["tokens_per_second"] != 250 || l["time"] != 100 || l["memory_bytes"] < 1e5 {
		t.Errorf("%v", l)
	}
	root := t.TempDir()
	dir, err := MLflow(root, "a:b", []Line{l, {"step": 2, "time": 101, "loss": 2.5, "../x": 1}}, false)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "metrics", "loss")); err != nil || string(b) != "100000 3 1\n101000 2.5 2\n" {
		t.Errorf("%q %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "x")); err == nil {
		t.Error("a metric's name leads out of its directory")
	}
}

// A run that trains has no end in MLflow's tree until it has one, and what the tree says of its
// experiment stays.
func TestMLflowOfARunThatTrains(t *testing.T) {
	root := t.TempDir()
	experiment := filepath.Join(root, "0", "meta.yaml")
	if err := os.Mkdir(filepath.Dir(experiment), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(experiment, []byte("name: Mine\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		trains  bool
		planned float64
		has     []string
	}{
		{true, 0, []string{"status: 1\n", "end_time: null\n"}}, {true, 2, []string{"status: 1\n", "end_time: null\n"}}, // RUNNING
		{false, 0, []string{"status: 3\n", "end_time: 100000\n"}}, {false, 1, []string{"status: 3\n", "end_time: 100000\n"}}, // FINISHED
		{false, 2, []string{"status: 5\n", "end_time: 100000\n"}}, // KILLED
	} {
		line := Line{"step": 1, "time": 100, "loss": 3}
		if c.planned > 0 {
			line["planned"] = c.planned
		}
		dir, err := MLflow(root, "a", []Line{line}, c.trains)
		if err != nil {
			t.Fatal(err)
		}
		meta, err := os.ReadFile(filepath.Join(dir, "meta.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range c.has {
			if !strings.Contains(string(meta), text) {
				t.Errorf("trains %v of %v: no %q in %s", c.trains, c.planned, text, meta)
			}
		}
		if _, err := os.Stat(filepath.Join(dir, "metrics", "planned")); err == nil {
			t.Error("what is planned is a metric")
		}
	}
	if b, err := os.ReadFile(experiment); string(b) != "name: Mine\n" {
		t.Errorf("the experiment is %q now, %v", b, err)
	}
}
