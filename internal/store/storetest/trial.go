package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/ids"
	"macaron/internal/record"
)

// trials: turns that began during a trial are found with what they came to, by their owner and
// trial only, and go with their session.
func trials(t *testing.T, s Store) {
	begun := func(owner, session, id string, second int, trial int64, arm string) record.Record {
		r := turn(owner, session, id, "", second)
		b := r.Body.(record.TurnOpened)
		b.Pair = &record.Pair{Release: ids.DigestOf([]byte("r")), Trial: trial, Arm: arm}
		r.Body = b
		return r
	}
	put(t, s, records(opened("o", "s", 1), begun("o", "s", "t1", 1, 3, record.ArmCanary), closed("o", "s", "t1", 2, record.StatusDelivered)))
	put(t, s, records(begun("o", "s", "t2", 3, 3, record.ArmCanary), begun("o", "s", "t3", 4, 4, record.ArmChampion), turn("o", "s", "t4", "", 5)))
	put(t, s, records(rec("o", "s", "t1", "", 6, record.Feedback{Score: -1}), rec("o", "s", "t1", "", 7, record.Summary{Text: "x", Source: "model"})))
	put(t, s, records(opened("p", "s", 1), begun("p", "s", "t1", 1, 3, record.ArmChampion)))
	got, err := s.Tried(ctx, "o", 3, "")
	if diff := cmp.Diff([]record.Tried{{Turn: "t1", Conversation: "s", Arm: "canary"}, {Turn: "t2", Conversation: "s", Arm: "canary"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if behind, err := s.Tried(ctx, "o", 3, got[0].Turn); err != nil || cmp.Diff(got[1:], behind) != "" {
		t.Errorf("behind the first are %v, %v", behind, err)
	}
	var kinds []record.Kind
	all, err := s.TrialRecords(ctx, "o", 3, 0, 9)
	for _, r := range all {
		kinds = append(kinds, r.Body.Kind())
	}
	if diff := cmp.Diff([]record.Kind{record.KindTurnOpened, record.KindTurnClosed, record.KindTurnOpened, record.KindFeedback}, kinds); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if more, err := s.TrialRecords(ctx, "o", 3, all[2].Seq, 1); err != nil || len(more) != 1 {
		t.Errorf("%d, %v", len(more), err)
	}
	put(t, s, records(closed("o", "s", "t2", 8, record.StatusDelivered), closed("o", "s", "t3", 8, record.StatusDelivered), closed("o", "s", "t4", 8, record.StatusDelivered)))
	if _, err := s.Erase(ctx, "o", "s", record.Erase{Why: "test", Time: at(9)}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Tried(ctx, "o", 3, ""); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
}
