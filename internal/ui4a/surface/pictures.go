package surface

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"macaron/internal/chat"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/session"
	"macaron/internal/ui4a/album"
)

// maxShown bounds the pictures of one card.
const maxShown = 16

// attached are the addresses of the pictures that came with a conversation, oldest first:
// picture-1 is the first of them. Those whose bytes did not come along have no address.
func attached(turns []session.Turn) (out []string) {
	for i := range turns {
		for _, list := range [][]chat.Message{turns[i].Imported, turns[i].User} {
			for _, m := range list {
				for _, p := range m.Parts {
					if a := p.Address(); a != "" {
						out = append(out, a)
					}
				}
			}
		}
	}
	return out
}

// illustrate says which pictures cards are handed: of a conversation's and a tenant's those
// whose names stand in a card's source, and no others.
func (d *Desk) illustrate(c *conversation, owner string, turns func() []session.Turn) {
	var all []string
	for _, card := range c.Cards.Cards {
		if !strings.Contains(card.Source, "asset:") {
			continue
		}
		if all == nil {
			all = d.names(owner, turns())
		}
		for _, name := range all {
			if strings.Contains(card.Source, name) && len(card.Pictures) < maxShown {
				card.Pictures = append(card.Pictures, name)
			}
		}
	}
}

func (d *Desk) names(owner string, turns []session.Turn) []string {
	all := []string{}
	for i := range attached(turns) {
		all = append(all, fmt.Sprint("picture-", i+1))
	}
	kept, _ := d.pictures.List(owner) // what cannot be listed is not shown; asking for it tells why
	for _, p := range kept {
		all = append(all, p.Name)
	}
	return all
}

// picture answers with a picture's bytes: of the conversation that ends with a turn, or of
// the tenant.
func (d *Desk) picture(w http.ResponseWriter, r *http.Request, owner string) error {
	turn, name := r.PathValue("turn"), r.PathValue("name")
	if err := ids.Check(ids.Turn, turn); err != nil {
		return err
	}
	turns, err := d.log.History(r.Context(), owner, turn)
	if err != nil {
		return err
	}
	data, err := d.bytes(owner, name, turns)
	if err != nil {
		return err
	}
	kind, err := album.Kind(data)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "no-store")
	_, _ = w.Write(data) // a client that went away is no failure of ours
	return nil
}

func (d *Desk) bytes(owner, name string, turns []session.Turn) ([]byte, error) {
	for i, address := range attached(turns) {
		if name != fmt.Sprint("picture-", i+1) {
			continue
		}
		_, text, inside := strings.Cut(address, ";base64,")
		if !inside || !strings.HasPrefix(address, "data:") {
			return nil, errs.New(errs.NotFound, "the bytes of that picture did not come with the conversation", "send it as a data: URL")
		}
		if len(text) > base64.StdEncoding.EncodedLen(album.MaxBytes) {
			return nil, errs.New(errs.TooLarge, fmt.Sprintf("the picture has more than %d bytes", album.MaxBytes), "make it smaller")
		}
		data, err := base64.StdEncoding.DecodeString(text)
		return data, errs.Wrap(errs.InvalidRequest, err, "the picture's address holds no base64", "send it again")
	}
	return d.pictures.Read(owner, name)
}
