package expansion

import (
	"math/rand/v2"
	"slices"

	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/edit"
)

// fitter knows which committed edits can really be made: the contract that comes of them is made,
// and is valid. Each is tried once beside each list of edits that it is asked about.
type fitter struct {
	catalogue *edit.Catalogue
	base      mindforge.Pair
	alone     []mindforge.Edit // those that the base takes; nil: not tried yet
	beside    map[ids.Digest]map[mindforge.Edit]bool
}

func newFitter(c *edit.Catalogue, base mindforge.Pair) *fitter {
	return &fitter{catalogue: c, base: base, beside: map[ids.Digest]map[mindforge.Edit]bool{}}
}

// committed lists the edits that can be made in the base: what it has already is no choice.
func (f *fitter) committed() []mindforge.Edit {
	if f.alone == nil {
		f.alone = f.catalogue.Fitting(f.base.Contract)
	}
	return slices.Clone(f.alone)
}

// options lists the edits that a member can still take, by what they touch: one for each component
// that its own edits leave alone, and other values of a component that they have set.
func (f *fitter) options(m *member) (out []Option) {
	alone := f.committed()
	for _, e := range f.catalogue.Edits() {
		set := slices.ContainsFunc(m.edits, func(o mindforge.Edit) bool { return o.Component == e.Component })
		inside := slices.ContainsFunc(m.edits, func(o mindforge.Edit) bool { return edit.Meet(e, o) && o.Component != e.Component })
		if !inside && !slices.Contains(m.edits, e) && (set || slices.Contains(alone, e)) {
			out = append(out, optionOf(f.catalogue, e))
		}
	}
	return out
}

// takes reports whether the contract is valid that a member comes to with an edit more.
func (f *fitter) takes(m *member, e mindforge.Edit) bool {
	known := f.beside[m.hash]
	if known == nil {
		known = map[mindforge.Edit]bool{}
		f.beside[m.hash] = known
	}
	takes, tried := known[e]
	if !tried {
		takes = edit.Breaks(f.base.Contract, with(m.edits, e)...) < 0
		known[e] = takes
	}
	return takes
}

// made makes the member that edits of the base come to, without those that do not go together with
// the others.
func (f *fitter) made(edits []mindforge.Edit) (member, error) {
	m, err := made(f.base, edits)
	for err != nil && len(edits) > 0 {
		at := max(0, edit.Breaks(f.base.Contract, edits...))
		edits = slices.Delete(slices.Clone(edits), at, at+1)
		m, err = made(f.base, edits)
	}
	return m, err
}

// ask is what a proposer is shown of a member.
func (f *fitter) ask(m *member, seed uint64) Ask {
	return Ask{Contract: m.pair.Contract, Edits: slices.Clone(m.edits), Options: f.options(m), Takes: func(e mindforge.Edit) bool { return f.takes(m, e) }, Seed: seed}
}

// Draw draws one of some options of an ask, each with equal chance of those whose contract is valid;
// false: none is. An option that is drawn and is not is put away, so that few have to be tried.
func (a Ask) Draw(r *rand.Rand, of []Option) (Option, bool) {
	of = slices.Clone(of)
	for len(of) > 0 {
		i := r.IntN(len(of))
		if a.Takes == nil || a.Takes(of[i].Edit) {
			return of[i], true
		}
		of = slices.Delete(of, i, i+1)
	}
	return Option{}, false
}
