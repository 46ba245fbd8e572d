package edit

import (
	"regexp"
	"strings"
)

// A prompt ends with its itemised entries, each a line "- id: text", in the order of their
// ids. Edits touch single entries, never the whole: a text that is written anew as a whole
// loses what it knew (context collapse, arXiv:2510.04618).
var item = regexp.MustCompile(`^- ([a-z][a-z0-9-]{0,31}): `)

func written(id, text string) string { return "- " + id + ": " + text }

// inText adds, replaces or removes an entry of a prompt.
func (k Kind) inText(s, id string, v any) (string, error) {
	head, items := split(s)
	at := -1
	for i, it := range items {
		if item.FindStringSubmatch(it)[1] == id {
			at = i
		}
	}
	value, _ := v.(string)
	switch {
	case k.op == create && at >= 0:
		return s, there("the entry " + id)
	case k.op != create && at < 0:
		return s, absent("the entry " + id)
	case k.op == create:
		at = place(len(items), id, func(i int) string { return item.FindStringSubmatch(items[i])[1] })
		items = append(items[:at:at], append([]string{written(id, value)}, items[at:]...)...)
	case k.op == replace:
		items[at] = written(id, value)
	default:
		items = append(items[:at:at], items[at+1:]...)
	}
	if now := strings.Join(append([]string{head}, items...), "\n"); now != s {
		return now, nil
	}
	return s, unchanged()
}

// split takes the entries off the end of a prompt.
func split(s string) (head string, items []string) {
	lines := strings.Split(s, "\n")
	n := len(lines)
	for n > 1 && item.MatchString(lines[n-1]) {
		n--
	}
	return strings.Join(lines[:n], "\n"), lines[n:]
}

// Entries lists the ids of a prompt's itemised entries with their texts, in order.
func Entries(prompt string) (ids, texts []string) {
	_, items := split(prompt)
	for _, it := range items {
		m := item.FindStringSubmatch(it)
		ids, texts = append(ids, m[1]), append(texts, strings.TrimPrefix(it, m[0]))
	}
	return ids, texts
}
