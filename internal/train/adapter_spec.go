package train

import (
	"fmt"
	"slices"
	"strings"

	"macaron/internal/engine/lora"
	"macaron/internal/errs"
)

// complete checks a spec and fills in what it leaves open: alpha, and the names of the
// targets, sorted, in place of the three switches.
func (s *Spec) complete() error {
	if s.Rank < 1 || s.Rank > lora.MaxRank {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("the rank is %d", s.Rank), fmt.Sprintf("use 1 to %d", lora.MaxRank)).In("rank")
	}
	if s.Alpha == 0 {
		s.Alpha = DefaultAlpha
	}
	if !(s.Alpha > 0 && s.Alpha <= 1e6) {
		return errs.New(errs.InvalidRequest, fmt.Sprintf("alpha is %v", s.Alpha), "use a positive number up to 1e6").In("alpha")
	}
	targets, err := s.targets()
	if err != nil {
		return err
	}
	s.Attn, s.MLP, s.Unembed, s.Targets = false, false, false, nil
	for _, t := range targets {
		s.Targets = append(s.Targets, t.String())
	}
	slices.Sort(s.Targets)
	return nil
}

// targets are the linear layers to train, each once, in the order of lora.Target.
func (s *Spec) targets() ([]lora.Target, error) {
	if len(s.Targets) == 0 {
		return s.groups()
	}
	if s.Attn || s.MLP || s.Unembed {
		return nil, errs.New(errs.InvalidRequest, "the targets are given by name and by switch", "give one of the two").In("targets")
	}
	var out []lora.Target
	for _, name := range s.Targets {
		t, ok := lora.ParseTarget(name)
		if !ok {
			return nil, errs.New(errs.InvalidRequest, fmt.Sprintf("there is no target %q", errs.Clip(name)), "known targets: "+strings.Join(lora.TargetNames(), ", ")).In("targets")
		}
		out = append(out, t)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// groups are the targets of the three switches.
func (s *Spec) groups() ([]lora.Target, error) {
	var out []lora.Target
	if s.Attn {
		out = append(out, lora.Q, lora.K, lora.V, lora.O)
	}
	if s.MLP {
		out = append(out, lora.Gate, lora.Up, lora.Down)
	}
	if s.Unembed {
		out = append(out, lora.Head)
	}
	if len(out) == 0 {
		return nil, errs.New(errs.InvalidRequest, "the adapter has no target", "train at least one of attention, MLP and output head").In("targets")
	}
	return out, nil
}

// layout lays out an adapter of a complete spec for a base.
func (s *Spec) layout(base lora.Shape) (*Layout, error) {
	targets, err := s.targets()
	if err != nil {
		return nil, err
	}
	l := &Layout{Rank: s.Rank}
	for layer := range base.Layers {
		for _, t := range targets {
			if t != lora.Head {
				l.add(layer, t, base)
			}
		}
	}
	if slices.Contains(targets, lora.Head) {
		l.add(headLayer, lora.Head, base)
	}
	return l, nil
}

// StateBytes is the memory that training an adapter of this shape takes: masters, gradients
// and two moments, each of f32. It fails as New does.
func (s Spec) StateBytes(base lora.Shape) (int64, error) {
	if err := s.complete(); err != nil {
		return 0, err
	}
	l, err := s.layout(base)
	if err != nil {
		return 0, err
	}
	return l.stateBytes(), nil
}

func (l *Layout) stateBytes() int64 { return 4 * 4 * int64(l.Size) }

// headLayer is the layer of the head, which belongs to none.
const headLayer = -1
