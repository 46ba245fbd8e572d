package session_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"macaron/internal/chat"
	"macaron/internal/ownview"
	"macaron/internal/record"
	"macaron/internal/session"
)

// node is a turn as the test's own model of the rules knows it.
type node struct {
	id       string
	parent   *node
	label    string
	imported []chat.Message
	user     []chat.Message
	trace    []chat.Message
	summary  string // what a view must show
	final    bool
	prompt   []chat.Message // what its specialist saw at the last hop
}

func (n *node) path() []*node {
	var path []*node
	for ; n != nil; n = n.parent {
		path = append(path, n)
	}
	slices.Reverse(path)
	return path
}

// client is the conversation as the client of n holds it.
func (n *node) client() (all []chat.Message) {
	for _, m := range n.path() {
		all = slices.Concat(all, m.imported, m.user, m.trace)
	}
	return all
}

// world drives the log with a random client and checks every view against the model.
type world struct {
	*rapid.T
	r     *rig
	where session.Where
	nodes []*node
	count int
}

func (w *world) nonce(kind string) string {
	w.count++
	return fmt.Sprintf("%s-%d.", kind, w.count)
}

func (w *world) label() string {
	return rapid.SampledFrom([]string{"L0", "L1", "L2"}).Draw(w.T, "label")
}

// pick gives a delivered turn to go on from, or nil for a new conversation.
func (w *world) pick() *node {
	i := rapid.IntRange(-1, len(w.nodes)-1).Draw(w.T, "from")
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

// want is the view by the rules, written down a second time.
func (w *world) want(n *node, label string) []chat.Message {
	view := []chat.Message{chat.Text(chat.System, "SYS ")}
	for _, m := range n.path() {
		view = slices.Concat(view, m.imported, m.user)
		switch {
		case m == n || m.label == label:
			view = append(view, m.trace...)
		default:
			view = append(view, said("["+m.summary+"]"))
		}
	}
	return ownview.Sanitize(view)
}

// check holds a view that a turn of n's specialist got against every property.
func (w *world) check(n *node, b begun) {
	for _, m := range n.path() {
		if m == n || m.label == n.label {
			continue
		}
		if !m.final { // this view used it first
			m.final = true
			if m.summary == "" {
				m.summary = strings.TrimSpace((&session.Turn{Trace: m.trace}).Answer())
			}
		}
		for _, t := range m.trace {
			if text := t.Text(); text != "" && text != m.summary && strings.Contains(encode(w, b.view), text) {
				w.Fatalf("%s sees %q of %s", n.label, text, m.label)
			}
		}
	}
	if diff := cmp.Diff(lines(w.want(n, n.label)), lines(b.view)); diff != "" {
		w.Fatalf("view of %s (-want +got):\n%s", n.label, diff)
	}
	for m := n.parent; m != nil; m = m.parent {
		if m.label == n.label && m.prompt != nil {
			w.prefix(m.prompt, b.view)
			break
		}
	}
	w.reread(b)
	n.prompt = b.view
}

// prefix checks that re-entry extends the earlier view byte for byte.
func (w *world) prefix(earlier, later []chat.Message) {
	if len(later) < len(earlier) || encode(w, earlier) != encode(w, later[:len(earlier)]) {
		w.Fatalf("no prefix:\n%s\n%s", encode(w, earlier), encode(w, later))
	}
}

// reread builds the view again from the log alone.
func (w *world) reread(b begun) {
	turns, err := w.r.log.History(ctx, w.where.Owner, b.Turn.ID)
	if err != nil {
		w.Fatal(err)
	}
	last := len(turns) - 1
	view, err := ownview.Build(w.r.c, session.Views(turns[:last]), turns[last].View(), b.label)
	if err != nil {
		w.Fatal(err)
	}
	if encode(w, view) != encode(w, b.view) {
		w.Fatalf("from the log: %s\nin hand: %s", encode(w, view), encode(w, b.view))
	}
}

// run opens n's turn with a body, answers it (through tools at times) and delivers.
func (w *world) run(n *node, body []chat.Message) {
	b := w.r.begin(w, w.where, body, n.label)
	n.id = b.ID
	w.check(n, b)
	for rapid.IntRange(0, 3).Draw(w.T, "tools") == 0 {
		asks := calls(w.nonce("call"), w.nonce("call"))
		asks.Parts = said(w.nonce("thought")).Parts
		w.r.finish(w, b, asks)
		n.trace = append(n.trace, asks)
		body = with(body, asks)
		results := []chat.Message{result(asks.ToolCalls[1].ID, w.nonce("result")), result(asks.ToolCalls[0].ID, w.nonce("result"))}
		if rapid.IntRange(0, 3).Draw(w.T, "leave") == 0 {
			n.trace = append(n.trace, results[:rapid.IntRange(0, 2).Draw(w.T, "given")]...)
			w.leave(n)
			return
		}
		body = with(body, results...)
		n.trace = append(n.trace, results...)
		if rapid.IntRange(0, 3).Draw(w.T, "break") == 0 {
			broken := w.r.begin(w, w.where, body, "")
			w.interrupt(broken)
		}
		b = w.r.begin(w, w.where, body, "")
		w.check(n, b)
	}
	a := said(w.nonce("answer"))
	w.r.finish(w, b, a)
	n.trace = append(n.trace, a)
	w.nodes = append(w.nodes, n)
}

// leave goes on with the user's words where tool results are due.
func (w *world) leave(n *node) {
	next := &node{parent: n, label: w.label(), user: []chat.Message{user(w.nonce("user"))}}
	w.run(next, slices.Concat(n.client(), next.user))
}

func (w *world) interrupt(b begun) {
	if err := w.r.log.Close(ctx, b.Turn, record.StatusInterrupted, "test", answer(b.label, said(w.nonce("lost")))); err != nil {
		w.Fatal(err)
	}
}

// The client's moves.

func (w *world) say(t *rapid.T) {
	w.T = t
	n := &node{parent: w.pick(), label: w.label(), user: []chat.Message{user(w.nonce("user"))}}
	if rapid.IntRange(0, 4).Draw(t, "import") == 0 {
		n.imported = []chat.Message{user(w.nonce("old")), said(w.nonce("import"))}
	}
	w.run(n, n.client())
}

func (w *world) retry(t *rapid.T) {
	w.T = t
	if of := w.pick(); of != nil {
		n := &node{parent: of.parent, label: w.label(), imported: of.imported, user: of.user}
		w.run(n, n.client())
	}
}

func (w *world) edit(t *rapid.T) {
	w.T = t
	if of := w.pick(); of != nil {
		n := &node{parent: of.parent, label: w.label(), imported: of.imported, user: []chat.Message{user(w.nonce("edit"))}}
		w.run(n, n.client())
	}
}

// back goes on from tool calls that have had their results already: with other
// results, or with the user's words.
func (w *world) back(t *rapid.T) {
	w.T = t
	of := w.pick()
	if of == nil {
		return
	}
	at := slices.IndexFunc(of.trace, func(m chat.Message) bool { return len(m.ToolCalls) > 0 })
	if at < 0 {
		return
	}
	n := &node{parent: of.parent, label: of.label, imported: of.imported, user: of.user, trace: slices.Clone(of.trace[:at+1])}
	if rapid.Bool().Draw(t, "leave") {
		w.leave(n)
		return
	}
	for _, c := range of.trace[at].ToolCalls {
		n.trace = append(n.trace, result(c.ID, w.nonce("other")))
	}
	b := w.r.begin(w, w.where, n.client(), "")
	n.id = b.ID
	w.check(n, b)
	a := said(w.nonce("answer"))
	w.r.finish(w, b, a)
	n.trace = append(n.trace, a)
	w.nodes = append(w.nodes, n)
}

func (w *world) broken(t *rapid.T) {
	w.T = t
	n := &node{parent: w.pick(), label: w.label(), user: []chat.Message{user(w.nonce("user"))}}
	b := w.r.begin(w, w.where, n.client(), n.label)
	w.check(n, b)
	w.interrupt(b)
}

func (w *world) write(t *rapid.T) {
	w.T = t
	n := w.pick()
	if n == nil || n.id == "" {
		return
	}
	text := w.nonce("summary")
	kept, err := w.r.log.PutSummary(ctx, w.where.Owner, n.id, session.Served{}, record.Summary{Text: text, Source: "model"})
	if err != nil {
		t.Fatal(err)
	}
	if kept == n.final {
		t.Fatalf("a summary was kept: %v, though a view has used one: %v", kept, n.final)
	}
	if kept {
		n.summary = text
	}
}

func TestRandomConversations(t *testing.T) {
	r := newRig(t)
	owners := 0
	rapid.Check(t, func(rt *rapid.T) {
		owners++
		w := &world{T: rt, r: r, where: session.Where{Owner: fmt.Sprintf("owner%d", owners), Scope: "key"}}
		rt.Repeat(map[string]func(*rapid.T){
			"say": w.say, "retry": w.retry, "edit": w.edit, "back": w.back, "interrupt": w.broken, "summarize": w.write,
		})
	})
}
