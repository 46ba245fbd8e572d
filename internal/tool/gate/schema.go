package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"macaron/internal/canonical"
	"macaron/internal/errs"
)

// maxSteps bounds the subschemas that the check of a text of n bytes may visit. Schemas can
// be written of which a few lines take longer than anybody waits (a reference taken twice,
// nested).
func maxSteps(n int) int { return 20_000 + 2*n }

// schema checks JSON texts. A nil schema takes any JSON.
type schema struct {
	mu    sync.Mutex // steps belong to the check that runs
	steps *int       // that are left
	root  *jsonschema.Schema
}

// compile reads a JSON Schema (2020-12 unless it says otherwise). It refers to nothing
// outside of itself: no file is read and no address is called.
func compile(name string, text json.RawMessage) (*schema, error) {
	if len(text) == 0 {
		return nil, nil
	}
	doc, err := parse(text)
	if err != nil {
		return nil, errs.New(errs.InvalidRequest, name+" is not JSON: "+err.Error(), "correct the schema").In(name)
	}
	s := &schema{steps: new(int)}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: "urn:macaron:steps", Compile: func(*jsonschema.CompilerContext, map[string]any) (jsonschema.SchemaExt, error) {
		return step{s.steps}, nil
	}})
	c.AssertVocabs()
	if err = c.AddResource(here, doc); err == nil {
		s.root, err = c.Compile(here)
	}
	if err != nil {
		return nil, errs.New(errs.InvalidRequest, name+" is not a JSON Schema: "+short(err), "correct the schema; it may refer to itself only").In(name)
	}
	return s, nil
}

// here is the address of a schema; nothing answers there.
const here = "https://tool.invalid/schema.json"

// nothing is where schemas are loaded from.
type nothing struct{}

// Load refuses every address.
func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("it refers to %s, which lies outside of it", errs.Clip(url))
}

// step counts down the subschemas that a check visits. One that visits a text may try a
// pattern on it, and counts for as many as take that long.
type step struct{ n *int }

type tooLong struct{}

// Validate ends a check that takes too long, by a panic that check catches: the library
// has no other way out.
func (s step) Validate(_ *jsonschema.ValidatorContext, v any) {
	if *s.n--; *s.n < 0 {
		panic(tooLong{})
	}
	if text, ok := v.(string); !ok {
		return
	} else if *s.n -= len(text) / 16; *s.n < 0 {
		panic(tooLong{})
	}
}

// check reports how a JSON text does not fit, in one line for a model.
func (s *schema) check(text json.RawMessage) (err error) {
	doc, err := parse(text)
	if err != nil || s == nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer func() {
		switch p := recover().(type) {
		case nil:
		case tooLong:
			err = fmt.Errorf("checking takes more than %d steps", maxSteps(len(text)))
		default:
			panic(p)
		}
	}()
	*s.steps = maxSteps(len(text))
	if err := s.root.Validate(doc); err != nil {
		return errors.New(short(err))
	}
	return nil
}

// parse reads a JSON text into what the validator takes; a key given twice, text that is
// not UTF-8 and too deep nesting are refused.
func parse(text json.RawMessage) (any, error) {
	if _, err := canonical.JSON(text); err != nil {
		return nil, errors.New(errs.As(err).Message)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// maxFaults is how many faults are told at once.
const maxFaults = 5

// short tells the leaves of a validation error: where, and what.
func short(err error) string {
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return errs.Clip(err.Error())
	}
	var out []string
	more := leaves(v, &out)
	text := strings.Join(out, "; ")
	if more {
		text += "; and more"
	}
	return text
}

func leaves(v *jsonschema.ValidationError, out *[]string) (more bool) {
	if len(*out) == maxFaults {
		return true
	}
	if len(v.Causes) == 0 {
		at := "/" + strings.Join(v.InstanceLocation, "/")
		*out = append(*out, "at "+clip(at, 128)+" "+clip(v.ErrorKind.LocalizedString(printer), 256))
	}
	for _, c := range v.Causes {
		if leaves(c, out) {
			return true
		}
	}
	return false
}

var printer = message.NewPrinter(language.English)

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "..."
}
