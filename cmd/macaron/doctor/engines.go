package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"macaron/internal/app"
	"macaron/internal/backend/upstream"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/registry"
)

// checkEngines asks each engine below what it is and compares that with the settings and
// the contract.
func checkEngines(ctx context.Context, c config.Config) []finding {
	var out []finding
	_, adapters, err := registry.Survey(c.Home, c.Contract)
	if err != nil {
		adapters = nil // told by the check of the contract
	}
	for _, s := range c.Below() {
		out = append(out, checkEngine(ctx, c, s, adapters)...)
	}
	return out
}

func checkEngine(ctx context.Context, c config.Config, s config.Server, adapters []registry.Surveyed) []finding {
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	if strings.HasPrefix(s.URL, "http://"+c.Listen+"/") {
		return []finding{problem(s.Name, errs.New(errs.InvalidRequest, s.URL+" is the address that this server listens on: it would be its own engine", "set the url to that of a model server"))}
	}
	b := upstream.New(app.EngineConfig(s))
	defer b.Close() // idle connections
	f, err := b.Probe(ctx)
	if err != nil {
		return []finding{problem(s.Name, err)}
	}
	out := []finding{checkDialect(s, f)}
	for _, a := range adapters {
		if fit, wrong := checkServed(b, s, f, a); wrong {
			out = append(out, fit)
		}
	}
	return out
}

func checkDialect(s config.Server, f *upstream.Facts) finding {
	is := strings.TrimSpace(f.Dialect + " " + f.Version)
	switch {
	case s.Dialect != upstream.Auto && f.Dialect != "openai" && !upstream.SameDialect(s.Dialect, f.Dialect):
		return problem(s.Name, errs.New(errs.InvalidRequest, fmt.Sprintf("%s is set to the dialect %s, and is %s", s.URL, s.Dialect, is), `set its dialect to "auto" or "`+f.Dialect+`"`))
	case f.Dialect == "openai" && (s.Dialect == upstream.Auto || upstream.SameDialect(s.Dialect, "openai")):
		return note(s.Name, s.URL+" answers, and is of no kind that is known to hold an answer to a list of labels: routing asks for JSON, then reads free text, and has no probabilities",
			"set its dialect if it is one of "+strings.Join(upstream.Dialects(), ", "))
	}
	return ok(s.Name, "%s answers: %s", s.URL, is)
}

// checkServed finds an adapter that the engine should have and has not, or has with other weights.
func checkServed(b *upstream.Backend, s config.Server, f *upstream.Facts, a registry.Surveyed) (finding, bool) {
	if _, listed := s.Adapters[a.Name]; s.Only && !listed {
		return finding{}, false
	}
	name, err := b.ModelOf(a.Revision)
	if err != nil {
		return problem(s.Name, err), true
	}
	switch got := f.Revision(name); {
	case !f.Has(name):
		return problem(s.Name, errs.New(errs.AdapterNotFound, fmt.Sprintf("%s has nothing called %q, which the adapter %s needs", s.URL, name, a.Name), "load it there, or set the name in the engine's adapters")), true
	case got != "" && a.Revision.Hash != "" && got != string(a.Revision.Hash):
		return problem(s.Name, errs.New(errs.ChecksumMismatch, fmt.Sprintf("%s serves other weights as %q than the adapter %s has here: %s", s.URL, name, a.Name, errs.Clip(got)), "load the same revision there")), true
	}
	return finding{}, false
}
