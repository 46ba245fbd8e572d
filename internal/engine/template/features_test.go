package template_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"macaron/internal/chat"
	"macaron/internal/engine/template"
)

// left are snippets that Python renders and we do not: none of the published
// templates uses them.
var left = map[string]string{
	"{{ [1, 2, 3] | batch(2) | list }}":       "batch",
	"{{ messages | groupby('role') | list }}": "groupby",
	"{{ '%(a)s' % {'a': 1} }}":                "named places of the % operator",
	"{{ 'x' | e }}":                           "escaping for HTML",
	"{{ 'é' | urlencode }}":                   "urlencode",
	"{{ 'a b' | wordcount }}":                 "wordcount",
	"{{ self }}":                              "the template as a value",
}

func featureInput() template.Input {
	return template.Input{
		Messages: []chat.Message{
			chat.Text(chat.System, "Be kind."),
			chat.Text(chat.User, "Hi  there\n\n<b>Grüße</b> 'x' \"y\" \\ z "),
			chat.Text(chat.Assistant, "<think>a</think>b"),
		},
		AddGenerationPrompt: true, BOS: "<s>", EOS: "</s>", Now: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC),
	}
}

// TestFeatures compares each construct with Python Jinja; see testdata/make_features.py.
func TestFeatures(t *testing.T) {
	b, err := os.ReadFile("testdata/features.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][2]*string
	if err := json.Unmarshal(b, &rows); err != nil {
		t.Fatal(err)
	}
	equal := 0
	for _, row := range rows {
		src, want := *row[0], row[1]
		got, err := "", error(nil)
		tpl, err := template.Parse(src)
		if err == nil {
			got, err = tpl.Render(featureInput())
		}
		switch {
		case want == nil && err != nil, want != nil && err == nil && got == *want:
			equal++
		case left[src] != "":
		case want == nil:
			t.Errorf("%q gives %q, Python fails", src, got)
		case err != nil:
			t.Errorf("%q: %v", src, err)
		default:
			t.Errorf("%q\ngives %q\nwant  %q", src, got, *want)
		}
	}
	t.Logf("%d of %d snippets behave like Python's", equal, len(rows))
	if equal+len(left) < len(rows) || len(rows) < 300 {
		t.Errorf("%d of %d are equal, %d are left out on purpose", equal, len(rows), len(left))
	}
}

func TestParseErrorsNameTheLine(t *testing.T) {
	for src, want := range map[string]string{
		"a\n{% if %}":           "line 2",
		"\n\n{{ 'a }}":          "line 3",
		"{{ 1\n\n+ }}":          "line 3",
		"{# a\n":                "line 1",
		"{% endfor %}":          "line 1",
		"\n{% for x in y %}\n":  "line",
		"{% include 'file' %}":  "include",
		"\n{{ 1 is wondrous }}": "wondrous",
	} {
		_, err := template.Parse(src)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", src, err)
		}
	}
	tpl, err := template.Parse("a\n{% if 1 %}\n{{ nothing.at.all }}{% endif %}")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tpl.Render(template.Input{}); err == nil || !strings.Contains(err.Error(), "line 3") || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("%v", err)
	}
}
