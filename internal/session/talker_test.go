package session_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"macaron/internal/chat"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
	"macaron/internal/ui4a/action"
)

// failure lets the rig report from outside a test.
type failure struct{}

func (failure) Helper()                   {}
func (failure) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }
func (failure) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }

// talker holds a conversation for ever and prints a line for each thing that the log has
// acknowledged: what, of which turn or session, and what was said.
type talker struct {
	*rig
	random *rand.Rand
	said   []chat.Message // the conversation as the client has it
	last   string         // the turn that was delivered last
	turns  int
}

// talk dies at a named point, the second, third or fourth time that it comes there, by the seed.
func talk(dir, at string, seed uint64) {
	hits, last := 0, 2+int(seed%3)
	store, err := sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(dir, "log.db"), Durability: sqlite.Normal, Fault: func(s sqlite.Stage, k record.Kind) error {
		if at == string(s)+" "+string(k) {
			if hits++; hits == last {
				die()
			}
		}
		return nil
	}})
	if err != nil {
		panic(err)
	}
	t := talker{rig: rigOn(failure{}, store), random: rand.New(rand.NewPCG(seed, 5))}
	t.log = session.New(store, session.Options{})
	t.useTools()
	for {
		things := []func(){t.useTools, t.together, t.shorten, t.judge, t.remove, t.open, t.card}
		t.random.Shuffle(len(things), func(i, j int) { things[i], things[j] = things[j], things[i] })
		for _, do := range things {
			do()
		}
	}
}

func die() {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	if err != nil {
		panic(err)
	}
	select {}
}

// ask begins a turn with a new question, for any of two adapters.
func (t *talker) ask() begun {
	question := fmt.Sprintf("%d.%d", os.Getpid(), t.turns)
	t.turns++
	t.said = with(t.said, user(question))
	b := t.begin(failure{}, me, t.said, []string{"L1", "L2"}[t.random.IntN(2)])
	fmt.Println("opened", b.ID, question)
	return b
}

// answer ends a turn that the client has seen whole.
func (t *talker) answer(b begun, last ...session.Served) {
	must(t.log.Close(ctx, b.Turn, record.StatusDelivered, "", last...))
	t.said, t.last = with(t.said, said("answer of "+b.ID)), b.ID
	fmt.Println("delivered", b.ID, digest(failure{}, t.said))
}

// useTools runs a turn with a tool loop, and its summary.
func (t *talker) useTools() {
	b := t.ask()
	route := session.Served{Hop: record.Hop{Hop: record.HopRoute, Adapter: revision("L0"), Route: &record.RouteDecision{Label: b.label}}}
	must(t.log.RecordHop(ctx, b.Turn, route))
	asks := calls("call of " + b.ID)
	t.finish(failure{}, b, asks)
	fmt.Println("awaiting", b.ID)
	t.said = with(t.said, asks, result(asks.ToolCalls[0].ID, "found"))
	b = t.begin(failure{}, me, t.said, "")
	served := answer(b.label, said("answer of "+b.ID))
	served.Blob = &record.Blob{Tokens: []int32{1, 2, 3}}
	t.answer(b, served)
	tasks, err := t.log.LeaseSummaries(ctx, 1, time.Hour)
	must(err)
	for _, task := range tasks {
		t.summarize(failure{}, task.Turn, "summary of "+task.Turn)
		fmt.Println("summary", task.Turn)
	}
}

// together has two adapters answer a turn.
func (t *talker) together() {
	b := t.ask()
	parts := []record.JoinedPart{{Turn: "p1", Adapter: revision("L1"), Text: "half"}, {Turn: "p2", Adapter: revision("L2"), Text: "half of " + b.ID}}
	must(t.log.RecordJoined(ctx, b.Turn, record.Joined{Parts: parts, Message: said("answer of " + b.ID), Finish: chat.FinishStop}))
	fmt.Println("joined", b.ID)
	t.answer(b)
}

var shortening = record.Compacted{Adapter: "L1", Turns: 4, Dropped: 1, Keep: 100, Before: 900, Tokens: 400, Limit: 500}

// shorten has a view outgrow its window, in a turn that nobody ends.
func (t *talker) shorten() {
	before := t.said
	b := t.ask()
	must(t.log.RecordCompacted(ctx, b.Turn, shortening))
	fmt.Println("compacted", b.ID)
	must(t.log.Close(ctx, b.Turn, record.StatusInterrupted, "canceled"))
	t.said = before
}

func (t *talker) judge() {
	must(t.log.Feedback(ctx, me.Owner, t.last, record.Feedback{Score: -1, Reason: "wrong"}))
	fmt.Println("judged", t.last)
}

// remove deletes an answer that was not deleted before.
func (t *talker) remove() {
	t.together()
	must(t.log.Delete(ctx, me.Owner, t.last, "response of "+t.last))
	fmt.Println("deleted", t.last)
}

// card uses a card of an answer that had none, until it is sent.
func (t *talker) card() {
	t.together()
	on := "inline/" + t.last + "/0"
	revision := ids.DigestOf([]byte(t.last))
	keep := func(at int, bodies ...record.Body) {
		kept, err := t.log.Card(ctx, me.Owner, t.last, at, bodies...)
		must(err)
		if !kept {
			must(errors.New("somebody else uses the card"))
		}
	}
	keep(0, record.CardRendered{Surface: on, Revision: revision, Bytes: 1})
	keep(1, record.CardState{Surface: on, Revision: revision, Values: map[string]json.RawMessage{"a": []byte("1")}})
	act := record.CardAction{Action: action.Action{Origin: action.Origin{Surface: on}, State: map[string]json.RawMessage{}, Sequence: 6}}
	keep(2, act)
	act.Action.Sequence = 7
	keep(3, act, record.CardOutcome{Surface: on, Revision: revision, Outcome: record.CardCompleted})
	fmt.Println("used", t.last)
}

// open opens a session that has no turn yet.
func (t *talker) open() {
	asked := fmt.Sprintf(`{"n":%d}`, t.turns)
	id, err := t.log.OpenSession(ctx, me.Owner, &record.Asked{API: "t", Fields: []byte(asked)})
	must(err)
	fmt.Println("session", id, asked)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func digest(t tester, messages []chat.Message) string {
	return string(ids.DigestOf([]byte(encode(t, messages))))
}
