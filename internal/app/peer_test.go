package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// B16: metrics are on the one listener, so that two servers of one machine need nothing from each other.
func TestTwoServersShareAMachineB16(t *testing.T) {
	one, _ := scriptedSite(t)
	two, _ := scriptedSite(t)
	for _, s := range []*site{one, two} {
		if code, body := s.get("/metrics"); code != 200 || !strings.Contains(body, "macaron_turns_running") {
			t.Errorf("%s: %d", s.base, code)
		}
	}
}

// docs/PEER.md has a line for each number, and the tests that it names are there.
func TestThePeerPageNamesTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/PEER.md")
	if err != nil {
		t.Fatal(err)
	}
	rooms, name := regexp.MustCompile("`(internal/[a-z/]+)`: ([^;|]*)"), regexp.MustCompile(`Test\w+`)
	for n := 1; n <= 21; n++ {
		_, row, found := strings.Cut(string(text), fmt.Sprintf("\n| B%d |", n))
		row, _, _ = strings.Cut(row, "\n")
		places := rooms.FindAllStringSubmatch(row, -1)
		if !found || len(places) == 0 {
			t.Errorf("B%d has no test", n)
		}
		for _, p := range places {
			source := sources(t, p[1])
			for _, f := range name.FindAllString(p[2], -1) {
				if !strings.Contains(source, "func "+f+"(") {
					t.Errorf("B%d: %s has no %s", n, p[1], f)
				}
			}
		}
	}
}

// docs/CONFORMANCE.md names tests that are there.
func TestTheConformancePageNamesTests(t *testing.T) {
	text, err := os.ReadFile("../../docs/CONFORMANCE.md")
	if err != nil {
		t.Fatal(err)
	}
	places := regexp.MustCompile("`((?:internal|test)/[a-z/]+)`:\\s*((?:`(?:Test|Fuzz)\\w+`[,\\s]*)+)").FindAllStringSubmatch(string(text), -1)
	named := 0
	for _, p := range places {
		source := sources(t, p[1])
		for _, f := range regexp.MustCompile(`(?:Test|Fuzz)\w+`).FindAllString(p[2], -1) {
			if named++; !strings.Contains(source, "func "+f+"(") {
				t.Errorf("%s has no %s", p[1], f)
			}
		}
	}
	if named < 60 {
		t.Errorf("only %d tests are named", named)
	}
	for _, n := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "19", "20", "21", "22", "25", "28"} {
		row := regexp.MustCompile(`(?m)^\| (?:\d+, )?` + n + `(?:, \d+)? \|[^|]*\|([^|]*)\|`).FindStringSubmatch(string(text))
		if row == nil || !strings.Contains(row[1], "`Test") && !strings.Contains(row[1], "`Fuzz") && !strings.Contains(row[1], "`make soak-") {
			t.Errorf("line %s has no command", n)
		}
	}
}

func sources(t *testing.T, room string) string {
	t.Helper()
	files, err := filepath.Glob("../../" + room + "/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has no tests: %v", room, err)
	}
	all := ""
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all += string(b)
	}
	return all
}
