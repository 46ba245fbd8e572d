package turn

import (
	"context"
	"time"
	"unicode/utf8"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/record"
	"macaron/internal/session"
)

// Explanation is why a turn went to its adapter, from the log and the contract that the
// log names alone: nothing is asked again.
type Explanation struct {
	Turn    string    `json:"turn"`
	Session string    `json:"session"`
	Request string    `json:"request,omitempty"`
	Opened  time.Time `json:"opened"`
	Status  string    `json:"status"`

	Adapter   string     `json:"adapter"`
	Revision  ids.Digest `json:"revision,omitempty"` // that answered; absent when nobody did
	Source    string     `json:"source,omitempty"`   // where the revision came from: the contract's source, or policy: and the version of the policy record
	Reason    string     `json:"reason"`
	Cause     string     `json:"cause,omitempty"`
	Preferred string     `json:"preferred,omitempty"`
	Forced    string     `json:"forced,omitempty"`
	User      string     `json:"user,omitempty"` // of the tenant, whose adapters were to choose from

	Probabilities  map[string]float64 `json:"probabilities,omitempty"`
	MinProbability float64            `json:"min_probability"`
	StickyMargin   float64            `json:"sticky_margin"`
	Default        string             `json:"default"`

	Text      string                `json:"text"` // the whole request
	Runes     int                   `json:"runes"`
	Clipped   bool                  `json:"clipped"` // the router saw its two ends only
	Previous  *Context              `json:"previous,omitempty"`
	Earlier   []record.RouteContext `json:"earlier,omitempty"`
	Labels    []string              `json:"labels"`
	Shortlist int                   `json:"shortlist,omitempty"`
	RankedBy  string                `json:"ranked_by,omitempty"`
	Prompt    []Said                `json:"prompt,omitempty"` // what the router was sent; absent when none was asked

	Part   *record.PartOf `json:"part,omitempty"`   // the turn answers a part of that turn
	Parts  []PartReport   `json:"parts,omitempty"`  // who answered what, where several did
	Pieces []Piece        `json:"pieces,omitempty"` // what the router said of each, where they were asked about

	Contract ids.Digest        `json:"contract"`
	Hop      string            `json:"hop,omitempty"`
	Router   *adapter.Revision `json:"router,omitempty"`
	Engine   *chat.Engine      `json:"engine,omitempty"`
	Cost     *HopReport        `json:"cost,omitempty"`
	Error    string            `json:"error,omitempty"`
	Detail   string            `json:"detail,omitempty"`
}

// Context is the turn before, as the router saw it.
type Context struct {
	Label   string `json:"label,omitempty"`
	Text    string `json:"text"`
	Clipped bool   `json:"clipped"`
}

// Piece is a piece of a request that may have a specialist of its own.
type Piece struct {
	Label         string             `json:"label"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
	Hop           string             `json:"hop"`
}

// Said is a message of the route prompt.
type Said struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Log is what an explanation reads; *session.Log is one.
type Log interface {
	// Find gives the turn that an identifier of a turn, hop or request belongs to.
	Find(ctx context.Context, owner, id string) (string, error)
	// History gives a turn and its ancestors, oldest first; the turn is the last.
	History(ctx context.Context, owner, turn string) ([]session.Turn, error)
}

// Explain tells how the turn of an owner was routed; id is of the turn, of a hop of it, or
// of the request.
func Explain(ctx context.Context, log Log, contracts Catalogue, owner, id string) (Explanation, error) {
	turn, err := log.Find(ctx, owner, id)
	if err != nil {
		return Explanation{}, err
	}
	line, err := log.History(ctx, owner, turn)
	if err != nil {
		return Explanation{}, err
	}
	t := &line[len(line)-1]
	if t.Route == nil {
		return Explanation{}, errs.New(errs.NotFound, "the turn ended before it was routed", "")
	}
	k, err := contracts.Contract(t.Contract)
	if err != nil {
		return Explanation{}, err
	}
	return explain(k, line[:len(line)-1], t), nil
}

func explain(k *contract.Contract, before []session.Turn, t *session.Turn) Explanation {
	p := &session.Position{History: before, System: t.System, Imported: t.Imported, User: t.User}
	q, d := ask(k, p), t.Route
	x := Explanation{
		Turn: t.ID, Session: t.Session, Request: t.Request, Opened: t.Opened, Status: string(t.Status),
		Adapter: d.Label, Revision: t.Revision.Hash, Source: t.Revision.Source, Reason: d.Reason, Cause: d.Error, Preferred: d.Preferred, Forced: t.Forced, User: d.User,
		Probabilities: d.Probabilities, MinProbability: k.Router.MinProbability, StickyMargin: k.Router.StickyMargin, Default: k.Router.Default,
		Text: q.Text, Runes: utf8.RuneCountInString(q.Text), Earlier: d.Earlier, Labels: d.Offered, Shortlist: k.Router.Shortlist, RankedBy: d.RankedBy,
		Contract: k.Hash(), Part: t.Part, Parts: partReports(t.Joined),
	}
	x.Clipped = x.Runes > k.Router.RequestChars
	if len(x.Labels) == 0 {
		x.Labels = k.LabelsFor(t.Owner, d.User)
	}
	if q.Previous != nil {
		x.Previous = &Context{q.Previous.Label, q.Previous.Text, utf8.RuneCountInString(q.Previous.Text) > k.Router.ContextChars}
	}
	for i := range t.Hops {
		if h := &t.Hops[i]; h.Hop == record.HopRoute && h.Route != nil {
			x.hop(h)
		} else if h.Hop == record.HopSplit && h.Route != nil {
			x.Pieces = append(x.Pieces, Piece{h.Route.Label, h.Route.Probabilities, h.ID})
		}
	}
	switch {
	case x.Engine == nil && x.Error == "":
	case d.Overlay:
		x.overlay(k, p)
	default:
		x.prompt(k, q.Previous)
	}
	return x
}

// hop adds what the route hop's record tells.
func (x *Explanation) hop(h *record.Hop) {
	x.Hop, x.Error, x.Detail = h.ID, h.Error, h.Detail
	if h.Adapter.Name != "" {
		x.Router = &h.Adapter
	}
	if h.Engine.Name != "" {
		cost := hopReport(*h)
		x.Engine, x.Cost = &h.Engine, &cost
	}
}

// prompt renders what the router was sent: the contract is the one of then, and summaries
// are those that the decision's record holds.
func (x *Explanation) prompt(k *contract.Contract, previous *contract.Previous) {
	a := contract.Ask{Request: x.Text, Previous: previous, Labels: x.Labels}
	for _, e := range x.Earlier {
		a.Earlier = append(a.Earlier, contract.Previous(e))
	}
	x.said(k.RoutePrompt(a))
	if k.Router.Stem != "" {
		x.Prompt = append(x.Prompt, Said{string(chat.Assistant), k.Router.Stem})
	}
}

// overlay is prompt for a hop that the answer went on from. The view's summaries are those
// of now, which a turn that it was made for has made final.
func (x *Explanation) overlay(k *contract.Contract, p *session.Position) {
	if view, err := neutral(k, p); err == nil {
		x.said(k.OverlayPrompt(view, x.Labels))
	}
}

func (x *Explanation) said(prompt []chat.Message) {
	for _, m := range prompt {
		x.Prompt = append(x.Prompt, Said{string(m.Role), m.Text()})
	}
}
