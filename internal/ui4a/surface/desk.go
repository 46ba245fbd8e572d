package surface

import (
	"context"
	"maps"
	"slices"
	"sync"

	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/album"
)

// Log is what cards need of the record log; *session.Log is one.
type Log interface {
	// History gives a turn and its ancestors, oldest first; the turn is the last.
	History(ctx context.Context, owner, turn string) ([]session.Turn, error)
	// Card records what became of cards of a turn, whose cards have so many records; false
	// where they have others by now.
	Card(ctx context.Context, owner, turn string, at int, bodies ...record.Body) (bool, error)
}

// Pictures are those that tenants have put by; *album.Store is one.
type Pictures interface {
	List(owner string) ([]album.Picture, error)
	Read(owner, name string) ([]byte, error)
}

// MaxRounds is how often a card that fails goes back to the model.
const MaxRounds = 2

// maxGuards bounds the surfaces whose private values are held to look for. A page sends
// them with whatever it sends, so nothing is lost with one that is let go.
const maxGuards = 1024

// Desk is the cards of all owners.
type Desk struct {
	log      Log
	pictures Pictures
	ids      *ids.Source
	compiler compiler

	mu     sync.Mutex
	guards map[key]*guarded
	uses   int64
}

// key is whose surface a guard is of.
type key struct {
	owner, turn string
	surface     ui4a.Surface
}

// guarded is the guard of a surface; busy is held while it judges and its record is written.
type guarded struct {
	busy sync.Mutex
	*action.Guard
	of   key
	used int64
}

// New makes a desk over a log.
func New(log Log, of Pictures, source *ids.Source) *Desk {
	return &Desk{log: log, pictures: of, ids: source, guards: map[key]*guarded{}}
}

// Cards gives the cards of the conversation that ends with a turn.
func (d *Desk) Cards(ctx context.Context, owner, turn string) (Cards, error) {
	c, err := d.conversation(ctx, owner, turn)
	if err != nil {
		return Cards{}, err
	}
	return c.Cards, nil
}

func (d *Desk) conversation(ctx context.Context, owner, turn string) (*conversation, error) {
	turns, err := d.log.History(ctx, owner, turn)
	if err != nil {
		return nil, err
	}
	c := fold(turns)
	d.compiler.fill(c)
	d.illustrate(c, owner, func() []session.Turn { return turns })
	return c, nil
}

// Draft is an answer that is being written.
type Draft struct {
	After   string `json:"after,omitempty"` // the turn before it; "": none
	Turn    string `json:"turn"`
	Request string `json:"request,omitempty"`
	Answer  string `json:"answer"` // what has come of it
	Final   bool   `json:"final"`
}

// Frame gives the cards of the conversation with what has come of an answer; of Answers
// there is that one alone, and of Cards those that it brings or changes.
func (d *Desk) Frame(ctx context.Context, owner string, draft Draft) (Cards, error) {
	c := fold(nil)
	if draft.After != "" {
		turns, err := d.log.History(ctx, owner, draft.After)
		if err != nil {
			return Cards{}, err
		}
		c = fold(turns)
	}
	c.Answers = []Answer{}
	c.answer(draft.Turn, draft.Request, draft.Answer, nil, draft.Final)
	c.Cards.Cards = slices.DeleteFunc(c.Cards.Cards, func(card *Card) bool { return card.Turn != draft.Turn && card.Edited != draft.Turn })
	d.compiler.fill(c)
	d.illustrate(c, owner, func() []session.Turn {
		now, _ := d.log.History(ctx, owner, draft.Turn) // before the turn is in the log there is nothing to see
		return now
	})
	return c.Cards, nil
}

// at gives a card of the conversation that ends with a turn, and its guard with the
// card's contract in force; the surface is the caller's until release.
func (d *Desk) at(ctx context.Context, owner, turn string, on ui4a.Surface, secrets action.Posted) (card *Card, g *guarded, release func(), err error) {
	origin, err := d.origin(ctx, owner, turn, on)
	if err != nil {
		return nil, nil, nil, err
	}
	g = d.hold(key{owner, origin, on})
	c, err := d.conversation(ctx, owner, turn)
	if err == nil {
		if card = c.card(on); card == nil {
			err = noCard()
		}
	}
	if err == nil {
		g.Revise(card.contract())
		g.Resume(card.Sequence, card.private)
		err = g.Take(secrets)
	}
	if err != nil {
		g.busy.Unlock()
		return nil, nil, nil, err
	}
	return card, g, g.busy.Unlock, nil
}

func noCard() error {
	return errs.New(errs.NotFound, "the conversation has no such card", "reload the page")
}

// origin is the turn whose answer brought a card. The name of an inline one has it; canvases
// of one name are in many conversations, each with values of its own.
func (d *Desk) origin(ctx context.Context, owner, turn string, on ui4a.Surface) (string, error) {
	if on.Kind() == ui4a.InlineSurface {
		return "", nil
	}
	turns, err := d.log.History(ctx, owner, turn)
	if err != nil {
		return "", err
	}
	card := fold(turns).card(on)
	if card == nil {
		return "", noCard()
	}
	return card.Turn, nil
}

// hold locks a surface.
func (d *Desk) hold(of key) *guarded {
	d.mu.Lock()
	g := d.guards[of]
	if g == nil {
		d.forget()
		g = &guarded{Guard: action.NewGuard(action.Contract{}, &action.Secrets{}), of: of}
		d.guards[of] = g
	}
	d.uses++
	g.used = d.uses
	d.mu.Unlock()
	g.busy.Lock()
	return g
}

// release forgets the guard of a surface: the next one begins with what the log has.
func (d *Desk) release(g *guarded) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.guards, g.of)
}

// forget lets the guard go that was not used for longest, where there are too many.
func (d *Desk) forget() {
	if len(d.guards) < maxGuards {
		return
	}
	oldest := slices.MinFunc(slices.Collect(maps.Keys(d.guards)), func(a, b key) int { return int(d.guards[a].used - d.guards[b].used) })
	delete(d.guards, oldest)
}
