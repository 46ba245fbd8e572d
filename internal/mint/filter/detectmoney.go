package filter

import (
	"regexp"
	"strings"
)

var (
	cardLike = regexp.MustCompile(`\d(?:[ \-]?\d){12,18}`)
	ibanLike = regexp.MustCompile(`(?i)[a-z]{2}\d{2}(?: ?[0-9a-z]{1,4}){3,9}`)
)

// findCards finds numbers of payment cards: a prefix that a network has given out, its
// length, and the check digit of ISO/IEC 7812.
func findCards(text string) []Finding {
	var out []Finding
	for _, at := range cardLike.FindAllStringIndex(text, -1) {
		d := digitsOf(text[at[0]:at[1]])
		if alone(text, at[0], at[1]) && issued(d) && luhn(d) {
			out = append(out, Finding{at[0], at[1], "card"})
		}
	}
	return out
}

// issued reports whether a network has the prefix and gives numbers of this length.
func issued(d string) bool {
	n := len(d)
	switch {
	case d[0] == '4':
		return n == 13 || n == 16 || n == 19
	case d[:2] >= "51" && d[:2] <= "55", d[:4] >= "2221" && d[:4] <= "2720", d[:4] == "6011", d[:2] == "65", d[:4] >= "3528" && d[:4] <= "3589":
		return n == 16
	case d[:2] == "34", d[:2] == "37":
		return n == 15
	case d[:2] == "36", d[:2] == "38", d[:3] >= "300" && d[:3] <= "305":
		return n == 14
	case d[:2] == "62", d[:2] == "50", d[:2] >= "56" && d[:2] <= "58", d[:2] == "67":
		return n >= 16
	}
	return false
}

func luhn(d string) bool {
	sum := 0
	for i := range d {
		x := int(d[len(d)-1-i] - '0')
		if i%2 == 1 {
			if x *= 2; x > 9 {
				x -= 9
			}
		}
		sum += x
	}
	return sum%10 == 0
}

// findIBANs finds account numbers whose check digits are right (ISO 13616). A match may run
// on into words behind the number, so it is cut back to the country's length.
func findIBANs(text string) []Finding {
	var out []Finding
	for _, at := range ibanLike.FindAllStringIndex(text, -1) {
		n := ibanLengths[strings.ToUpper(text[at[0]:at[0]+2])]
		to := at[0]
		for seen := 0; seen < n && to < at[1]; to++ {
			if text[to] != ' ' {
				seen++
			}
		}
		compact := strings.ToUpper(strings.ReplaceAll(text[at[0]:to], " ", ""))
		if n > 0 && len(compact) == n && alone(text, at[0], to) && mod97(compact[4:]+compact[:4]) == 1 {
			out = append(out, Finding{at[0], to, "iban"})
		}
	}
	return out
}

func mod97(s string) int {
	r := 0
	for i := range len(s) {
		if c := s[i]; isDigit(c) {
			r = (r*10 + int(c-'0')) % 97
		} else {
			r = (r*100 + int(c-'A') + 10) % 97
		}
	}
	return r
}

// ibanLengths are the lengths of the countries' numbers.
var ibanLengths = map[string]int{
	"AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18,
	"DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23,
	"IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31,
	"MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "TN": 24,
	"TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}
