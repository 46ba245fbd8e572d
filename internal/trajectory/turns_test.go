package trajectory

import (
	"testing"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
)

// A turn leaves only when it, all that it shows and all its answers may.
func TestTurnsThatMayLeave(t *testing.T) {
	yes := record.Head{Turn: "trn_1", Purpose: record.Production, Consent: record.ConsentTrain}
	for _, c := range []struct {
		purpose record.Purpose
		consent record.Consent
		may     bool
	}{
		{record.Production, record.ConsentTrain, true}, {record.Discovery, record.ConsentNone, true}, {record.Production, record.ConsentNone, false}, {record.Production, "", false},
		{record.Evaluation, record.ConsentTrain, false}, {record.Replay, record.ConsentTrain, false}, {record.Training, record.ConsentTrain, false}, {"", record.ConsentTrain, false},
	} {
		h := record.Head{Turn: "trn_2", Purpose: c.purpose, Consent: c.consent}
		for where, e := range map[string]*Exchange{"the turn": {Opened: h}, "a turn before": {Opened: yes, History: []record.Head{yes, h}}, "an answer": {Opened: yes, Answers: []Answer{{Head: h}}}} {
			got, err := TrainingTurn(e)
			if (err == nil) != c.may || (got.Exchange() != nil) != c.may || err != nil && errs.CodeOf(err) != errs.Forbidden {
				t.Errorf("%s of %s, %s: %v", where, c.purpose, c.consent, err)
			}
		}
	}
}

// Rows of tokens are what each call of the model was given and gave; without them there is
// no row.
func TestTokensOfTurns(t *testing.T) {
	m := chat.Text(chat.Assistant, "x")
	h := record.Head{Turn: "trn_1", Purpose: record.Discovery, Contract: ids.DigestOf([]byte("c")), Blob: &record.Blob{Prompt: []int32{1, 2}, Tokens: []int32{3}, Logps: []float32{-0.5}}}
	e := &Exchange{Opened: h, Answers: []Answer{{h, record.Hop{ID: "hop_1", Message: &m}}, {h, record.Hop{ID: "hop_2", Message: &m}}}}
	turn, err := TrainingTurn(e)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := turn.GRPO()
	if err != nil || len(rows) != 2 || rows[1].Part != 1 || rows[0].Prompt[1] != 2 || rows[0].Mask[0] != 1 || rows[0].Logprobs[0] != -0.5 {
		t.Errorf("%+v, %v", rows, err)
	}
	for _, b := range []*record.Blob{nil, {Tokens: []int32{3}, Logps: []float32{-0.5}}, {Prompt: []int32{1}, Tokens: []int32{3}}} {
		e.Answers[1].Head.Blob = b
		if _, err := turn.GRPO(); errs.CodeOf(err) != errs.Unsupported {
			t.Errorf("%+v: %v", b, err)
		}
	}
}
