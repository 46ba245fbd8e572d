package contract

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"macaron/internal/adapter"
	"macaron/internal/errs"
)

// A rule is what the tag of a field says of its values: "need" (it must be there),
// range=LOW..HIGH of a number, count=LOW..HIGH of a list, one=A|B of a word, form=NAME of
// a text. In a list the last two are about each entry. The JSON Schema is made of the
// same tags.
type rule struct {
	need        bool
	low, high   float64
	ranged      bool
	least, most int
	counted     bool
	words       []string
	form        form
}

// form is an expression that a text must match, and how to tell somebody.
type form struct {
	expr   string
	re     *regexp.Regexp
	advice string
	quiet  bool // the text is not repeated: it may be a secret
}

const identifier = `^[A-Za-z_][A-Za-z0-9_]{0,63}$`

var forms = func() map[string]form {
	all := map[string]form{
		"label":      {expr: adapter.NamePattern, advice: "use 1 to 64 of A-Z a-z 0-9 . _ - and start with a letter or digit"},
		"identifier": {expr: identifier, advice: "use 1 to 64 of A-Z a-z 0-9 _ and no digit first"},
		"name":       {expr: identifier, advice: "use 1 to 64 of A-Z a-z 0-9 _ and no digit first; values stand in the operator's settings, never here", quiet: true},
		"word":       {expr: `^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`, advice: "use lower-case words with dots"},
		"line":       {expr: `^[^\r\n]+$`, advice: "it must be one line"},
		"digest":     {expr: `^sha256:[0-9a-f]{64}$`, advice: "a digest is sha256: and 64 hexadecimal digits"},
		"pointer":    {expr: `^/`, advice: "a JSON pointer begins with /"},
		"url":        {expr: `^https?://[^/{}@]+(/.*)?$`, advice: "it is an http or https URL without user, and with parameters in path and query only"},
		"user":       {expr: `^[^/\s]+/\S(.*\S)?$`, advice: "use TENANT/USER"},
		"use":        {expr: `^(builtin:[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*|mcp:[^/]+/.+|shed:sha256:[0-9a-f]{64}|world:[a-z][a-z0-9_]*|http)$`, advice: "it is builtin:NAME, mcp:SERVER/TOOL, shed:sha256:HEX, world:NAME or http"},
	}
	for name, f := range all {
		f.re = regexp.MustCompile(f.expr)
		all[name] = f
	}
	return all
}()

func ruleOf(f reflect.StructField) rule {
	var r rule
	for _, part := range strings.Fields(f.Tag.Get("rule")) {
		key, value, _ := strings.Cut(part, "=")
		low, high, _ := strings.Cut(value, "..")
		switch key {
		case "need":
			r.need = true
		case "range":
			r.ranged, r.low, r.high = true, number(low), number(high)
		case "count":
			r.counted, r.least, r.most = true, int(number(low)), int(number(high))
		case "one":
			r.words = strings.Split(value, "|")
		case "form":
			r.form = forms[value]
		}
	}
	return r
}

func number(s string) float64 {
	var f float64
	if err := json.Unmarshal([]byte(s), &f); err != nil {
		panic("a rule has the number " + s)
	}
	return f
}

// obey checks every value that a file has against its rule. Types are right already.
func obey(v any, t reflect.Type, path string) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	table, ok := v.(map[string]any)
	if !ok || t == reflect.TypeFor[Object]() {
		return nil
	}
	if t.Kind() == reflect.Map {
		for name, e := range table {
			if err := obey(e, t.Elem(), join(path, name)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, f := range fieldsOf(t) {
		if value, there := table[f.key]; there {
			if err := ruleOf(f.StructField).check(value, f.Type, join(path, f.key)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r rule) check(v any, t reflect.Type, path string) error {
	switch v := v.(type) {
	case string:
		return r.text(v, path)
	case int64:
		return r.number(float64(v), path)
	case float64:
		return r.number(v, path)
	case []any:
		return r.list(v, t, path)
	}
	return obey(v, t, path)
}

func (r rule) text(s, path string) error {
	switch f := r.form; {
	case r.need && strings.TrimSpace(s) == "":
		return bad(path, path+" is missing")
	case r.words != nil && !slices.Contains(r.words, s):
		return bad(path, fmt.Sprintf("%s is %q; it is one of %s", path, errs.Clip(s), strings.Join(r.words, ", ")))
	case f.re == nil || f.re.MatchString(s):
		return nil
	case f.quiet:
		return bad(path, path+" is no name: "+f.advice)
	default:
		return bad(path, fmt.Sprintf("%s is %q; %s", path, errs.Clip(s), f.advice))
	}
}

func (r rule) number(n float64, path string) error {
	if !r.ranged || n >= r.low && n <= r.high { // false for NaN
		return nil
	}
	if n != math.Trunc(n) || math.IsInf(n, 0) || r.low != math.Trunc(r.low) {
		return bad(path, fmt.Sprintf("%s must be from %v to %v", path, r.low, r.high))
	}
	return bad(path, fmt.Sprintf("%s is %.0f; it must be from %.0f to %.0f", path, n, r.low, r.high))
}

func (r rule) list(all []any, t reflect.Type, path string) error {
	if r.counted && (len(all) < r.least || len(all) > r.most) {
		return bad(path, fmt.Sprintf("%s has %d entries; give %d to %d, or leave it out", path, len(all), r.least, r.most))
	}
	seen := map[string]bool{}
	each := r
	each.need, each.counted = false, false
	for i, v := range all {
		at := fmt.Sprintf("%s[%d]", path, i)
		if s, ok := v.(string); ok {
			if strings.TrimSpace(s) == "" || seen[s] {
				return bad(at, fmt.Sprintf("%s has %q, which is empty or stands there twice", path, errs.Clip(s)))
			}
			seen[s] = true
		}
		if err := each.check(v, t.Elem(), at); err != nil {
			return err
		}
	}
	return nil
}

// missing finds a field that must be there and is not. Sections that are wholly absent
// miss nothing.
func missing(v reflect.Value, path string) error {
	for _, f := range fieldsOf(v.Type()) {
		field, at := v.FieldByIndex(f.Index), join(path, f.key)
		if ruleOf(f.StructField).need && field.IsZero() {
			return bad(at, at+" is missing")
		}
		if err := within(field, at); err != nil {
			return err
		}
	}
	return nil
}

func within(v reflect.Value, path string) error {
	switch {
	case v.Kind() == reflect.Pointer && !v.IsNil() && v.Type().Elem().Kind() == reflect.Struct:
		return missing(v.Elem(), path)
	case v.Kind() == reflect.Struct && !v.IsZero():
		return missing(v, path)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		for i := range v.Len() {
			if err := missing(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	}
	return nil
}
