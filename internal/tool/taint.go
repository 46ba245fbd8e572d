package tool

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"macaron/internal/errs"
)

// Bounds of what a Taint remembers, and the shortest value that it looks for: a shorter
// one is part of too many words to be told from them.
const (
	maxTaintBytes = 4 << 20
	minTaint      = 4
)

// Taint remembers the NoAI values of a run and takes them out of texts that go to the
// model: the output of code that has used them, tracebacks, messages, other results. It
// finds a value as it is, quoted as JSON or Python do, and in base64, hexadecimal and URL
// form. It cannot find what code has computed from it: to keep code that wants to tell
// the model a secret from doing so, give the code no secret. The zero Taint is empty.
type Taint struct {
	mu       sync.Mutex
	forms    map[string]bool
	bytes    int
	full     bool
	replacer *strings.Replacer
}

// Learn adds the NoAI values of a result. It fails when they are too many to be watched;
// the result must not be used then.
func (t *Taint) Learn(d Def, r Result) error {
	_, hidden := r.split(d)
	t.learn(hidden)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.full {
		return errs.New(errs.TooLarge, "the NoAI values of this run are more than can be watched", "ask the tool for fewer rows at a time")
	}
	return nil
}

// Add watches texts that come from elsewhere, such as the values of secrets. A text of
// fewer than four characters is not watched and false is returned.
func (t *Taint) Add(texts ...string) bool {
	ok := true
	for _, s := range texts {
		ok = ok && utf8.RuneCountInString(s) >= minTaint
		t.learn([]any{s})
	}
	return ok
}

func (t *Taint) learn(hidden []any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, v := range hidden {
		s, ok := v.(string)
		if n, number := v.(json.Number); number {
			s, ok = n.String(), true
		}
		if !ok || utf8.RuneCountInString(s) < minTaint {
			continue
		}
		for _, f := range forms(s) {
			t.add(f)
		}
	}
}

func (t *Taint) add(form string) {
	if t.forms[form] {
		return
	}
	if t.bytes+len(form) > maxTaintBytes {
		t.full = true
		return
	}
	if t.forms == nil {
		t.forms = map[string]bool{}
	}
	t.forms[form], t.replacer = true, nil
	t.bytes += len(form)
}

// forms are the ways in which a value is usually written.
func forms(s string) []string {
	quoted, _ := encode(s) // a string always has a JSON form
	inner := string(quoted[1 : len(quoted)-1])
	ascii := strconv.QuoteToASCII(s)
	return []string{
		s, inner, strings.ReplaceAll(inner, `\"`, `"`), strings.ReplaceAll(inner, "'", `\'`), ascii[1 : len(ascii)-1], jsonASCII(inner),
		url.QueryEscape(s), url.PathEscape(s), hex.EncodeToString([]byte(s)),
		base64.StdEncoding.EncodeToString([]byte(s)), base64.URLEncoding.EncodeToString([]byte(s)),
		base64.RawStdEncoding.EncodeToString([]byte(s)), base64.RawURLEncoding.EncodeToString([]byte(s)),
	}
}

// jsonASCII writes what is not ASCII as \u escapes, as Python's json does.
func jsonASCII(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			b.WriteString(`\u` + strconv.FormatInt(int64(0xd800+r>>10), 16) + `\u` + strconv.FormatInt(int64(0xdc00+r&0x3ff), 16))
		default:
			h := strconv.FormatInt(int64(r), 16)
			b.WriteString(`\u` + strings.Repeat("0", 4-len(h)) + h)
		}
	}
	return b.String()
}

// Clean replaces every NoAI value in a text.
func (t *Taint) Clean(text string) string {
	t.mu.Lock()
	if t.replacer == nil {
		var pairs []string
		for _, f := range sortedByLength(t.forms) {
			pairs = append(pairs, f, Hidden)
		}
		t.replacer = strings.NewReplacer(pairs...)
	}
	r := t.replacer
	t.mu.Unlock()
	return r.Replace(text)
}
