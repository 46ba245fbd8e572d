package record

import (
	"bytes"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
)

func TestBodiesReadBackEqual(t *testing.T) {
	score := 0.5
	for _, body := range []Body{
		SessionOpened{Root: "ses_1", Scope: "k", ForkedFrom: "trn_1", Title: "<b>&"},
		TurnOpened{Messages: []chat.Message{chat.Text(chat.User, "<\u2028日本>")}, Tools: []chat.ToolDef{{Name: "f", Parameters: []byte(`{"z":1,"a":2}`)}},
			Choice: chat.ToolChoice{Mode: "auto"}, Continued: &Continued{Turn: "trn_0", Trace: []chat.Message{chat.Text(chat.Assistant, "x")}}, Asked: &Asked{API: "a", Fields: []byte(`{"z":1,"a":2}`)}},
		Hop{ID: "hop_1", Hop: HopRoute, Route: &RouteDecision{Label: "L2", Reason: "model", Probabilities: map[string]float64{"L2": 0.75}}, Sampling: chat.Sampling{TopP: &score}},
		ToolResults{Messages: []chat.Message{{Role: chat.Tool, ToolCallID: "c1"}}},
		TurnClosed{Status: StatusDelivered, Reason: "r"}, Summary{Text: "s", Source: "model"}, SummaryUsed{Text: "s"}, Feedback{Score: -1, Reason: "r"}, Deleted{Response: "resp_1"},
		ToolSaved{Name: "f", Source: "def f(): <", Parameters: []byte(`{"z":1,"a":2}`), Effect: "pure", Examples: []ToolExample{{Args: []byte(`{}`), Value: []byte(`1`)}}}, ToolJudged{Judgement: "j", Cases: "sha256:a", Judge: "sha256:b"}, ToolUsed{OK: true}, ToolDemoted{Reason: "r", Wealth: 1.5},
		RunOpened{Task: RunTask{Instruction: "<do>", Files: []RunFile{{Path: "a", Digest: "sha256:1", Bytes: 2}}, Meta: map[string]string{"b": "1", "a": "2"}}, Mode: "hybrid",
			Messages: []chat.Message{chat.Text(chat.User, "x")}, Limits: RunLimits{Turns: 3, CostUSD: 5e8}, Seed: 1 << 63},
		ToolCalled{Call: "c", Name: "f", Arguments: []byte(`{"z":1,"a":2}`), Effect: "write", Attempt: 1},
		ToolReturned{Call: "c", Name: "f", Value: []byte(`[1,{"z":1,"a":2}]`), Error: &RunError{Code: "x", Message: "m", Retryable: true}, Shown: "s"},
		CellRan{Cell: "c", Code: "1+1", Value: "2", Artifact: &RunFile{Path: "out"}, Shown: "2"},
		RunNote{Note: NoteHook, Name: "h", OK: new(bool), Round: 1}, RunClosed{Status: RunInDoubt, Call: "c", Totals: RunTotals{Turns: 1}},
		TurnOpened{Messages: []chat.Message{chat.Text(chat.User, "x")}, Part: &PartOf{Turn: "trn_0", Index: 1}},
		Joined{Parts: []JoinedPart{{Turn: "trn_1", Request: "r", Text: "t", After: 1}}, Message: chat.Text(chat.Assistant, "t")},
		Compacted{Adapter: "L2", Turns: 3, Dropped: 1, Keep: 9, Before: 900, Tokens: 400, Limit: 500},
	} {
		text, err := EncodeBody(body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeBody(body.Kind(), text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(body, got); diff != "" {
			t.Errorf("%s: %s", body.Kind(), diff)
		}
	}
}

func TestUnknownRecordIsRefused(t *testing.T) {
	for _, c := range []struct {
		kind Kind
		text string
	}{{"wish", `{}`}, {KindFeedback, `{"score":1,"mood":2}`}, {KindFeedback, `{"score":"x"}`}, {KindHop, ``}} {
		if body, err := DecodeBody(c.kind, []byte(c.text)); err == nil {
			t.Errorf("%s %s gave %v", c.kind, c.text, body)
		}
	}
}

func TestBlobBytes(t *testing.T) {
	b := &Blob{Tokens: []int32{1, -2}, Logps: []float32{-0.5, float32(math.Inf(-1))}}
	raw, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{1, 1, 2, 0, 0, 0, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff, 0, 0, 0, 0xbf, 0, 0, 0x80, 0xff}
	if !bytes.Equal(raw, want) {
		t.Fatalf("got % x", raw)
	}
	got, err := DecodeBlob(raw)
	if err != nil || cmp.Diff(b, got) != "" {
		t.Fatal(err, cmp.Diff(b, got))
	}
	b.Prompt = []int32{7, 8}
	if raw, err = b.Encode(); err != nil || raw[1] != 3 || !bytes.Equal(raw[22:], []byte{2, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0}) {
		t.Fatalf("got % x, %v", raw, err)
	}
	if got, err = DecodeBlob(raw); err != nil || cmp.Diff(b, got) != "" {
		t.Fatal(err, cmp.Diff(b, got))
	}
	if _, err := DecodeBlob(raw[:len(raw)-1]); err == nil {
		t.Error("a prompt that is cut was read")
	}
	if _, err := (&Blob{Tokens: []int32{1}, Logps: []float32{1, 2}}).Encode(); err == nil {
		t.Error("unequal lengths were written")
	}
}

func FuzzDecodeBlob(f *testing.F) {
	for _, seed := range [][]byte{{}, {1, 0, 0, 0, 0, 0}, {1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}, {1, 0, 255, 255, 255, 255}, {1, 2, 0, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := DecodeBlob(raw)
		if err != nil {
			return
		}
		again, err := b.Encode()
		if err != nil || len(again) > len(raw) {
			t.Fatalf("% x became % x: %v", raw, again, err)
		}
	})
}

func FuzzDecodeBody(f *testing.F) {
	for k := range decoders {
		f.Add(string(k), []byte(`{"messages":[{"role":"user","parts":[{"kind":"image","raw":{"a":1}}]}]}`))
	}
	f.Fuzz(func(t *testing.T, kind string, text []byte) {
		body, err := DecodeBody(Kind(kind), text)
		if err != nil {
			return
		}
		once, err := EncodeBody(body)
		if err != nil {
			t.Fatal(err)
		}
		back, err := DecodeBody(Kind(kind), once)
		if err != nil {
			t.Fatalf("%s: %v", once, err)
		}
		if twice, err := EncodeBody(back); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%s became %s: %v", once, twice, err)
		}
	})
}

func TestLinesReadBackEqual(t *testing.T) {
	r := Record{Head: Head{Seq: 7, ID: "rec_1", Owner: "o", Session: "s", Run: "run_1", Blob: &Blob{Tokens: []int32{1}, Logps: []float32{float32(math.Inf(-1))}, Prompt: []int32{2}}}, Body: RunNote{Note: NoteSkill, Name: "<&>"}}
	text, err := EncodeLine(r)
	if err != nil || bytes.ContainsAny(text, "\n\\") {
		t.Fatal(string(text), err)
	}
	got, err := DecodeLine(text)
	if diff := cmp.Diff(r, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
