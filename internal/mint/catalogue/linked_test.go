package catalogue

import (
	"testing"

	"macaron/internal/adapter"
	"macaron/internal/ids"
)

// A revision that a client saved as "password" and that is served as L0 has the state of L0.
func TestStateOfARevisionThatIsServedUnderAnotherName(t *testing.T) {
	one, other := ids.DigestOf([]byte("one")), ids.DigestOf([]byte("other"))
	at := func(name, alias string, revision ids.Digest, state string) adapter.Pointer {
		p := adapter.Pointer{Name: name, Alias: alias, Revision: revision}
		if state != "" {
			p.Checkpoint = ids.DigestOf([]byte(state))
		}
		return p
	}
	served := at("L0", "champion", one, "served")
	all := []adapter.Pointer{at("L0", "canary", one, ""), served, at("L1", "champion", other, "elsewhere"), at("password", "best", one, "own")}
	p := adapter.Published{}
	p.Hash, p.Name = one, "password"
	for _, c := range []struct {
		asked string
		all   []adapter.Pointer
		want  string
	}{
		{"L0@champion", all, "served"}, {string(one), all, "own"}, {string(one), all[:3], "served"}, {"L0@canary", all[:3], "served"}, {string(one), all[:1], ""}, {"L1@champion", all[2:3], ""},
	} {
		got, ok := Linked(c.all, c.asked, p)
		if ok != (c.want != "") || ok && got.Checkpoint != ids.DigestOf([]byte(c.want)) {
			t.Errorf("%s of %d: %+v %t, want %q", c.asked, len(c.all), got, ok, c.want)
		}
	}
}
