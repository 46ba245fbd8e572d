package ui4a

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

var folds = strings.NewReplacer(
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2212", "-",
	"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u00ab", `"`, "\u00bb", `"`,
	"\u200b", "", "\u200c", "", "\u200d", "", "\ufeff", "", "\u00ad", "",
)

// normal gives a text as it is compared: one form of each character, no case, one kind of
// dash, quote and space.
func normal(s string) string {
	s = folds.Replace(norm.NFKC.String(s))
	return strings.Join(strings.Fields(cases.Fold().String(s)), " ")
}

// holds reports whether a normal text has one of the alternatives "A|B" in it. Where one
// begins or ends with a letter or digit, a word does so too: "Ann" is not in "Annual".
func holds(text, alternatives string) bool {
	for _, a := range strings.Split(alternatives, "|") {
		if a = normal(a); a != "" && inWords(text, a) {
			return true
		}
	}
	return false
}

func inWords(text, a string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], a)
		if at < 0 {
			return false
		}
		at += from
		if !joined(text[:at], a) && !joined(a, text[at+len(a):]) {
			return true
		}
		from = at + 1
	}
}

// joined reports whether a word of a script with spaces goes on over the seam of two texts.
func joined(before, after string) bool {
	return tail.MatchString(before) && head.MatchString(after)
}

var (
	tail = regexp.MustCompile(`[\p{Latin}\p{Cyrillic}\p{Greek}\p{Nd}]$`)
	head = regexp.MustCompile(`^[\p{Latin}\p{Cyrillic}\p{Greek}\p{Nd}]`)
)

// number is a number as it is written: its value and how many decimals it shows.
type number struct {
	value    float64
	decimals int
}

// digits are runs of digits with what may separate them.
var digits = regexp.MustCompile(`-?\d+(?:[.,' ]\d+)*`)

// numbers gives every reading of every number in a normal text. "1,234" is 1234 and 1.234,
// "1 234,50" is 1234.5 (and 1, 234.5): what is written is ambiguous, so a fact is found if
// one reading has it.
func numbers(text string) []number {
	var all []number
	for _, run := range digits.FindAllString(text, -1) {
		all = append(all, readings(run)...)
		if strings.Contains(run, " ") {
			for _, part := range strings.Fields(run) {
				all = append(all, readings(part)...)
			}
		}
	}
	return all
}

var grouped = regexp.MustCompile(`^\d{1,3}(?:[.,' ]\d{2,3})*[.,' ]\d{3}$`)

func readings(run string) []number {
	var all []number
	minus := strings.HasPrefix(run, "-")
	run = strings.TrimPrefix(run, "-")
	add := func(whole, part string) {
		v, err := strconv.ParseFloat(only(whole)+"."+part+"0", 64)
		if err != nil {
			return
		}
		all = append(all, number{v, len(part)})
		if minus {
			all = append(all, number{-v, len(part)})
		}
	}
	if at := strings.LastIndexAny(run, ".,"); at >= 0 && (grouped.MatchString(run[:at]) || only(run[:at]) == run[:at]) {
		add(run[:at], run[at+1:])
	}
	if grouped.MatchString(run) || only(run) == run {
		add(run, "")
	}
	return all
}

func only(run string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, run)
}

// shows reports whether one of the numbers is v, to the precision it is written with,
// which must be the given one at least, unless the rest of v is zero.
func shows(all []number, v float64, decimals int) bool {
	for _, n := range all {
		p := math.Pow(10, float64(n.decimals))
		near := math.Abs(n.value-math.Round(v*p)/p) < 1e-9 || math.Abs(n.value-v) <= 0.500001/p
		if near && (n.decimals >= decimals || math.Abs(n.value-v) < 1e-9*max(1, math.Abs(v))) {
			return true
		}
	}
	return false
}
