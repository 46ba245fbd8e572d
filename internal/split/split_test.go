package split

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/contract"
	"macaron/internal/errs"
)

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Write a loop in Go.", []string{"Write a loop in Go."}},
		{"Write a loop in Go. What is the capital of Peru?", []string{"Write a loop in Go.", "What is the capital of Peru?"}},
		{"Write a function that sorts names and then remind me to test it at 5", []string{"Write a function that sorts names", "remind me to test it at 5"}},
		{"buy salt and pepper", []string{"buy salt and pepper"}},
		{"Explain `a. b; c and then d e f g` to me please", []string{"Explain `a. b; c and then d e f g` to me please"}},
		{"- book a table for two\n- show a card with the menu\n", []string{"- book a table for two", "- show a card with the menu"}},
		{"写一个排序函数，然后提醒我五点开会", []string{"写一个排序函数", "提醒我五点开会"}},
		{"Buche einen Tisch für zwei und dann erkläre mir die Speisekarte.", []string{"Buche einen Tisch für zwei", "erkläre mir die Speisekarte."}},
		{"", nil},
		{strings.Repeat("Say it again. ", 9), nil},
	} {
		if diff := cmp.Diff(c.want, Pieces(c.text)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func vote(piece, label string, p float64) Vote {
	return Vote{Piece: piece, Label: label, Probabilities: map[string]float64{label: p}}
}

func TestMerge(t *testing.T) {
	s := &contract.Split{Parts: 2, MinProbability: 0.5}
	for _, c := range []struct {
		name  string
		votes []Vote
		want  string
	}{
		{"one label", []Vote{vote("sort these names", "L2", 1), vote("print them all out", "L2", 1)}, ""},
		{"two labels", []Vote{vote("sort these names", "L2", 1), vote("call my mother now", "L1", 1)}, "L2:sort these names:0|L1:call my mother now:0"},
		{"a reference", []Vote{vote("sort these names", "L2", 1), vote("remind me to test it", "L1", 1)}, "L2:sort these names:0|L1:remind me to test it:1"},
		{"not sure", []Vote{vote("sort these names", "L2", 1), vote("call my mother now", "L1", 0.4)}, ""},
		{"says nothing", []Vote{vote("Hello there!", "L0", 1), vote("sort these names", "L2", 1), vote("call my mother now", "L1", 1)}, "L2:Hello there! sort these names:0|L1:call my mother now:0"},
		{"back again", []Vote{vote("sort these names", "L2", 1), vote("call my mother now", "L1", 1), vote("print every name twice", "L2", 1)}, "L2:sort these names print every name twice:0|L1:call my mother now:0"},
		{"too many", []Vote{vote("a b c", "L0", 1), vote("a b c", "L1", 1), vote("a b c", "L2", 1)}, ""},
	} {
		if got := spell(Merge(s, c.votes)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func spell(parts []Part) string {
	var out []string
	for _, p := range parts {
		out = append(out, p.Label+":"+p.Text+":"+string(rune('0'+p.After)))
	}
	return strings.Join(out, "|")
}

func TestRead(t *testing.T) {
	s, labels := &contract.Split{Parts: 3}, []string{"L0", "L1", "L2"}
	for text, want := range map[string]string{
		`{"parts":[{"adapter":"L2","request":" a ","after":0},{"adapter":"L1","request":"b","after":1}]}`: "L2:a:0|L1:b:1",
		`{"parts":[{"adapter":"L2","request":"a","after":0}]}`:                                            "",
	} {
		if parts, err := Read(s, labels, text); err != nil || spell(parts) != want {
			t.Errorf("%s: %s, %v", text, spell(parts), err)
		}
	}
	for _, text := range []string{
		``, `{"parts":[{"adapter":"L9","request":"a","after":0}]}`, `{"parts":[{"adapter":"L1","request":" ","after":0}]}`,
		`{"parts":[{"adapter":"L1","request":"a","after":1}]}`, `{"parts":[{"adapter":"L1","request":"a","after":0},{"adapter":"L1","request":"b","after":0}]}`,
		`{"parts":[{"adapter":"L1","request":"a","after":-1}]}`, `{"plan":[]}`,
	} {
		if parts, err := Read(s, labels, text); errs.CodeOf(err) != errs.UpstreamFailed {
			t.Errorf("%s gave %v, %v", text, parts, err)
		}
	}
}
