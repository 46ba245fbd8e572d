package surface

import (
	"encoding/json"
	"sync"

	"macaron/internal/ids"
	"macaron/internal/ui4a"
	"macaron/internal/ui4a/action"
	"macaron/internal/ui4a/compile"
	"macaron/internal/ui4a/stream"
)

// compiled is what the compiler made of a source.
type compiled struct {
	compile.Result
	findings []ui4a.Diagnostic
}

// kept bounds the whole sources whose scripts are remembered.
const kept = 128

// compiler remembers what it made of whole cards: a conversation is opened with the same
// ones again and again.
type compiler struct {
	mu   sync.Mutex
	made map[ids.Digest]compiled
}

func (c *compiler) whole(source string) compiled {
	key := ids.DigestOf([]byte(source))
	c.mu.Lock()
	defer c.mu.Unlock()
	if got, ok := c.made[key]; ok {
		return got
	}
	r, findings := compile.Compile(source, compile.Options{})
	if len(c.made) >= kept || c.made == nil {
		c.made = map[ids.Digest]compiled{}
	}
	c.made[key] = compiled{r, findings}
	return c.made[key]
}

// fill compiles the cards of a conversation. A card that is still being written gets its
// frame, which depends on the text alone; without one its script is empty.
func (c *compiler) fill(all *conversation) {
	for _, card := range all.Cards.Cards {
		var made compiled
		switch {
		case card.Open:
			var s stream.Stream
			s.Write(card.Source)
			f, _ := s.Frame()
			made.Result = f.Result
		case card.Source == "" && all.wrong[card.Surface] != nil: // a patch of nothing: that says it all
			made.Revision = ids.DigestOf(nil)
		default:
			made = c.whole(card.Source)
		}
		card.Revision, card.Script, card.Findings = made.Revision, made.JS, append(all.wrong[card.Surface], made.findings...)
		card.Keys = map[string]action.Key{}
		for _, k := range made.Keys {
			card.Keys[k.Name] = action.Key{NoAI: k.NoAI}
		}
		card.Outcome = card.ends[card.Revision]
		card.Broken = !card.Open && len(card.broken()) > 0
		card.State = declared(card.State, card.Keys)
	}
}

// declared are the values of state that this revision declares as fit for a model; a key
// that was declared so once may be private now.
func declared(state map[string]json.RawMessage, keys map[string]action.Key) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, value := range state {
		if key, ok := keys[name]; ok && !key.NoAI {
			out[name] = value
		}
	}
	return out
}

// contract is what the card's source declares.
func (c *Card) contract() action.Contract {
	return action.Contract{Surface: string(c.Surface), Revision: string(c.Revision), Source: c.Source, Keys: c.Keys}
}

// broken are the errors of a card's source and of a patch of it, and what keeps some people
// from using it; nothing if nothing of it is worth a repair.
func (c *Card) broken() (out []string) {
	worth := false
	for _, d := range c.Findings {
		if d.Severity == ui4a.Error || d.Accessibility() {
			out = append(out, d.String())
			worth = worth || d.Code != ui4a.HeadingOrder
		}
	}
	if !worth {
		return nil
	}
	return out
}
