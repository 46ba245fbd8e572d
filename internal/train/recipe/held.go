package recipe

import (
	"path/filepath"

	"macaron/internal/errs"
)

// read reads the rows to train on and those that are held out.
func (x *run) read() (lines, heldOut []line, err error) {
	data := &x.r.Data
	if lines, x.made.Data, err = readLines(x.r.path(data.Train), x.m.Base.Vocab); err != nil {
		return nil, nil, err
	}
	x.made.Dataset = datasetOf(x.r.path(data.Train), x.made.Data)
	switch {
	case data.HeldOut != "":
		if heldOut, x.made.HeldOut, err = readLines(x.r.path(data.HeldOut), x.m.Base.Vocab); err == nil && x.made.HeldOut == x.made.Data {
			err = notHeldOut()
		}
	case data.Fraction > 0:
		lines, heldOut = x.r.split(lines)
	}
	return lines, heldOut, err
}

// apartData refuses to hold out the file that is trained on.
func (r *Recipe) apartData() error {
	if d := &r.Data; d.HeldOut != "" && filepath.Clean(r.path(d.Train)) == filepath.Clean(r.path(d.HeldOut)) {
		return notHeldOut()
	}
	return nil
}

// notHeldOut is the error of rows that are trained on and evaluated with: such an evaluation
// says nothing of other rows.
func notHeldOut() error {
	return errs.New(errs.FormatInvalid, "the recipe's data.held_out is the file that data.train is", "give other rows, or use data.held_out_fraction in place of the file")
}

// split holds rows out by chance, at least one.
func (r *Recipe) split(lines []line) (kept, heldOut []line) {
	order := random(r.Seed, 1<<33).Perm(len(lines))
	n := max(1, int(r.Data.Fraction*float64(len(lines))))
	out := map[int]bool{}
	for _, i := range order[:min(n, len(order))] {
		out[i] = true
	}
	for i := range lines {
		if out[i] {
			heldOut = append(heldOut, lines[i])
		} else {
			kept = append(kept, lines[i])
		}
	}
	return kept, heldOut
}
