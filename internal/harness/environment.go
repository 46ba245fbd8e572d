package harness

import (
	"context"

	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/repl"
)

// environ sets the variables that the contract names in a Python that has just begun.
func (r *run) environ(ctx context.Context, s *repl.Session) error {
	code, err := r.variables()
	if err != nil || code == "" {
		return err
	}
	out, err := s.Run(ctx, repl.Cell{ID: "environment", Code: code})
	if err == nil && out.Status != repl.OK {
		err = errs.New(errs.Unsupported, "the sandbox cannot take variables: "+firstOf(out.Traceback, out.Reason), "leave environment.names out, or use the bubblewrap backend").In("environment.names")
	}
	return err
}

// variables is the Python that sets them; "" without any.
func (r *run) variables() (string, error) { return r.h.Variables(r.contract) }

// Variables is the Python that sets the variables that a contract names; "" without any.
func (d Deps) Variables(c *contract.Contract) (string, error) {
	names := c.Environment.Names
	if len(names) == 0 {
		return "", nil
	}
	values := map[string]string{}
	for _, n := range names {
		values[n], _ = d.Variable(n)
	}
	text, err := plain(values)
	return `__import__("os").environ.update(__import__("json").loads(` + literal(string(text)) + `))`, err
}
