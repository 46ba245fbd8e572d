package ledger

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
)

// line makes a ledger of n entries of two runs, with an alias that moves.
func line(t *testing.T, n int) []Entry {
	t.Helper()
	var all []Entry
	places, from := map[string]int64{}, ids.Digest("")
	for i := range n {
		run := []string{"r", "s"}[i%2]
		var b Body = Step{Generation: i, Name: "expansion", State: "ended", Cost: mindforge.Cost{Attempts: 3, WallMS: int64(i)}}
		if i%4 == 3 {
			to := ids.DigestOf([]byte{byte(i)})
			b, from, run = Moved{Alias: Champion, Version: int64(i/4 + 1), From: from, To: to}, to, ""
		}
		body, err := canonical.Bytes(b)
		if err != nil {
			t.Fatal(err)
		}
		var head Head
		if i > 0 {
			head = Head{all[i-1].Seq, all[i-1].Hash}
		}
		places[run]++
		e, err := Seal(head, places[run], Entry{Owner: "o", Run: run, Key: fmt.Sprint(i), Kind: b.Kind(), At: time.Unix(int64(i), 5), Body: body})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func check(all []Entry) error {
	var c Chain
	for _, e := range all {
		if err := c.Next(e); err != nil {
			return err
		}
	}
	return nil
}

// Whatever is done to a ledger behind the program's back is told with the number of the entry
// where it shows first.
func TestTampering(t *testing.T) {
	if err := check(line(t, 12)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		at  int
		how func([]Entry) []Entry
	}{
		"a body": {5, func(a []Entry) []Entry {
			a[4].Body = json.RawMessage(strings.Replace(string(a[4].Body), "3", "4", 1))
			return a
		}},
		"a time":                {5, func(a []Entry) []Entry { a[4].At = a[4].At.Add(1); return a }},
		"an owner":              {5, func(a []Entry) []Entry { a[4].Owner = "p"; return a }},
		"a key":                 {1, func(a []Entry) []Entry { a[0].Key = "x"; return a }},
		"dropped":               {6, func(a []Entry) []Entry { return append(a[:5:5], a[6:]...) }},
		"dropped, renumbered":   {6, func(a []Entry) []Entry { return renumbered(append(a[:5:5], a[6:]...)) }},
		"the first":             {1, func(a []Entry) []Entry { return a[1:] }},
		"cut in the middle":     {6, func(a []Entry) []Entry { return append(a[:5:5], a[9:]...) }},
		"reordered":             {6, func(a []Entry) []Entry { a[5], a[6] = a[6], a[5]; return a }},
		"reordered, renumbered": {6, func(a []Entry) []Entry { a[5], a[6] = a[6], a[5]; return renumbered(a) }},
		"made again, hash and all": {6, func(a []Entry) []Entry {
			a[4].Body = json.RawMessage(strings.Replace(string(a[4].Body), "3", "4", 1))
			a[4].Hash, _ = a[4].hash()
			return a
		}},
		"an alias that jumps": {8, func(a []Entry) []Entry { // by somebody who makes all hashes again
			a[7].Body = json.RawMessage(strings.Replace(string(a[7].Body), `"version":2`, `"version":3`, 1))
			for i := 7; i < len(a); i++ {
				a[i].Prev = a[i-1].Hash
				a[i].Hash, _ = a[i].hash()
			}
			return a
		}},
		"a field that nobody knows": {12, func(a []Entry) []Entry {
			a[11].Body = json.RawMessage(`{"alias":"champion","more":1}`)
			a[11].Hash, _ = a[11].hash()
			return a
		}},
	} {
		err := check(c.how(line(t, 12)))
		if errs.CodeOf(err) != errs.ChecksumMismatch || !strings.Contains(err.Error(), fmt.Sprintf("entry %d ", c.at)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func renumbered(a []Entry) []Entry {
	for i := range a {
		a[i].Seq = int64(i + 1)
	}
	return a
}

// What is cut off at the end is found by whoever has noted the head, and by the aliases.
func TestCutEnd(t *testing.T) {
	all := line(t, 12)
	var c Chain
	for _, e := range all[:10] {
		if err := c.Next(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := Since(Head{12, all[11].Hash}, Entry{}); errs.CodeOf(err) != errs.ChecksumMismatch {
		t.Error(err)
	}
	if err := Since(Head{9, all[8].Hash}, all[8]); err != nil {
		t.Error(err)
	}
	stands := Alias{Name: Champion, Version: 3, Release: ids.DigestOf([]byte{11})}
	if err := c.Stands([]Alias{stands}); err == nil {
		t.Error("an alias has moved more often than the ledger says")
	}
	if err := c.Stands([]Alias{{Name: Champion, Version: 2, Release: ids.DigestOf([]byte{7})}}); err != nil {
		t.Error(err)
	}
	if err := c.Stands(nil); err == nil {
		t.Error("an alias is gone")
	}
}

// Equal runs differ in times, costs, order and names, and in nothing else.
func TestEqual(t *testing.T) {
	a, b := line(t, 12), line(t, 12)
	for i := range b {
		b[i].At, b[i].Run, b[i].Seq = b[i].At.Add(time.Hour), "other", b[i].Seq+5
		b[i].Body = json.RawMessage(strings.Replace(string(b[i].Body), `"wall_ms":`, `"wall_ms":7`, 1))
	}
	b[0], b[1] = b[1], b[0]
	if err := Equal(a, b); err != nil {
		t.Error(err)
	}
	for name, other := range map[string][]Entry{"less": b[:11], "more": append(b[:12:12], Entry{Key: "z"}), "none": nil} {
		if err := Equal(a, other); err == nil {
			t.Errorf("%s is equal", name)
		}
	}
	b[3].Body = json.RawMessage(strings.Replace(string(b[3].Body), `"version":1`, `"version":2`, 1))
	if err := Equal(a, b); err == nil || !strings.Contains(err.Error(), "3 says something else") {
		t.Error(err)
	}
}

// A candidate is entered under its own name only, and every body says what it must.
func TestBodiesAreChecked(t *testing.T) {
	c := mindforge.Candidate{Contract: ids.DigestOf(nil), Operator: mindforge.Mutate, Seed: 1<<64 - 1}
	h, err := Identity(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := (Candidate{Hash: h, Candidate: c}).check(); err != nil {
		t.Error(err)
	}
	c.Seed--
	for _, bad := range []Body{
		Candidate{Hash: h, Candidate: c}, Step{State: "done"}, Outcomes{Candidate: h, Passes: -1}, Decision{}, Made{What: "revision"}, Made{Hash: h, From: []Source{{What: "base"}}},
		Moved{Alias: "best", Version: 1}, Moved{Alias: Canary}, Moved{Alias: Canary, Version: 1, Share: 2}, Run{Start: "x"}, Refused{What: strings.Repeat("x", 300)},
		Outcomes{Candidate: h, Families: make(map[string]Tally), Failures: many(5000)},
	} {
		if bad.check() == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func many(n int) map[mindforge.Failure]int {
	m := map[mindforge.Failure]int{}
	for i := range n {
		m[mindforge.Failure(fmt.Sprint(i))] = i
	}
	return m
}
