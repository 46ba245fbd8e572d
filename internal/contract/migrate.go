package contract

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"

	"macaron/internal/errs"
)

//go:embed initial.toml
var initial []byte

// Initial is the text of a new contract, with the name and base given.
func Initial(name, base string) ([]byte, error) {
	text, err := rewrite(initial, map[string]string{"name": quoted(name), "base": quoted(base)})
	if err != nil {
		return nil, err
	}
	_, err = Parse(text)
	return text, err
}

// Migrate raises the text of a contract of schema 1 to schema 2: the schema, a version that
// is semantic, and the old hash as its parent. Every other byte stays.
func Migrate(text []byte) ([]byte, error) {
	old, err := Parse(text)
	if err != nil {
		return nil, err
	}
	if old.Schema != Schema1 {
		return nil, errs.New(errs.InvalidRequest, "the contract is of "+old.Schema+" already", "nothing is to be done")
	}
	out, err := rewrite(text, map[string]string{
		"schema":  fmt.Sprintf("%q\nparents = [%q]", Schema, old.Hash()),
		"version": quoted(semantic(old.Version)),
	})
	if err != nil {
		return nil, err
	}
	_, err = Parse(out)
	return out, err
}

var leading = regexp.MustCompile(`^v?(\d{1,9})(?:\.(\d{1,9}))?(?:\.(\d{1,9}))?$`)

// semantic completes a version of one to three numbers; anything else goes behind a +.
func semantic(version string) string {
	if version2.MatchString(version) {
		return version
	}
	if m := leading.FindStringSubmatch(version); m != nil {
		for i := range m {
			m[i] = strings.TrimLeft(m[i], "0")
			if m[i] == "" {
				m[i] = "0"
			}
		}
		return strings.Join(m[1:], ".")
	}
	return "0.0.0+" + strings.Trim(regexp.MustCompile(`[^0-9A-Za-z-]+`).ReplaceAllString(version, "-"), "-")
}

// rewrite puts other values behind keys, wherever they stand first.
func rewrite(text []byte, values map[string]string) ([]byte, error) {
	var p unstable.Parser
	p.Reset(text)
	out, done, from := []byte(nil), map[string]bool{}, 0
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind != unstable.KeyValue {
			continue
		}
		it := e.Key()
		it.Next()
		key := string(it.Node().Data)
		value, ok := values[key]
		if !ok || done[key] || !it.IsLast() {
			continue
		}
		raw := e.Value().Raw
		out = append(append(out, text[from:raw.Offset]...), value...)
		from, done[key] = int(raw.Offset+raw.Length), true
	}
	if err := p.Error(); err != nil || len(done) != len(values) {
		return nil, errs.Wrap(errs.Unsupported, fmt.Errorf("%d of %d keys: %w", len(done), len(values), err), "the contract writes its first keys in a form that cannot be edited by line", "edit the file by hand")
	}
	return append(out, text[from:]...), nil
}

// quoted is a basic string of TOML.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
