package serve

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/record"
)

// written is a log of one trial that grows, and counts what is read of it.
type written struct {
	tried   []record.Tried
	records []record.Record
	late    []record.Record // not committed yet, though their numbers are taken
	read    int
}

func (w *written) Tried(_ context.Context, _ string, _ int64, after string) (out []record.Tried, err error) {
	for _, t := range w.tried {
		if t.Turn > after {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b record.Tried) int { return strings.Compare(a.Turn, b.Turn) })
	w.read += len(out)
	return out, nil
}

func (w *written) TrialRecords(_ context.Context, _ string, _, after int64, limit int) (out []record.Record, err error) {
	for _, r := range w.records {
		if r.Seq > after {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b record.Record) int { return int(a.Seq - b.Seq) })
	out = out[:min(limit, len(out))]
	w.read += len(out)
	return out, nil
}

var began = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// write adds what happens in a second: a turn that begins, and others that end or are judged. One of a
// lower number can be committed later.
func (w *written) write(r *rand.Rand, n int) {
	at := began.Add(time.Duration(n) * time.Second)
	turn := fmt.Sprintf("t%05d", n)
	w.tried = append(w.tried, record.Tried{Turn: turn, Conversation: fmt.Sprint("c", r.IntN(n+1)), Arm: record.ArmCanary})
	some := fmt.Sprintf("t%05d", r.IntN(n+1))
	all := []record.Record{{Body: record.TurnOpened{}}, {Body: record.TurnClosed{Status: record.StatusInterrupted}}, {Body: record.Feedback{Score: -1}}}
	for i, of := range []string{turn, some, some} {
		all[i].Seq, all[i].Time, all[i].Turn = int64(3*n+i+1), at, of
	}
	w.records, w.late = append(w.records, w.late...), nil
	if r.IntN(2) == 0 {
		w.late, all = all[:1:1], all[1:]
	}
	w.records = append(w.records, all...)
}

// What is read bit by bit comes to what the whole would, and a look reads what is new; what was
// deleted is forgotten after a while.
func TestATrialIsReadOnce(t *testing.T) {
	r, w := rand.New(rand.NewPCG(1, 2)), &written{}
	bits, fresh := (&Releases{readings: map[string]*reading{}}).reading("o"), func() *reading { return &reading{} }
	told := func(t *reading) (out []string) {
		for _, c := range t.conversations() {
			out = append(out, fmt.Sprint(c.ID, c.Arm, c.Opened, c.Closed, c.Failed, c.judged))
		}
		return out
	}
	read := func(x *reading, at int) []string {
		t.Helper()
		if err := x.read(t.Context(), w, "o", 1, began.Add(time.Duration(at)*time.Second)); err != nil {
			t.Fatal(err)
		}
		return told(x)
	}
	const seconds = 600
	most := 0
	for n := range seconds {
		w.write(r, n)
		if n%2 == 0 {
			w.read = 0
			read(bits, n%280) // within the time of one reading
			most = max(most, w.read)
		}
		if n%100 == 0 {
			if diff := cmp.Diff(read(fresh(), n), read(bits, 280)); diff != "" {
				t.Fatalf("after %d seconds: %s", n, diff)
			}
		}
	}
	if most > overlap+20 {
		t.Errorf("a look reads up to %d records and turns", most)
	}
	w.tried = w.tried[:1]
	w.records = slices.DeleteFunc(append(w.records, w.late...), func(r record.Record) bool { return r.Turn != w.tried[0].Turn })
	if got := read(bits, seconds); len(got) != 1 {
		t.Errorf("%d conversations are left after they were deleted", len(got))
	}
}
