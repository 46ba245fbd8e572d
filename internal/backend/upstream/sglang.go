package upstream

import (
	"context"
	"regexp"
	"strings"

	"macaron/internal/backend"
)

// sglang: `python -m sglang.launch_server --enable-lora`. An adapter is lora_path, the
// name it was loaded under; a choice is a regular expression.
var sglang = &dialect{
	name:     "sglang",
	known:    func(f *Facts) bool { return f.sglang || f.owner("sglang") },
	extended: true, templated: true, alternatives: 20,
	choose: func(q *body, choices []string) {
		quoted := make([]string, len(choices))
		for i, c := range choices {
			quoted[i] = regexp.QuoteMeta(c)
		}
		q.Regex = "(" + strings.Join(quoted, "|") + ")"
	},
	constrain: func(q *body, c backend.Constraint) bool {
		switch c.Kind {
		case backend.Regex:
			q.Regex = c.Text
		case backend.Grammar:
			q.EBNF = c.Text
		default:
			return responseFormat(q, c)
		}
		return true
	},
	address: func(ctx context.Context, b *Backend, q *body, _ backend.Request) (func(), error) {
		f, err := b.facts(ctx)
		if err != nil {
			return nil, err
		}
		base := f.base()
		if q.Model != base && q.Model != baseName {
			q.LoraPath = q.Model
		}
		q.Model = base
		return func() {}, nil
	},
}
