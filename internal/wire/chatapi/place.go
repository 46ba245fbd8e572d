package chatapi

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/limits"
	"macaron/internal/record"
	"macaron/internal/turn"
)

// RoutedModel is the public model id; RoutedModel + "/NAME" forces an adapter.
const RoutedModel = "macaron"

// Model reads a model id: the adapter that it forces, or "" for the router's choice.
func Model(field, id string) (forced string, err error) {
	name, some := strings.CutPrefix(id, RoutedModel+"/")
	switch {
	case id == RoutedModel:
		return "", nil
	case some && adapter.CheckName(name) == nil:
		return name, nil
	}
	return "", errs.New(errs.ModelNotFound, "there is no model \""+errs.Clip(id)+"\"", "use \""+RoutedModel+"\", or GET /v1/models for the others").In(field)
}

// Extension reads the `macaron` object: session and parent turn, for clients that
// cannot set headers.
func Extension(q *turn.Request, field string, raw json.RawMessage) error {
	members, err := limits.Object(field, raw)
	if err != nil {
		return err
	}
	for name, value := range members {
		at := field + "." + errs.Clip(name)
		switch name {
		case "session":
			q.Session, err = limits.Text(at, value, limits.NameBytes)
		case "parent_turn":
			q.ParentTurn, err = limits.Text(at, value, limits.NameBytes)
		case "consent":
			var word string
			if word, err = limits.Text(at, value, limits.NameBytes); err == nil {
				err = consent(q, word)
			}
		default:
			err = errs.New(errs.InvalidRequest, "the macaron object has no "+at, "it takes session, parent_turn and consent").In(at)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Place reads the explicit session, parent and consent from the headers, which go before those
// of the body, and checks them.
func Place(q *turn.Request, h http.Header) error {
	if s := h.Get("X-Macaron-Session"); s != "" {
		q.Session = s
	}
	if t := h.Get("X-Macaron-Parent-Turn"); t != "" {
		q.ParentTurn = t
	}
	if c := h.Get("X-Macaron-Consent"); c != "" {
		if err := consent(q, c); err != nil {
			return err
		}
	}
	if q.Session != "" {
		if err := ids.Check(ids.Session, q.Session); err != nil {
			return errs.As(err).In("macaron.session")
		}
	}
	if q.ParentTurn != "" {
		if err := ids.Check(ids.Turn, q.ParentTurn); err != nil {
			return errs.As(err).In("macaron.parent_turn")
		}
	}
	return nil
}

// consent reads whether the person allows training on the turn.
func consent(q *turn.Request, word string) error {
	switch c := record.Consent(word); c {
	case record.ConsentNone, record.ConsentTrain:
		q.Consent = c
		return nil
	}
	return errs.New(errs.InvalidRequest, "there is no consent "+errs.Clip(word), "use none or train").In("macaron.consent")
}

// Headers tells who answers before the body does.
func Headers(to http.Header, r turn.Report) {
	to.Set("X-Macaron-Adapter", r.Adapter)
	to.Set("X-Macaron-Revision", string(r.Revision))
	to.Set("X-Macaron-Turn", r.Turn)
	to.Set("X-Macaron-Session", r.Session)
	to.Set("X-Macaron-Reason", r.Reason)
	if r.Release != "" {
		to.Set("X-Macaron-Release", string(r.Release))
	}
	if r.Arm != "" {
		to.Set("X-Macaron-Arm", r.Arm)
	}
	if p, ok := r.Probabilities[r.Adapter]; ok {
		to.Set("X-Macaron-Probability", strconv.FormatFloat(p, 'f', 4, 64))
	}
}
