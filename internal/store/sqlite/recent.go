package sqlite

import (
	"cmp"
	"container/list"
	"slices"
	"sync"

	"macaron/internal/record"
)

// recent keeps the sessions that this process opened in memory, the last used ones, and
// answers from them what would be asked of the file: most reads of a conversation come soon
// after its writes. It is exact, since only this process writes the file: a session is in it
// whole, from its first record on, or not at all. What it cannot tell the file is asked for.
type recent struct {
	most int // bytes

	mu       sync.Mutex
	bytes    int
	sessions map[name]*recentSession
	turns    map[name]*recentTurn
	order    *list.List // of *recentSession, the last used first
}

// name is an owner with a session or a turn.
type name struct{ owner, id string }

type recentSession struct {
	name
	scope   string
	records []*record.Record // by Seq, without blobs
	turns   []string
	bytes   int
	place   *list.Element
}

type recentTurn struct {
	state    record.TurnState
	awaited  bool
	records  []*record.Record
	session  *recentSession
	children []string
	whole    bool // children has all of them
}

// recentBytes bounds what is kept in memory, about.
const recentBytes = 24 << 20

func newRecent() *recent {
	return &recent{most: recentBytes, sessions: map[name]*recentSession{}, turns: map[name]*recentTurn{}, order: list.New()}
}

// took notes a batch that was committed. Its records have their Seq, and bodies as they
// would be read back.
func (c *recent) took(records []record.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range records {
		c.take(&records[i])
	}
	for c.bytes > c.most {
		c.forget(c.order.Back().Value.(*recentSession))
	}
}

func (c *recent) take(r *record.Record) {
	at := name{r.Owner, r.Session}
	if b, opened := r.Body.(record.SessionOpened); opened {
		s := &recentSession{name: at, scope: b.Scope}
		s.place = c.order.PushFront(s)
		c.sessions[at] = s
	}
	s := c.sessions[at]
	if s == nil {
		if p := c.turns[name{r.Owner, r.ParentTurn}]; p != nil && r.Body.Kind() == record.KindTurnOpened {
			p.whole = false
		}
		return
	}
	kept := *r
	kept.Blob, kept.Text = nil, nil
	s.records = append(s.records, &kept)
	s.bytes += 512 + 2*len(r.Text)
	c.bytes += 512 + 2*len(r.Text)
	c.move(s, &kept)
}

// move keeps the turns in step with a record, as logsql does with the table.
func (c *recent) move(s *recentSession, r *record.Record) {
	at := name{r.Owner, r.Turn}
	if _, opened := r.Body.(record.TurnOpened); opened {
		c.turns[at] = &recentTurn{session: s, whole: true, state: record.TurnState{
			Owner: r.Owner, Scope: s.scope, Session: r.Session, Turn: r.Turn, Parent: r.ParentTurn, Status: record.StatusOpen,
		}}
		s.turns = append(s.turns, r.Turn)
		if p := c.turns[name{r.Owner, r.ParentTurn}]; p != nil {
			p.children = append(p.children, r.Turn)
		}
	}
	t := c.turns[at]
	if t == nil || t.session != s {
		return
	}
	t.records = append(t.records, r)
	switch b := r.Body.(type) {
	case record.ToolResults:
		t.state.Status = record.StatusOpen
	case record.TurnClosed:
		t.state.Status = b.Status
		t.awaited = t.awaited || b.Status == record.StatusAwaiting
		if b.Status == record.StatusInterrupted && t.awaited {
			t.state.Status = record.StatusAwaiting
		}
	}
}

func (c *recent) forget(s *recentSession) {
	for _, id := range s.turns {
		t := c.turns[name{s.owner, id}]
		if p := c.turns[name{s.owner, t.state.Parent}]; p != nil {
			p.whole = false
		}
		delete(c.turns, name{s.owner, id})
	}
	c.order.Remove(s.place)
	delete(c.sessions, s.name)
	c.bytes -= s.bytes
}

// clear forgets everything: sessions were deleted.
func (c *recent) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes = 0
	clear(c.sessions)
	clear(c.turns)
	c.order.Init()
}

func (c *recent) turn(owner, id string) (record.TurnState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.turns[name{owner, id}]
	if t == nil {
		return record.TurnState{}, false
	}
	c.order.MoveToFront(t.session.place)
	return t.state, true
}

func (c *recent) childrenOf(owner, id string) ([]record.TurnState, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.turns[name{owner, id}]
	if t == nil || !t.whole {
		return nil, false
	}
	var all []record.TurnState
	for _, child := range t.children {
		all = append(all, c.turns[name{owner, child}].state)
	}
	slices.SortFunc(all, func(a, b record.TurnState) int { return cmp.Compare(a.Turn, b.Turn) })
	return all, true
}

func (c *recent) lineage(owner, id string, depth int) (all []record.Record, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; depth > 0; depth-- {
		t := c.turns[name{owner, id}]
		if t == nil {
			return nil, false
		}
		for _, r := range t.records {
			all = append(all, *r)
		}
		if id = t.state.Parent; id == "" {
			break
		}
	}
	bySeq(all)
	return all, true
}

func (c *recent) after(owner string, marks []record.Mark, limit int) (all []record.Record, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range marks {
		s := c.sessions[name{owner, m.Session}]
		if s == nil {
			return nil, false
		}
		for i := len(s.records) - 1; i >= 0 && s.records[i].Seq > m.Seq; i-- {
			all = append(all, *s.records[i])
		}
	}
	bySeq(all)
	return all[:min(len(all), limit)], true
}

func bySeq(all []record.Record) {
	slices.SortFunc(all, func(a, b record.Record) int { return cmp.Compare(a.Seq, b.Seq) })
}
