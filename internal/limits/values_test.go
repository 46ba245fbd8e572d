package limits

import (
	"encoding/json"
	"strings"
	"testing"

	"macaron/internal/errs"
)

func TestValuesAreOfTheirKind(t *testing.T) {
	for name, check := range map[string]func(raw json.RawMessage) error{
		"list": func(raw json.RawMessage) error { _, err := List("f", raw, 2); return err },
		"text": func(raw json.RawMessage) error { _, err := Text("f", raw, 3); return err },
		"bool": func(raw json.RawMessage) error { _, err := Bool("f", raw); return err },
	} {
		good := map[string][]string{"list": {`[]`, `[1,{}]`}, "text": {`""`, `"abc"`, `"\u4f60"`}, "bool": {`true`, `false`}}[name]
		for _, raw := range good {
			if err := check(json.RawMessage(raw)); err != nil {
				t.Errorf("%s %s: %v", name, raw, err)
			}
		}
		for _, raw := range []string{`null`, `1`, `{}`, ``, `"true`, `nul`} {
			refused(t, check(json.RawMessage(raw)), errs.InvalidRequest, "f")
		}
	}
	_, err := List("f", json.RawMessage(`[1,2,3]`), 2)
	refused(t, err, errs.TooLarge, "f")
	_, err = Text("f", json.RawMessage(`"abcd"`), 3)
	refused(t, err, errs.TooLarge, "f")
	if !Absent(nil) || !Absent(json.RawMessage("null")) || Absent(json.RawMessage("0")) {
		t.Error("absent")
	}
}

// What is quoted back is bounded and never cut inside a rune.
func TestRefusalsQuoteLittle(t *testing.T) {
	_, err := Bool("f", json.RawMessage(`"`+strings.Repeat("é", 5000)+`"`))
	if m := errs.As(err).Message; len(m) > 200 || strings.ContainsRune(m, '\uFFFD') {
		t.Errorf("%d bytes: %s", len(m), m)
	}
	deep := `{"a":` + strings.Repeat(`[`, 40) + `{` + strings.Repeat(`x`, 5000)
	_, err = Object("f", []byte(deep))
	if m := errs.As(err).Message; len(m) > 300 {
		t.Errorf("%d bytes: %s", len(m), m)
	}
	_, err = Object("tools[0]", []byte(`{"a":{"b":1,"b":2},"`+strings.Repeat("k", 500)+`":1,"c":1,"c":1}`))
	refused(t, err, errs.InvalidRequest, "tools[0].c")
}

func TestABodyThatBreaksOff(t *testing.T) {
	_, err := Body(broken{}, -1)
	refused(t, err, errs.InvalidRequest, "")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

var errBroken = errs.New(errs.Canceled, "gone", "")
