package filter

import (
	"encoding/binary"
	"strings"
	"unicode"

	"macaron/internal/ids"
)

// families joins rows that must not stand on both sides of a split: those of one family of
// sessions, of one template, and those that are much alike (union-find).
type families struct {
	of     map[uint64]int32 // session family or template -> set
	parent []int32
	name   []string // of each set's root: the smallest name of its sessions' families
}

func newFamilies() *families { return &families{of: map[uint64]int32{}} }

// row adds a row and gives its set.
func (f *families) row(session string, template uint64) int32 {
	set := f.set(hashWord(session), session)
	if template != 0 {
		set = f.join(set, f.set(template, session))
	}
	return set
}

func (f *families) set(key uint64, name string) int32 {
	i, ok := f.of[key]
	if !ok {
		i = int32(len(f.parent))
		f.of[key] = i
		f.parent, f.name = append(f.parent, i), append(f.name, name)
	}
	return f.find(i)
}

func (f *families) find(i int32) int32 {
	for f.parent[i] != i {
		f.parent[i] = f.parent[f.parent[i]]
		i = f.parent[i]
	}
	return i
}

func (f *families) join(a, b int32) int32 {
	if a, b = f.find(a), f.find(b); a == b {
		return a
	}
	if b < a {
		a, b = b, a
	}
	f.parent[b] = a
	f.name[a] = min(f.name[a], f.name[b])
	return a
}

// heldOut draws a family by the seed: the draw depends on nothing but its name, so that a
// family stays where it is when a later dataset has more rows.
func heldOut(name string, seed uint64, share float64) bool {
	d := ids.DigestOf(append(binary.LittleEndian.AppendUint64(nil, seed), name...))
	return float64(hashWord(string(d))>>11)/(1<<53) < share
}

// template is a request without what changes from one use of a template to the next:
// numbers, quotations and names. 0: too short to say.
func template(text string) uint64 {
	const enough, most = 5, 16
	var kept []string
	quoted := false
	for i, w := range strings.Fields(text) {
		opens := strings.IndexAny(w, "\"“«`") == 0
		if opens {
			quoted = true
		}
		inside := quoted
		if strings.ContainsAny(strings.TrimLeft(w, "\"“«`"), "\"”»`") {
			quoted = false
		}
		first := []rune(w)[0]
		if inside || strings.ContainsFunc(w, unicode.IsDigit) || i > 0 && unicode.IsUpper(first) {
			continue
		}
		kept = append(kept, wordsOf(w)...)
		if len(kept) >= most {
			break
		}
	}
	if len(kept) < enough {
		return 0
	}
	return mix(grams(kept, len(kept))[0] ^ 0x7e3a11)
}
