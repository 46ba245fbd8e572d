package ledger

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"macaron/internal/canonical"
	"macaron/internal/errs"
	"macaron/internal/ids"
)

// index stands in the place of a text that is longer than one may be.
type index struct {
	Parts []ids.Digest `json:"parts"`
}

// begins is how an index begins. What the loop keeps in parts are lists, which begin with a bracket.
const begins = `{"parts":[`

// Parts are the texts that keep one of any length: the first has the name by which it is read again,
// and is the text itself where that has no more than most bytes.
func Parts(text string, most int) ([]Text, error) {
	if len(text) <= most {
		return []Text{Plain(text)}, nil
	}
	var all []Text
	var x index
	for text != "" {
		n := min(most, len(text))
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n--
		}
		t := Plain(text[:n])
		text, all, x.Parts = text[n:], append(all, t), append(x.Parts, t.Name)
	}
	raw, err := canonical.Bytes(x)
	return append([]Text{Plain(string(raw))}, all...), err
}

// Whole reads a text that was kept in parts, or in one. Each is held to its name.
func Whole(name ids.Digest, read func(ids.Digest) (string, error)) (string, error) {
	text, err := named(name, read)
	if err != nil || !strings.HasPrefix(text, begins) {
		return text, err
	}
	var x index
	if err := json.Unmarshal([]byte(text), &x); err != nil {
		return "", errs.Wrap(errs.FormatInvalid, err, "the kept text "+name.Short()+" cannot be read", "go on with the build that wrote it")
	}
	var out strings.Builder
	for _, p := range x.Parts {
		part, err := named(p, read)
		if err != nil {
			return "", err
		}
		out.WriteString(part)
	}
	return out.String(), nil
}

func named(name ids.Digest, read func(ids.Digest) (string, error)) (string, error) {
	text, err := read(name)
	if err == nil && ids.DigestOf([]byte(text)) != name {
		err = errs.New(errs.ChecksumMismatch, "the kept text "+name.Short()+" is not what its name says", "restore the database from a backup")
	}
	return text, err
}
