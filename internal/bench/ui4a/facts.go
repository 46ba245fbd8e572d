package ui4a

import (
	"fmt"
	"regexp"
	"strconv"
	"time"
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// Finding is one question to a card and its answer. Evidence says where the answer is
// from, so that a person can look it up.
type Finding struct {
	What     string  `json:"what"`
	Pass     float64 `json:"pass"` // 0 to 1
	Evidence string  `json:"evidence,omitempty"`
}

func finding(what string, pass bool, evidence string) Finding {
	if pass {
		return Finding{What: what, Pass: 1, Evidence: evidence}
	}
	return Finding{What: what, Evidence: evidence}
}

// find looks for each fact in a text as a person reads it.
func (f Facts) find(text string) []Finding {
	text = normal(text)
	all := numbers(text)
	var found []Finding
	for _, t := range f.Text {
		found = append(found, finding("text "+strconv.Quote(t), holds(text, t), ""))
	}
	for _, v := range f.Numbers {
		found = append(found, finding(fmt.Sprintf("number %v", v), shows(all, v, 6), ""))
	}
	for _, d := range f.Dates {
		found = append(found, finding("date "+d, dateIn(text, d), ""))
	}
	for _, t := range f.Times {
		found = append(found, finding("time "+t, timeIn(text, t), ""))
	}
	return found
}

// months are beginnings of the names of months in the languages of the cases.
var months = [12]string{
	`jan|ene|gen|янв|styc`, `feb|fév|fev|фев|lut`, `mar|mär|mrt|мар`, `apr|avr|abr|апр|kwi`, `may|mai|maj|mei|mag|мая|май`, `jun|juin|giu|июн|cze`,
	`jul|juil|lug|июл|lip`, `aug|août|aou|ago|авг|sie`, `sep|set|сен|wrz`, `oct|okt|ott|out|окт|paź`, `nov|ноя|lis`, `dec|dez|déc|dic|дек|gru`,
}

// dateIn reports whether a normal text names a day in a usual notation, with or without
// its year.
func dateIn(text, date string) bool {
	d, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return false
	}
	name := `(?:` + months[d.Month()-1] + `)\p{L}*\.?`
	year := fmt.Sprintf(`(?:,? ?(?:de |del |г )?%d)?`, d.Year())
	const to = ` ?(?:-|to|until|through|and|bis|und|à|au|a|al|y|e) ?`
	const nth = `(?:st|nd|rd|th|er|º|\.)?`
	for _, form := range []string{
		fmt.Sprintf(`%d[-/.]0?%d[-/.]0?%d`, d.Year(), d.Month(), d.Day()),
		fmt.Sprintf(`0?%d%s(?:%s\d{1,2}%s)? ?(?:of |de |di )?%s`, d.Day(), nth, to, nth, name),
		fmt.Sprintf(`%s ?(?:\d{1,2}%s%s)?0?%d%s%s`, name, nth, to, d.Day(), nth, year),
		fmt.Sprintf(`0?%d[./-]0?%d(?:[./-](?:%d|%02d)|\.)?`, d.Day(), d.Month(), d.Year(), d.Year()%100),
		fmt.Sprintf(`0?%d/0?%d(?:/(?:%d|%02d))?`, d.Month(), d.Day(), d.Year(), d.Year()%100),
		fmt.Sprintf(`0?%d[月월] ?0?%d[日일]`, d.Month(), d.Day()),
	} {
		if regexp.MustCompile(`(?:^|[^\d])` + form + `(?:$|[^\d])`).MatchString(text) {
			return true
		}
	}
	return false
}

// timeIn reports whether a normal text names a time of day, in 12 or 24 hours.
func timeIn(text, clock string) bool {
	t, err := time.Parse("15:04", clock)
	if err != nil {
		return false
	}
	half, letter := (t.Hour()+11)%12+1, "a"
	if t.Hour() >= 12 {
		letter = "p"
	}
	forms := []string{
		fmt.Sprintf(`0?%d ?[:.h时時点] ?%02d`, t.Hour(), t.Minute()),
		fmt.Sprintf(`0?%d[:.]%02d ?%s\.?m`, half, t.Minute(), letter),
	}
	if t.Minute() == 0 {
		forms = append(forms, fmt.Sprintf(`0?%d ?%s\.?m`, half, letter), fmt.Sprintf(`%d ?(?:uhr|h|时|時|点)`, t.Hour()))
	}
	for _, form := range forms {
		if regexp.MustCompile(`(?:^|[^\d:])` + form + `(?:$|[^\d])`).MatchString(text) {
			return true
		}
	}
	return false
}

// The shortest texts whose language is guessed: in Latin letters, and in others, which often
// tell it by themselves.
const (
	leastWords   = 10
	leastLetters = 24
)

// unsure is a confidence below which a guess is none: labels of a card in Spanish are as
// well Portuguese.
const unsure = 0.2

// latin are the languages of the cases that are written in Latin letters: nothing else is
// guessed of a text in these, since labels of a card look like any small language.
var latin = whatlanggo.Options{Whitelist: map[whatlanggo.Lang]bool{whatlanggo.Eng: true, whatlanggo.Deu: true, whatlanggo.Fra: true, whatlanggo.Spa: true, whatlanggo.Por: true}}

var (
	word   = regexp.MustCompile(`\p{L}{2,}`)
	letter = regexp.MustCompile(`\p{L}`)
)

// inLanguage guesses whether a text is in a language; a short text is in every one.
func inLanguage(text, code string) (bool, string) {
	got := whatlanggo.Detect(text)
	if n := len(letter.FindAllString(text, -1)); n < leastLetters {
		return true, fmt.Sprintf("%d letters: too short to tell", n)
	}
	if got.Script == unicode.Latin {
		if n := len(word.FindAllString(text, -1)); n < leastWords {
			return true, fmt.Sprintf("%d words: too short to tell", n)
		}
		got = whatlanggo.DetectWithOptions(text, latin)
	}
	if got.Confidence < unsure {
		return true, fmt.Sprintf("perhaps %q, confidence %.2f: too uncertain to tell", got.Lang.Iso6391(), got.Confidence)
	}
	lang := got.Lang.Iso6391()
	if lang == "zh" && kana.MatchString(text) { // labels of Japanese cards are mostly Han
		lang = "ja"
	}
	return lang == code, fmt.Sprintf("recognised as %q, confidence %.2f", lang, got.Confidence)
}

// kana are letters that Japanese alone has.
var kana = regexp.MustCompile(`[\p{Hiragana}\p{Katakana}]`)
