package builtin

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/errs"
)

// template is a text with places for arguments, {{name}}, and secrets, {{secret:NAME}}.
type template []part

// part is a piece of fixed text, or a place.
type part struct {
	text   string
	name   string
	secret bool
}

var places = regexp.MustCompile(`\{\{secret:([A-Za-z_][A-Za-z0-9_]{0,127})\}\}|\{\{([A-Za-z_][A-Za-z0-9_]{0,127})\}\}`)

func parseTemplate(s string) (template, error) {
	if len(s) > 4096 {
		return nil, errs.New(errs.TooLarge, "a template has more than 4096 bytes", "")
	}
	var t template
	at := 0
	for _, m := range places.FindAllStringSubmatchIndex(s, -1) {
		t = append(t, part{text: s[at:m[0]]})
		if m[2] >= 0 {
			t = append(t, part{name: s[m[2]:m[3]], secret: true})
		} else {
			t = append(t, part{name: s[m[4]:m[5]]})
		}
		at = m[1]
	}
	t = append(t, part{text: s[at:]})
	for _, p := range t {
		if strings.Contains(p.text, "{{") || strings.Contains(p.text, "}}") {
			return nil, bad("the template "+errs.Clip(s)+" has double braces that are no {{argument}} and no {{secret:NAME}}", "write %7B%7B for braces of a URL")
		}
	}
	return t, nil
}

// fixedHost reports whether the first place comes behind the host.
func (t template) fixedHost() bool {
	_, rest, ok := strings.Cut(t[0].text, "://")
	return ok && (len(t) == 1 || strings.ContainsAny(rest, "/?"))
}

func (t template) takes(name string) bool {
	return slices.ContainsFunc(t, func(p part) bool { return !p.secret && p.name == name })
}

// has reports whether there is a place for a secret, or for an argument.
func (t template) has(secret bool) bool {
	return slices.ContainsFunc(t, func(p part) bool { return p.secret == secret && p.name != "" })
}

func (t template) expand(value func(part) string) string {
	var b strings.Builder
	for _, p := range t {
		if b.WriteString(p.text); p.name != "" {
			b.WriteString(value(p))
		}
	}
	return b.String()
}

// url fills an address. A value stays within the place that it was written for: it adds
// no segment, no parameter, and makes no step up.
func (t template) url(args map[string]any) (string, error) {
	var b strings.Builder
	for _, p := range t {
		b.WriteString(p.text)
		if p.name == "" {
			continue
		}
		value := plain(args[p.name])
		if value == "" {
			return "", bad("the argument "+p.name+" stands in the address and must not be empty", "")
		}
		if strings.Contains(b.String(), "?") {
			b.WriteString(url.QueryEscape(value))
		} else {
			b.WriteString(url.PathEscape(value))
		}
	}
	u, err := url.Parse(b.String())
	if err != nil {
		return "", bad("the arguments do not make a URL", "")
	}
	for s := range strings.SplitSeq(u.EscapedPath(), "/") {
		if s = strings.ReplaceAll(strings.ToLower(s), "%2e", "."); s == "." || s == ".." {
			return "", errs.New(errs.Forbidden, "an argument makes a step up in the address", "")
		}
	}
	return b.String(), nil
}

// plain writes an argument as it stands in a URL: texts as they are, other JSON as JSON.
func plain(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case json.Number, bool:
		return fmt.Sprint(v)
	}
	b, err := encode(v)
	if err != nil {
		return "" // JSON was read into it
	}
	return string(b)
}
