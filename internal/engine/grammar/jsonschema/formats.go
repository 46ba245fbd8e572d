package jsonschema

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"macaron/internal/engine/grammar/auto"
)

const (
	day     = `(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))`
	leap    = `(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`
	date    = `(?:\d{4}-` + day + `|` + leap + `)`
	timeOf  = `(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`
	octet   = `(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`
	ipv4    = octet + `(?:\.` + octet + `){3}`
	h16     = `[0-9A-Fa-f]{1,4}`
	label   = `[A-Za-z0-9](?:[A-Za-z0-9]|-[A-Za-z0-9]){0,14}`
	host    = label + `(?:\.` + label + `){0,6}`
	atext   = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]{1,12}"
	pchar   = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})`
	uriRest = `(?:\?(?:` + pchar + `|[/?])*)?(?:#(?:` + pchar + `|[/?])*)?`
	number  = `\d+`
)

// ipv6 is RFC 4291 without zones: at most one :: stands for the groups that are missing.
func ipv6() string {
	groups := func(n int) string { // n groups with a colon behind each
		return `(?:` + h16 + `:){` + string(rune('0'+n)) + `}`
	}
	upTo := func(n int) string {
		if n == 0 {
			return ""
		}
		return `(?:` + h16 + `(?::` + h16 + `){0,` + string(rune('0'+n-1)) + `})?`
	}
	last := `(?:` + h16 + `:` + h16 + `|` + ipv4 + `)`
	alts := []string{groups(6) + last}
	for before := range 6 { // groups before ::, and how many may follow
		alts = append(alts, upTo(before)+`::`+groups(5-before)+last)
	}
	alts = append(alts, upTo(6)+`::`+h16, upTo(7)+`::`)
	return strings.Join(alts, "|")
}

// duration is ISO 8601 as RFC 3339 writes it in appendix A.
func duration() string {
	second := number + `S`
	minute := number + `M(?:` + second + `)?`
	hour := number + `H(?:` + minute + `)?`
	clock := `T(?:` + hour + `|` + minute + `|` + second + `)`
	days := number + `D`
	month := number + `M(?:` + days + `)?`
	year := number + `Y(?:` + month + `)?`
	return `P(?:(?:` + days + `|` + month + `|` + year + `)(?:` + clock + `)?|` + clock + `|` + number + `W)`
}

// formats are the formats that are kept to, each as a regular expression of what is
// written. Some are narrower than the standard: labels of a host have no -- and at most
// 29 characters, at most seven of them; the parts of a mail address are short; a URI has
// a host of this kind or none.
var formats = map[string]string{
	"date":         date,
	"time":         timeOf,
	"date-time":    date + `T` + timeOf,
	"duration":     duration(),
	"uuid":         `[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}`,
	"ipv4":         ipv4,
	"ipv6":         ipv6(),
	"hostname":     host,
	"email":        atext + `(?:\.` + atext + `){0,3}@` + host,
	"uri":          `[A-Za-z][A-Za-z0-9+.-]*:(?://` + host + `(?::[1-9]\d{0,3})?(?:/` + pchar + `*)*|/(?:` + pchar + `+(?:/` + pchar + `*)*)?|` + pchar + `+(?:/` + pchar + `*)*)` + uriRest,
	"json-pointer": `(?:/(?:[^~/]|~[01])*)*`,
}

// parsed reads each format once.
var parsed = sync.OnceValue(func() map[string]auto.Expr {
	out := map[string]auto.Expr{}
	for name, pattern := range formats {
		e, err := auto.Parse(pattern)
		if err != nil {
			panic(err) // a constant of this file
		}
		out[name] = e
	}
	return out
})

func format(name string) (auto.Expr, bool) {
	e, ok := parsed()[name]
	return e, ok
}

func formatNames() string { return strings.Join(slices.Sorted(maps.Keys(formats)), ", ") }
