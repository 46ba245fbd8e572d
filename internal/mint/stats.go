package mint

import (
	"fmt"

	"macaron/internal/mint/ledger"
)

// Stats is what the service did since it was opened, and what it has now.
type Stats struct {
	Sessions, Models, Samplers int
	Resident                   int // models whose optimizer is in memory
	Pending                    int // promises
	PendingBytes               int64
	Resolved                   map[Op]int64
	Failures                   map[Op]int64
	Replayed                   int64 // operations that were carried out once more to restore a state
	Snapshots                  int64
	Freed                      int64 // bytes of blobs that were collected
}

// count notes an outcome; the service's lock is held.
func (t *Stats) count(op ledger.Op) {
	if t.Resolved == nil {
		t.Resolved, t.Failures = map[Op]int64{}, map[Op]int64{}
	}
	if State(op.State) == Failed {
		t.Failures[Op(op.Kind)]++
		return
	}
	t.Resolved[Op(op.Kind)]++
}

// Stats is a snapshot.
func (s *Service) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.stats
	t.Resolved, t.Failures = copied(t.Resolved), copied(t.Failures)
	for _, e := range s.sessions {
		if e.row.Ended.IsZero() {
			t.Sessions++
		}
	}
	t.Models, t.Samplers, t.PendingBytes = len(s.models), len(s.samplers), s.pending
	for _, m := range s.models {
		if m.running || m.trainer != nil {
			t.Resident++
		}
	}
	for _, n := range s.pendingOf {
		t.Pending += n
	}
	return t
}

func copied(m map[Op]int64) map[Op]int64 {
	out := make(map[Op]int64, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// why says what a pending promise waits for; s.mu is held.
func (s *Service) why(f *future) (Queue, string) {
	m := s.models[f.op.Model]
	switch {
	case f.op.Model == "" && f.cancel == nil:
		return PausedCapacity, fmt.Sprintf("%d sampling requests run at once", s.o.Limits.Samples)
	case m == nil || f.op.Seq <= m.row.Applied:
		return Active, ""
	}
	for seq := m.row.Applied + 1; seq < f.op.Seq; seq++ {
		if m.ahead[seq] == nil {
			return Active, fmt.Sprintf("operation %d of this model has not come yet", seq)
		}
	}
	if m.trouble != "" {
		return PausedCapacity, "it is tried again each second: " + m.trouble
	}
	if !m.running {
		return PausedCapacity, "other models have their turn"
	}
	return Active, ""
}
