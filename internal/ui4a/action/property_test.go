package action

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
)

// derived are the ways in which a hostile card disguises a value. Each is undone here by
// its own inverse where the oracle looks, not by the code under test.
var derived = map[string]func(string) string{
	"plain":    func(s string) string { return s },
	"upper":    strings.ToUpper,
	"lower":    strings.ToLower,
	"reversed": flip,
	"digits": func(s string) string {
		return strings.Map(func(r rune) rune {
			if r >= '0' && r <= '9' {
				return r
			}
			return -1
		}, s)
	},
	"spaced":      func(s string) string { return strings.Join(strings.Split(s, ""), " ") },
	"dashed":      func(s string) string { return strings.Join(strings.Split(s, ""), "-") },
	"url":         func(s string) string { return url.QueryEscape("?" + s + "&") },
	"percent":     percent,
	"base64":      func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url":   func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + s)) },
	"base64 2":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("xy" + s + "z")) },
	"base32":      func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"hex":         func(s string) string { return hex.EncodeToString([]byte(s)) },
	"hex spaced":  func(s string) string { return fmt.Sprintf("% X", s) },
	"codes":       codes,
	"twice":       func(s string) string { return base64.StdEncoding.EncodeToString([]byte(hex.EncodeToString([]byte(s)))) },
	"back base64": func(s string) string { return base64.StdEncoding.EncodeToString([]byte(flip(s))) },
	"head":        func(s string) string { return s[:len(s)/2+2] },
	"tail":        func(s string) string { return s[len(s)/2-2:] },
	"middle":      func(s string) string { return s[2 : len(s)-2] },
	"wide":        wide,
	"accents":     func(s string) string { return strings.Join(strings.Split(s, ""), "\u0301") },
	"in a phrase": func(s string) string { return "the number is " + s + ", thank you" },
}

func flip(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func percent(s string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, "%%%02x", s[i])
	}
	return b.String()
}

func codes(s string) string {
	var parts []string
	for i := range len(s) {
		parts = append(parts, fmt.Sprint(s[i]))
	}
	return strings.Join(parts, ",")
}

func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r < 127 {
			return r + 0xFEE0
		}
		return r
	}, s)
}

// leaks is the oracle: the canary as a whole in any of its disguises, or six characters
// of it in a row.
func leaks(out, canary string) string {
	low := strings.ToLower(out)
	for name, f := range derived {
		if d := f(canary); len(d) >= 6 && strings.Contains(low, strings.ToLower(d)) {
			return name
		}
	}
	for _, c := range []string{canary, flip(canary)} {
		for i := 0; i+6 <= len(c); i++ {
			if strings.Contains(low, strings.ToLower(c[i:i+6])) {
				return "a piece: " + c[i:i+6]
			}
		}
	}
	return ""
}

// hostile plays one card that tries to get its canary out.
type hostile struct {
	*rand.Rand
	canary string
	guard  *Guard
	c      Contract
	ways   []string
}

var names = []string{"date", "guests", "note", "total", "plan"}

func newHostile(r *rand.Rand) *hostile {
	h := &hostile{Rand: r, canary: canary(r)}
	h.c = Contract{Surface: "canvas/a", Revision: "sha256:1", Keys: map[string]Key{"account": {NoAI: true}, "form": {}}}
	h.c.Source = `sendAction({ name: "book" }); sendMessage("Book it"); const plans = ["small", "large"]`
	for _, n := range names[:1+r.IntN(len(names))] {
		h.c.Keys[n] = Key{NoAI: r.IntN(5) == 0}
	}
	h.guard = NewGuard(h.c, &Secrets{})
	for name := range derived {
		h.ways = append(h.ways, name)
	}
	return h
}

const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz0123456789"

func canary(r *rand.Rand) string {
	b := make([]byte, 12+r.IntN(10))
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	copy(b[4:], fmt.Sprint(100000+r.IntN(900000))) // digits enough for their own disguise
	return string(b)
}

// say gives the canary in a disguise, or something harmless.
func (h *hostile) say() string {
	if h.IntN(3) == 0 {
		return []string{"small", "Book it", "two people", "2026-12-01", "7"}[h.IntN(5)]
	}
	return derived[h.ways[h.IntN(len(h.ways))]](h.canary)
}

// value hides what is said in a value of some shape.
func (h *hostile) value() json.RawMessage {
	s := h.say()
	half := len(s) / 2
	shapes := []any{s, []any{1, s}, map[string]any{"x": map[string]any{"y": s}}, map[string]any{s: true}, []any{s[:half], s[half:]}, map[string]any{"a": s[:half], "b": s[half:]}}
	text, _ := json.Marshal(shapes[h.IntN(len(shapes))])
	return text
}

func (h *hostile) action(seq int64) Action {
	a := Action{ID: "act_1", Origin: Origin{h.c.Surface, h.c.Revision, h.say()}, Kind: Event, Name: "book", State: map[string]json.RawMessage{}, Execution: AgentEvent, Visibility: Visibility{Audience: AI}, Time: time.Unix(1, 0), Sequence: seq}
	secret, _ := json.Marshal(h.canary)
	a.State["account"] = secret
	if h.IntN(2) == 0 {
		form, _ := json.Marshal(map[string]any{"name": "Ada", "pin": h.canary})
		a.State["form"] = form
		a.Visibility.NoAI = []string{"/form/pin"}
	}
	for _, n := range names {
		if h.IntN(2) == 0 {
			a.State[n] = h.value()
		}
	}
	switch h.IntN(5) {
	case 0:
		a.Kind, a.Name, a.Text = Message, "", h.say()
	case 1:
		a.Name = strings.Trim("a"+h.say(), " ")
	case 2:
		a.Execution, a.Capability = Capability, "calendar.add"
	}
	if len(a.Text) > MaxText {
		a.Text = a.Text[:MaxText]
	}
	return a
}

// TestNoCanaryLeaves: 10,000 random contracts and interactions.
func TestNoCanaryLeaves(t *testing.T) {
	sent, refused := 0, 0
	for seed := range uint64(10000) {
		h := newHostile(rand.New(rand.NewPCG(seed, 8)))
		secret, _ := json.Marshal(h.canary)
		if err := h.guard.Hold(secret); err != nil {
			t.Fatal(err)
		}
		for seq := range int64(2) {
			a := h.action(seq + 1)
			r := h.guard.Act(a)
			sent, refused = sent+count(r.Outcome == Sent), refused+count(r.Outcome == Refused)
			for what, out := range h.outside(a, r) {
				if how := leaks(out, h.canary); how != "" {
					t.Fatalf("seed %d: the canary %s left by %s (%s): %s", seed, h.canary, what, how, out)
				}
			}
		}
	}
	if sent < 2000 || refused < 2000 {
		t.Errorf("%d sent, %d refused: the test does not try both", sent, refused)
	}
	t.Logf("%d Actions sent, %d refused", sent, refused)
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// outside is everything that leaves the surface, by its way.
func (h *hostile) outside(a Action, r Receipt) map[string]string {
	receipt, _ := json.Marshal(r)
	record, _ := json.Marshal(h.guard.Record(a, r))
	out := map[string]string{"the model": r.Saw, "the receipt": string(receipt), "the record": string(record), "secrets printed": fmt.Sprintf("%v %+v %#v %s", h.guard.secrets, h.guard.secrets, h.guard.secrets, h.guard.secrets)}
	for _, o := range Outlets {
		if o == Screenshot && !h.guard.Picture() {
			continue
		}
		out[string(o)] = h.guard.Text(o, h.say())
	}
	if v := h.value(); h.guard.Keep("form", v) {
		out["state"] = string(v)
	}
	return out
}
