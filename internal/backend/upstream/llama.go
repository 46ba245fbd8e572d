package upstream

import (
	"context"
	"fmt"
	"hash/fnv"
	"path"
	"strconv"
	"strings"

	"macaron/internal/backend"
	"macaron/internal/errs"
)

// llama: `llama-server --lora a.gguf,b.gguf`. A slot keeps the KV of whatever adapters
// last used it, and a request without the field "lora" takes that KV over unchecked, so
// every request says the scale of every adapter and names a slot that holds the KV of
// its own adapters, or of none.
var llama = &dialect{
	name:     "llama-server",
	known:    func(f *Facts) bool { return f.slots > 0 || f.owner("llamacpp") },
	extended: true, alternatives: 100,
	choose: func(q *body, choices []string) { q.Grammar = grammar(choices) },
	constrain: func(q *body, c backend.Constraint) bool {
		if c.Kind == backend.Grammar {
			q.Grammar = c.Text
			return true
		}
		return responseFormat(q, c)
	},
	address: func(ctx context.Context, b *Backend, q *body, r backend.Request) (func(), error) {
		f, err := b.facts(ctx)
		if err != nil {
			return nil, err
		}
		id, err := f.lora(q.Model)
		if err != nil {
			return nil, err
		}
		q.Lora = scales(f.loras, id)
		slot, fresh, release, err := b.slots(f).take(ctx, id, sessionKey(r))
		if err != nil {
			return nil, b.unreachable(ctx, err)
		}
		keep := !fresh
		q.IDSlot, q.CachePrompt = &slot, &keep
		q.RepeatPenalty, q.RepetitionPenalty = q.RepetitionPenalty, nil
		return release, nil
	},
}

// baseName is the model name that stands for no adapter at all.
const baseName = "base"

// llamaLora is one adapter as GET /lora-adapters lists it.
type llamaLora struct {
	ID   int    `json:"id"`
	Path string `json:"path"`
}

// name is the file's, without its folder and ending.
func (l llamaLora) name() string { return strings.TrimSuffix(path.Base(l.Path), ".gguf") }

// lora finds an adapter by its id or its file's name; -1 is the base.
func (f *Facts) lora(name string) (int, error) {
	if name == baseName || name == f.base() {
		return -1, nil
	}
	var names []string
	for _, l := range f.loras {
		if l.name() == name || strconv.Itoa(l.ID) == name {
			return l.ID, nil
		}
		names = append(names, l.name())
	}
	return 0, errs.New(errs.UpstreamFailed, fmt.Sprintf("the engine has no adapter %q, it has %s", errs.Clip(name), strings.Join(names, ", ")), "the operator starts it with --lora, or sets the names in the engine's adapters")
}

// loraScale is one element of the field "lora".
type loraScale struct {
	ID    int     `json:"id"`
	Scale float64 `json:"scale"`
}

// scales is the full list: one adapter on, or none, and all others off.
func scales(all []llamaLora, on int) []loraScale {
	out := make([]loraScale, len(all))
	for i, l := range all {
		out[i].ID = l.ID
		if l.ID == on {
			out[i].Scale = 1
		}
	}
	return out
}

// grammar is GBNF for one of the choices.
func grammar(choices []string) string {
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(c) + `"`
	}
	return "root ::= " + strings.Join(quoted, " | ")
}

func sessionKey(r backend.Request) uint64 {
	h := fnv.New64a()
	h.Write([]byte(r.Salt + "\x00" + r.Session)) // never fails
	return h.Sum64()
}
