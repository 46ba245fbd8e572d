package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"macaron/cmd/macaron/cli"
	"macaron/internal/chat"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
	"macaron/internal/ui4a/album"
)

// talked is a home in which tenants local and acme had a conversation of two turns each;
// it gives their sessions.
func talked(t *testing.T) (home string, sessions map[string]string) {
	t.Helper()
	home, sessions = t.TempDir(), map[string]string{}
	s, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	log := session.New(s, session.Options{})
	for _, owner := range []string{"local", "acme"} {
		var h []chat.Message
		for _, text := range []string{"first", "second"} {
			h = append(h, chat.Text(chat.User, text))
			p, err := log.Resolve(t.Context(), session.Where{Owner: owner}, h)
			if err != nil {
				t.Fatal(err)
			}
			turn, err := log.Begin(t.Context(), p, session.Opening{})
			if err != nil {
				t.Fatal(err)
			}
			said := chat.Text(chat.Assistant, "<"+text+">")
			blob := &record.Blob{Tokens: []int32{1}, Logps: []float32{float32(math.Inf(-1))}}
			if err := log.Close(t.Context(), turn, record.StatusDelivered, "", session.Served{Hop: record.Hop{Hop: record.HopAnswer, Message: &said}, Blob: blob}); err != nil {
				t.Fatal(err)
			}
			h, sessions[owner] = append(h, said), turn.Session
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return home, sessions
}

// ran runs a command line on a home and gives its output and exit code.
func ran(t *testing.T, home string, args ...string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := execute(t.Context(), append([]string{"--home", home}, args...), &cli.Env{In: strings.NewReader(""), Out: &out, Err: &out})
	return out.String(), code
}

func TestDataExport(t *testing.T) {
	home, sessions := talked(t)
	out, code := ran(t, home, "data", "export", "--tenant", "acme", "--jsonl")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 7 { // session, and of each turn: opened, hop, closed
		t.Fatalf("%d: %s", code, out)
	}
	for i, line := range lines {
		var r struct {
			Owner, Session, Kind string
			Seq                  int64
			Blob                 []byte
			Body                 json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil || r.Owner != "acme" || r.Session != sessions["acme"] || r.Seq == 0 {
			t.Errorf("%d: %+v %v", i, r, err)
		}
		if _, err := record.DecodeBody(record.Kind(r.Kind), r.Body); err != nil {
			t.Error(err)
		}
		if _, err := record.DecodeBlob(r.Blob); (r.Kind == "hop") != (err == nil) {
			t.Errorf("%s: blob %v", r.Kind, err)
		}
	}
	if one, code := ran(t, home, "data", "export", "--session", sessions["acme"]); code == 0 {
		t.Errorf("a session of somebody else: %s", one)
	}
}

func TestDataDelete(t *testing.T) {
	home, sessions := talked(t)
	tomorrow := time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	for _, step := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{}, 2, "nothing says what to delete"},
		{[]string{"--before", "soon"}, 2, "is no time"},
		{[]string{"--session", sessions["acme"]}, 4, "no such session"},
		{[]string{"--before", "1d"}, 0, "0 sessions"},
		{[]string{"--before", tomorrow, "--dry-run"}, 0, "2 sessions, 14 records"},
		{[]string{"--tenant", "acme", "--json"}, 0, sessions["acme"]},
		{[]string{"--before", tomorrow}, 0, "1 sessions, 7 records"},
		{[]string{"--before", tomorrow}, 0, "0 sessions"},
	} {
		out, code := ran(t, home, append([]string{"data", "delete"}, step.args...)...)
		if code != step.code || !strings.Contains(out, step.want) {
			t.Errorf("%v: %d %s", step.args, code, out)
		}
	}
}

// With all of a tenant go the pictures that it has put by, and nobody else's; a look at what
// would go, and what is old or one session alone, leave them.
func TestDataDeleteClearsPictures(t *testing.T) {
	home, sessions := talked(t)
	dot, kept := &bytes.Buffer{}, album.New(home)
	if err := png.Encode(dot, image.NewGray(image.Rect(0, 0, 3, 3))); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"local", "acme"} {
		if err := kept.Put(owner, "beach.png", dot.Bytes()); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		args string
		left int
	}{
		{"--tenant acme --dry-run", 1}, {"--tenant acme --before 1d", 1}, {"--tenant acme --session " + sessions["acme"], 1}, {"--tenant acme", 0},
	} {
		if out, code := ran(t, home, append([]string{"data", "delete"}, strings.Fields(step.args)...)...); code != 0 {
			t.Fatalf("%s: %d %s", step.args, code, out)
		}
		theirs, err := kept.List("acme")
		mine, err2 := kept.List("local")
		if err != nil || err2 != nil || len(theirs) != step.left || len(mine) != 1 {
			t.Errorf("after %s there are %v and %v; %v %v", step.args, theirs, mine, err, err2)
		}
	}
}

// A backup taken while the log is open for writing has what was acknowledged, and a home
// made of it goes on with the conversations.
func TestBackupAndRestore(t *testing.T) {
	home, sessions := talked(t)
	live, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(home, "log.db")})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	file, other := filepath.Join(t.TempDir(), "b.tar.gz"), filepath.Join(t.TempDir(), "other")
	if out, code := ran(t, home, "backup", file); code != 0 || !strings.Contains(out, "saved") {
		t.Fatalf("%d %s", code, out)
	}
	before, _ := ran(t, home, "data", "export", "--session", sessions["local"])
	if out, code := ran(t, other, "restore", file); code != 0 || !strings.Contains(out, "restored") {
		t.Fatalf("%d %s", code, out)
	}
	after, _ := ran(t, other, "data", "export", "--session", sessions["local"])
	if before != after || len(after) < 500 {
		t.Errorf("before %s\nafter %s", before, after)
	}
	if out, code := ran(t, home, "restore", file); code != 2 || !strings.Contains(out, "not empty") {
		t.Errorf("%d %s", code, out)
	}
}
