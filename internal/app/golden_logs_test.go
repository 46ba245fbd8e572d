package app

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/auth"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/mint/filter"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
)

const goldenLogs = "testdata/logs/"

var writeLogs = flag.Bool("write-logs", false, "write the golden logs anew: 200 conversations, held by this build (only when the format has got a new version)")

var digestLogs = flag.Bool("digest-logs", false, "write the digests of the golden logs anew")

// Logs that were written once, 200 random conversations by three APIs, and conversations that builds
// with older schemas held (old.py, named by the last migration they had), are read by every later
// build to the same records, views and training rows. Of each session a line has the three digests;
// -args -print-logs SESSION shows what they are of.
func TestGoldenLogsAreReadAsEver(t *testing.T) {
	if *writeLogs {
		writeGoldenLogs(t)
	}
	all, err := filepath.Glob(goldenLogs + "*.db.gz")
	if err != nil || len(all) == 0 {
		t.Fatalf("no golden logs: %v", err)
	}
	sessions := 0
	for _, path := range all {
		name := strings.TrimSuffix(path, ".db.gz")
		got := digests(t, path, name+".toml")
		sessions += strings.Count(got, "\n")
		if *writeLogs || *digestLogs {
			if err := os.WriteFile(name+".txt", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		differ(t, name, string(want), got)
	}
	if sessions < 200 {
		t.Errorf("only %d sessions", sessions)
	}
}

// differ names the first sessions that are read otherwise.
func differ(t *testing.T, name, want, got string) {
	t.Helper()
	was := map[string]bool{}
	for line := range strings.Lines(want) {
		was[line] = true
	}
	shown := 0
	for line := range strings.Lines(got) {
		if !was[line] && shown < 5 {
			t.Errorf("%s: now %s", name, line)
			shown++
		}
	}
	if shown == 0 && want != got {
		t.Errorf("%s: sessions are missing", name)
	}
}

var printLog = flag.String("print-logs", "", "print what the digests of this session are of")

// digests gives a line for each session of a log: its name and the digests of its records as they
// are exported, of its views and of the training rows.
func digests(t *testing.T, path, contractFile string) string {
	t.Helper()
	home := t.TempDir()
	unpack(t, path, filepath.Join(home, "log.db"))
	text, err := os.ReadFile(contractFile)
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	keep := filepath.Join(home, "blobs", "contracts", k.Hash().Hex()+".toml")
	if err := errors.Join(os.MkdirAll(filepath.Dir(keep), 0o700), os.WriteFile(keep, text, 0o400)); err != nil {
		t.Fatal(err)
	}
	store, err := OpenStore(t.Context(), config.Config{Home: home, Durability: "normal"})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	rows := asTrained(t, store, home)
	ids, err := store.Stale(t.Context(), auth.Local, time.Time{}, "", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	p := NewProduction(store, home)
	for _, id := range ids {
		records, err := p.records(t.Context(), auth.Local, id)
		if err != nil {
			t.Fatal(err)
		}
		texts := []string{asExported(t, records), asViewed(t, p.sessions, k, id), rows[id]}
		out.WriteString(id)
		for _, text := range texts {
			fmt.Fprintf(&out, " %.8x", sha256.Sum256([]byte(text)))
			if id == *printLog {
				fmt.Println(text)
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

func unpack(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err := errors.Join(err, os.WriteFile(to, b, 0o600)); err != nil {
		t.Fatal(err)
	}
}

func asExported(t *testing.T, records []record.Record) string {
	t.Helper()
	var out strings.Builder
	for _, r := range records {
		line, err := record.EncodeLine(r)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	return out.String()
}

// viewed shows every delivered turn of a session as each adapter sees it once a user goes on;
// summaries that no view has used yet count as if one had, and where there is none, as empty.
func asViewed(t *testing.T, log *session.Log, k *contract.Contract, id string) string {
	t.Helper()
	_, turns, err := log.Load(t.Context(), auth.Local, id)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, turn := range turns {
		fmt.Fprintln(&out, turn.ID, turn.Status, turn.Reason, turn.Score, turn.Summary)
		if turn.Status != record.StatusDelivered {
			continue
		}
		line, err := log.History(t.Context(), auth.Local, turn.ID)
		if err != nil {
			t.Fatal(err)
		}
		past := session.Views(line)
		for i := range past {
			past[i].Final = true
		}
		for _, label := range k.Labels() {
			view, err := ownview.Build(k, past, ownview.Turn{User: []chat.Message{chat.Text(chat.User, "next")}}, label)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&out, label, jsonOf(view))
		}
	}
	return out.String()
}

// trained gives the rows of each session that training would read: nothing is filtered but what
// nobody consented to.
func asTrained(t *testing.T, store Store, home string) map[string]string {
	t.Helper()
	set := filter.Defaults()
	set.HeldOut, set.PII.Types, set.Quality, set.Double.Jaccard = 0, nil, filter.Quality{}, 0
	f, err := filter.New(set, nil, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := NewProduction(store, home).Feed(t.Context(), f, auth.Local); err != nil {
		t.Fatal(err)
	}
	dir, _, err := f.Close("")
	if err != nil {
		t.Fatal(err)
	}
	d, err := filter.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, text := rowsOf(t, d)
	lines, out := strings.Split(strings.TrimSpace(text), "\n"), map[string]string{}
	for i, p := range rows {
		var l filter.Line
		if err := json.Unmarshal([]byte(lines[i]), &l); err != nil {
			t.Fatal(err)
		}
		out[p.Session] += p.Turn + " " + p.Adapter + " " + jsonOf(l.Messages) + "\n"
	}
	return out
}

// writeGoldenLogs holds 200 of the random conversations and keeps their log.
func writeGoldenLogs(t *testing.T) {
	t.Helper()
	actor := &actor{}
	cfg := settings(t, t.TempDir())
	s := start(t, cfg, &backendtest.Scripted{On: actor.play})
	for n := range 200 {
		newHeld(t, n, actor, []*site{s}).hold(2 + n%3)
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	db, err := os.ReadFile(filepath.Join(cfg.Home, "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(cfg.Home, "macaron.toml"))
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, err = z.Write(db)
	if err := errors.Join(err, z.Close(), os.MkdirAll(goldenLogs, 0o755), os.WriteFile(goldenLogs+"conversations.db.gz", packed.Bytes(), 0o644), os.WriteFile(goldenLogs+"conversations.toml", text, 0o644)); err != nil {
		t.Fatal(err)
	}
}
