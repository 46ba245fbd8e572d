package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"macaron/cmd/macaron/cli"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/errs"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/store/sqlite"

	storejobs "macaron/internal/store/jobs"
)

// tampered is a store in which somebody changed entries behind the program's back.
type tampered struct {
	ledger.Store
	change func(*ledger.Entry)
}

func (s tampered) LedgerEntries(ctx context.Context, owner, run string, after int64, limit int) ([]ledger.Entry, error) {
	all, err := s.Store.LedgerEntries(ctx, owner, run, after, limit)
	for i := range all {
		s.change(&all[i])
	}
	return all, err
}

// Whoever asks how runs stand hears of a damaged ledger: which entry, by which code, and what to do.
// What can be told of the runs is told too, and the exit code is that of the damage.
func TestStatusChecksTheLedger(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "log.db")})
	must(t, err)
	q, err := storejobs.Open(ctx, storejobs.Options{Path: filepath.Join(dir, "jobs.db"), Alone: true})
	must(t, err)
	defer func() { must(t, errors.Join(q.Close(), store.Close())) }()
	l := ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}
	for _, key := range []string{"one", "two", "end"} {
		_, err := l.Append(ctx, auth.Local, ledger.Draft{Run: "r", Key: key, Body: ledger.Step{Generation: 1, Name: key, State: "ended", Note: "all is done"}})
		must(t, err)
	}
	note := func(e *ledger.Entry) { e.Body = bytes.Replace(e.Body, []byte("all is"), []byte("all was"), 1) }
	for name, c := range map[string]struct {
		change       func(*ledger.Entry)
		words, state string
		sound        int64
	}{
		"sound":      {func(*ledger.Entry) {}, "the ledger is as it was written: 3 entries, head 3:sha256:", "ended", 3},
		"changed":    {func(e *ledger.Entry) { changed(e, 2, note) }, "entry 2 was changed", "ended", 1},
		"unreadable": {func(e *ledger.Entry) { changed(e, 3, func(e *ledger.Entry) { e.Body = []byte(`{"x"`) }) }, "entry 3 ", "unknown", 2},
	} {
		broken := l
		broken.Store = tampered{store, c.change}
		runs, checked, err := lookForge(ctx, &broken, q, nil)
		must(t, err)
		for _, asked := range []bool{true, false} {
			var out bytes.Buffer
			err := showChecked(&cli.Env{Out: &out, JSON: asked}, runs, checked)
			damaged := name != "sound"
			var told cli.Reported
			if errors.As(err, &told) != damaged || damaged && errs.Code(told).Exit() != 7 {
				t.Errorf("%s ends with %v", name, err)
			}
			if !asked && (!strings.Contains(out.String(), c.words) || damaged && !(strings.Contains(out.String(), "checksum_mismatch") && strings.Contains(out.String(), "macaron restore"))) {
				t.Errorf("%s: %s", name, &out)
			}
			if asked {
				told := toldOf(t, out.Bytes())
				if len(told.Runs) != 1 || told.Runs[0].State != c.state || told.Ledger.Entries != c.sound || (told.Ledger.Error != nil) != damaged || damaged && told.Ledger.Error.Code != errs.ChecksumMismatch {
					t.Errorf("%s: %s", name, &out)
				}
			}
		}
	}
}

func changed(e *ledger.Entry, seq int64, change func(*ledger.Entry)) {
	if e.Seq == seq {
		change(e)
	}
}

type toldStatus struct {
	Runs   []forgeStatus `json:"runs"`
	Ledger checkedLedger `json:"ledger"`
}

func toldOf(t *testing.T, text []byte) (s toldStatus) {
	t.Helper()
	must(t, json.Unmarshal(text, &s))
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
