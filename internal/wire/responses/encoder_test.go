package responses

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/chat"
	"macaron/internal/turn"
)

func encoded(t *testing.T, pieces []chat.Event, background bool) (out []string) {
	t.Helper()
	e := &encoder{emit: func(v event) error { out = append(out, v.name+" "+string(v.data)); return nil }}
	e.report, e.asked.Background = turn.Report{Turn: "trn_1", Adapter: "L2", Begun: time.Unix(1, 0)}, background
	if err := e.begin(); err != nil {
		t.Fatal(err)
	}
	var text, thought strings.Builder
	calls := []chat.ToolCall{}
	for _, p := range pieces {
		if err := e.add(p); err != nil {
			t.Fatal(err)
		}
		text.WriteString(p.Text)
		thought.WriteString(p.Reasoning)
		if c := p.ToolCall; c != nil {
			if c.Index == len(calls) {
				calls = append(calls, chat.ToolCall{ID: c.ID, Name: c.Name})
			}
			calls[c.Index].Arguments += c.Arguments
		}
	}
	m := chat.Message{Role: chat.Assistant, Reasoning: thought.String(), ToolCalls: calls}
	if text.Len() > 0 {
		m.Parts = []chat.Part{{Kind: "text", Text: text.String()}}
	}
	if err := e.end(e.ended(m, chat.FinishLength, chat.Usage{PromptTokens: 3, CachedTokens: 1, OutputTokens: 2})); err != nil {
		t.Fatal(err)
	}
	return out
}

// chop divides a text at random runes.
func chop(r *rand.Rand, s string) (pieces []string) {
	for s != "" {
		n := 0
		for k := 1 + r.IntN(9); k > 0 && n < len(s); k-- {
			_, size := utf8.DecodeRuneInString(s[n:])
			n += size
		}
		pieces, s = append(pieces, s[:n]), s[n:]
	}
	return pieces
}

// However an engine cuts its answer, the events are the same: those of the answer told whole.
func TestEventsDoNotDependOnTheEnginesPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const thought, text = "hm, let me  see", "Hello world,\n\nthis is longwordlongwordlongwordlongword 日本語 text 🙂🙂 end "
	arguments := []string{`{"city": "Paris", "when":"tomorrow"}`, `{}`}
	whole := []chat.Event{{Reasoning: thought}, {Text: text}}
	for i, a := range arguments {
		whole = append(whole, chat.Event{ToolCall: &chat.ToolCallDelta{Index: i, ID: "c" + itoa(i), Name: "f", Arguments: a}})
	}
	want := encoded(t, whole, false)
	for range 200 {
		var pieces []chat.Event
		for _, s := range chop(r, thought) {
			pieces = append(pieces, chat.Event{Reasoning: s})
		}
		for _, s := range chop(r, text) {
			pieces = append(pieces, chat.Event{Text: s})
		}
		for i, a := range arguments {
			d := chat.ToolCallDelta{Index: i, ID: "c" + itoa(i), Name: "f"}
			for _, s := range append([]string{""}, chop(r, a)...) {
				d.Arguments = s
				piece := d
				pieces = append(pieces, chat.Event{ToolCall: &piece})
				d.ID, d.Name = "", ""
			}
		}
		if d := cmp.Diff(want, encoded(t, pieces, false)); d != "" {
			t.Fatal(d)
		}
	}
	if deltas := strings.Count(strings.Join(want, "\n"), "response.output_text.delta "); deltas < 10 {
		t.Errorf("only %d pieces of text", deltas)
	}
}

func itoa(n int) string { return string(rune('0' + n)) }

func TestTheEventsByteForByte(t *testing.T) {
	const head = `"object":"response","created_at":1,`
	const tail = `"background":false,"conversation":null,"instructions":null,"max_output_tokens":null,"max_tool_calls":null,"metadata":null,"model":"","parallel_tool_calls":false,"previous_response_id":null,"prompt_cache_key":null,"reasoning":null,"safety_identifier":null,"service_tier":"","store":false,"temperature":null,"text":null,"tool_choice":null,"tools":null,"top_logprobs":0,"top_p":null,"truncation":"","user":null}`
	item := `{"id":"msg_1_0","type":"message","status":"incomplete","role":"assistant","content":[{"type":"output_text","text":"Hi \u003cb\u003e","annotations":[],"logprobs":[]}]}`
	want := []string{
		`response.created {"type":"response.created","sequence_number":0,"response":{"id":"resp_1",` + head + `"status":"in_progress","error":null,"incomplete_details":null,"output":[],"usage":null,` + tail + `}`,
		`response.in_progress {"type":"response.in_progress","sequence_number":1,"response":{"id":"resp_1",` + head + `"status":"in_progress","error":null,"incomplete_details":null,"output":[],"usage":null,` + tail + `}`,
		`response.output_item.added {"type":"response.output_item.added","sequence_number":2,"output_index":0,"item":{"id":"msg_1_0","type":"message","status":"in_progress","role":"assistant","content":[]}}`,
		`response.content_part.added {"type":"response.content_part.added","sequence_number":3,"item_id":"msg_1_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[],"logprobs":[]}}`,
		`response.output_text.delta {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1_0","output_index":0,"content_index":0,"delta":"Hi","logprobs":[]}`,
		`response.output_text.delta {"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1_0","output_index":0,"content_index":0,"delta":" \u003cb\u003e","logprobs":[]}`,
		`response.output_text.done {"type":"response.output_text.done","sequence_number":6,"item_id":"msg_1_0","output_index":0,"content_index":0,"text":"Hi \u003cb\u003e","logprobs":[]}`,
		`response.content_part.done {"type":"response.content_part.done","sequence_number":7,"item_id":"msg_1_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Hi \u003cb\u003e","annotations":[],"logprobs":[]}}`,
		`response.output_item.done {"type":"response.output_item.done","sequence_number":8,"output_index":0,"item":` + item + `}`,
		`response.incomplete {"type":"response.incomplete","sequence_number":9,"response":{"id":"resp_1",` + head + `"status":"incomplete","error":null,"incomplete_details":{"reason":"max_output_tokens"},"output":[` + item + `],` +
			`"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":1,"cache_write_tokens":0},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":5},` +
			`"macaron":{"turn":"trn_1","adapter":"L2","revision":"","reason":"","contract":""},` + tail + `}`,
	}
	if d := cmp.Diff(want, encoded(t, []chat.Event{{Text: "Hi <b>"}}, false)); d != "" {
		t.Error(d)
	}
}

func TestMixedCallsAreNotTold(t *testing.T) {
	e := &encoder{emit: func(event) error { return nil }}
	for i, d := range []chat.ToolCallDelta{{Index: 0, ID: "a", Name: "f"}, {Index: 1, ID: "b", Name: "f"}, {Index: 0, Arguments: "{}"}} {
		if err := e.add(chat.Event{ToolCall: &d}); (err != nil) != (i == 2) {
			t.Errorf("piece %d: %v", i, err)
		}
	}
}

func TestTheRingIsBounded(t *testing.T) {
	r := newRun(&API{running: map[place]*run{}}, "o", func() {})
	big := make([]byte, 1<<20)
	for i := range 20 {
		if err := r.add(event{seq: i, data: big}); err != nil {
			t.Fatal(err)
		}
	}
	if r.bytes > ringBytes || len(r.events) != ringBytes>>20 {
		t.Errorf("%d events of %d bytes", len(r.events), r.bytes)
	}
	if _, err := r.next(t.Context(), 2); err != errBehind {
		t.Errorf("events that are gone: %v", err)
	}
	if got, err := r.next(t.Context(), 17); err != nil || len(got) != 2 || got[0].seq != 18 {
		t.Errorf("%v %v", got, err)
	}
	r.finish(nil)
	if got, err := r.next(t.Context(), 19); err != nil || got != nil {
		t.Errorf("%v %v", got, err)
	}
}
