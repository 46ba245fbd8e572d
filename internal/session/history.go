package session

import (
	"container/list"
	"context"
	"fmt"
	"slices"
	"sync"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/record"
)

// History gives a turn and its ancestors, oldest first; the turn is the last.
//
// A long conversation costs what is new in it: the turns that were read before are kept
// in memory, with the last record seen of each session that they lie in, and a later
// call reads the records behind those. Whoever wrote them, this process or another, the
// result is that of reading the whole lineage.
func (l *Log) History(ctx context.Context, owner, turn string) ([]Turn, error) {
	state, err := l.store.Turn(ctx, owner, turn)
	if err != nil {
		return nil, err
	}
	known := l.lines.get(owner, turn)
	if known == nil {
		known = l.lines.get(owner, state.Parent)
	}
	var now *line
	if known != nil {
		if now, err = l.renew(ctx, known, state); err != nil {
			return nil, err
		}
	}
	if now == nil {
		if now, err = l.read(ctx, owner, turn); err != nil {
			return nil, err
		}
	}
	if len(now.turns) > l.maxTurns {
		return nil, l.tooLong()
	}
	if now != known {
		now.note()
		l.lines.put(owner, turn, state.Parent, now)
	}
	return now.copies(), nil
}

// read reads a whole lineage.
func (l *Log) read(ctx context.Context, owner, turn string) (*line, error) {
	records, err := l.store.Lineage(ctx, owner, turn, l.maxTurns)
	if err != nil {
		return nil, err
	}
	now := &line{turns: fold(records), marks: map[string]int64{}}
	if len(now.turns) == 0 {
		return nil, errs.New(errs.NotFound, "there is no such turn", "list your sessions to see what there is")
	}
	if now.turns[0].Parent != "" {
		return nil, l.tooLong()
	}
	for _, r := range records {
		now.marks[r.Session] = max(now.marks[r.Session], r.Seq)
	}
	for i := range now.turns {
		now.bytes += now.turns[i].size()
	}
	return now, nil
}

func (l *Log) tooLong() error {
	return errs.New(errs.TooLarge, fmt.Sprintf("the conversation has more than %d turns", l.maxTurns), "start a new one")
}

// news is how many records, and of how many sessions, renew reads at most; beyond that
// the lineage is read whole.
const (
	news   = 512
	crowds = 8
)

// renew brings a line up to date, and to the given turn if it ends at that turn's
// parent. Nil means that the line must be read whole.
func (l *Log) renew(ctx context.Context, known *line, to record.TurnState) (*line, error) {
	if len(known.marks) > crowds {
		return nil, nil
	}
	records, err := l.store.After(ctx, to.Owner, known.places(), news)
	if err != nil || len(records) == news {
		return nil, err
	}
	whole := known.turns[len(known.turns)-1].ID == to.Turn
	if whole && len(records) == 0 {
		return known, nil
	}
	now := known.branch()
	var own []record.Record
	for _, r := range records {
		now.marks[r.Session] = max(now.marks[r.Session], r.Seq)
		if i := now.find(r.Turn); i >= 0 {
			now.turns[i].apply(r)
		} else if r.Turn == to.Turn {
			own = append(own, r)
		}
	}
	if whole {
		return now, nil
	}
	return now, l.extend(ctx, now, to, own)
}

// find gives the place of a turn, or -1: what is new is mostly of the last ones.
func (n *line) find(turn string) int {
	for i := len(n.turns) - 1; i >= 0; i-- {
		if n.turns[i].ID == turn {
			return i
		}
	}
	return -1
}

// extend adds the turn behind a line: of the records at hand if they are all of it.
func (l *Log) extend(ctx context.Context, now *line, to record.TurnState, own []record.Record) error {
	if len(own) == 0 || own[0].Body.Kind() != record.KindTurnOpened {
		var err error
		if own, err = l.store.Lineage(ctx, to.Owner, to.Turn, 1); err != nil {
			return err
		}
	}
	turns := fold(own)
	if len(turns) != 1 {
		return errs.New(errs.NotFound, "there is no such turn", "list your sessions to see what there is")
	}
	if _, ok := now.marks[to.Session]; !ok { // else its records up to the mark are not all seen
		now.marks[to.Session] = turns[0].seq
	}
	now.turns = append(now.turns, turns[0])
	now.bytes += turns[0].size()
	return nil
}

// line is a turn with its ancestors, and how far the log was read for it. It does not
// change once it is kept.
type line struct {
	turns []Turn
	marks map[string]int64 // session to the last record seen in it
	bytes int              // about what it holds
}

func (n *line) branch() *line {
	marks := make(map[string]int64, len(n.marks)+1)
	for s, seq := range n.marks {
		marks[s] = seq
	}
	return &line{turns: n.copies(), marks: marks, bytes: n.bytes}
}

// copies gives the turns so that no append of one reaches another.
func (n *line) copies() []Turn {
	turns := slices.Clone(n.turns)
	for i := range turns {
		turns[i].Hops = slices.Clip(turns[i].Hops)
	}
	return turns
}

func (n *line) places() []record.Mark {
	var all []record.Mark
	for s, seq := range n.marks {
		all = append(all, record.Mark{Session: s, Seq: seq})
	}
	return all
}

// note keeps the chain hash behind each turn that is over.
func (n *line) note() {
	var at link
	for i := range n.turns {
		t := &n.turns[i]
		if t.after == nil && t.Status == record.StatusDelivered {
			after := walk(t.begin(at), t.Trace)
			t.after = &after
		}
		if t.after == nil {
			return
		}
		at = *t.after
	}
}

// size is about how many bytes a turn keeps in memory.
func (t *Turn) size() int {
	n := 1024 + 256*len(t.Hops) + len(t.Summary)
	for _, list := range [][]chat.Message{t.System, t.Imported, t.User, t.Trace, t.Trace} { // hops hold the trace too
		for _, m := range list {
			n += 128 + len(m.Reasoning)
			for _, p := range m.Parts {
				n += 64 + len(p.Text) + len(p.Raw)
			}
			for _, c := range m.ToolCalls {
				n += 64 + len(c.Arguments)
			}
		}
	}
	for _, d := range t.Tools {
		n += len(d.Parameters) + len(d.Description)
	}
	return n
}

// lines are the conversations that were read last, at most so many bytes.
type lines struct {
	most int

	mu    sync.Mutex
	bytes int
	at    map[[2]string]*list.Element
	order *list.List // of kept, the last used first
}

type kept struct {
	key [2]string // owner, turn
	*line
}

func newLines(most int) *lines {
	return &lines{most: most, at: map[[2]string]*list.Element{}, order: list.New()}
}

func (c *lines) get(owner, turn string) *line {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.at[[2]string{owner, turn}]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(kept).line
}

// put keeps a line in the place of its parent's, which it contains.
func (c *lines) put(owner, turn, parent string, n *line) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(c.at[[2]string{owner, parent}])
	key := [2]string{owner, turn}
	c.drop(c.at[key])
	if n.bytes > c.most/4 {
		return
	}
	c.at[key] = c.order.PushFront(kept{key, n})
	for c.bytes += n.bytes; c.bytes > c.most; {
		c.drop(c.order.Back())
	}
}

func (c *lines) drop(e *list.Element) {
	if e == nil {
		return
	}
	k := c.order.Remove(e).(kept)
	delete(c.at, k.key)
	c.bytes -= k.bytes
}
