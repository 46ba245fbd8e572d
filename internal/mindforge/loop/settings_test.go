package loop

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/expansion"
	"macaron/internal/mindforge/update"
)

const least = "schema = \"macaron.forge/1\"\nname = \"x\"\n[evaluation]\ndir = \"d\"\ncontract = \"c\"\nkey = \"k\"\n"

// A file that says nothing of an update has its defaults; what cannot be trained is refused by name.
func TestSettingsOfAnUpdate(t *testing.T) {
	s, err := Parse([]byte(least))
	if err != nil || s.Update.Settings != update.Defaults() || s.Update.Rows != 4 {
		t.Errorf("%+v %v", s.Update, err)
	}
	s, err = Parse([]byte(least + "[update]\nmethod = \"grpo\"\nattempts = 4\nrank = 8\n[update.selection]\nrows = 9\n"))
	if err != nil || s.Update.Method != update.GRPO || s.Update.Rank != 8 || s.Update.Selection.Rows != 9 || s.Update.Epochs != update.Defaults().Epochs {
		t.Errorf("%+v %v", s.Update, err)
	}
	for _, bad := range []string{"[update]\nmethod = \"grpo\"", "[update]\nmethod = \"dpo\"", "[update]\nrank = 0", "[update]\nrows = 0", "[update]\nattempts = -1", "[update]\nlearn = 1", "[discovery]\nattempts = 3", "[discovery.floor]\nshare = 2.0",
		"[scripted]\nfamilies = 11", "[scripted]\nfamilies = 100000000", "[scripted]\nshift = -1.0", "[scripted]\nshift = inf", "[scripted]\nbroken = 1.0", "[scripted]\nsly = 10", "[budget]\nusd = inf", "[update]\ngrad_clip_norm = inf"} {
		if _, err := Parse([]byte(least + bad)); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// A search that could not come to its end is refused when the file is read, with the least that it
// takes: what that is, the search itself says.
func TestTooFewAttemptsAreRefusedAtOnce(t *testing.T) {
	for _, c := range []struct {
		tasks, attempts int
		arm             Arm
		ok              bool
	}{{40, 99, Full, false}, {40, 100, Full, true}, {41, 100, Contract, true}, {42, 104, Contract, false}, {24, 59, Contract, false}, {40, 1, Weights, true}, {40, 1, None, true}} {
		file := fmt.Sprintf("arm = %q\n%s[discovery]\ntasks = %d\n[expansion]\nattempts = %d\n", c.arm, least, c.tasks, c.attempts)
		_, err := Parse([]byte(file))
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
		if f := errs.As(err); err != nil && (f.Code != errs.FormatInvalid || f.Field != "expansion.attempts" || !strings.Contains(f.Next, strconv.Itoa(5*(c.tasks/2)))) {
			t.Errorf("%+v: %+v", c, f)
		}
	}
	valid := make([]mindforge.Task, 20)
	for i := range valid {
		valid[i].ID = strconv.Itoa(i)
	}
	s := &expansion.Search{Settings: expansion.Settings{Attempts: expansion.Least(20) - 1, Minibatch: 1}, Train: valid[:1], Valid: valid}
	if _, err := s.Run(t.Context()); errs.CodeOf(err) != errs.InvalidRequest || !strings.Contains(err.Error(), "it needs 1, 1 and 100") {
		t.Errorf("the search itself: %v", err)
	}
}
