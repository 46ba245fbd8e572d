package limits

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"macaron/internal/chat"
	"macaron/internal/errs"
)

func refused(t *testing.T, err error, code errs.Code, field string) {
	t.Helper()
	e := errs.As(err)
	if e == nil || e.Code != code || e.Field != field {
		t.Errorf("got %v, want %s in %q", err, code, field)
	}
}

func TestNumbersB17B20(t *testing.T) {
	for _, raw := range []string{`"hot"`, `"1"`, `null`, `true`, `[1]`, `-0.1`, `2.1`, `1e999`, `{}`} {
		_, err := Number("temperature", json.RawMessage(raw), 0, 2)
		refused(t, err, errs.InvalidRequest, "temperature")
	}
	for raw, want := range map[string]float64{"0": 0, "1": 1, "2": 2, "0.7": 0.7, "1e-1": 0.1} {
		if x, err := Number("t", json.RawMessage(raw), 0, 2); err != nil || *x != want {
			t.Errorf("%s: %v %v", raw, x, err)
		}
	}
	for _, raw := range []string{`10.0`, `"10"`, `0`, `-5`, `1e3`, `true`, `"abc"`, `99999999999999999999`, `1048577`} {
		_, err := Whole("max_tokens", json.RawMessage(raw), 1, OutputTokens)
		refused(t, err, errs.InvalidRequest, "max_tokens")
	}
}

func TestBrokenJSONNamesTheField(t *testing.T) {
	for body, field := range map[string]string{
		`{"model":"m","temperature":NaN}`:   "temperature",
		`{"temperature":Infinity,"a":1}`:    "temperature",
		`{"messages":[{"role":"user",}]}`:   "role",
		`{"a":1`:                            "",
		`[]`:                                "",
		`"x"`:                               "",
		``:                                  "",
		`{"a":1} {"b":2}`:                   "",
		`{"a":1,"a":2}`:                     "a",
		strings.Repeat(`{"a":`, Depth+1):    "",
		strings.Repeat(`[`, 100000) + `"\"`: "",
	} {
		_, err := Object("", []byte(body))
		refused(t, err, errs.InvalidRequest, field)
	}
}

func TestBodyAndContentType(t *testing.T) {
	if _, err := Body(unread{t}, BodyBytes+1); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("announced: %v", err)
	}
	if _, err := Body(strings.NewReader(strings.Repeat("x", BodyBytes+1)), -1); errs.CodeOf(err) != errs.TooLarge {
		t.Errorf("got %v", err)
	}
	for _, h := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		refused(t, ContentType(h), errs.InvalidRequest, "content-type")
	}
	for _, h := range []string{"application/json", "Application/JSON; charset=utf-8"} {
		if err := ContentType(h); err != nil {
			t.Errorf("%s: %v", h, err)
		}
	}
}

// Bytes that are no UTF-8 would reach the model as other characters than were sent.
func TestBodyMustBeUTF8(t *testing.T) {
	for body, at := range map[string]string{"{\"a\":\"x\xffy\"}": "byte 7", "\xfe": "byte 0", "\"\ufffd\xe2\x82\"": "byte 4"} {
		_, err := Body(strings.NewReader(body), int64(len(body)))
		refused(t, err, errs.InvalidRequest, "")
		if !strings.Contains(err.Error(), at) {
			t.Errorf("%q: %v", body, err)
		}
	}
	if b, err := Body(strings.NewReader("{\"a\":\"\ufffd é 字\"}"), -1); err != nil || len(b) == 0 {
		t.Errorf("a replacement character is UTF-8: %v", err)
	}
}

func TestAMissingFieldIsCalledMissing(t *testing.T) {
	_, err := Text("messages[0].role", nil, 10)
	refused(t, err, errs.InvalidRequest, "messages[0].role")
	if !strings.Contains(err.Error(), "is missing") {
		t.Error(err)
	}
}

func TestConversation(t *testing.T) {
	u, a := chat.Text(chat.User, "hi"), chat.Text(chat.Assistant, "hello")
	call := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "c1", Name: "f", Arguments: "{}"}}}
	result := chat.Message{Role: chat.Tool, ToolCallID: "c1", Parts: []chat.Part{{Kind: "text", Text: "1"}}}
	for _, ok := range [][]chat.Message{{u}, {u, a, u}, {u, call, result}, {chat.Text(chat.System, "s"), u}} {
		if err := Conversation(ok); err != nil {
			t.Errorf("refused: %v", err)
		}
	}
	refused(t, Conversation(nil), errs.InvalidRequest, "messages")
	refused(t, Conversation([]chat.Message{u, a}), errs.InvalidRequest, "messages[1].role")
	refused(t, Conversation([]chat.Message{u, result}), errs.OrphanToolTurn, "messages[1].tool_call_id")
	refused(t, Conversation([]chat.Message{{Role: chat.User}}), errs.InvalidRequest, "messages[0].content")
	refused(t, Conversation([]chat.Message{{Role: chat.User, Parts: u.Parts, ToolCalls: call.ToolCalls}}), errs.InvalidRequest, "messages[0].tool_calls")
	refused(t, Conversation([]chat.Message{{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "x"}}}, u}), errs.InvalidRequest, "messages[0].tool_calls[0]")
	refused(t, Conversation([]chat.Message{chat.Text(chat.User, strings.Repeat("x", TextBytes+1))}), errs.TooLarge, "messages[0]")
	refused(t, Conversation(make([]chat.Message, MessageCount+1)), errs.TooLarge, "messages")
}

func TestTools(t *testing.T) {
	f := chat.ToolDef{Name: "f"}
	refused(t, Tools([]chat.ToolDef{f, f}, chat.ToolChoice{}), errs.InvalidRequest, "tools[1].function.name")
	refused(t, Tools([]chat.ToolDef{{Name: "a b"}}, chat.ToolChoice{}), errs.InvalidRequest, "tools[0].function.name")
	refused(t, Tools(nil, chat.ToolChoice{Mode: "required"}), errs.InvalidRequest, "tool_choice")
	refused(t, Tools([]chat.ToolDef{f}, chat.ToolChoice{Mode: "function", Name: "g"}), errs.InvalidRequest, "tool_choice")
	refused(t, Tools([]chat.ToolDef{{Name: "f", Description: strings.Repeat("x", ToolBytes+1)}}, chat.ToolChoice{}), errs.TooLarge, "tools[0]")
	if err := Tools([]chat.ToolDef{f}, chat.ToolChoice{Mode: "function", Name: "f"}); err != nil {
		t.Error(err)
	}
}

func TestQueueIsFairAndRefusesWithATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 2, nil)
		leave, err := q.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan int, 2)
		for i := range 2 {
			go func() {
				l, err := q.Enter(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				order <- i
				l()
			}()
			synctest.Wait()
		}
		_, err = q.Enter(t.Context())
		if e := errs.As(err); e == nil || e.Code != errs.Overloaded || e.RetryAfter <= 0 {
			t.Errorf("a full queue gives %v", err)
		}
		leave()
		if a, b := <-order, <-order; a != 0 || b != 1 {
			t.Errorf("order %d, %d", a, b)
		}
	})
}

// B21: a client that leaves while it waits is gone, not overloaded, and its place is free.
func TestQueueForgetsWhoLeavesB21(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 1, nil)
		leave, _ := q.Enter(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error, 1)
		go func() { _, err := q.Enter(ctx); got <- err }()
		synctest.Wait()
		cancel()
		if err := <-got; errs.CodeOf(err) != errs.Canceled || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		leave()
		l, err := q.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		l()
		if q.free != 1 || q.running != 0 || len(q.waiting) != 0 {
			t.Errorf("left over: %d free, %d running, %d waiting", q.free, q.running, len(q.waiting))
		}
	})
}

func FuzzObject(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1,"b":[{}]}`, `{"a":NaN}`, `{"a":"\u0000"}`, `[[[`, "{\"a\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Object("", b)
		if err != nil {
			if c := errs.CodeOf(err); c != errs.InvalidRequest {
				t.Fatalf("code %s", c)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("took invalid JSON, %d members", len(m))
		}
	})
}

// unread is a body that nobody may wait for.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("it was read")
	return 0, io.EOF
}

// A larger queue lets in who waits; a smaller one lets finish who runs, and admits nobody until
// there is a place again.
func TestQueueResized(t *testing.T) {
	q := NewQueue(1, 9, nil)
	enter := func() func() {
		leave, err := q.Enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	first, in := enter(), make(chan func())
	for range 2 {
		go func() { in <- enter() }()
	}
	for q.waits() < 2 {
		runtime.Gosched()
	}
	q.Resize(3, 9)
	second, third := <-in, <-in
	q.Resize(1, 0)
	if _, err := q.Enter(t.Context()); errs.CodeOf(err) != errs.Overloaded {
		t.Errorf("a full queue says %v", err)
	}
	first()
	second()
	if _, err := q.Enter(t.Context()); errs.CodeOf(err) != errs.Overloaded {
		t.Errorf("with one running of one it says %v", err)
	}
	third()
	enter()()
}

func (q *Queue) waits() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}
