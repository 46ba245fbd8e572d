package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words are texts with everything that could be mangled on the way.
func words(t *rapid.T, label string) string {
	return rapid.StringOfN(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune("\x00\x01\x7f\t\n\r\"'\\`{}[]#=é日\U0001F600"))), 1, 20, -1).Draw(t, label) + "x"
}

// drawn is the fixture with random values in many places.
func drawn(t *rapid.T, base *Contract) *Contract {
	c := *base
	c.Prompts.Summary = words(t, "summary")
	c.Agent.MaxTurns = rapid.IntRange(1, 100_000).Draw(t, "turns")
	c.Agent.MaxCostUSD = rapid.Float64Range(0, 1e6).Draw(t, "cost")
	c.Agent.Prompts.System = words(t, "system")
	c.Tools = slices.Clone(c.Tools)
	c.Tools[1].Parameters = Object{"type": "object", words(t, "key"): []any{words(t, "item"), rapid.Float64Range(-1e9, 1e9).Draw(t, "number"), nil, true, map[string]any{}}}
	c.Tools[1].NoAI = rapid.SliceOfNDistinct(rapid.StringMatching(`/[a-z]{1,5}`), 1, 4, rapid.ID).Draw(t, "noai")
	c.Skills = []Skill{{Name: "s", Description: "d", Text: words(t, "skill")}}
	c.Hooks = slices.Clone(c.Hooks)
	c.Hooks[0].Python = words(t, "python")
	c.Environment.Secrets = append([]string{"WEATHER_KEY"}, rapid.SliceOfNDistinct(rapid.StringMatching(`[A-Z]{2,8}`), 0, 3, rapid.ID).Draw(t, "secrets")...)
	if err := c.seal(); err != nil {
		t.Fatal(err)
	}
	return &c
}

// Whatever a contract holds, its text gives the same canonical bytes again, and again.
func TestTextGivesTheSameContract(t *testing.T) {
	base := parse(t, full(t))
	rapid.Check(t, func(t *rapid.T) {
		c := drawn(t, base)
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if !bytes.Equal(again.Canonical(), c.Canonical()) || again.Hash() != c.Hash() {
			t.Fatalf("%s\n%s", again.Canonical(), c.Canonical())
		}
	})
}

// Comments, blank lines and the order of tables and keys change no name.
func TestLayoutDoesNotCount(t *testing.T) {
	text, want := full(t), parse(t, full(t)).Hash()
	rapid.Check(t, func(t *rapid.T) {
		if c, err := Parse([]byte(shuffled(t, text))); err != nil || c.Hash() != want {
			t.Fatalf("%v", err)
		}
	})
}

// shuffled puts the sections of a text in another order (tables of one array stay in
// theirs, with their sub-tables), the keys of each too, and comments between them.
func shuffled(t *rapid.T, text string) string {
	blocks := strings.Split("[]\n"+text, "\n[")
	groups := map[string][]string{}
	var order []string
	for _, b := range blocks {
		head, body, _ := strings.Cut(b, "\n")
		name := strings.Trim(strings.Split(strings.Trim(head, "[]"), ".")[0], "[]")
		if strings.HasPrefix(head, "[]") || head == "[]" {
			name = ""
		}
		lines := strings.Split(strings.TrimSpace(body), "\n")
		lines = rapid.Permutation(lines).Draw(t, "keys")
		out := ""
		for _, l := range lines {
			out += rapid.SampledFrom([]string{"", "\n", "# a comment = 1\n", "  "}).Draw(t, "gap") + l + rapid.SampledFrom([]string{"", " ", " # more"}).Draw(t, "end") + "\n"
		}
		if _, seen := groups[name]; !seen && name != "" {
			order = append(order, name)
		}
		groups[name] = append(groups[name], "["+head+"\n"+out)
	}
	root := strings.TrimPrefix(groups[""][0], "[[]\n")
	out := root
	for _, name := range rapid.Permutation(order).Draw(t, "sections") {
		out += strings.Join(groups[name], "")
	}
	return out
}

// Every single change of a value that is allowed changes the name.
func TestEveryValueCounts(t *testing.T) {
	base := parse(t, full(t))
	var m map[string]any
	if err := json.Unmarshal(base.Canonical(), &m); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{string(base.Hash()): "nothing"}
	n := 0
	for _, v := range values(t, base) {
		text, err := changed(base, v)
		if err != nil {
			continue // no other value of its kind is allowed there
		}
		c, err := Parse(text)
		if err != nil {
			continue
		}
		n++
		if other, twice := seen[string(c.Hash())]; twice {
			t.Errorf("changing %s gives the name of changing %s", v.Path, other)
		}
		seen[string(c.Hash())] = v.Path
	}
	if n < 60 {
		t.Errorf("only %d values could be changed", n)
	}
}

func values(t *testing.T, c *Contract) []Value {
	t.Helper()
	s := Source{Contract: c, tree: &node{}}
	all, err := s.Values()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// changed is the text of a contract with another value at one path.
func changed(c *Contract, v Value) ([]byte, error) {
	m, err := c.fields()
	if err != nil {
		return nil, err
	}
	var at any = m
	path := steps(v.Path)
	for _, s := range path[:len(path)-1] {
		switch x := at.(type) {
		case map[string]any:
			at = x[s]
		case []any:
			var i int
			fmt.Sscan(s, &i)
			at = x[i]
		}
	}
	table, last := at.(map[string]any), path[len(path)-1]
	switch x := table[last].(type) {
	case string:
		table[last] = x + "z"
	case int64:
		table[last] = x + 1
	case float64:
		table[last] = x / 2
	case bool:
		table[last] = !x
	default:
		return nil, os.ErrInvalid
	}
	b, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	other := &Contract{bytes: b}
	return other.Text()
}
