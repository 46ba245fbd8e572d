package harness

import (
	"encoding/json"
	"strings"
)

// shortest is the least length of a secret that texts are searched for: shorter ones are
// part of too many words.
const shortest = 6

// scrubber takes the values of secrets out of texts, as they are and as JSON writes them.
// Secrets reach tools only; what comes back may quote them.
func scrubber(names []string, value func(string) (string, bool)) *strings.Replacer {
	var pairs []string
	for _, n := range names {
		v, ok := value(n)
		if !ok || len(v) < shortest {
			continue
		}
		mark := "[secret:" + n + "]"
		pairs = append(pairs, v, mark)
		if quoted, err := plain(v); err == nil {
			if inner := string(quoted[1 : len(quoted)-1]); inner != v {
				pairs = append(pairs, inner, mark)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

// scrub takes secrets out of a JSON text; one that is no JSON afterwards is withheld.
func (r *run) scrub(value json.RawMessage) json.RawMessage {
	if len(value) == 0 {
		return nil
	}
	out := json.RawMessage(r.secrets.Replace(string(value)))
	if !json.Valid(out) {
		return json.RawMessage(`"[withheld: it quoted a secret]"`)
	}
	return out
}
