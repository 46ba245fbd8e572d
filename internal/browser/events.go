package browser

import (
	"encoding/json"
	"strings"
	"sync"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
)

// Event is something that a document said or asked for.
type Event struct {
	Kind string `json:"kind"` // error, warning, exception, policy or request
	Text string `json:"text"` // the message, or the address
}

// eventLog keeps the events of one document in their order.
type eventLog struct {
	mu     sync.Mutex
	events []Event
}

// Bounds of what is kept of one document.
const (
	mostEvents   = 1000
	longestEvent = 2000
)

func (l *eventLog) all() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Event(nil), l.events...)
}

func (l *eventLog) add(kind, text string) {
	if len(l.events) < mostEvents {
		l.events = append(l.events, Event{Kind: kind, Text: text[:min(len(text), longestEvent)]})
	}
}

// take is called with every event of the protocol, in their order.
func (l *eventLog) take(ev any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch ev := ev.(type) {
	case *network.EventRequestWillBeSent:
		l.add("request", ev.Request.URL)
	case *runtime.EventExceptionThrown:
		l.add("exception", thrown(ev.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if ev.Type == "error" || ev.Type == "assert" || ev.Type == "warning" {
			l.add(map[bool]string{true: "warning", false: "error"}[ev.Type == "warning"], spoken(ev.Args))
		}
	case *log.EventEntryAdded:
		l.entry(ev.Entry)
	}
}

// entry is a message of the browser itself. What the content policy forbids is told by it,
// by some twice; it makes no request.
func (l *eventLog) entry(e *log.Entry) {
	switch {
	case strings.Contains(e.Text, "Content Security Policy"):
		l.add("policy", e.Text)
	case e.Level == log.EntryLevelError && e.Source != "network":
		l.add("error", e.Text)
	case e.Level == log.EntryLevelWarning:
		l.add("warning", e.Text)
	}
}

func thrown(d *runtime.ExceptionDetails) string {
	if d.Exception == nil {
		return d.Text
	}
	return strings.TrimSpace(d.Text + " " + spoken([]*runtime.RemoteObject{d.Exception}))
}

func spoken(args []*runtime.RemoteObject) string {
	var words []string
	for _, a := range args {
		text := ""
		switch {
		case a.Description != "":
			text, _, _ = strings.Cut(a.Description, "\n    at ")
		case json.Unmarshal(a.Value, &text) != nil:
			text = string(a.Value)
		}
		words = append(words, text)
	}
	return strings.Join(words, " ")
}
