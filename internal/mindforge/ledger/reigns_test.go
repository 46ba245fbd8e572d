package ledger

import (
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// A rollback goes to what was champion before, further each time, and never to what was taken back.
// In a story a letter promotes a release, - the contract's file, and < rolls back; what is wanted is
// the champion after each, ! for a refusal.
func TestRollbackGoesFurtherBack(t *testing.T) {
	for story, want := range map[string]string{
		"a<":      "a-",
		"ab<<":    "aba-", // not b again
		"abc<<<":  "abcba-",
		"ab<c<<":  "abaca-", // b was taken back before c came
		"ab<b<<":  "ababa-", // somebody promoted it anew
		"aba<":    "aba-",   // promoting what was champion before takes b back too
		"abac<<":  "abaca-",
		"abca<<<": "abcacb-", // c and b stand below; a was champion twice
		"a-<":     "a-!",     // the file is what was before a, and nothing before that
		"ab-<<":   "ab-ba",
		"ab-<<<":  "ab-ba-",
		"aab<":    "aaba",
	} {
		var r Reigns
		got := ""
		for i, x := range story {
			to, left := ids.Digest(strings.Trim(string(x), "-")), true
			if x == '<' {
				to, left = r.Below()
			}
			if !left {
				got += "!"
				continue
			}
			after := r.After(to)
			r.Take(Moved{Alias: Champion, Version: int64(i + 1), From: r.Now, To: to})
			if below, _ := r.Below(); below != after {
				t.Errorf("%s: after %d moves previous is to stand on %q, and a rollback goes to %q", story, i+1, after, below)
			}
			got += orFile(to)
		}
		if got != want {
			t.Errorf("%s: the champions are %s, want %s", story, got, want)
		}
	}
}

func orFile(release ids.Digest) string {
	if release == "" {
		return "-"
	}
	return string(release)
}

// Below the contract's file that was there first, nothing is left.
func TestRollbackEnds(t *testing.T) {
	var r Reigns
	for _, to := range []ids.Digest{"a", "b", "a", ""} {
		r.Take(Moved{To: to})
	}
	if to, ok := r.Below(); ok {
		t.Errorf("a rollback goes to %q", to)
	}
	r = Reigns{Now: "a", Version: 2}
	for _, a := range []Alias{{Name: Champion, Release: "a", Version: 3}, {Name: Champion, Release: "b", Version: 2}} {
		if err := r.Stands(a); errs.CodeOf(err) != errs.ChecksumMismatch {
			t.Errorf("an alias that the ledger has not moved: %v", err)
		}
	}
}
