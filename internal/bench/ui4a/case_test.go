package ui4a

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestCasesOfThisBuildAreWellFormed(t *testing.T) {
	cases, err := Cases()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if c.Wants() && strings.Contains(c.Card, "```") {
			t.Errorf("%s: the card has a fence in it", c.ID)
		}
	}
}

const good = `
id = "a"
family = "f"
language = "en"
request = "r"
[facts]
text = ["x"]
`

func TestReaderRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, test := range map[string]struct{ toml, file, want string }{
		"unknown key":        {good + "fact = 1\n", "", `there is no key "facts.fact" here; known are dates, numbers, text, times`},
		"unknown step key":   {good + "[[step]]\ndo = \"click\"\nname = \"b\"\nthen.shown = []\n", "", "known are action, control, hides, quiet, shows"},
		"another directory":  {strings.Replace(good, `"a"`, `"b"`, 1), "", `"b", and the directory is "a"`},
		"foreign file":       {good, "notes.txt", "no context names this file"},
		"unknown step":       {good + "[[step]]\ndo = \"hover\"\n", "", "known are click, type, select, slide, key"},
		"broken expression":  {good + "[[step]]\ndo = \"click\"\nname = \"(\"\n", "", "missing closing"},
		"formula":            {good + "[[computed]]\nname = \"s\"\nformula = \"a + b\"\nwith = { a = 1 }\n", "", `there is no "b"`},
		"after too late":     {good + "[[computed]]\nname = \"s\"\nformula = \"1\"\nafter = 1\n", "", "after of 0 to the number of steps"},
		"canary not entered": {good + "[[canary]]\nname = \"c\"\nvalue = \"secret-1\"\n", "", "that a step enters"},
		"card where none is": {"render = false\n" + good, "", "a case has card.tsx, or render = false"},
		"no facts":           {strings.Split(good, "[facts]")[0], "", "name at least one"},
		"language":           {strings.Replace(good, `"en"`, `"xx"`, 1), "", "no ISO 639-1 code"},
		"asset":              {good + "[[predicate]]\nis = \"asset\"\nvalue = \"photo\"\n", "", "value names a file of context"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := fstest.MapFS{"a/case.toml": {Data: []byte(test.toml)}, "a/card.tsx": {Data: []byte("x")}}
			if strings.Contains(test.toml, "render = false") {
				dir["a/answer.md"] = &fstest.MapFile{Data: []byte("x")}
			}
			if test.file != "" {
				dir["a/"+test.file] = &fstest.MapFile{Data: []byte("x")}
			}
			if _, err := Read(dir, "a"); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
	if _, err := Read(fstest.MapFS{"a/case.toml": {Data: []byte(good)}, "a/card.tsx": {Data: []byte("x")}}, "a"); err != nil {
		t.Error(err)
	}
}
