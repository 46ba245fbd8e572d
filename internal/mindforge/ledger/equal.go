package ledger

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// Comparable is what of an entry two equal runs agree in: its key, its kind and its body
// without times and measured costs, as canonical bytes.
func (e Entry) Comparable() ([]byte, error) {
	b, err := e.Decode()
	if err != nil {
		return nil, err
	}
	return canonical.Bytes(struct {
		Key  string `json:"key"`
		Kind Kind   `json:"kind"`
		Body Body   `json:"body"`
	}{e.Key, e.Kind, b.lasting()})
}

// Same tells whether two entries say the same, up to times and measured costs.
func Same(a, b Entry) (bool, error) {
	x, err := a.Comparable()
	if err != nil {
		return false, err
	}
	y, err := b.Comparable()
	return bytes.Equal(x, y), err
}

// Equal compares the entries of two runs up to times, measured costs, names of runs and the
// order in which workers came to write: each key must be in both, and say the same. The
// error names what differs first, by key.
func Equal(a, b []Entry) error {
	byKey := func(x, y Entry) int { return cmp.Compare(x.Key, y.Key) }
	a, b = slices.SortedFunc(slices.Values(a), byKey), slices.SortedFunc(slices.Values(b), byKey)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(b) || i < len(a) && a[i].Key < b[i].Key:
			return differs("only the first ledger has " + a[i].Key)
		case i >= len(a) || a[i].Key > b[i].Key:
			return differs("only the second ledger has " + b[i].Key)
		}
		same, err := Same(a[i], b[i])
		if err != nil {
			return err
		}
		if !same {
			return differs(fmt.Sprintf("%s says something else:\n%s\n%s", a[i].Key, a[i].Body, b[i].Body))
		}
	}
	return nil
}

func differs(how string) error {
	return errs.New(errs.ChecksumMismatch, "the ledgers differ: "+how, "")
}
