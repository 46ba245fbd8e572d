package template_test

import (
	"runtime"
	"strings"
	"testing"

	"macaron/internal/engine/template"
	"macaron/internal/errs"
)

// bombs are templates that would run, grow or recurse without end.
func bombs() map[string]string {
	ns := "{% set ns = namespace(s='ab', l=[1]) %}"
	return map[string]string{
		"nested loops":        strings.Repeat("{% for i in range(1000) %}", 5) + "x" + strings.Repeat("{% endfor %}", 5),
		"empty loops":         "{% for i in range(100000) %}{% for j in range(100000) %}{% endfor %}{% endfor %}",
		"giant range":         "{% for i in range(1000000000000) %}{% endfor %}",
		"range beyond":        "{{ range(99999999999999) }}",
		"many ranges":         "{% for i in range(1000) %}{% set x = range(1000) %}{% endfor %}",
		"recursion":           "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
		"mutual recursion":    "{% macro f(n) %}{{ g(n) }}{% endmacro %}{% macro g(n) %}{{ f(n) ~ f(n) }}{% endmacro %}{{ f(1) }}",
		"recursive default":   "{% macro f(a=f()) %}{% endmacro %}{{ f() }}",
		"call recursion":      "{% macro f() %}{{ caller() }}{% call f() %}x{% endcall %}{% endmacro %}{% call f() %}x{% endcall %}",
		"doubling":            ns + "{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s }}",
		"adding":              ns + "{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}",
		"growing list":        ns + "{% for i in range(60) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
		"repeated text":       "{{ 'abc' * 100000000000 }}",
		"repeated repeats":    "{% for i in range(1000) %}{% set x = 'abcdefgh' * 1000000 %}{% endfor %}",
		"empty repeats":       "{{ '' * 100000000000 }}",
		"repeated list":       "{{ [1, 2] * 100000000000 }}",
		"replace":             "{{ ('a' * 5000) | replace('a', 'a' * 5000) | replace('a', 'a' * 5000) }}",
		"replace nothing":     "{% set x = 'a' * 100000 %}{{ x | replace('', x) }}",
		"join":                "{{ range(10000) | join('x' * 10000) }}",
		"indent":              "{{ ('\n' * 100000) | indent(1000, true, true) }}",
		"padding":             "{% for i in range(100000) %}{{ '%999s' % 'x' }}{% endfor %}",
		"format":              "{{ ('{0}' * 10000).format('x' * 10000) }}",
		"split":               "{% for i in range(1000) %}{% set x = ('a ' * 100000).split() %}{% endfor %}",
		"letters":             "{% for i in range(1000) %}{% set x = ('a' * 100000) | list %}{% endfor %}",
		"json of a web":       ns + "{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l | tojson }}",
		"text of a web":       ns + "{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
		"json of a deep list": ns + "{% for i in range(50000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l | tojson }}",
		"deep equality":       ns + "{% for i in range(50000) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l == [1] + ns.l or ns.l == ns.l }}",
		"json indent":         "{{ ([[[[[[1]]]]]] * 10000) | tojson(indent=1000) }}{{ range(10000) | tojson(indent=1000) }}",
		"sort":                "{% for i in range(1000) %}{% set x = range(1000) | sort(reverse=true) %}{% endfor %}",
		"searching":           "{% set x = 'a' * 1000000 %}{% for i in range(100000) %}{% if 'b' in x %}{% endif %}{% endfor %}",
		"equal texts":         "{% set x = 'a' * 1000000 %}{% set y = 'a' * 1000000 %}{% for i in range(100000) %}{% if x == y %}{% endif %}{% endfor %}",
		"list membership":     "{% set x = range(10000) %}{% for i in x %}{% if -1 in x %}{% endif %}{% endfor %}",
		"indexing":            "{% set x = 'é' * 1000000 %}{% for i in range(100000) %}{{ x[999999] }}{% endfor %}",
		"upper":               "{% set x = 'a' * 1000000 %}{% for i in range(100000) %}{% set y = x | upper %}{% endfor %}",
		"strip":               "{% set x = ' ' * 1000000 %}{% for i in range(100000) %}{% set y = x.strip() %}{% endfor %}",
		"map of maps":         "{{ ([range(1000)] * 1000) | map('map', 'string') | list }}{% for i in range(1000) %}{{ range(1000) | map('string') | list | length }}{% endfor %}",
		"power":               "{{ 9 ** 9 ** 9 ** 9 }}",
		"power of one":        "{{ (1 ** 4000000000000000000) ~ ((-1) ** 4000000000000000000) ~ (2 ** 4000000000000000000) }}",
		"blocks":              "{% set x %}{% for i in range(100000) %}{{ 'x' * 1000 }}{% endfor %}{% endset %}",
	}
}

// nests are sources that nest too deep to parse.
func nests() map[string]string {
	n := 30_000
	return map[string]string{
		"parentheses": "{{ " + strings.Repeat("(", n) + "1" + strings.Repeat(")", n) + " }}",
		"lists":       "{{ " + strings.Repeat("[", n) + strings.Repeat("]", n) + " }}",
		"mappings":    "{{ " + strings.Repeat("{1:", n) + "1" + strings.Repeat("}", n) + " }}",
		"not":         "{{ " + strings.Repeat("not ", n) + "1 }}",
		"minus":       "{{ " + strings.Repeat("-", n) + "1 }}",
		"inline if":   "{{ " + strings.Repeat("1 if 1 else ", n/3) + "1 }}",
		"attributes":  "{{ a" + strings.Repeat(".a", n) + " }}",
		"indices":     "{{ a" + strings.Repeat("[0]", n) + " }}",
		"calls":       "{{ a" + strings.Repeat("()", n) + " }}",
		"filters":     "{{ a" + strings.Repeat("|list", n/2) + " }}",
		"if":          strings.Repeat("{% if 1 %}", n/4) + strings.Repeat("{% endif %}", n/8),
		"elif":        "{% if 1 %}" + strings.Repeat("{% elif 1 %}", n/4) + "{% endif %}",
		"for":         strings.Repeat("{% for a in b %}", n/4),
		"target":      "{% for " + strings.Repeat("(", n) + "a" + strings.Repeat(")", n) + " in b %}{% endfor %}",
		"sum":         "{{ 1" + strings.Repeat("+1", n) + " }}",
		"concat":      "{{ 1" + strings.Repeat("~1", n) + " }}",
		"or":          "{{ 0" + strings.Repeat(" or 0", n/2) + " }}",
	}
}

// explode renders a bomb and returns all the memory it ever took, and its error.
func explode(t testing.TB, src string) (uint64, error) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tpl, err := template.Parse(src)
	if err == nil {
		_, err = tpl.RenderSegments(template.Input{})
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, err
}

// says is a word of the message that must stop a bomb: the budget's, for most.
func says(name string) string {
	switch name {
	case "recursion", "mutual recursion", "recursive default", "call recursion":
		return "calls itself"
	case "power", "power of one":
		return "beyond 64 bits"
	case "range beyond":
		return "moderate size"
	}
	return "than any conversation of this size needs"
}

func TestBombsAreStopped(t *testing.T) {
	for name, src := range bombs() {
		bytes, err := explode(t, src)
		if errs.CodeOf(err) != errs.FormatInvalid || !strings.Contains(err.Error(), says(name)) {
			t.Errorf("%s: %v", name, err)
		}
		if bytes > 64<<20 {
			t.Errorf("%s took %d MB", name, bytes>>20)
		}
	}
	for name, src := range nests() {
		bytes, err := explode(t, src)
		if errs.CodeOf(err) != errs.FormatInvalid {
			t.Errorf("nested %s: %v", name, err)
		}
		if bytes > 64<<20 {
			t.Errorf("nested %s took %d MB", name, bytes>>20)
		}
	}
	if _, err := template.Parse(strings.Repeat("x", template.MaxSource+1)); errs.CodeOf(err) != errs.FormatInvalid {
		t.Errorf("a giant source: %v", err)
	}
}

// BenchmarkBombs shows how long each takes to be stopped.
func BenchmarkBombs(b *testing.B) {
	for name, src := range bombs() {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				if _, err := explode(b, src); err == nil {
					b.Fatal("it was not stopped")
				}
			}
		})
	}
}
