package main

import (
	"strings"
	"testing"
)

func run(t *testing.T, lines string, allowSkip bool) (string, bool) {
	t.Helper()
	var out strings.Builder
	c := newTally(&out)
	if err := c.read(strings.NewReader(lines)); err != nil {
		t.Fatal(err)
	}
	ok := c.end(allowSkip)
	return out.String(), ok
}

const good = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestA","Output":"noise\n"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"pass","Package":"p","Elapsed":0.2}
`

func TestGoodRun(t *testing.T) {
	out, ok := run(t, good, false)
	if !ok || !strings.HasSuffix(out, "1 passed, 0 failed, 0 skipped\n") || strings.Contains(out, "noise") {
		t.Errorf("%v\n%s", ok, out)
	}
}

func TestSkipsFailUnlessAllowed(t *testing.T) {
	lines := good + `{"Action":"skip","Package":"q","Test":"TestB"}` + "\n"
	if out, ok := run(t, lines, false); ok || !strings.Contains(out, "SKIPPED q TestB") {
		t.Errorf("%v\n%s", ok, out)
	}
	if out, ok := run(t, lines, true); !ok || !strings.HasSuffix(out, "1 passed, 0 failed, 1 skipped\n") {
		t.Errorf("%v\n%s", ok, out)
	}
}

func TestFailuresShowTheirOutput(t *testing.T) {
	out, ok := run(t, good+`{"Action":"output","Package":"q","Test":"TestB","Output":"want 1\n"}
{"Action":"fail","Package":"q","Test":"TestB"}
{"Action":"fail","Package":"q"}
`, true)
	if ok || !strings.Contains(out, "FAILED q TestB\nwant 1\n") || !strings.HasSuffix(out, "1 passed, 1 failed, 0 skipped\n") {
		t.Errorf("%v\n%s", ok, out)
	}
}

func TestBrokenPackagesFail(t *testing.T) {
	for name, lines := range map[string]string{
		"build": `{"ImportPath":"q","Action":"build-output","Output":"syntax error\n"}` + "\n" + `{"Action":"fail","Package":"q","FailedBuild":"q"}` + "\n",
		"panic": `{"Action":"output","Package":"q","Test":"TestB","Output":"syntax error\n"}` + "\n" + `{"Action":"fail","Package":"q"}` + "\n",
	} {
		if out, ok := run(t, good+lines, false); ok || !strings.Contains(out, "syntax error") {
			t.Errorf("%s: %v\n%s", name, ok, out)
		}
	}
}

func TestNothingRanFails(t *testing.T) {
	if out, ok := run(t, "go: no packages\n", false); ok || !strings.Contains(out, "go: no packages") {
		t.Errorf("%v\n%s", ok, out)
	}
}
