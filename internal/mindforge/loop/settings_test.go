package loop

import (
	"testing"

	"macaron/internal/errs"
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
	for _, bad := range []string{"[update]\nmethod = \"grpo\"", "[update]\nmethod = \"dpo\"", "[update]\nrank = 0", "[update]\nrows = 0", "[update]\nattempts = -1", "[update]\nlearn = 1", "[discovery]\nattempts = 3", "[discovery.floor]\nshare = 2.0"} {
		if _, err := Parse([]byte(least + bad)); errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
