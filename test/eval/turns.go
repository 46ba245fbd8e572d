package eval

import (
	"bufio"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// Turn is a labelled turn of test/intents/turns.tsv: who should answer, in order, and what
// the answer must match, one check for each.
type Turn struct {
	Lang, Text string
	Labels     []string
	Checks     []*regexp.Regexp
}

// Passed is how many checks a text passes.
func (t *Turn) Passed(text string) (n int) {
	for _, c := range t.Checks {
		if c.MatchString(text) {
			n++
		}
	}
	return n
}

// ReadTurns reads a file of labelled turns.
func ReadTurns(path string) ([]Turn, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only
	var turns []Turn
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("%q has no check", lines.Text())
		}
		t := Turn{Lang: fields[0], Labels: strings.Split(fields[1], ","), Text: fields[2]}
		for _, c := range fields[3:] {
			x, err := regexp.Compile(c)
			if err != nil {
				return nil, err
			}
			t.Checks = append(t.Checks, x)
		}
		if len(t.Checks) != len(t.Labels) {
			return nil, fmt.Errorf("%q has %d labels and %d checks", t.Text, len(t.Labels), len(t.Checks))
		}
		turns = append(turns, t)
	}
	return turns, lines.Err()
}
