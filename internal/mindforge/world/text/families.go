package text

import (
	"fmt"
	"strconv"
	"strings"

	"macaron/internal/mindforge/world"
)

type draft = world.Draft[*page]

var nouns = []string{"pear", "fig", "plum", "melon", "cherry", "lime", "apricot", "quince", "banana", "grape", "date", "mango", "papaya", "olive", "kiwi", "currant"}

var people = []string{"Nora", "Otto", "Vera", "Karl", "Mina", "Theo", "Iris", "Paul", "Lena", "Hugo"}

// some draws different words, more of them at larger scales.
func some(d *draft, key string, n int) []string {
	all := d.Shuffle(key, nouns)
	return all[:min(n+min(d.Scale, 6), len(all))]
}

// set lays the text into the task and quotes it in the request.
func set(d *draft, text string) {
	d.State.text = text
	d.Data(text)
}

func date(d *draft, key string) string {
	return fmt.Sprintf("%02d.%02d.%d", d.Int(key+" day", 13, 28), d.Int(key+" month", 1, 12), d.Int(key+" year", 1950, 2029))
}

var places = []string{"first", "second", "third", "last"}

var families = []world.Family[*page]{
	{Name: "case", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 3), " "))
		to := d.Slot("form", []string{"upper", "title"})
		d.Ask("Change the case of the text to %s.", to)
		d.Answer(d.Call("change_case", "to", to), line)
	}},
	{Name: "count", Build: func(d *draft) {
		set(d, mixed(d))
		what := d.Slot("kind of part", []string{"words", "letters", "digits"})
		d.Ask("Count the %s of the text.", what)
		d.Answer(d.Call("count", "what", what), number)
	}},
	{Name: "sort", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 4), " "))
		way := d.Slot("direction", []string{"up", "down"})
		d.Ask("Sort the words of the text %s.", way)
		d.Answer(d.Call("sort_words", "way", way), line)
	}},
	{Name: "field", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 4), "; "))
		which := d.Slot("place", places)
		d.Ask("Take the %s field of the text; fields stand between semicolons.", which)
		d.Answer(d.Call("take_field", "which", which), line)
	}},
	{Name: "date", Build: func(d *draft) {
		set(d, date(d, "a"))
		form := d.Slot("form", []string{"iso", "us"})
		d.Ask("Change the date of the text, which is day.month.year, to the form %s.", form)
		d.Answer(d.Call("change_date", "form", form), line)
	}},
	{Name: "redact", Build: func(d *draft) {
		set(d, mixed(d))
		what := d.Slot("kind of character", []string{"digits", "vowels"})
		d.Ask("Hide the %s of the text: a star for each.", what)
		d.Answer(d.Call("hide", "what", what), line)
	}},
	{Name: "initials", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 4), " "))
		to := d.Slot("form", []string{"upper", "title"})
		d.Ask("Change the case of the text to %s, then give the initials of its words, without blanks.", to)
		d.Call("change_case", "to", to)
		d.Answer(d.Call("initials"), line)
	}},
	{Name: "sum", Build: func(d *draft) {
		var all []string
		for i, w := range some(d, "words", 3) {
			all = append(all, strconv.Itoa(d.Int(fmt.Sprint("n", i), 2, 19))+" "+w+"s")
		}
		set(d, strings.Join(all, ", "))
		d.Ask("Add up the numbers in the text.")
		d.Answer(d.Call("add_up"), number)
	}},
	{Name: "csv", Build: func(d *draft) {
		all := some(d, "words", 3)
		all[d.Int("comma", 0, len(all)-1)] += ", dry"
		set(d, strings.Join(all, "; "))
		quotes := d.Slot("places of quotes", []string{"needed", "all"})
		d.Ask("Make a csv row of the fields of the text; quotes: %s.", quotes)
		d.Answer(d.Call("make_row", "quotes", quotes), line)
	}},
	{Name: "sorted_word", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 4), " "))
		way, which := d.Slot("direction", []string{"up", "down"}), d.Slot("place", places)
		d.Ask("Sort the words of the text %s, then take the %s word.", way, which)
		d.Call("sort_words", "way", way)
		d.Answer(d.Call("take_word", "which", which), line)
	}},
	{Name: "field_date", Build: func(d *draft) {
		n := 3 + min(d.Scale, 4)
		all := make([]string, n)
		for i := range all {
			all[i] = date(d, fmt.Sprint("d", i))
		}
		set(d, strings.Join(all, "; "))
		which, form := d.Slot("place", places), d.Slot("form", []string{"iso", "us"})
		d.Ask("Take the %s field of the text, a date with day.month.year, then change the date to the form %s.", which, form)
		d.Call("take_field", "which", which)
		d.Answer(d.Call("change_date", "form", form), line)
	}},
	{Name: "unique_count", Build: func(d *draft) {
		words := some(d, "words", 3)
		for i := range 3 {
			words = append(words, words[d.Int(fmt.Sprint("again ", i), 0, 2)])
		}
		set(d, strings.Join(d.Shuffle("order", words), " "))
		what := d.Slot("kind of part", []string{"words", "letters"})
		d.Ask("Drop the repeats of words in the text, then count its %s.", what)
		d.Call("drop_repeats")
		d.Answer(d.Call("count", "what", what), number)
	}},
	{Name: "longest_count", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 4), " "))
		which := d.Slot("kind of word", []string{"longest", "shortest"})
		d.Ask("Find the %s word of the text, then count its letters.", which)
		d.Call("find_word", "which", which)
		d.Answer(d.Call("count", "what", "letters"), number)
	}},
	{Name: "longest_upper", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 4), " "))
		which, to := d.Slot("kind of word", []string{"longest", "shortest"}), d.Slot("form", []string{"upper", "title"})
		d.Ask("Find the %s word of the text, then change its case to %s.", which, to)
		d.Call("find_word", "which", which)
		d.Answer(d.Call("change_case", "to", to), line)
	}},
	{Name: "flip", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 3), " "))
		what := d.Slot("kind of part", []string{"words", "letters"})
		d.Ask("Reverse the %s of the text.", what)
		d.Answer(d.Call("reverse", "what", what), line)
	}},
	{Name: "slug", Build: func(d *draft) {
		set(d, strings.Join(some(d, "words", 3), ", "))
		with := d.Slot("mark", []string{"dash", "plus"})
		d.Ask("Remove the commas of the text, then join its words with a %s.", with)
		d.Call("remove", "what", "commas")
		d.Answer(d.Call("join_words", "with", with), line)
	}},
	{Name: "names_sorted", Build: func(d *draft) {
		names := d.Shuffle("people", people)[:2+min(d.Scale, 4)]
		set(d, strings.Join(d.Shuffle("order", append(names, some(d, "words", 2)...)), " "))
		way := d.Slot("direction", []string{"up", "down"})
		d.Ask("Keep the words of the text with a capital, then sort the words %s.", way)
		d.Call("keep_words", "with", "capital")
		d.Answer(d.Call("sort_words", "way", way), line)
	}},
	{Name: "codes", Build: func(d *draft) {
		set(d, mixed(d))
		what := d.Slot("kind of character", []string{"digits", "vowels"})
		d.Ask("Keep the words of the text with a digit, then hide their %s: a star for each.", what)
		d.Call("keep_words", "with", "digit")
		d.Answer(d.Call("hide", "what", what), line)
	}},
	{Name: "clean_title", Build: func(d *draft) {
		set(d, mixed(d))
		to := d.Slot("form", []string{"upper", "title"})
		d.Ask("Remove the digits of the text, reverse its words, then change the case to %s.", to)
		d.Call("remove", "what", "digits")
		d.Call("reverse", "what", "words")
		d.Answer(d.Call("change_case", "to", to), line)
	}},
}

// mixed are words, some with digits.
func mixed(d *draft) string {
	words := some(d, "words", 4)
	for i := range words {
		if i%2 == d.Int("odd", 0, 1) {
			words[i] += strconv.Itoa(d.Int(fmt.Sprint("code ", i), 1, 99))
		}
	}
	return strings.Join(words, " ")
}

// tails go on with the text as it stands; none makes it longer.
var tails = []world.Tail[*page]{
	{From: line, Then: func(d *draft, _ world.Value, key string) {
		what := d.Pick(key+" what", []string{"words", "letters"})
		d.Ask("Then reverse its %s.", what)
		d.Answer(d.Call("reverse", "what", what), line)
	}},
	{From: line, Then: func(d *draft, _ world.Value, key string) {
		to := d.Pick(key+" to", []string{"upper", "lower", "title"})
		d.Ask("Then change its case to %s.", to)
		d.Answer(d.Call("change_case", "to", to), line)
	}},
	{From: line, Then: func(d *draft, _ world.Value, key string) {
		what := d.Pick(key+" what", []string{"vowels", "digits"})
		d.Ask("Then hide its %s: a star for each.", what)
		d.Answer(d.Call("hide", "what", what), line)
	}},
	{From: number, Then: func(d *draft, _ world.Value, _ string) {
		d.Ask("Then reverse the digits of this number as letters.")
		d.Answer(d.Call("reverse", "what", "letters"), line)
	}},
}
