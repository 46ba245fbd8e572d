package pass

import (
	"context"
	"encoding/json"
	"net/http"
)

// submitForward sends a forward pass in the dialect of the backend. One of which none is
// known gets the client's own; if it does not read that, the other one is tried, and kept.
func (p *Pass) submitForward(ctx context.Context, c *call, b *peer, there string) (*answer, error) {
	client := JSON
	if c.proto {
		client = Proto
	}
	form := b.speaks(client)
	a, err := p.forwardAs(ctx, c, b, there, form)
	if err != nil || b.Dialect != Auto || b.learnt.Load() != nil || !unread(a.status, c.path) {
		return a, err
	}
	other := Proto
	if form == Proto {
		other = JSON
	}
	second, err := p.forwardAs(ctx, c, b, there, other)
	if err != nil || second.status/100 != 2 {
		return a, nil // the first refusal is about what the client has sent
	}
	b.learnt.Store(&other)
	return second, nil
}

// unread tells whether a status may say that a body was not understood as what it is. A
// backend of newer SDKs alone has no forward.
func unread(status int, path string) bool {
	switch status {
	case http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		return true
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return path == "forward"
	}
	return false
}

// forwardAs sends a forward pass in a dialect.
func (p *Pass) forwardAs(ctx context.Context, c *call, b *peer, there string, form Dialect) (*answer, error) {
	path, body := c.path, c.body
	var err error
	if c.proto {
		if body, err = p.o.Wire.WithModel(c.body, there); err == nil && form == JSON {
			var only bool
			if body, only, err = p.o.Wire.ForwardToJSON(body); only {
				path = "forward"
			}
		}
	} else {
		members := make(map[string]json.RawMessage, len(c.members))
		for k, v := range c.members {
			members[k] = v
		}
		members["model_id"] = text(there)
		if body = join(members); form == Proto {
			body, err = p.o.Wire.ForwardToProto(body, c.path == "forward")
			path = "forward_backward"
		}
	}
	if err != nil {
		return nil, err
	}
	return b.ask(ctx, http.MethodPost, path, body, form == Proto, c.r.Header)
}
