package local

import "macaron/internal/backend"

// measure gives an overlay its tokens: those that the prompt begins with as another
// prompt does, but the last of it.
func (b *Backend) measure(o *backend.Overlay, prompt []int32) error {
	if o.Like == nil {
		return nil
	}
	other, err := b.encode(&backend.Request{Messages: o.Like})
	if err != nil {
		return err
	}
	n := 0
	for n < len(prompt)-1 && n < len(other.ids) && prompt[n] == other.ids[n] {
		n++
	}
	o.Tokens = n
	return nil
}
