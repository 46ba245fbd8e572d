package doctor

import (
	"context"
	"os"

	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/repl"
)

// checkSandbox tells which layers keep code of models apart. Without them only what runs
// such code refuses to begin.
func checkSandbox(ctx context.Context, c config.Config) []finding {
	layers, err := repl.Layers(ctx, repl.Options{Backend: c.Sandbox.Backend, Python: c.Sandbox.Python, Bubblewrap: c.Sandbox.Bubblewrap, Worker: []string{os.Args[0], "sandbox-worker"}})
	if err != nil {
		e := errs.As(err)
		return []finding{note("sandbox", e.Message+"; runs with code refuse to begin", e.Next)}
	}
	var list []finding
	for _, l := range layers {
		switch {
		case l.Holds:
			list = append(list, ok("sandbox", "%s: %s", l.Name, l.Detail))
		case l.Needed:
			list = append(list, note("sandbox", l.Name+" does not hold: "+l.Detail+"; runs with code refuse to begin", "mend it, or accept the danger: sandbox.allow_missing = [\""+l.Name+"\"]"))
		default:
			list = append(list, note("sandbox", l.Name+": "+l.Detail, ""))
		}
	}
	return list
}
