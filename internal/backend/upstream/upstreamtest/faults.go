package upstreamtest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// Fault is one way in which a server can fail an answer, or answer in a way that must
// not be taken for a failure. Serve plays it on a chat request.
type Fault struct {
	Name   string
	Serve  http.HandlerFunc
	Stalls bool // only the longest silence ends it
}

// Pieces of a stream that goes well.
const (
	hello = `{"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}`
	lo    = `{"choices":[{"index":0,"delta":{"content":"lo 你"},"finish_reason":null}]}`
	end   = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage = `{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}`
)

// Faults lists the cases. A stall lasts until the request is given up.
func Faults() []Fault {
	whole := "data: " + strings.Join([]string{hello, lo, end, usage, "[DONE]"}, "\n\ndata: ") + "\n\n"
	call := func(args string) string {
		return `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"f","arguments":` + args + `}}]}}]}`
	}
	return []Fault{
		{"none: a plain stream", raw(whole), false},
		{"none: CRLF line ends", raw(strings.ReplaceAll(whole, "\n", "\r\n")), false},
		{"none: CR line ends", raw(strings.ReplaceAll(whole, "\n", "\r")), false},
		{"none: byte by byte, runes split", dripped(whole, 0), false},
		{"none: no [DONE]", stream(hello, lo, end, usage), false},
		{"none: no usage", stream(hello, lo, end, "[DONE]"), false},
		{"none: tool_calls []", stream(`{"choices":[{"delta":{"content":"Hello 你","tool_calls":[]}}]}`, end, usage, "[DONE]"), false},
		{"none: comments between events", raw(": ping\n\n" + strings.ReplaceAll(whole, "\n\n", "\n\n: ping\n\n")), false},
		{"none: a byte order mark", raw("\xef\xbb\xbf" + whole), false},
		{"none: a whole answer instead of a stream", body(200, "", `{"choices":[{"index":0,"message":{"role":"assistant","content":"Hello 你"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":2}}`), false},
		{"none: content null at first", stream(`{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`, hello, lo, end, usage, "[DONE]"), false},
		{"none: usage in every event", stream(`{"choices":[{"delta":{"content":"Hello 你"}}],"usage":{"prompt_tokens":9,"completion_tokens":1}}`, end, usage, "[DONE]"), false},

		{"400", body(400, "", `{"error":{"message":"temperature is wrong"}}`), false},
		{"400: context", body(400, "", `{"error":{"message":"maximum context length is 8192 tokens"}}`), false},
		{"401", body(401, "", `{"error":{"message":"bad key"}}`), false},
		{"403", body(403, "", ``), false},
		{"404: no such model", body(404, "", `{"object":"error","message":"The model does not exist."}`), false},
		{"413", body(413, "", ``), false},
		{"429 with Retry-After", body(429, "17", ``), false},
		{"429 with a date", body(429, "Fri, 31 Dec 2100 23:59:59 GMT", ``), false},
		{"500", body(500, "", `boom`), false},
		{"503 with Retry-After", body(503, "9", `busy`), false},
		{"307 to another place", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/v1", http.StatusTemporaryRedirect)
		}, false},
		{"200 with an error in the body", body(200, "", `{"error":{"message":"no slot","type":"server_error"}}`), false},
		{"200 with HTML", body(200, "", `<html>a proxy</html>`), false},
		{"200 with nothing", body(200, "", ``), false},
		{"200 with an empty list of choices", body(200, "", `{"choices":[]}`), false},

		{"error event at first", stream(`{"error":{"message":"out of memory","code":500}}`), false},
		{"error event after a word", stream(hello, `{"error":{"message":"out of memory","code":500}}`), false},
		{"invalid JSON after a word", stream(hello, `{"choi`), false},
		{"invalid UTF-8 instead of JSON", stream(hello, "\xff\xfe"), false},
		{"invalid UTF-8 in the text", stream("{\"choices\":[{\"delta\":{\"content\":\"Hello \xff\"}}]}", end, usage, "[DONE]"), false},
		{"cut after a word", stream(hello), false},
		{"cut inside an event", raw("data: " + hello + "\n\ndata: {\"cho"), false},
		{"[DONE] without an end", stream(hello, "[DONE]"), false},
		{"abort as the end", stream(hello, `{"choices":[{"delta":{},"finish_reason":"abort"}]}`), false},
		{"a line of 16 MiB", giant, false},
		{"stalled before the headers", func(_ http.ResponseWriter, r *http.Request) { stall(r) }, true},
		{"stalled after the headers", func(w http.ResponseWriter, r *http.Request) { raw("")(w, r); flush(w); stall(r) }, true},
		{"stalled after a word", func(w http.ResponseWriter, r *http.Request) { stream(hello)(w, r); flush(w); stall(r) }, true},
		{"a byte now and then", dripped("data: "+hello, 20*time.Millisecond), true},
		{"reset before the headers", func(w http.ResponseWriter, _ *http.Request) { reset(w) }, false},
		{"reset after a word", func(w http.ResponseWriter, r *http.Request) { stream(hello)(w, r); flush(w); reset(w) }, false},
		{"reset inside an event", func(w http.ResponseWriter, r *http.Request) {
			raw("data: "+hello+"\n\ndata: {\"cho")(w, r)
			flush(w)
			reset(w)
		}, false},
		{"a call of a tool that nobody offered", stream(call(`"{}"`), `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`, usage, "[DONE]"), false},
		{"a tool call numbered -1", stream(`{"choices":[{"delta":{"tool_calls":[{"index":-1,"function":{"name":"f","arguments":""}}]}}]}`), false},
	}
}

func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, text)
	}
}

func stream(events ...string) http.HandlerFunc {
	text := ""
	for _, e := range events {
		text += "data: " + e + "\n\n"
	}
	return raw(text)
}

func body(status int, after, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if after != "" {
			w.Header().Set("Retry-After", after)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

// dripped sends one byte at a time; with a pause it never comes to an end of a line.
func dripped(text string, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; pause > 0 || i < len(text); i++ {
			c := byte(' ')
			if i < len(text) {
				c = text[i]
			}
			if _, err := w.Write([]byte{c}); err != nil {
				return
			}
			flush(w)
			select {
			case <-time.After(pause):
			case <-r.Context().Done():
				return
			}
		}
	}
}

// giant is one line of 16 MiB.
func giant(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, "data: "+hello+"\n\ndata: ")
	piece := strings.Repeat("x", 1<<20)
	for range 16 {
		if _, err := io.WriteString(w, piece); err != nil {
			return
		}
	}
}

func flush(w http.ResponseWriter) {
	if f, ok := w.(http.Flusher); ok {
		f.Flush()
	}
}

func stall(r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// reset ends the connection with RST.
func reset(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		return
	}
	c, _, err := h.Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.Close()
}
