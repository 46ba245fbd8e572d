package train

import "macaron/internal/engine/lora"

// Adapter is the revision of the masters as they are now: what ForwardBackward computes
// with and what an export holds, byte for byte. It is immutable.
func (t *Trainer) Adapter() (*lora.Adapter, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return nil, closed()
	}
	return t.round()
}

// round makes the adapter that serves, unless it is there since the last step.
func (t *Trainer) round() (*lora.Adapter, error) {
	if t.served != nil {
		return t.served, nil
	}
	c, err := t.content()
	if err != nil {
		return nil, err
	}
	t.served, err = c.Adapter(t.base)
	return t.served, err
}

// content is the masters as they are stored: rounded to half precision.
func (t *Trainer) content() (*lora.Content, error) {
	var values []lora.Values
	for _, m := range t.layout.Modules {
		a, b := t.layout.Parts(m, t.master)
		values = append(values, lora.Values{Layer: m.Layer, Target: m.Target, A: a, B: b})
	}
	return lora.Make(t.base, lora.Plan{Rank: t.spec.Rank, Alpha: t.spec.Alpha, RsLoRA: t.spec.RsLoRA}, values)
}

// Content is the revision as it is stored: the rounded A and B and nothing of the
// optimizer. It is the caller's.
func (t *Trainer) Content() (*lora.Content, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.master == nil {
		return nil, closed()
	}
	return t.content()
}

// Export writes the revision as a PEFT directory, which must not be there yet, with other files
// beside: it is there with all of them or not at all.
func (t *Trainer) Export(dir string, beside ...lora.Beside) error {
	c, err := t.Content()
	if err != nil {
		return err
	}
	return c.WritePEFT(dir, beside...)
}
