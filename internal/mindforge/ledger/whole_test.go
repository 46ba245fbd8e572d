package ledger

import (
	"context"
	"strings"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ids"
)

// pages is a store of entries and names; reading the names may be followed or preceded by others' writes.
type pages struct {
	Store
	all   []Entry
	names func(p *pages) []Alias
}

func (p *pages) LedgerEntries(_ context.Context, _, _ string, after int64, limit int) ([]Entry, error) {
	return p.all[min(int(after), len(p.all)):min(int(after)+limit, len(p.all))], nil
}

func (p *pages) Aliases(context.Context, string) ([]Alias, error) { return p.names(p), nil }

func champion(version int64, last int) func(*pages) []Alias {
	return func(*pages) []Alias {
		return []Alias{{Name: Champion, Version: version, Release: ids.DigestOf([]byte{byte(last)})}}
	}
}

// The whole of a ledger is checked, over pages, with the names; what was written between two readings
// is no damage, and a name that nothing explains is.
func TestTheWholeLedgerIsChecked(t *testing.T) {
	long := line(t, 2*page+12)
	changed := line(t, 2*page+12)
	changed[page+5].Key = "another"
	for name, c := range map[string]struct {
		p     pages
		head  int64
		wrong string
	}{
		"sound":   {pages{all: long, names: champion(503, 2*page+11)}, 2*page + 12, ""},
		"changed": {pages{all: changed, names: champion(503, 2*page+11)}, page + 5, "entry 1006 was changed"},
		"strayed": {pages{all: long, names: champion(502, 2*page+7)}, 2*page + 12, "the alias champion stands on"},
		"cut":     {pages{all: long[:2*page+8], names: champion(503, 2*page+11)}, 2*page + 8, "the alias champion stands on"},
		"moved between": {pages{all: long[:2*page+8], names: func(p *pages) []Alias {
			p.all = long
			return champion(503, 2*page+11)(p)
		}}, 2*page + 12, ""},
	} {
		seen := int64(0)
		head, err := (&Ledger{Store: &c.p}).Check(t.Context(), "o", func(e Entry) {
			if seen++; e.Seq != seen {
				t.Errorf("%s: entry %d is told as number %d", name, e.Seq, seen)
			}
		})
		if head.Seq != c.head || seen != c.head || c.wrong == "" && err != nil {
			t.Errorf("%s: checked to %d, told %d, want %d: %v", name, head.Seq, seen, c.head, err)
		}
		if c.wrong != "" && (errs.CodeOf(err) != errs.ChecksumMismatch || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
