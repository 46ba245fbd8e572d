package repl

import (
	"context"
	"path/filepath"
	"strings"

	"macaron/internal/disk"
	"macaron/internal/errs"
)

// Exec runs a program in a sandbox of its own and waits for it. It sees /usr, what is
// bound, an empty /tmp, and no network. Binds that are writable and the sandbox's belong
// to its user first, if this process is root.
func (p *Pool) Exec(ctx context.Context, c Command) (Exit, error) {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return Exit{}, errs.New(errs.InvalidRequest, "a command has no program", "").In("args")
	}
	for _, b := range c.Binds {
		if err := checkBind(b); err != nil {
			return Exit{}, err
		}
		if !b.Writable {
			continue
		}
		if err := p.backend.adopt(b.From); err != nil {
			return Exit{}, disk.Error(err, b.From+" cannot be given to the sandbox")
		}
	}
	for k := range c.Env {
		if !name.MatchString(k) || strings.Contains(k, ".") {
			return Exit{}, errs.Newf(errs.InvalidRequest, "%q cannot be the name of a variable", errs.Clip(k)).In("env")
		}
	}
	exit, err := p.backend.run(ctx, c, c.Limits.or(p.opts.Limits).atMost(p.opts.Limits), newOutput())
	if len(exit.Refused) > 0 {
		p.log.Log(ctx, exit.Refused.level(), "a command was refused system calls", "program", errs.Clip(c.Args[0]), "refused", exit.Refused)
	}
	return exit, err
}

// checkBind keeps binds off what the sandbox itself makes.
func checkBind(b Bind) error {
	if !filepath.IsAbs(b.From) || filepath.Clean(b.From) != b.From {
		return errs.Newf(errs.InvalidRequest, "%s cannot be bound: it is no clean absolute path", errs.Clip(b.From))
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(b.To, "/"), "/")
	switch {
	case !filepath.IsAbs(b.To) || filepath.Clean(b.To) != b.To || b.To == "/":
		return errs.Newf(errs.InvalidRequest, "%s cannot be a place in the sandbox: it is no clean absolute path", errs.Clip(b.To))
	case first == "proc" || first == "dev" || first == "sys" || first == "usr" || first == "bin" || first == "lib" || first == "lib64" || first == "sbin":
		return errs.Newf(errs.InvalidRequest, "%s cannot be a place in the sandbox: /%s is the system's", errs.Clip(b.To), first)
	}
	return nil
}
