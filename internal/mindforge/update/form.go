package update

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/transcript"
)

// form is the structure of what an attempt did: its calls in order, without constants, and
// which results went into which argument.
func form(r *transcript.Run) (ids.Digest, error) {
	var s mindforge.Solution
	var results []string
	for _, t := range r.Turns {
		for i := range t.Acts {
			a := &t.Acts[i]
			s.Calls = append(s.Calls, mindforge.Call{Tool: a.Name, Args: flow(said(t, a.ID), results)})
			shown, _ := a.Shown()
			results = append(results, plain(shown))
		}
	}
	return s.Form()
}

// said is the text of a call's arguments as the model gave it.
func said(t *transcript.Turn, id string) string {
	for _, c := range t.Hop.Message.ToolCalls {
		if c.ID == id {
			return c.Arguments
		}
	}
	return ""
}

// flow puts $N in the place of arguments that are the result of call N, the latest of equal
// ones. Short values are anybody's.
func flow(arguments string, results []string) map[string]string {
	var all map[string]any
	out := map[string]string{}
	if json.Unmarshal([]byte(arguments), &all) != nil {
		return out
	}
	for name, v := range all {
		b, err := json.Marshal(v)
		if err != nil {
			continue
		}
		out[name] = "constant"
		for i := len(results) - 1; i >= 0; i-- {
			if text := plain(string(b)); text == results[i] && len(text) > 1 {
				out[name] = "$" + strconv.Itoa(i)
				break
			}
		}
	}
	return out
}

// plain is a text that may be a JSON string.
func plain(s string) string {
	s = strings.TrimSpace(s)
	var text string
	if json.Unmarshal([]byte(s), &text) == nil {
		return text
	}
	return s
}

// Effective is the effective number of kinds: the exponential of the entropy of their
// shares (Hill 1973). Equal shares give their number, one kind gives 1, none gives 0.
func Effective[K comparable](counts map[K]int) float64 {
	total, sum := 0, 0.0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return 0
	}
	for _, n := range slices.Sorted(maps.Values(counts)) { // one order of additions
		if n > 0 {
			p := float64(n) / float64(total)
			sum -= p * math.Log(p)
		}
	}
	return math.Exp(sum)
}
