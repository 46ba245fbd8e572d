package mutant

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"macaron/internal/bench/ui4a"
)

// dateKind makes the first date late that the card writes in one of the usual forms.
func dateKind(name string, days int) Kind {
	return Kind{ui4a.Content, name, func(c *ui4a.Case) (string, bool) {
		for _, date := range c.Facts.Dates {
			d, err := time.Parse(time.DateOnly, date)
			if err != nil {
				continue
			}
			if pairs := datePairs(c, d, d.AddDate(0, 0, days)); len(pairs) > 0 {
				return swap(c, pairs)
			}
		}
		return "", false
	}}
}

// datePairs are the forms that stand in the source and, since a card may write anew what is
// in a field, those with the year.
func datePairs(c *ui4a.Case, from, to time.Time) [][2]string {
	var pairs [][2]string
	late, drawn, year, there := dateForms(to, c.Language), sent.ReplaceAllString(c.Card, ""), from.Format("2006"), false
	for i, form := range dateForms(from, c.Language) {
		found := strings.Contains(drawn, form)
		there = there || found
		if (found || strings.Contains(form, year)) && !used(c, form) {
			pairs = append(pairs, [2]string{form, late[i]})
		}
	}
	if !there {
		return nil
	}
	return pairs
}

// sent is what a card sends, which nobody reads on it.
var sent = regexp.MustCompile(`send(?:Message|Action)\([^\n]*`)

// dateForms are usual notations of a date, always in the same order.
func dateForms(d time.Time, language string) []string {
	var forms []string
	for _, layout := range []string{"2 January", "January 2", "2 Jan", "Jan 2", "2006-01-02", "02.01.2006", "2.1.2006", "02.01.", "2.1.", "1月2日"} {
		forms = append(forms, d.Format(layout))
	}
	if names := strings.Fields(months[language]); len(names) == 12 {
		month := names[d.Month()-1]
		forms = append(forms, fmt.Sprintf("%d de %s", d.Day(), month), fmt.Sprintf("%d. %s", d.Day(), month), fmt.Sprintf("%d %s", d.Day(), month))
	}
	return forms
}

var months = map[string]string{
	"de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
	"es": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
	"fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
	"pt": "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
}
