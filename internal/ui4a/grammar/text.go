package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// languages are those whose code prose may hold; tsx and jsx would be cards.
var languages = []string{"bash", "c", "cpp", "css", "go", "html", "java", "javascript", "js", "json", "python", "py", "rust", "sh", "sql", "text", "toml", "ts", "typescript", "xml", "yaml"}

// prose is text in which no card's fence opens: three backticks stand only around code, on
// lines of their own. It may be empty, and end anywhere outside of code.
func (w *writer) prose() {
	w.rule("prose", `block ("\n" block)*`)
	w.rule("block", "line | code")
	w.rule("line", "(\"`\"{0,2} [^`\\n])* \"`\"{0,2}")
	w.rule("code", fmt.Sprintf("\"```\" (%s)? \"\\n\" (line \"\\n\")* \"```\"", quoted(languages)))
}

// never are what the compiler's rules refuse in any literal text, in small letters: other
// computers' addresses, and hints to contact them.
var never = []string{"//", "@import", "preconnect", "prefetch", "modulepreload"}

// texts are what stands within TSX: quoted, between tags, and numbers.
func (w *writer) texts() {
	const no = "\\\"\\\\`\\x00-\\x1F\\x7F\\u2028\\u2029 "
	w.avoid("word", never, no)
	w.rule("s", fmt.Sprintf(`"\"" word (" " word){0,%d} "\""`, maxWords-1))
	w.rule("said", fmt.Sprintf("saidword (\" \" saidword){0,%d}", maxWords-1))
	w.rule("saidword", "[^<>{}&"+no+"]+")
	w.rule("whole", `"0" | [1-9] [0-9]{0,8}`)
	w.rule("num", `"-"? whole ("." [0-9]{1,4})?`)
	w.rule("value", `s | num`)
	w.rule("strings", `"[" `+list("s", maxItems)+` "]"`)
}

// avoid makes the rule of a word without some characters that holds none of some texts,
// with ASCII letters of any case: the automaton of Aho and Corasick (1975) over the
// letters of the texts, one rule for each state.
func (w *writer) avoid(name string, texts []string, no string) {
	states, letters := []string{""}, ""
	for _, t := range texts {
		for i := range t {
			if p := t[:i]; !slices.Contains(states, p) {
				states = append(states, p)
			}
			if !strings.Contains(letters, t[i:i+1]) {
				letters += t[i : i+1]
			}
		}
	}
	rule := func(state string) string { return fmt.Sprintf("%s-%d", name, slices.Index(states, state)) }
	for _, s := range states {
		to := map[string]string{} // letters by the state that they lead to
		for _, c := range letters {
			next := s + string(c)
			if slices.ContainsFunc(texts, func(t string) bool { return strings.HasSuffix(next, t) }) {
				continue
			}
			for !slices.Contains(states, next) {
				next = next[1:]
			}
			to[next] += either(c)
		}
		var ways []string
		for _, next := range states {
			if set := to[next]; set != "" {
				ways = append(ways, "["+set+"] "+rule(next))
			}
		}
		any := ""
		for _, c := range letters {
			any += either(c)
		}
		ways = append(ways, "[^"+any+no+"] "+rule(""))
		if s == "" { // a word is not empty, but what follows its first letter may be
			w.rule(name, strings.Join(ways, " | "))
		}
		w.rule(rule(s), "("+strings.Join(ways, " | ")+")?")
	}
}

// either is a letter in both cases, within a class.
func either(c rune) string {
	if up := strings.ToUpper(string(c)); up != string(c) {
		return string(c) + up
	}
	return string(c)
}

func quoted(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, lit(w))
	}
	return strings.Join(out, " | ")
}
