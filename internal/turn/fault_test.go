package turn_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
)

// Every write of a turn fails once, one after the other, at each of its stages. What
// the client saw finished is delivered in the log, now and after a restart; nothing
// that failed before it became durable is; and the next request works.
func TestEveryWriteFailsOnce(t *testing.T) {
	for n := int64(1); ; n++ {
		if !t.Run(fmt.Sprint(n), func(t *testing.T) {
			if failNth(t, n) {
				t.Log("there is no such write")
			}
		}) {
			return
		}
		if n > lastWrite.Load()+3 {
			break
		}
	}
	if lastWrite.Load() < 6 {
		t.Errorf("only %d moments of writing were tried", lastWrite.Load())
	}
}

// lastWrite is the highest moment at which a turn of the test still wrote.
var lastWrite atomic.Int64

var errDisk = errors.New("no space left on device")

// failNth runs two turns while the n-th moment of writing fails, and reports whether
// there was none.
func failNth(t *testing.T, n int64) bool {
	dir, armed := t.TempDir(), atomic.Bool{}
	var count, failed atomic.Int64
	var stage sqlite.Stage
	r := faultyRig(t, dir, func(s sqlite.Stage, k record.Kind) error {
		if !armed.Load() || k == record.KindSummary || count.Add(1) != n {
			return nil
		}
		failed.Store(1)
		stage = s
		return errDisk
	})
	armed.Store(true)
	k := r.talk()
	finished := map[string]bool{}
	for _, text := range []string{"L2: one", "L2: two"} {
		out, err := k.try(chat.Text(chat.User, text))
		if err == nil {
			finished[out.done.Turn] = true
			continue
		}
		k.history = k.history[:len(k.history)-1]
		if code := errs.CodeOf(err); code != errs.StorageFailed && code != errs.StorageFull && code != errs.Internal {
			t.Errorf("a failing log gives %v", err)
		}
		if out.reason != "" {
			t.Error("a turn that could not be stored was told as finished")
		}
	}
	armed.Store(false)
	if failed.Load() == 1 {
		lastWrite.Store(max(lastWrite.Load(), n))
	}
	k.say("L2: three")
	checkDelivered(t, r, finished, stage)
	return failed.Load() == 0
}

func checkDelivered(t *testing.T, r *rig, finished map[string]bool, stage sqlite.Stage) {
	t.Helper()
	delivered := 0
	all, err := r.log.List(t.Context(), "local", zeroTime, 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		_, turns, err := r.log.Load(t.Context(), "local", s.Session)
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range turns {
			if turn.Status == record.StatusDelivered {
				delivered++
			}
			if finished[turn.ID] && turn.Status != record.StatusDelivered {
				t.Errorf("a finished turn is %s", turn.Status)
			}
			if turn.Status == record.StatusOpen && stage != sqlite.AfterCommit {
				t.Errorf("turn %s stays open", turn.ID)
			}
		}
	}
	// The third turn is delivered too; after a commit that only its caller did not
	// learn of, so may be one more.
	if extra := delivered - len(finished) - 1; extra < 0 || extra > 0 && stage != sqlite.AfterCommit {
		t.Errorf("%d turns are delivered, %d were finished before the last", delivered, len(finished))
	}
}
