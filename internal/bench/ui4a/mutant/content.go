package mutant

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"macaron/internal/bench/ui4a"
)

// swap replaces texts in what is drawn, whatever stands around them, and what fields hold.
func swap(c *ui4a.Case, pairs [][2]string) (string, bool) {
	if len(pairs) == 0 {
		return "", false
	}
	var list []string
	for _, p := range pairs {
		list = append(list, fmt.Sprintf("[%s, %s]", js(p[0]), js(p[1])))
	}
	return wrap(c.Card, patch{change: `const swaps = [` + strings.Join(list, ", ") + `] as [string, string][];
      for (const f of box.querySelectorAll("input, textarea") as NodeListOf<HTMLInputElement>) for (const [from, to] of swaps) if (f.value === from) f.value = to;
      for (const w = document.createTreeWalker(box, 4); w.nextNode(); ) { const n = w.currentNode as Text; let s = n.data;
      for (const [from, to] of swaps) s = s.split(from).join(to); if (s !== n.data) n.data = s; }`})
}

func js(s string) string { return strconv.Quote(s) }

// contentKinds show something wrong, or leave it out.
func contentKinds() []Kind {
	const l = ui4a.Content
	kinds := []Kind{
		textKind("the first fact is missing", 0, func(string) string { return "…" }),
		textKind("the last fact is missing", -1, func(string) string { return "…" }),
		textKind("a fact is misspelt", 0, func(s string) string { return s[:len(s)-1] + "qz" }),
		textKind("a fact is cut short", 0, func(s string) string { return s[:len(s)/2] + "…" }),
		textKind("another name stands for a fact", -1, func(string) string { return "Zanzibor" }),
		numberKind("a number is one too high", func(v float64) string { return form(v + 1) }),
		numberKind("a number is ten times too high", func(v float64) string { return form(v*10 + 3) }),
		numberKind("a number is missing", func(float64) string { return "–" }),
		numberKind("a number is NaN", func(float64) string { return "NaN" }),
		dateKind("a date is a day late", 1), dateKind("a date is a week late", 7),
		computedKind("a sum is one too high", func(v float64) string { return form(v + 1) }),
		computedKind("a sum is doubled", func(v float64) string { return form(2*v + 1) }),
		computedKind("a sum is missing", func(float64) string { return "–" }),
		computedKind("a sum is NaN", func(float64) string { return "NaN" }),
		computedKind("a sum is of the wrong size", func(v float64) string { return form(v*100 + 7) }),
		{l, "something that must not be there", func(c *ui4a.Case) (string, bool) {
			return never(c, func(t string) string { return t })
		}},
		{l, "something that must not be there, in a sentence", func(c *ui4a.Case) (string, bool) {
			return never(c, func(t string) string { return "(" + t + ")" })
		}},
		{l, "another language", otherLanguage},
		{l, "all facts are missing", func(c *ui4a.Case) (string, bool) {
			var pairs [][2]string
			for i := range c.Facts.Text {
				pairs = append(pairs, pairsOf(c, i, func(string) string { return "…" })...)
			}
			return swap(c, pairs)
		}},
	}
	return kinds
}

// pairsOf gives the replacements for a fact that no rule of another layer looks for.
func pairsOf(c *ui4a.Case, i int, to func(string) string) [][2]string {
	if i < 0 {
		i += len(c.Facts.Text)
	}
	if i < 0 || i >= len(c.Facts.Text) {
		return nil
	}
	var pairs [][2]string
	for _, a := range strings.Split(c.Facts.Text[i], "|") {
		if used(c, a) || len(a) < 3 || !ascii(a) {
			return nil
		}
		for _, form := range []string{a, strings.ToUpper(a[:1]) + a[1:], strings.ToLower(a)} {
			pairs = append(pairs, [2]string{form, to(form)})
		}
	}
	return pairs
}

func ascii(s string) bool {
	return !slices.ContainsFunc([]rune(s), func(r rune) bool { return r > 126 })
}

// used reports whether the script or a wish of the case is about a text.
func used(c *ui4a.Case, text string) bool {
	text = strings.ToLower(text)
	about := func(expression string) bool {
		expression = strings.ToLower(expression)
		if _, err := strconv.ParseFloat(expression, 64); err == nil {
			return expression == text
		}
		ok, err := regexp.MatchString("(?i)"+expression, text)
		return expression != "" && (strings.Contains(text, expression) || strings.Contains(expression, text) || err == nil && ok)
	}
	for _, s := range c.Steps {
		if about(s.Name) || about(s.Value) || slices.ContainsFunc(s.Then.Shows, about) || slices.ContainsFunc(s.Then.Hides, about) ||
			slices.ContainsFunc(s.Then.Controls, func(x ui4a.State) bool { return about(x.Name) || about(x.Value) }) {
			return true
		}
	}
	return slices.ContainsFunc(c.Predicate, func(p ui4a.Predicate) bool {
		return about(p.Name) || about(p.Value) || slices.ContainsFunc(p.Of, about)
	})
}

// textKind tries facts from one end on until one can be changed.
func textKind(name string, from int, to func(string) string) Kind {
	return Kind{ui4a.Content, name, func(c *ui4a.Case) (string, bool) {
		for k := range c.Facts.Text {
			i := k
			if from < 0 {
				i = len(c.Facts.Text) - 1 - k
			}
			if pairs := pairsOf(c, i, to); len(pairs) > 0 && drawn(c, pairs) {
				return swap(c, pairs)
			}
		}
		return "", false
	}}
}

// drawn reports whether the source has one of the texts as it stands, so that a text node
// will have it.
func drawn(c *ui4a.Case, pairs [][2]string) bool {
	return slices.ContainsFunc(pairs, func(p [2]string) bool { return strings.Contains(c.Card, p[0]) })
}

func form(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// forms are usual notations of a number, the longest first.
func forms(v float64) []string {
	set := []string{grouped(strconv.FormatFloat(v, 'f', 2, 64), ",", "."), grouped(strconv.FormatFloat(v, 'f', 2, 64), ".", ","), strconv.FormatFloat(v, 'f', 2, 64), strings.Replace(strconv.FormatFloat(v, 'f', 2, 64), ".", ",", 1)}
	for _, d := range []int{1, 0} {
		s := strconv.FormatFloat(v, 'f', d, 64)
		if back, _ := strconv.ParseFloat(s, 64); back == v || d == 0 && v != float64(int64(v)) && v > 100 {
			set = append(set, grouped(s, ",", "."), grouped(s, ".", ","), s, strings.Replace(s, ".", ",", 1))
		}
	}
	slices.SortStableFunc(set, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(set)
}

func grouped(s, group, point string) string {
	whole, part, has := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + group + whole[i:]
	}
	if has {
		whole += point + part
	}
	return whole
}

func numberKind(name string, to func(float64) string) Kind {
	return Kind{ui4a.Content, name, func(c *ui4a.Case) (string, bool) {
		for _, v := range c.Facts.Numbers {
			if used(c, form(v)) || v < 13 {
				continue
			}
			var pairs [][2]string
			for _, f := range forms(v) {
				pairs = append(pairs, [2]string{f, to(v)})
			}
			return swap(c, pairs)
		}
		return "", false
	}}
}

func computedKind(name string, to func(float64) string) Kind {
	return Kind{ui4a.Content, name, func(c *ui4a.Case) (string, bool) {
		for _, x := range c.Computed {
			v, err := ui4a.Formula(x.Formula, x.With)
			if err != nil || x.After > 0 || v < 13 || used(c, form(v)) {
				continue
			}
			var pairs [][2]string
			for _, f := range forms(v) {
				pairs = append(pairs, [2]string{f, to(v)})
			}
			return swap(c, pairs)
		}
		return "", false
	}}
}

func never(c *ui4a.Case, as func(string) string) (string, bool) {
	for _, t := range c.Never.Text {
		first, _, _ := strings.Cut(t, "|")
		if !used(c, first) {
			return wrap(c.Card, patch{after: "<p>{" + js(as(first)) + "}</p>"})
		}
	}
	return "", false
}

// otherLanguage puts a few sentences behind the card that its reader did not ask for.
func otherLanguage(c *ui4a.Case) (string, bool) {
	text := "Aqui está uma visão geral de tudo o que você precisa saber hoje, com todos os detalhes importantes e as respostas às suas perguntas sobre a situação atual e o que ainda não foi decidido."
	if c.Language == "pt" || c.Language == "es" {
		text = "Dies ist eine Übersicht über alles, was man heute wissen muss, mit allen wichtigen Einzelheiten und den Antworten auf Ihre Fragen zur gegenwärtigen Lage, die noch nicht entschieden ist."
	}
	return wrap(c.Card, patch{after: "<p>{" + js(strings.Repeat(text+" ", 4)) + "}</p>"})
}

func replaceOnce(s, from, to string) string { return strings.Replace(s, from, to, 1) }
