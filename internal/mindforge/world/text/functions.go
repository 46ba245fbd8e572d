package text

import (
	"sort"
	"strconv"
	"strings"
	"unicode"

	"macaron/internal/errs"
	"macaron/internal/mindforge/world"
	"macaron/internal/tool"
)

type function = world.Function[*page]

type param = world.Param[*page]

// functions are the steps.
var functions = []function{
	step("change_case", "Change the case of the text: upper, lower, or title.", "to", []string{"upper", "lower", "title"}, func(text, to string) (string, error) {
		switch to {
		case "upper":
			return strings.ToUpper(text), nil
		case "lower":
			return strings.ToLower(text), nil
		}
		return each(text, capital), nil
	}),
	step("count", "Count the words, letters or digits of the text.", "what", []string{"words", "letters", "digits"}, func(text, what string) (string, error) {
		n := len(strings.Fields(text))
		if what != "words" {
			is := unicode.IsLetter
			if what == "digits" {
				is = unicode.IsDigit
			}
			n = len(strings.Map(func(r rune) rune { return keep(r, is(r)) }, text))
		}
		return strconv.Itoa(n), nil
	}),
	step("sort_words", "Sort the words of the text, up or down.", "way", []string{"up", "down"}, func(text, way string) (string, error) {
		w := strings.Fields(text)
		sort.Strings(w)
		if way == "down" {
			flip(w)
		}
		return strings.Join(w, " "), nil
	}),
	step("take_word", "Take one word of the text.", "which", []string{"first", "second", "third", "last"}, func(text, which string) (string, error) {
		return nth(strings.Fields(text), which)
	}),
	step("take_field", "Take one field of the text; fields stand between semicolons.", "which", []string{"first", "second", "third", "last"}, func(text, which string) (string, error) {
		return nth(fields(text), which)
	}),
	step("find_word", "Find the longest or the shortest word of the text.", "which", []string{"longest", "shortest"}, func(text, which string) (string, error) {
		best := ""
		for _, w := range strings.Fields(text) {
			if longer := len(w) > len(best); best == "" || len(w) != len(best) && longer == (which == "longest") {
				best = w
			}
		}
		return best, filled(best)
	}),
	step("reverse", "Reverse the words or the letters of the text.", "what", []string{"words", "letters"}, func(text, what string) (string, error) {
		if what == "words" {
			w := strings.Fields(text)
			flip(w)
			return strings.Join(w, " "), nil
		}
		r := []rune(text)
		flip(r)
		return string(r), nil
	}),
	step("hide", "Hide the digits or the vowels of the text behind stars.", "what", []string{"digits", "vowels"}, func(text, what string) (string, error) {
		return strings.Map(func(r rune) rune {
			if what == "digits" && unicode.IsDigit(r) || what == "vowels" && strings.ContainsRune("aeiouAEIOU", r) {
				return '*'
			}
			return r
		}, text), nil
	}),
	step("remove", "Remove the digits, commas or points of the text.", "what", []string{"digits", "commas", "points"}, func(text, what string) (string, error) {
		return squeeze(strings.Map(func(r rune) rune {
			return keep(r, what == "digits" && !unicode.IsDigit(r) || what == "commas" && r != ',' || what == "points" && r != '.')
		}, text)), nil
	}),
	step("join_words", "Join the words of the text with a dash, a comma or a plus.", "with", []string{"dash", "comma", "plus"}, func(text, with string) (string, error) {
		return strings.Join(strings.Fields(text), map[string]string{"dash": "-", "comma": ",", "plus": "+"}[with]), nil
	}),
	step("change_date", "Change the form of the date in the text, which is day.month.year.", "form", []string{"iso", "us"}, dated),
	step("make_row", "Make one csv row of the fields of the text, with quotes where needed or on all.", "quotes", []string{"needed", "all"}, func(text, quotes string) (string, error) {
		var out []string
		for _, f := range fields(text) {
			if quotes == "all" || strings.ContainsAny(f, ",\"") {
				f = `"` + strings.ReplaceAll(f, `"`, `""`) + `"`
			}
			out = append(out, f)
		}
		return strings.Join(out, ","), nil
	}),
	step("keep_words", "Keep the words that have a digit, or those that begin with a capital.", "with", []string{"digit", "capital"}, func(text, with string) (string, error) {
		var out []string
		for _, w := range strings.Fields(text) {
			if with == "digit" && strings.ContainsFunc(w, unicode.IsDigit) || with == "capital" && unicode.IsUpper([]rune(w)[0]) {
				out = append(out, w)
			}
		}
		return strings.Join(out, " "), filled(strings.Join(out, ""))
	}),
	alone("drop_repeats", "Drop the repeats of words in the text.", func(text string) (string, error) {
		seen, out := map[string]bool{}, []string{}
		for _, w := range strings.Fields(text) {
			if !seen[w] {
				seen[w] = true
				out = append(out, w)
			}
		}
		return strings.Join(out, " "), nil
	}),
	alone("initials", "Give the initials of the words of the text.", func(text string) (string, error) {
		return strings.Join(strings.Split(each(text, func(w string) string { return string([]rune(w)[:1]) }), " "), ""), nil
	}),
	alone("add_up", "Add up the whole numbers in the text.", func(text string) (string, error) {
		sum := 0
		for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsDigit(r) }) {
			n, err := strconv.Atoi(w)
			if err != nil || n > 1_000_000_000 {
				return "", errs.New(errs.InvalidRequest, "a number of the text is too large", "")
			}
			sum += n
		}
		return strconv.Itoa(sum), nil
	}),
}

// step is a function with one argument, of a list.
func step(name, about, arg string, from []string, do func(text, arg string) (string, error)) function {
	return function{Name: name, About: about, Params: []param{{Name: arg, Enum: func(*page) []string { return from }}}, Effect: tool.Write, Do: func(p *page, a map[string]string) (string, error) {
		return p.become(do(p.text, a[arg]))
	}}
}

func alone(name, about string, do func(text string) (string, error)) function {
	return function{Name: name, About: about, Effect: tool.Write, Do: func(p *page, _ map[string]string) (string, error) {
		return p.become(do(p.text))
	}}
}

func (p *page) become(text string, err error) (string, error) {
	if err == nil {
		p.text = text
	}
	return text, err
}

func each(text string, do func(word string) string) string {
	w := strings.Fields(text)
	for i := range w {
		w[i] = do(w[i])
	}
	return strings.Join(w, " ")
}

func capital(w string) string {
	r := []rune(strings.ToLower(w))
	return strings.ToUpper(string(r[:1])) + string(r[1:])
}

func fields(text string) []string {
	out := strings.Split(text, ";")
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}

func nth(all []string, which string) (string, error) {
	at := map[string]int{"first": 0, "second": 1, "third": 2, "last": len(all) - 1}[which]
	if at < 0 || at >= len(all) {
		return "", errs.New(errs.NotFound, "there are not so many", "")
	}
	return all[at], filled(all[at])
}

func filled(s string) error {
	if s == "" {
		return errs.New(errs.NotFound, "nothing is left", "")
	}
	return nil
}

func keep(r rune, yes bool) rune {
	if yes {
		return r
	}
	return -1
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func flip[T any](l []T) {
	for i, j := 0, len(l)-1; i < j; i, j = i+1, j-1 {
		l[i], l[j] = l[j], l[i]
	}
}

// dated writes a date that is day.month.year, as one word of the text, in another form.
func dated(text, form string) (string, error) {
	w := strings.Fields(text)
	for i := range w {
		p := strings.Split(w[i], ".")
		if len(p) != 3 || len(p[0]) != 2 || len(p[1]) != 2 || len(p[2]) != 4 {
			continue
		}
		if w[i] = p[2] + "-" + p[1] + "-" + p[0]; form == "us" {
			w[i] = p[1] + "/" + p[0] + "/" + p[2]
		}
		return strings.Join(w, " "), nil
	}
	return "", errs.New(errs.NotFound, "there is no date of the form day.month.year", "")
}
