package mint

import (
	"context"
	"io"

	"macaron/internal/ids"
	"macaron/internal/mint/ledger"
)

// afterwards takes a snapshot of a model when a restart would have much to do again, and
// sends models out of memory that are too many. It runs in the turn of the model.
func (s *Service) afterwards(m *model, f *future) {
	l := s.o.Limits
	switch {
	case m.row.Unloaded:
		s.forget(m)
	case m.trainer != nil && (m.work >= l.SnapshotWork || m.row.Steps-m.row.SnapshotSteps >= l.SnapshotSteps):
		s.snapshot(m)
	}
	s.pageOut(m)
}

// snapshot keeps the state of a model. A failure costs nothing but
// a longer restart.
func (s *Service) snapshot(m *model) {
	d, _, err := s.o.Blobs.Put(func(w io.Writer) error { return m.trainer.Save(w, "") })
	if err == nil {
		row := m.row
		c := setSnapshot(&row, d, ledger.Whole, row.Applied)
		c.Models = []ledger.Model{row}
		if err = s.o.Store.Write(context.WithoutCancel(s.ctx), c); err == nil {
			s.mu.Lock()
			m.row, m.work = row, 0
			s.stats.Snapshots++
			s.mu.Unlock()
			return
		}
	}
	s.o.Log.Warn("no snapshot of a model was taken", "model", m.row.ID, "error", err)
}

// setSnapshot makes a blob the snapshot of a row as of an operation; what leads there is
// not needed any more.
func setSnapshot(row *ledger.Model, d ids.Digest, form ledger.Form, at int64) ledger.Change {
	row.Snapshot, row.Form, row.SnapshotAt, row.SnapshotSteps = d, form, at, row.Steps
	return ledger.Change{Behind: []ledger.Mark{{Owner: row.Owner, Model: row.ID, Seq: at}}}
}

// pageOut sends the models out of memory that were not worked on for longest, while there
// are more than may stay; now is the one that has just been worked on.
func (s *Service) pageOut(now *model) {
	for {
		s.mu.Lock()
		resident, takes, oldest := 0, int64(0), (*model)(nil)
		for _, m := range s.models {
			if m == now || !m.running && m.trainer != nil {
				resident++
				if m.trainer != nil {
					takes += m.trainer.StateBytes()
				}
			}
			if m != now && !m.running && m.trainer != nil && (oldest == nil || m.before(oldest)) {
				oldest = m
			}
		}
		if oldest == nil || resident <= s.o.Limits.Resident && takes <= s.o.Limits.ResidentBytes {
			s.mu.Unlock()
			return
		}
		oldest.running = true
		s.mu.Unlock()
		s.leave(oldest)
	}
}

// leave writes a model's state to disk and lets its memory go; the caller has its turn, and
// gives it back.
func (s *Service) leave(m *model) {
	if m.row.Applied > m.row.SnapshotAt {
		s.snapshot(m)
	}
	m.trainer = nil
	s.mu.Lock()
	m.running = false
	s.changed.Broadcast()
	s.mu.Unlock()
}

// forget takes a model that is unloaded out of memory, and fails what still waits for it.
func (s *Service) forget(m *model) {
	m.trainer = nil
	s.failAhead(m, unloaded(m.row.ID))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(m.ahead) == 0 {
		delete(s.models, m.row.ID)
	}
}

// failAhead resolves everything that waits for a model; the caller has its turn.
func (s *Service) failAhead(m *model, why error) {
	s.mu.Lock()
	var all []*future
	for _, f := range m.ahead {
		all = append(all, f)
	}
	s.mu.Unlock()
	for _, f := range all {
		if err := s.fail(f, why); err != nil {
			s.o.Log.Error("a request cannot be ended", "request", f.op.ID, "error", err)
			continue
		}
		s.mu.Lock()
		delete(m.ahead, f.op.Seq)
		s.mu.Unlock()
	}
}

// fail resolves a future without carrying it out.
func (s *Service) fail(f *future, why error) error {
	op, err := s.resolution(f, Result{}, why)
	if err != nil {
		return err
	}
	if err := s.o.Store.Write(context.WithoutCancel(s.ctx), ledger.Change{Resolve: []ledger.Op{op}}); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deliver(f, op, Result{})
	return nil
}
