package serve

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"macaron/internal/errs"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/record"
)

// traffic makes conversations of a trial whose arms are bad with given chances in every way,
// and whose turns take times about a second, times slower in the canary.
func traffic(r *rand.Rand, n int, share, champion, canary, slower float64) []*Conversation {
	var all []*Conversation
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range n {
		at = at.Add(time.Second)
		c := &Conversation{ID: fmt.Sprint(i), Arm: record.ArmChampion, Opened: at, Answer: "yes", judged: map[string]time.Time{}}
		bad, took := champion, 1.0
		if r.Float64() < share {
			c.Arm, bad, took = record.ArmCanary, canary, slower
		}
		c.Closed = at.Add(time.Duration((0.5 + r.ExpFloat64()*0.5) * took * float64(time.Second)))
		c.Failed = r.Float64() < bad
		if r.Float64() < bad {
			c.mark(disliked, at.Add(time.Second))
		}
		if r.Float64() < bad {
			c.mark(badCard, at.Add(time.Second))
		}
		if r.Float64() < bad {
			c.Answer = "no"
		}
		all = append(all, c)
	}
	return all
}

// A canary that is no worse is taken back with a chance of at most alpha, in all measures
// together and however often one looks; one that is worse by 15 points is found.
func TestErrorRates(t *testing.T) {
	rule := DefaultRule
	rule.Margin, rule.Checks, rule.Window = 0, []Check{{Name: "c", Must: "yes"}}, 5
	back := func(runs, n int, champion, canary, slower float64) (count int) {
		for run := range runs {
			r := rand.New(rand.NewPCG(7, uint64(run)))
			all := traffic(r, n, 0.3, champion, canary, slower)
			for seen := 100; seen <= n; seen += 100 {
				if rule.Judge(all[seen-1].Opened.Add(time.Hour), all[:seen]).Back {
					count++
					break
				}
			}
		}
		return count
	}
	if n := back(200, 400, 0.1, 0.1, 1); n > 200*5/100+6 { // 2 standard errors above alpha
		t.Errorf("%d of 200 canaries that are no worse were taken back", n)
	}
	if n := back(20, 900, 0.05, 0.20, 1); n < 18 {
		t.Errorf("%d of 20 canaries that are worse by 15 points were taken back", n)
	}
	if n := back(20, 600, 0, 0, 3); n < 18 {
		t.Errorf("%d of 20 slow canaries were taken back", n)
	}
}

// What has been bet on does not change: what is not settled yet is not looked at, and what
// comes late does not count.
func TestSettled(t *testing.T) {
	r := DefaultRule
	r.Window, r.Patience = 10, 5
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	open := &Conversation{ID: "b", Arm: record.ArmCanary, Opened: at.Add(time.Second), judged: map[string]time.Time{}}
	first := &Conversation{ID: "a", Arm: record.ArmChampion, Opened: at, Closed: at.Add(time.Second), judged: map[string]time.Time{}}
	later := &Conversation{ID: "c", Arm: record.ArmCanary, Opened: at.Add(2 * time.Second), Closed: at.Add(3 * time.Second), Failed: true, judged: map[string]time.Time{}}
	all := []*Conversation{first, open, later}
	first.mark(disliked, at.Add(11*time.Second))
	for _, c := range []struct {
		measure string
		now     int
		want    string
	}{
		{measureErrors, 4, "champion good"}, {measureErrors, 7, "champion good, canary bad, canary bad"}, {measureFeedback, 9, ""},
		{measureFeedback, 11, "champion good, canary good"}, {measureSlow, 60, ""},
	} {
		var got []string
		for _, u := range r.units(c.measure, at.Add(time.Duration(c.now)*time.Second), all) {
			got = append(got, u.arm+map[bool]string{true: " bad", false: " good"}[u.bad])
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s after %d s: %q, not %q", c.measure, c.now, s, c.want)
		}
	}
}

func TestRulesAreChecked(t *testing.T) {
	for text, good := range map[string]bool{
		"": true, `{}`: true, `{"alpha":0.01,"checks":[{"name":"a","must":"x"}]}`: true, `{"alpha":0}`: false, `{"alpha":1}`: false, `{"margin":-1}`: false, `{"slow":1}`: false,
		`{"patience":0}`: false, `{"least":0}`: false, `{"more":1}`: false, `[]`: false, `{"checks":[` + strings.Repeat(`{},`, 64) + `{}]}`: false,
	} {
		if _, err := ParseRule(text); (err == nil) != good || err != nil && errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// The share that is drawn is the share that was asked for, and the draw of one trial says
// nothing of the next.
func TestDrawn(t *testing.T) {
	a, b := ledger.Alias{Release: "r", Version: 1, Share: 0.2}, ledger.Alias{Release: "r", Version: 2, Share: 0.2}
	n, both := 0, 0
	for i := range 20_000 {
		id := fmt.Sprint("ses_", i)
		if Drawn(a, id) {
			n++
			if Drawn(b, id) {
				both++
			}
		}
		if Drawn(a, id) != Drawn(a, id) {
			t.Fatal("a conversation changes its arm")
		}
	}
	if n < 3800 || n > 4200 || both < 700 || both > 900 {
		t.Errorf("%d of 20,000, %d of them again", n, both)
	}
}
