package filter

import (
	"net/netip"
	"regexp"
	"strings"
)

var (
	email = regexp.MustCompile(`(?i)[a-z0-9][a-z0-9._%+'\-]{0,63}@(?:[a-z0-9](?:[a-z0-9\-]{0,61}[a-z0-9])?\.){1,8}[a-z]{2,24}`)
	ip4   = regexp.MustCompile(`\d{1,3}(?:\.\d{1,3}){3}`)
	ip6   = regexp.MustCompile(`(?i)[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7}`)
)

func findEmails(text string) []Finding {
	var out []Finding
	for _, at := range email.FindAllStringIndex(text, -1) {
		out = append(out, Finding{at[0], at[1], "email"})
	}
	return out
}

// versions are words before four numbers that are no address.
var versions = regexp.MustCompile(`(?i)(?:\bv|version[:= ]*|versión[: ]*|versão[: ]*|版本[:： ]?|バージョン[:： ]?|release[:= ]*|section[: ]*|chapter[: ]*|kapitel[: ]*|tested with v?|node v?|to v?)$`)

// findIPs finds addresses of single machines that are reachable by anybody: private
// networks, loopback, masks and what nobody has say nothing about a person.
func findIPs(text string) []Finding {
	var out []Finding
	for _, at := range ip4.FindAllStringIndex(text, -1) {
		a, err := netip.ParseAddr(text[at[0]:at[1]])
		dotted := at[0] > 0 && text[at[0]-1] == '.' || at[1]+1 < len(text) && text[at[1]] == '.' && isDigit(text[at[1]+1])
		before := text[max(0, at[0]-24):at[0]]
		if err == nil && public(a) && !dotted && alone(text, at[0], at[1]) && !versions.MatchString(before) {
			out = append(out, Finding{at[0], at[1], "ip"})
		}
	}
	for _, at := range ip6.FindAllStringIndex(text, -1) {
		a, err := netip.ParseAddr(text[at[0]:at[1]])
		if err == nil && public(a) && alone(text, at[0], at[1]) && strings.Count(text[at[0]:at[1]], ":") >= 2 {
			out = append(out, Finding{at[0], at[1], "ip"})
		}
	}
	return out
}

func public(a netip.Addr) bool {
	if a.Is4() && (a.As4()[0] < 1 || a.As4()[0] == 255) {
		return false
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}
