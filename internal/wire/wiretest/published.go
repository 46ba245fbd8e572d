// Package wiretest has what tests of several wire formats share.
package wiretest

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"macaron/internal/errs"
)

// Decoded is what a request became, without the list of what it asked for in vain.
type Decoded struct {
	Request any
	Ignored []string
}

// Published checks that no field that the API's official SDK publishes is dropped without a
// word. testdata/published.txt, made by test/compat/fields.py, lists them, and samples has for
// each a value that is not the default: with it the decoded request is another one, or the
// field is refused by its name, or reported as ignored. What each one is is returned.
func Published(t *testing.T, base, samples map[string]string, decode func([]byte) (Decoded, error)) map[string]string {
	t.Helper()
	list, err := os.ReadFile("testdata/published.txt")
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(list))
	plain, err := decode(body(t, base, "", ""))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range names {
		value, ok := samples[name]
		if !ok {
			t.Errorf("%s is published, and how it is treated is not known to this test", name)
			continue
		}
		with, err := decode(body(t, base, name, value))
		switch {
		case err != nil && errs.As(err).Code.Status() < 500 && (errs.As(err).Field == name || strings.HasPrefix(errs.As(err).Field, name+".") || strings.HasPrefix(errs.As(err).Field, name+"[")):
			found[name] = "refused"
		case err != nil:
			t.Errorf("%s: %s gives %v, which does not name the field", name, value, err)
		case slices.ContainsFunc(with.Ignored, func(s string) bool {
			return s == name || strings.HasPrefix(s, name+".") || strings.HasPrefix(s, name+":")
		}):
			found[name] = "reported"
		case !reflect.DeepEqual(plain.Request, with.Request):
			found[name] = "honoured"
		default:
			t.Errorf("%s: %s is dropped without a word", name, value)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(samples)) {
		if !slices.Contains(names, name) {
			t.Errorf("%s is not published", name)
		}
	}
	return found
}

// body is a request with one more member, or another value of one.
func body(t *testing.T, base map[string]string, name, value string) []byte {
	t.Helper()
	members := map[string]json.RawMessage{}
	for k, v := range base {
		members[k] = json.RawMessage(v)
	}
	if name != "" {
		members[name] = json.RawMessage(value)
	}
	b, err := json.Marshal(members)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}
