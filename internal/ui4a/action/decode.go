package action

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"html"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds on the search through encodings.
const (
	maxLayers = 3
	maxForms  = 400
	maxBytes  = 1 << 20
)

var (
	base64Run   = regexp.MustCompile(`[A-Za-z0-9+/_-]{4,}`)
	base32Run   = regexp.MustCompile(`(?i)[A-Z2-7]{6,}`)
	hexRun      = regexp.MustCompile(`(?i)(?:(?:0x|\\x|%|\\u00)?[0-9a-f]{2}[\s:,;.-]?){2,}`)
	codeRun     = regexp.MustCompile(`(?:[0-9]{2,3}[\s,;.:/|+-]+)+[0-9]{2,3}`)
	percentByte = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
	hexPair     = regexp.MustCompile(`(?i)(?:0x|\\x|%|\\u00)`)
)

// decodings gives a text, its reverse, and what both may be encodings of, layer by
// layer: percent, HTML and JavaScript escapes, base64 at each offset, base32, hex at
// each offset, lists of character codes. all is false when the bounds were reached.
func decodings(text string) (forms []string, all bool) {
	seen, bytes := map[string]bool{}, 0
	add := func(s string) bool {
		if s == "" || seen[s] {
			return true
		}
		seen[s] = true
		forms = append(forms, s)
		bytes += len(s)
		return len(forms) <= maxForms && bytes <= maxBytes
	}
	if !add(text) || !add(reversed(text)) {
		return nil, false
	}
	for layer, from := 0, 0; layer < maxLayers; layer++ {
		to := len(forms)
		for _, f := range forms[from:to] {
			for _, d := range decodeOnce(f) {
				if !add(d) {
					return nil, false
				}
			}
		}
		from = to
	}
	return forms, true
}

// decodeOnce gives what a text decodes to by one encoding each.
func decodeOnce(text string) []string {
	var out []string
	if s := percentByte.ReplaceAllStringFunc(text, unpercent); s != text {
		out = append(out, s)
	}
	if s := html.UnescapeString(text); s != text {
		out = append(out, s)
	}
	joined := strings.Map(func(r rune) rune { // white space within an encoding
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			return -1
		}
		return r
	}, text)
	for _, source := range []string{text, joined} {
		out = append(out, runs(source)...)
		if source == joined && joined == text {
			break
		}
	}
	return out
}

// unpercent reads %41 as A.
func unpercent(code string) string {
	n, _ := strconv.ParseUint(code[1:], 16, 8) // two digits, as the pattern says
	return string([]byte{byte(n)})
}

func runs(text string) []string {
	var out []string
	for _, run := range base64Run.FindAllString(text, -1) {
		out = append(out, base64Of(run)...)
	}
	for _, run := range base32Run.FindAllString(text, -1) {
		out = append(out, base32Of(run)...)
	}
	for _, run := range hexRun.FindAllString(text, -1) {
		out = append(out, hexOf(run)...)
	}
	for _, run := range codeRun.FindAllString(text, -1) {
		out = append(out, codesOf(run)...)
	}
	return out
}

// base64Of decodes a run from each of the four places at which an encoding may begin.
func base64Of(run string) []string {
	run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
	var out []string
	for at := 0; at < 4 && at < len(run); at++ {
		part := run[at:]
		if len(part)%4 == 1 {
			part = part[:len(part)-1]
		}
		b, err := base64.RawStdEncoding.DecodeString(part)
		out = appendText(out, b, err)
	}
	return out
}

func base32Of(run string) []string {
	run = strings.ToUpper(run)
	var out []string
	for at := 0; at < 8 && at < len(run); at++ {
		part := run[at:]
		b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(part[:len(part)/8*8])
		out = appendText(out, b, err)
		b, err = base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(part)
		out = appendText(out, b, err)
	}
	return out
}

func hexOf(run string) []string {
	run = hexPair.ReplaceAllString(run, "")
	run = strings.Map(func(r rune) rune {
		if strings.ContainsRune("0123456789abcdefABCDEF", r) {
			return r
		}
		return -1
	}, run)
	var out []string
	for at := 0; at < 2 && at < len(run); at++ {
		part := run[at:]
		b, err := hex.DecodeString(part[:len(part)/2*2])
		out = appendText(out, b, err)
	}
	return out
}

// codesOf reads a list of decimal character codes.
func codesOf(run string) []string {
	var b []byte
	for _, f := range strings.FieldsFunc(run, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(f)
		if err != nil || n < 32 || n > 255 {
			return nil
		}
		b = append(b, byte(n))
	}
	return appendText(nil, b, nil)
}

// appendText keeps what looks like text: bytes that are mostly printable. A decoding at
// a wrong place is noise, and noise is not searched.
func appendText(out []string, b []byte, err error) []string {
	if err != nil || len(b) < 2 {
		return out
	}
	s := strings.ToValidUTF8(string(b), "\uFFFD")
	good, all := 0, 0
	for _, r := range s {
		all++
		if r != utf8.RuneError && r >= ' ' {
			good++
		}
	}
	if good*4 < all*3 {
		return out
	}
	return append(out, s)
}
