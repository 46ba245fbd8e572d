package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"

	"macaron/internal/chat"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// line is a row of a data file. A row has messages, or tokens with weights.
type line struct {
	Messages []message `json:"messages"`
	Train    []int     `json:"train"` // which messages are learned; absent: every assistant's
	Tokens   []int32   `json:"tokens"`
	Weights  []float32 `json:"weights"` // of predicting each token, [n]; the first is not used
	Chosen   string    `json:"chosen"`  // of dpo, after the messages
	Rejected string    `json:"rejected"`
	Answer   string    `json:"answer"` // of rewards
	Group    string    `json:"group"`  // rows of one group stand together in a batch

	at int // its line of the file, from 1
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

const (
	maxDataBytes = 1 << 30
	maxRows      = 1 << 22
)

// readLines reads a data file, and its digest. Tokens must be below vocab, unless that is 0.
func readLines(path string, vocab int) ([]line, ids.Digest, error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return nil, "", errs.New(errs.NotFound, "there is no data file "+path, "give a file of JSON lines; make train-default writes those of the default set")
	}
	if info.Size() > maxDataBytes {
		return nil, "", errs.Newf(errs.TooLarge, "%s has %d bytes, more than %d", path, info.Size(), maxDataBytes)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, "", disk.Error(err, path+" cannot be read")
	}
	var out []line
	for n, text := range bytes.Split(raw, []byte("\n")) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if len(out) == maxRows {
			return nil, "", errs.Newf(errs.TooLarge, "%s has more than %d rows", path, maxRows)
		}
		l, err := parseLine(text)
		if err != nil {
			return nil, "", errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of %s: %v", n+1, path, err), "docs/formats/recipe.md has the fields of a row")
		}
		if err := l.within(vocab); err != nil {
			return nil, "", errs.New(errs.FormatInvalid, fmt.Sprintf("line %d of %s: %v", n+1, path, err), "use the tokenizer of this base")
		}
		l.at = n + 1
		out = append(out, l)
	}
	return out, ids.DigestOf(raw), nil
}

// maxManifest bounds the manifest of a dataset.
const maxManifest = 16 << 20

// datasetOf is the dataset that a data file is a part of: the digest of the manifest beside it,
// if that lists the file with the digest that it has. Else it is no dataset's.
func datasetOf(path string, data ids.Digest) ids.Digest {
	f, err := os.Open(filepath.Join(filepath.Dir(path), "manifest.json"))
	if err != nil {
		return ""
	}
	defer f.Close() // read-only
	raw, err := io.ReadAll(io.LimitReader(f, maxManifest))
	var m struct {
		Files map[string]struct {
			Digest ids.Digest `json:"digest"`
		} `json:"files"`
	}
	if err != nil || json.Unmarshal(raw, &m) != nil || m.Files[filepath.Base(path)].Digest != data {
		return ""
	}
	return ids.DigestOf(raw)
}

func parseLine(text []byte) (line, error) {
	var l line
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, err
	}
	if d.More() {
		return l, fmt.Errorf("something follows the object")
	}
	return l, l.check()
}

func (l *line) check() error {
	if (len(l.Messages) == 0) == (len(l.Tokens) == 0) {
		return fmt.Errorf("a row has either messages or tokens")
	}
	if len(l.Tokens) != len(l.Weights) {
		return fmt.Errorf("%d tokens and %d weights", len(l.Tokens), len(l.Weights))
	}
	for _, m := range l.Messages {
		if !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role) {
			return fmt.Errorf("there is no role %q", errs.Clip(m.Role))
		}
	}
	for _, i := range l.Train {
		if i < 0 || i >= len(l.Messages) || l.Messages[i].Role != "assistant" {
			return fmt.Errorf("train names message %d, which is no assistant's", i)
		}
	}
	return nil
}

// within refuses tokens that a vocabulary does not have. One of 0 tokens is not known.
func (l *line) within(vocab int) error {
	for i, t := range l.Tokens {
		if vocab > 0 && (t < 0 || int(t) >= vocab) {
			return fmt.Errorf("the token %d at position %d is not in the vocabulary of %d", t, i, vocab)
		}
	}
	return nil
}

// chat is the row's first messages.
func (l *line) chat(n int) []chat.Message {
	var out []chat.Message
	for _, m := range l.Messages[:n] {
		out = append(out, chat.Text(chat.Role(m.Role), m.Content))
	}
	return out
}

// row is a sequence to learn: weights are of predicting each token.
type row struct {
	tokens  []int32
	weights []float32
	group   string
}

// encode makes a row of a line: a message that is learned has weight 1 from its first
// token to the one that ends its turn.
func (m *Machine) encode(l *line) (row, error) {
	if l.Tokens != nil {
		return row{l.Tokens, l.Weights, l.Group}, nil
	}
	learned := l.Train
	if learned == nil {
		for i, msg := range l.Messages {
			if msg.Role == "assistant" {
				learned = append(learned, i)
			}
		}
	}
	all, err := m.Encode(l.chat(len(l.Messages)), false)
	if err != nil {
		return row{}, err
	}
	r := row{tokens: all, weights: make([]float32, len(all)), group: l.Group}
	last := 0
	for _, i := range learned {
		from, to, err := m.span(l, i, all)
		if err != nil {
			return row{}, err
		}
		for j := from; j < to; j++ {
			r.weights[j] = 1
		}
		last = to
	}
	r.tokens, r.weights = r.tokens[:last], r.weights[:last]
	return r, nil
}

// span finds the tokens of message i in those of the whole conversation: after what opens
// an answer, up to and with the token that ends it.
func (m *Machine) span(l *line, i int, all []int32) (from, to int, err error) {
	open, err := m.Encode(l.chat(i), true)
	if err != nil {
		return 0, 0, err
	}
	whole, err := m.Encode(l.chat(i+1), false)
	if err != nil {
		return 0, 0, err
	}
	if len(whole) > len(all) || !slices.Equal(all[:len(whole)], whole) || len(open) >= len(whole) || !slices.Equal(whole[:len(open)], open) {
		return 0, 0, errs.New(errs.Unsupported, "the model's template shows an answer in another way once the conversation goes on", "use rows of tokens and weights")
	}
	return len(open), m.ended(whole, len(open)), nil
}

// ended is the place after the last token of an answer that is more than white space:
// what a template writes after the end of a turn belongs to nobody.
func (m *Machine) ended(tokens []int32, from int) int {
	to := len(tokens)
	for to > from+1 && blank(m.Decode(tokens[to-1:to])) {
		to--
	}
	return to
}

func blank(s string) bool { return s != "" && len(bytes.TrimSpace([]byte(s))) == 0 }

// random is the generator of a purpose: the same seed and purpose give the same numbers.
func random(seed uint64, purpose ...uint64) *rand.Rand {
	s := seed
	for _, p := range purpose {
		s = s*0x9e3779b97f4a7c15 + p + 1
	}
	return rand.New(rand.NewPCG(seed, s))
}
