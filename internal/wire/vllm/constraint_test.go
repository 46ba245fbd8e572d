package vllm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// Every field that constrains is kept to, streamed and whole, hot and greedy, with an
// adapter and without.
func TestConstraintsAreKeptTo(t *testing.T) {
	r := newRig(t, nil)
	object := `{"type":"object","properties":{"a":{"type":"integer","minimum":0,"maximum":99},"b":{"enum":["x","y"]}},"required":["a","b"],"additionalProperties":false}`
	isObject := func(s string) bool {
		var v struct {
			A *int
			B string
		}
		dec := json.NewDecoder(strings.NewReader(s))
		dec.DisallowUnknownFields()
		return dec.Decode(&v) == nil && v.A != nil && *v.A >= 0 && *v.A <= 99 && (v.B == "x" || v.B == "y")
	}
	matches := func(p string) func(string) bool { return regexp.MustCompile("^(?:" + p + ")$").MatchString }
	for _, c := range []struct {
		fields string
		kept   func(string) bool
	}{
		{`"structured_outputs":{"json":` + object + `}`, isObject},
		{`"structured_outputs":{"json":` + quoted(object) + `}`, isObject},
		{`"guided_json":` + object, isObject},
		{`"json_schema":` + object, isObject},
		{`"response_format":{"type":"json_schema","json_schema":{"name":"n","schema":` + object + `,"strict":true}}`, isObject},
		{`"response_format":{"type":"json_object","schema":` + object + `}`, isObject},
		{`"structured_outputs":{"regex":"[ab]{3}-[0-9]{2}"}`, matches("[ab]{3}-[0-9]{2}")},
		{`"guided_regex":"(yes|no), \\d"`, matches(`(yes|no), \d`)},
		{`"structured_outputs":{"grammar":"root ::= \"(\" root \")\" | \"x\" [0-9]"}`, matches(`\(*x[0-9]\)*`)},
		{`"guided_grammar":"root ::= \"up\" | \"down\""`, matches("up|down")},
		{`"grammar":"root ::= \"up\" | \"down\""`, matches("up|down")},
	} {
		for seed := range 4 {
			model := []string{"tiny", "one"}[seed%2]
			fields := fmt.Sprintf(`"model":%q,"seed":%d,"max_tokens":400,"temperature":%d,%s`, model, seed, seed%2, c.fields)
			whole := r.ask("/v1/chat/completions", `{`+hi+`,`+fields+`}`).Choices[0]
			streamed := ""
			for _, k := range r.chunks("/v1/completions", `{"prompt":"a","stream":true,`+fields+`}`) {
				streamed += k.Choices[0].Text
			}
			if *whole.FinishReason == "stop" && !c.kept(*whole.Message.Content) || !c.kept(streamed) && !strings.Contains(c.fields, "root )") && !strings.Contains(c.fields, `\"(\"`) {
				t.Errorf("%s: %q, streamed %q", fields, *whole.Message.Content, streamed)
			}
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// What a constraint cannot be is refused in the field's name, and harms nobody.
func TestConstraintsThatCannotBe(t *testing.T) {
	r := newRig(t, nil)
	for fields, param := range map[string]string{
		`"structured_outputs":{"regex":"(a"}`:                    "structured_outputs.regex",
		`"guided_regex":"(?=a)b"`:                                "guided_regex",
		`"guided_grammar":"root ::= nothing"`:                    "guided_grammar",
		`"grammar":"root = x"`:                                   "grammar",
		`"guided_json":{"type":"object","if":{"type":"string"}}`: "guided_json",
		`"guided_json":{"$ref":"https://example.org/x.json"}`:    "guided_json",
		`"response_format":{"type":"json_schema"}`:               "response_format.json_schema",
		`"guided_regex":"a","ignore_eos":true`:                   "grammar",
	} {
		_, text := r.post("/v1/completions", `{"prompt":"a","max_tokens":4,`+fields+`}`)
		a := read(t, []byte(text))
		if a.Error == nil || a.Error.Param == nil || *a.Error.Param != param || a.Error.Code >= http.StatusInternalServerError {
			t.Errorf("%s: %s", fields, text)
		}
	}
	r.ask("/v1/completions", `{"prompt":"a","max_tokens":4}`)
}
