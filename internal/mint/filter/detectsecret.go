package filter

import (
	"math"
	"regexp"
	"strings"
)

// issuedKeys are forms that providers give their keys; what is before a key and after it is
// no part of a word.
var issuedKeys = regexp.MustCompile(`(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}` +
	`|gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{50,}|gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_\-]{20,}` +
	`|xox[abeprs]-[A-Za-z0-9\-]{10,}|xapp-[A-Za-z0-9\-]{10,}` +
	`|sk-(?:proj-|ant-|mint-|or-|svcacct-)?[A-Za-z0-9_\-]{20,}|tml-[A-Za-z0-9_\-]{16,}|mk-[A-Za-z0-9_\-]{20,}` +
	`|(?:sk|rk|whsec)_(?:live_|test_)?[A-Za-z0-9]{20,}|AIza[A-Za-z0-9_\-]{35}|ya29\.[A-Za-z0-9_\-]{20,}` +
	`|npm_[A-Za-z0-9]{36}|hf_[A-Za-z]{30,}|pypi-[A-Za-z0-9_\-]{50,}|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}` +
	`|dop_v1_[0-9a-f]{64}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|dapi[0-9a-f]{32}|lin_api_[A-Za-z0-9]{40}|AGE-SECRET-KEY-1[A-Z0-9]{58}` +
	`|eyJ[A-Za-z0-9_\-]{8,}\.eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}`)

var (
	pem     = regexp.MustCompile(`-----BEGIN [A-Z ]{0,32}PRIVATE KEY(?: BLOCK)?-----\s*([A-Za-z0-9+/=\s:,\-]{16,}?)\s*-----END`)
	inURL   = regexp.MustCompile(`[a-z][a-z0-9+.\-]{1,31}://[^/\s:@]{0,128}:([^/\s@]{3,256})@`)
	bearer  = regexp.MustCompile(`(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9_\-.+/=]{16,})`)
	setting = regexp.MustCompile(`(?i)(?:pass(?:word|wd|phrase|wort)?|pwd|kennwort|contraseña|senha|mot de passe|пароль|密码|パスワード|secret|token|api[_\-]?key|access[_\-]?key|auth[_\-]?key|private[_\-]?key|credential)[a-z_\-]{0,16}["']?\s{0,3}(?::=|=>|[:=：]|\bis\b|\bto\b|は)\s{0,3}["']?([^\s"'<>` + "`" + `]{6,256})`)
	dense   = regexp.MustCompile(`[A-Za-z0-9+/_\-]{32,}={0,2}`)
)

// findSecrets finds keys by their form, by what they are assigned to, and by entropy.
func findSecrets(text string) []Finding {
	var out []Finding
	add := func(from, to int) {
		if f := (Finding{from, to, "secret"}); !overlaps(out, f) {
			out = append(out, f)
		}
	}
	for _, at := range pem.FindAllStringSubmatchIndex(text, -1) {
		add(at[2], at[3])
	}
	for _, at := range issuedKeys.FindAllStringIndex(text, -1) {
		if at[0] == 0 || !wordByte(text[at[0]-1]) {
			add(at[0], at[1])
		}
	}
	for _, at := range inURL.FindAllStringSubmatchIndex(text, -1) {
		add(at[2], at[3])
	}
	for _, at := range bearer.FindAllStringSubmatchIndex(text, -1) {
		if v := text[at[2]:at[3]]; classes(v) >= 2 && entropy(v) > 3 {
			add(at[2], at[3])
		}
	}
	for _, at := range setting.FindAllStringSubmatchIndex(text, -1) {
		if to := at[2] + len(strings.TrimRight(text[at[2]:at[3]], ".,;)]}")); chosen(text[at[2]:to]) {
			add(at[2], to)
		}
	}
	for _, at := range dense.FindAllStringIndex(text, -1) {
		if random(text[at[0]:at[1]]) && !encoded(text[:at[0]]) && alone(text, at[0], at[1]) {
			add(at[0], at[1])
		}
	}
	return out
}

// placeholders are what documentation writes where a secret belongs.
var placeholders = regexp.MustCompile(`(?i)^(?:your|my|the|some|example|placeholder|changeme|dummy|redacted|none|null|true|false|xxx+|\*+|\.\.\.)|[*•]{3}|[(){}\[\]<>$|]|^[a-z_]+(?:\.[a-z_]+)+$|your[_\-]`)

// chosen reports whether a value that is assigned to a secret's name is one, and no
// placeholder, code or word.
func chosen(v string) bool {
	return len(v) >= 6 && !placeholders.MatchString(v) && classes(v) >= 2 && strings.ContainsAny(v, "0123456789") && entropy(v) > 2.2
}

// random reports whether a long word is too even for a name, a path or a hash: hashes are
// hexadecimal, and they are public.
func random(v string) bool {
	return classes(v) >= 3 && strings.ContainsAny(v, "0123456789") && entropy(v) >= 4.2 && strings.Count(v, "/") < 4 && strings.Count(v, "-") < 4
}

// encoded reports whether what follows is data that was only put into letters.
func encoded(before string) bool {
	before = before[max(0, len(before)-24):]
	return strings.HasSuffix(before, "base64,") || strings.HasSuffix(before, "ssh-rsa ") || strings.HasSuffix(before, "ssh-ed25519 ") || strings.HasSuffix(before, "sha512-") || strings.HasSuffix(before, "sha384-")
}

// classes counts the kinds of characters: small, capital, digit, other.
func classes(v string) int {
	var has [4]int
	for i := range len(v) {
		switch c := v[i]; {
		case c >= 'a' && c <= 'z':
			has[0] = 1
		case c >= 'A' && c <= 'Z':
			has[1] = 1
		case isDigit(c):
			has[2] = 1
		default:
			has[3] = 1
		}
	}
	return has[0] + has[1] + has[2] + has[3]
}

// entropy is Shannon's, of the bytes, in bits.
func entropy(v string) float64 {
	var n [256]int
	for i := range len(v) {
		n[v[i]]++
	}
	h := 0.0
	for _, c := range n {
		if c > 0 {
			p := float64(c) / float64(len(v))
			h -= p * math.Log2(p)
		}
	}
	return h
}
