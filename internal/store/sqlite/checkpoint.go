package sqlite

import (
	"context"
	"time"

	"macaron/internal/store/logsql"
)

// The write-ahead log goes into the database beside the writer, in a goroutine of its own:
// copying pages and syncing both files would have every turn of that moment wait. What it
// leaves because the writer went on meanwhile, the writer itself copies when the log has
// grown to so many pages, so that the log begins anew.
const (
	checkpointEvery = 250 * time.Millisecond
	checkpointAfter = 128                        // writes and commits; fewer wait for others
	autocheckpoint  = "wal_autocheckpoint(4096)" // 16 MiB
)

// checkpoints copies until the store closes.
func (s *Store) checkpoints() {
	defer close(s.copied)
	tick := time.NewTicker(checkpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		if s.uncopied.Load() >= checkpointAfter {
			s.uncopied.Store(0)
			_ = s.checkpoint() // the writer's own comes to the same fault, and tells it
		}
	}
}

func (s *Store) checkpoint() error {
	ctx := context.Background()
	rows, err := s.read.QueryContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	return drain(rows, err, func(logsql.Row) error { return nil }) // it works as it is read
}
