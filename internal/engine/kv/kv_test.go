package kv

import (
	"fmt"
	"testing"

	"macaron/internal/errs"
	"macaron/internal/ids"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// memory stands for the arena: what each slot of each page holds, spelled out.
type memory struct {
	c     *Cache
	slots map[int32][]string
}

type live struct {
	*Seq
	key   Key
	sw    Switch
	limit int
}

// spell is what the last position of a prefix holds: it depends on the key, on where the
// weights changed before it, and on every token up to it.
func spell(key Key, sw Switch, prefix []int32) string {
	if sw.With == "" || len(prefix) <= sw.At {
		sw = Switch{}
	}
	return fmt.Sprint(key, sw, prefix)
}

// write does what the model does: it fills positions from Len() on, each with a
// value that depends on the key and on every token before it.
func (m *memory) write(s live, tokens []int32) {
	s.Grow(s.Len() + len(tokens))
	all := append(append([]int32(nil), s.Tokens()...), tokens...)
	for p := s.Len(); p < len(all); p++ {
		m.page(s.Pages()[p/PageTokens])[p%PageTokens] = spell(s.key, s.sw, all[:p+1])
	}
	s.Commit(tokens...)
}

func (m *memory) page(p int32) []string {
	if m.slots[p] == nil {
		m.slots[p] = make([]string, PageTokens)
	}
	return m.slots[p]
}

func (m *memory) open(key Key, sw Switch, tokens []int32, limit int) (live, bool) {
	s, cp := m.c.Open(key, sw, tokens, len(tokens)-1, limit)
	if s == nil {
		return live{}, false
	}
	if cp != nil {
		copy(m.page(cp.To)[:cp.Tokens], m.page(cp.From)[:cp.Tokens])
	}
	return live{s, key, sw, limit}, true
}

// check holds every sequence against what it must see, and the page accounts.
func (m *memory) check(t *rapid.T, seqs []live) {
	for _, s := range seqs {
		for p := range s.Len() {
			if got, want := m.page(s.Pages()[p/PageTokens])[p%PageTokens], spell(s.key, s.sw, s.Tokens()[:p+1]); got != want {
				t.Fatalf("position %d holds %q, want %q", p, got, want)
			}
		}
	}
	owner := map[int32]string{}
	claim := func(p int32, who string) {
		if other, taken := owner[p]; taken {
			t.Fatalf("page %d belongs to %s and %s", p, other, who)
		}
		owner[p] = who
	}
	evictable, reserved := 0, 0
	for _, p := range m.c.free {
		claim(p, "free")
	}
	for e := m.c.lru.Front(); e != nil; e = e.Next() {
		n := e.Value.(*node)
		claim(n.page, "tree")
		if n.refs == 0 {
			evictable++
		}
	}
	for i, s := range seqs {
		reserved += s.reserved
		for _, p := range s.pages[len(s.path):] {
			claim(p, fmt.Sprint("sequence ", i))
		}
	}
	if len(owner) != m.c.total || evictable != m.c.evictable || reserved != m.c.reserved || m.c.available() < 0 {
		t.Fatalf("accounts: %d pages of %d, evictable %d/%d, reserved %d/%d", len(owner), m.c.total, evictable, m.c.evictable, reserved, m.c.reserved)
	}
}

func TestAnyInterleavingReadsItsOwnPrefix(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{New(rapid.IntRange(4, 12).Draw(t, "pages")), map[int32][]string{}}
		keys := []Key{{Base: "b"}, {Base: "b", Adapter: "r1"}, {Base: "b", Adapter: "r2"}, {Base: "b", Adapter: "r1", Salt: "s"}}
		chunk := rapid.SliceOfN(rapid.SampledFrom([]int32{7, 7, 7, 7, 7, 7, 7, 9}), 1, 40)
		var seqs []live
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "op") {
			case 0, 1:
				prompt := append(make([]int32, rapid.SampledFrom([]int{0, 60, 64, 128, 130}).Draw(t, "zeros")), chunk.Draw(t, "prompt")...)
				sw := Switch{rapid.SampledFrom([]int{0, 3, 60, 64, 70, 127, 128, 131}).Draw(t, "at"), rapid.SampledFrom([]ids.Digest{"", "", "a1", "a2"}).Draw(t, "with")}
				s, ok := m.open(rapid.SampledFrom(keys).Draw(t, "key"), sw, prompt, len(prompt)+rapid.IntRange(0, 80).Draw(t, "room"))
				if ok {
					m.write(s, prompt[s.Len():])
					seqs = append(seqs, s)
				}
			case 2:
				if len(seqs) > 0 {
					s := seqs[rapid.IntRange(0, len(seqs)-1).Draw(t, "which")]
					more := chunk.Draw(t, "more")
					m.write(s, more[:min(len(more), s.limit-s.Len())])
				}
			default:
				if len(seqs) > 0 {
					i := rapid.IntRange(0, len(seqs)-1).Draw(t, "which")
					if rapid.Bool().Draw(t, "abandon") {
						seqs[i].Abandon()
					} else {
						seqs[i].Close()
					}
					seqs = append(seqs[:i], seqs[i+1:]...)
				}
			}
			m.check(t, seqs)
		}
		for _, s := range seqs {
			s.Close()
			s.Close()
		}
		m.check(t, nil)
	})
}

func tokens(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

func run(c *Cache, key Key, toks []int32) int {
	s, _ := c.Open(key, Switch{}, toks, len(toks)-1, len(toks))
	hit := s.Len()
	s.Grow(len(toks))
	s.Commit(toks[hit:]...)
	s.Close()
	return hit
}

func TestReuse(t *testing.T) {
	c, k := New(10), Key{Base: "b", Adapter: "one"}
	got := []int{
		run(c, k, tokens(100)),
		run(c, k, tokens(100)), // all but the last, which must be computed for its logits
		run(c, k, tokens(70)),
		run(c, k, append(tokens(80), 5)),
		run(c, Key{Base: "b", Adapter: "two"}, tokens(100)),
		run(c, Key{Base: "b", Adapter: "one", Salt: "x"}, tokens(100)),
	}
	if diff := cmp.Diff([]int{0, 99, 69, 80, 0, 0}, got); diff != "" {
		t.Error(diff)
	}
}

// TestSwitchedSequencesShareWhatIsBefore: pages before the switch are the base's, in both
// directions; those after it belong to the weights and to the position.
func TestSwitchedSequencesShareWhatIsBefore(t *testing.T) {
	c, base := New(100), Key{Base: "b"}
	reuse := func(sw Switch, toks []int32) int {
		s, _ := c.Open(base, sw, toks, len(toks)-1, len(toks))
		hit := s.Len()
		s.Grow(len(toks))
		s.Commit(toks[hit:]...)
		s.Close()
		return hit
	}
	got := []int{
		reuse(Switch{}, tokens(200)),
		reuse(Switch{100, "x"}, tokens(200)), // a full page and part of the next from the base
		reuse(Switch{100, "x"}, tokens(200)), // everything
		reuse(Switch{100, "y"}, tokens(200)), // other weights
		reuse(Switch{90, "x"}, tokens(200)),  // another position
		reuse(Switch{128, "x"}, tokens(200)), // at the border of a page
		reuse(Switch{128, "x"}, tokens(200)),
		reuse(Switch{0, "x"}, tokens(200)),
		reuse(Switch{300, "z"}, tokens(200)), // beyond what is stored: the base's
		reuse(Switch{}, append(tokens(150), 7)),
	}
	if diff := cmp.Diff([]int{0, 100, 199, 100, 90, 128, 199, 0, 199, 150}, got); diff != "" {
		t.Error(diff)
	}
	first := New(10)
	s, _ := first.Open(base, Switch{70, "x"}, tokens(100), 99, 100)
	s.Grow(100)
	s.Commit(tokens(100)...)
	s.Close()
	if s, _ := first.Open(base, Switch{}, tokens(100), 99, 100); s.Len() != 70 {
		t.Errorf("the base reuses %d positions of a switched sequence, want 70", s.Len())
	}
}

func TestLeastRecentlyUsedGoesFirst(t *testing.T) {
	c := New(4)
	a, b, d := Key{Adapter: "a"}, Key{Adapter: "b"}, Key{Adapter: "d"}
	run(c, a, tokens(128))
	run(c, b, tokens(128))
	run(c, a, tokens(128))
	run(c, d, tokens(64))
	if hit := run(c, a, tokens(128)); hit != 127 {
		t.Errorf("the prefix used last was evicted: %d hit", hit)
	}
	if c.Stats().Evictions == 0 || c.Stats().Cached > 4 {
		t.Errorf("%+v", c.Stats())
	}
}

func TestFullCacheWaitsAndSaysNever(t *testing.T) {
	c := New(2)
	s, _ := c.Open(Key{}, Switch{}, tokens(10), 9, 128)
	if other, _ := c.Open(Key{}, Switch{}, tokens(10), 9, 64); other != nil {
		t.Error("promised a page that the first sequence was promised")
	}
	s.Close()
	if other, _ := c.Open(Key{}, Switch{}, tokens(10), 9, 128); other == nil {
		t.Error("a closed sequence kept its promise")
	}
	if err := c.Fits(129); errs.CodeOf(err) != errs.ContextExceeded {
		t.Errorf("Fits = %v", err)
	}
}
