package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/logsql"
	"macaron/internal/store/storetest"
)

func TestMain(m *testing.M) {
	if path := os.Getenv("ERASE_TEST_PATH"); path != "" {
		eraseAndDie(path, os.Getenv("ERASE_TEST_AT"))
		return
	}
	goleak.VerifyTestMain(m)
}

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T, dir string) storetest.Store {
		return open(t, Options{Path: filepath.Join(dir, "log.db")})
	})
}

func open(t *testing.T, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

var ctx = context.Background()

func session(id string) record.Batch {
	return record.Batch{Records: []record.Record{{Body: record.SessionOpened{Root: id, Title: strings.Repeat("x", 2000)}, Head: record.Head{
		ID: "rec_" + id, Owner: "o", Session: id, Time: time.Unix(1, 0), Purpose: record.Production, Consent: record.ConsentNone,
	}}}}
}

// Paths with signs that mean something in a URI are still paths.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b?c#d%20.db", "é;&=.db"} {
		path := filepath.Join(t.TempDir(), name)
		s := open(t, Options{Path: path})
		if err := s.Append(ctx, session("s")); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

// What people say is for this user's eyes alone.
func TestFilesArePrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, Options{Path: path})
	if err := s.Append(ctx, session("s")); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%q: %v %v", suffix, info, err)
		}
	}
}

func TestDurabilityIsWhatWasAsked(t *testing.T) {
	for d, want := range map[Durability]int{"": 2, Full: 2, Normal: 1} {
		s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: d})
		var level int
		var mode string
		if err := s.writer.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level); err != nil || level != want {
			t.Errorf("%q: synchronous %d %v", d, level, err)
		}
		if err := s.writer.QueryRowContext(ctx, "PRAGMA journal_mode").Scan(&mode); err != nil || mode != "wal" {
			t.Errorf("%q: %s %v", d, mode, err)
		}
	}
	if _, err := Open(ctx, Options{Path: "x", Durability: "sometimes"}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("got %v", err)
	}
}

func TestLogIsAppendOnly(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db")})
	if err := s.Append(ctx, session("s")); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"UPDATE records SET body = '{}'", "DELETE FROM records"} {
		if _, err := s.writer.ExecContext(ctx, q); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", q, err)
		}
	}
	if _, err := s.read.ExecContext(ctx, "DELETE FROM sessions"); err == nil {
		t.Error("a reader wrote")
	}
}

func TestForeignFilesAreRefused(t *testing.T) {
	dir := t.TempDir()
	newer := open(t, Options{Path: filepath.Join(dir, "newer.db")})
	if _, err := newer.writer.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)"); err != nil {
		t.Fatal(err)
	}
	if err := newer.Close(); err != nil {
		t.Fatal(err)
	}
	other := open(t, Options{Path: filepath.Join(dir, "other.db")})
	if _, err := other.writer.ExecContext(ctx, "PRAGMA application_id = 7"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("not a database ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		code errs.Code
		text string
	}{
		"newer.db": {errs.Unsupported, "newer build"}, "other.db": {errs.FormatInvalid, "another program"},
		"text.db": {errs.FormatInvalid, "not a database"}, "no/such/dir.db": {errs.StorageFailed, "cannot be opened"},
	} {
		_, err := Open(ctx, Options{Path: filepath.Join(dir, name)})
		if e := errs.As(err); err == nil || e.Code != want.code || !strings.Contains(e.Message, want.text) || e.Next == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A full disk fails writes with its own code; reading goes on, and writing too
// once there is room.
func TestFullDisk(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db"), MaxBytes: 256 << 10})
	var kept []string
	var full error
	for i := 0; full == nil && i < 1000; i++ {
		id := "s" + strings.Repeat("i", i)
		if full = s.Append(ctx, session(id)); full == nil {
			kept = append(kept, id)
		}
	}
	if e := errs.As(full); e.Code != errs.StorageFull || e.Next == "" {
		t.Fatalf("got %v", full)
	}
	for _, id := range kept {
		if _, err := s.Session(ctx, "o", id); err != nil {
			t.Errorf("%s is lost: %v", id, err)
		}
	}
	if err := s.bound(ctx, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(ctx, session("after")); err != nil {
		t.Error(err)
	}
}

// Every write fails once, and then for good, at every stage; what was acknowledged
// is there, what failed before its commit is not.
func TestEveryWriteMayFail(t *testing.T) {
	for _, stage := range []Stage{BeforeRecord, BeforeCommit, AfterCommit} {
		for _, forGood := range []bool{false, true} {
			for n := range 4 {
				var count int
				lostDisk := errors.New("injected")
				s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: Normal, Fault: func(at Stage, _ record.Kind) error {
					if at == stage {
						count++
						if count == n+1 || forGood && count > n {
							return lostDisk
						}
					}
					return nil
				}})
				for i := range 4 {
					id := string(rune('a' + i))
					err := s.Append(ctx, session(id))
					failed := i == n || forGood && i > n
					if failed != (err != nil) || failed && !errors.Is(err, lostDisk) {
						t.Errorf("%s %d %v: write %d gave %v", stage, n, forGood, i, err)
					}
					_, missing := s.Session(ctx, "o", id)
					if there := missing == nil; there != (!failed || stage == AfterCommit) {
						t.Errorf("%s %d %v: write %d is there: %v", stage, n, forGood, i, there)
					}
				}
			}
		}
	}
}

// In a group, only the write at fault fails.
func TestFaultInAGroupIsItsOwn(t *testing.T) {
	bad := errors.New("injected")
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: Normal, Fault: func(at Stage, k record.Kind) error {
		if at == BeforeCommit && k == record.KindFeedback {
			return bad
		}
		return nil
	}})
	if err := s.Append(ctx, session("s")); err != nil {
		t.Fatal(err)
	}
	release := make(chan struct{})
	blocked := make(chan error, 1)
	go func() { blocked <- s.do(ctx, "", func(context.Context, logsql.Writer) error { <-release; return nil }) }()
	results := make(chan error, 8)
	for i := range cap(results) {
		b := session(string(rune('a' + i)))
		if i == 3 {
			b.Records[0].Session, b.Records[0].Body = "s", record.Feedback{Score: 1}
		}
		go func() { results <- s.Append(ctx, b) }()
	}
	close(release)
	failed := 0
	for range cap(results) {
		if err := <-results; err != nil {
			failed++
		}
	}
	if err := <-blocked; err != nil || failed != 1 {
		t.Errorf("%d failed: %v", failed, err)
	}
}

func TestEndedContextIsRefusedBeforeTheQueue(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db")})
	over, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.Records(over, "o", "s", 0, 1); errs.CodeOf(err) != errs.Canceled {
		t.Errorf("read: %v", err)
	}
}

func TestBodiesOfAMegabyte(t *testing.T) {
	s := open(t, Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: Normal})
	b := session("s")
	big := chat.Text(chat.User, strings.Repeat("日本語", 1<<20/9))
	b.Records = append(b.Records, record.Record{Body: record.TurnOpened{Messages: []chat.Message{big}}, Head: b.Records[0].Head})
	b.Records[1].ID, b.Records[1].Turn = "rec_t", "t"
	if err := s.Append(ctx, b); err != nil {
		t.Fatal(err)
	}
	got, err := s.Lineage(ctx, "o", "t", 1)
	if err != nil || len(got) != 1 || got[0].Body.(record.TurnOpened).Messages[0].Text() != big.Text() {
		t.Errorf("%d records: %v", len(got), err)
	}
}
