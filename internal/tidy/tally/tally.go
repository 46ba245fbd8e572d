package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// event is one line of `go test -json`.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build output
	Test        string
	Elapsed     float64
	Output      string
	FailedBuild string
}

// tally counts tests, subtests too, since each can fail alone.
type tally struct {
	out                     io.Writer
	passed, failed, skipped int
	broken                  int                         // packages that failed without a failing test
	skips                   []string                    // names
	output                  map[string]*strings.Builder // of tests and packages that have not ended
	bad                     map[string]int              // failed tests of a package
	counts                  map[string]int              // tests of a package
}

func newTally(out io.Writer) *tally {
	return &tally{out: out, output: map[string]*strings.Builder{}, bad: map[string]int{}, counts: map[string]int{}}
}

// read takes all events. Lines that are no events, such as those of the build, are shown.
func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprint(t.out, string(line))
			} else {
				t.add(e)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) add(e event) {
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		if t.output[key] == nil {
			t.output[key] = &strings.Builder{}
		}
		t.output[key].WriteString(e.Output)
	case "build-output":
		fmt.Fprint(t.out, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(e)
		} else {
			t.endTest(e)
		}
		delete(t.output, key)
	}
}

func (t *tally) endTest(e event) {
	t.counts[e.Package]++
	switch e.Action {
	case "pass":
		t.passed++
	case "skip":
		t.skipped++
		t.skips = append(t.skips, e.Package+" "+e.Test)
	case "fail":
		t.failed++
		t.bad[e.Package]++
		fmt.Fprintf(t.out, "FAILED %s %s\n%s", e.Package, e.Test, t.said(e))
	}
}

// endPackage prints the package's line. A package that fails without a failed test did
// not build, panicked, or ran out of time.
func (t *tally) endPackage(e event) {
	word := map[string]string{"pass": "ok", "fail": "FAIL", "skip": "no tests"}[e.Action]
	if e.Action == "fail" && t.bad[e.Package] == 0 {
		t.broken++
		fmt.Fprint(t.out, t.said(e), t.unfinished(e.Package))
	}
	if e.Action != "skip" {
		fmt.Fprintf(t.out, "%-5s %-45s %4d tests %7.1f s\n", word, e.Package, t.counts[e.Package], e.Elapsed)
	}
}

// unfinished is the output of tests that a crash has cut off.
func (t *tally) unfinished(pkg string) string {
	var all strings.Builder
	for key, out := range t.output {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			all.WriteString(out.String())
		}
	}
	return all.String()
}

func (t *tally) said(e event) string {
	if b := t.output[e.Package+" "+e.Test]; b != nil {
		return b.String()
	}
	return ""
}

// end prints the closing lines and tells whether the run is good.
func (t *tally) end(allowSkip bool) bool {
	for _, s := range t.skips {
		fmt.Fprintln(t.out, "SKIPPED", s)
	}
	if t.broken > 0 {
		fmt.Fprintf(t.out, "%d packages failed outside of a test\n", t.broken)
	}
	if t.skipped > 0 && !allowSkip {
		fmt.Fprintln(t.out, "a skipped test counts as a failure; ALLOW_SKIP=1 accepts it")
	}
	fmt.Fprintf(t.out, "%d passed, %d failed, %d skipped\n", t.passed, t.failed, t.skipped)
	return t.passed > 0 && t.failed == 0 && t.broken == 0 && (t.skipped == 0 || allowSkip)
}
