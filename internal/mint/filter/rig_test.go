package filter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/trajectory"
)

var when = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// exchange is a turn of a session of its own; change may alter it.
func exchange(n int, ask, answer string, change ...func(*trajectory.Exchange)) *trajectory.Exchange {
	h := record.Head{ID: fmt.Sprintf("rec_%d", n), Owner: "local", Session: fmt.Sprintf("ses_%d", n), Turn: fmt.Sprintf("trn_%d", n), Time: when.Add(time.Duration(n) * time.Hour),
		Contract: ids.DigestOf([]byte("c")), Purpose: record.Production, Consent: record.ConsentTrain}
	rev := adapter.Revision{Name: "L0", Hash: ids.DigestOf([]byte("l0"))}
	said := chat.Text(chat.Assistant, answer)
	user := []chat.Message{chat.Text(chat.User, ask)}
	hop := record.Hop{ID: fmt.Sprintf("hop_%d", n), Hop: record.HopAnswer, Adapter: rev, Message: &said, Finish: chat.FinishStop}
	head := h
	head.Blob = &record.Blob{Prompt: []int32{1, 2, int32(n)}, Tokens: []int32{7, int32(n), 8}, Logps: []float32{-0.1, -1.0000001e-7, -3.4028235e38}}
	e := &trajectory.Exchange{Opened: h, Root: h.Session, Adapter: rev, View: append([]chat.Message{chat.Text(chat.System, "You help.")}, user...), User: user,
		Trace: []chat.Message{said}, Answers: []trajectory.Answer{{Head: head, Hop: hop}}, Status: record.StatusDelivered}
	for _, f := range change {
		f(e)
	}
	return e
}

// maker makes a dataset of exchanges.
type maker struct {
	t     *testing.T
	set   Settings
	index *Index
	dir   string
}

func made(t *testing.T) *maker { return &maker{t: t, set: Defaults(), dir: t.TempDir()} }

func (m *maker) dataset(all ...*trajectory.Exchange) *Dataset {
	m.t.Helper()
	f, err := New(m.set, m.index, m.dir)
	if err != nil {
		m.t.Fatal(err)
	}
	for _, e := range all {
		turn, err := trajectory.TrainingTurn(e)
		if err != nil {
			m.t.Fatal(err)
		}
		f.Session()
		if err := f.Turn(m.t.Context(), turn); err != nil {
			m.t.Fatal(err)
		}
	}
	dir, _, err := f.Close("")
	if err != nil {
		m.t.Fatal(err)
	}
	d, err := Open(dir)
	if err != nil {
		m.t.Fatal(err)
	}
	if string(d.Digest) != "sha256:"+filepath.Base(dir) {
		m.t.Errorf("%s lies in %s", d.Digest, dir)
	}
	return d
}

// text reads a file of a dataset.
func (m *maker) text(d *Dataset, name string) string {
	m.t.Helper()
	raw, err := os.ReadFile(filepath.Join(d.Dir, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(raw)
}

func (m *maker) rows(d *Dataset) (out []Provenance) {
	m.t.Helper()
	if err := d.Rows(func(p Provenance) error { out = append(out, p); return nil }); err != nil {
		m.t.Fatal(err)
	}
	return out
}

var topics = strings.Fields("bread wine rain chess tax moss iron glass opera sugar sand rope tide fern clay coal silk bees snow milk")

// plain gives a turn like no other: words that only it has.
func plain(n int) *trajectory.Exchange {
	a, b, c := topics[n%20], topics[n/20%20], topics[(n*7+n/400)%20]
	return exchange(n, fmt.Sprintf("%s%d %s of %s%d %s", a, n, b, c, n, a), fmt.Sprintf("%d%s goes with %s%d, %s%d after %d", n, b, c, n+1, a, n*3, n*n))
}
