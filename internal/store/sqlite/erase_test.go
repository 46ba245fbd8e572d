package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// doomed is a session with one turn that says the text, and its end in the index.
func doomed(text string) record.Batch {
	b := session("s")
	head := b.Records[0].Head
	add := func(id string, body record.Body) {
		r := record.Record{Head: head, Body: body}
		r.ID, r.Turn = id, "t"
		b.Records = append(b.Records, r)
	}
	add("r1", record.TurnOpened{Messages: []chat.Message{chat.Text(chat.User, text)}})
	add("r2", record.TurnClosed{Status: record.StatusDelivered})
	b.Chains = []record.Chain{{Owner: "o", Scope: "k", Hash: [32]byte{1}, Turn: "t", Session: "s", End: true}}
	b.Queue = []record.Ref{{Owner: "o", Session: "s", Turn: "t"}}
	return b
}

// eraseAndDie is the process that TestKilledInADeletion kills: at a step of a deletion.
func eraseAndDie(path, at string) {
	s, err := Open(ctx, Options{Path: path, Durability: Normal, Fault: func(stage Stage, k record.Kind) error {
		if string(stage)+" "+string(k) == at {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			select {}
		}
		return nil
	}})
	if err == nil {
		_, err = s.Erase(ctx, "o", "s", record.Erase{Why: "w", Time: time.Unix(2, 0)})
	}
	fmt.Println("ended", err)
}

// A process that is killed in a deletion leaves the session whole or gone, never in part.
func TestKilledInADeletion(t *testing.T) {
	for _, at := range []string{"erase note", "erase records", "erase chains", "erase calls", "erase summaries", "erase turns", "erase sessions", "erase done", "commit ", "committed "} {
		path := filepath.Join(t.TempDir(), "log.db")
		s := open(t, Options{Path: path})
		if err := s.Append(ctx, doomed("x")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "ERASE_TEST_PATH="+path, "ERASE_TEST_AT="+at)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("%s: %v %s", at, err, out)
		}
		s = open(t, Options{Path: path})
		parts := map[string]int{}
		for _, table := range []string{"records", "sessions", "turns", "chains", "summaries", "deletions"} {
			var n int
			if err := s.read.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil {
				t.Fatal(err)
			}
			parts[table] = n
		}
		whole := map[string]int{"records": 3, "sessions": 1, "turns": 1, "chains": 1, "summaries": 1, "deletions": 0}
		if at == "committed " {
			whole = map[string]int{"records": 0, "sessions": 0, "turns": 0, "chains": 0, "summaries": 0, "deletions": 1}
		}
		if fmt.Sprint(parts) != fmt.Sprint(whole) {
			t.Errorf("%s: %v", at, parts)
		}
		if _, err := s.Erase(ctx, "o", "s", record.Erase{Time: time.Unix(3, 0)}); err != nil && errs.CodeOf(err) != errs.NotFound {
			t.Errorf("%s: again: %v", at, err)
		}
	}
}

// Of what was deleted no copy is left in the files, and they get smaller.
func TestDeletedTextIsNowhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	s := open(t, Options{Path: path})
	const secret = "the planted words"
	if err := s.Append(ctx, doomed(strings.Repeat(secret+" ", 40_000))); err != nil {
		t.Fatal(err)
	}
	if err := s.Reclaim(ctx); err != nil {
		t.Fatal(err)
	}
	count := func() (found int, size int) {
		for _, suffix := range []string{"", "-wal"} {
			b, err := os.ReadFile(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			found, size = found+bytes.Count(b, []byte(secret)), size+len(b)
		}
		return found, size
	}
	before, large := count()
	if _, err := s.Erase(ctx, "o", "s", record.Erase{Time: time.Unix(2, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reclaim(ctx); err != nil {
		t.Fatal(err)
	}
	after, small := count()
	if before < 1000 || after > 0 || small > large/3 {
		t.Errorf("found %d times, then %d; %d bytes, then %d", before, after, large, small)
	}
}
