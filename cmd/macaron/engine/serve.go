package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/config"
	"macaron/internal/errs"
	"macaron/internal/models"
)

// defaultPort is the one of vLLM's server.
const defaultPort = 8000

// serveFlags are those of `engine serve` beyond the settings.
type serveFlags struct {
	host, key, toolFile string
	port                int
	names, adapters     []string
	modelLen, sequences int
	o                   app.EngineOptions
}

func newEngineServe(e *cli.Env) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the engine alone, with the API of vLLM's server",
		Long: "Serve completions, chat completions and tokens of one base model and its adapters, as vLLM's server\n" +
			"does: adapters are models by name, and are loaded and unloaded while the server runs. Nothing is\n" +
			"routed and nothing is kept; docs/engine/server.md lists the endpoints and the fields.",
		Example: "  macaron engine serve --lora-modules L0=adapters/L0 L1=adapters/L1\n" +
			"  macaron engine serve --port 8001 --served-model-name small --max-num-seqs 8\n" +
			"  MACARON_API_KEY=... macaron engine serve --host 0.0.0.0",
		// The names after --lora-modules may stand apart, as vLLM takes them.
		Args: func(cmd *cobra.Command, given []string) error { return f.modules(cmd, given) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := e.Config()
			if err != nil {
				return err
			}
			if err := f.settle(cmd, &c); err != nil {
				return err
			}
			return serveEngine(cmd.Context(), e, c, f.o)
		},
	}
	f.define(c)
	return c
}

func (f *serveFlags) define(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVar(&f.host, "host", "127.0.0.1", "address to listen on; any other than loopback needs a key")
	fl.IntVar(&f.port, "port", defaultPort, "port to listen on; 0 takes a free one")
	fl.StringVar(&f.key, "api-key", "", "key that clients must send; the environment and --api-key-file do not show it to others")
	fl.StringSliceVar(&f.names, "served-model-name", nil, "names of the base, the first in answers (default: the model's)")
	fl.StringArrayVar(&f.adapters, "lora-modules", nil, "NAME=PATH of adapters to load at the start")
	fl.StringArrayVar(&f.o.Dirs, "lora-dir", nil, "directory that adapters loaded later must lie in; may be repeated")
	fl.BoolVar(&f.o.Runtime, "allow-runtime-lora", false, "clients may load and unload adapters; on loopback they always may")
	fl.Int64Var(&f.o.AdapterBytes, "adapter-bytes", 0, "memory for adapters in bytes; 0 takes the engine's default")
	fl.IntVar(&f.modelLen, "max-model-len", 0, "longest context in tokens; 0 takes the model's")
	fl.IntVar(&f.sequences, "max-num-seqs", 0, "sequences that run at once; 0 takes the engine's default")
	fl.IntVar(&f.o.MaxQueue, "max-queue", 0, "requests that wait; more are refused with 429; 0 takes the engine's default")
	fl.DurationVar(&f.o.Deadline, "request-timeout", 0, "longest answer; 0 sets no limit")
	fl.StringVar(&f.o.Embedding.Path, "embedding-model", "", "directory of a BERT encoder for /v1/embeddings")
	fl.StringVar(&f.o.Embedding.Name, "embedding-name", "", "its name as a model (default: the directory's)")
	fl.StringVar(&f.toolFile, "tool-prompt", "", "file with the text that tells of tools, with {{tools}}, for templates that have no place for them")
}

// modules reads NAME=PATH pairs.
func (f *serveFlags) modules(cmd *cobra.Command, given []string) error {
	if len(given) > 0 && len(f.adapters) == 0 {
		return cli.NoArgs(cmd, given)
	}
	for _, pair := range append(f.adapters, given...) {
		name, path, ok := strings.Cut(pair, "=")
		if !ok || name == "" || path == "" {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("%.80q is no adapter to load", pair), "give NAME=PATH").In("lora-modules")
		}
		f.o.Adapters = append(f.o.Adapters, app.NamedPath{Name: name, Path: path})
	}
	return nil
}

// bounds refuses sizes that have no meaning or that no machine has.
func (f *serveFlags) bounds() error {
	for _, v := range []struct {
		flag     string
		n, limit int64
	}{
		{"port", int64(f.port), 65535}, {"max-model-len", int64(f.modelLen), 1 << 24}, {"max-num-seqs", int64(f.sequences), 256},
		{"max-queue", int64(f.o.MaxQueue), 1 << 20}, {"adapter-bytes", f.o.AdapterBytes, 1 << 45}, {"request-timeout", int64(f.o.Deadline), math.MaxInt64},
	} {
		if v.n < 0 || v.n > v.limit {
			return errs.New(errs.InvalidRequest, fmt.Sprintf("--%s is out of range", v.flag), fmt.Sprintf("give a value from 0 to %d", v.limit)).In(v.flag)
		}
	}
	return nil
}

// settle puts the flags over the settings.
func (f *serveFlags) settle(cmd *cobra.Command, c *config.Config) error {
	if err := f.bounds(); err != nil {
		return err
	}
	changed := cmd.Flags().Changed
	if changed("port") || changed("host") || c.Origin("listen") == config.FromDefault {
		c.Listen = net.JoinHostPort(f.host, fmt.Sprint(f.port))
	}
	if f.key != "" {
		c.Engine.Key = config.Secret(f.key)
	}
	if f.modelLen > 0 {
		c.Engine.Context = f.modelLen
	}
	if f.sequences > 0 {
		c.Engine.Batch = f.sequences
	}
	if f.toolFile != "" {
		b, err := os.ReadFile(f.toolFile)
		if err != nil || !strings.Contains(string(b), "{{tools}}") {
			return errs.Wrap(errs.InvalidRequest, errors.Join(err, errors.New("no {{tools}}")), "the file "+f.toolFile+" tells of no tools", "name a file with {{tools}} in it")
		}
		f.o.ToolText = string(b)
	}
	f.o.Names, f.o.Version = f.names, cli.Version
	return nil
}

// serveEngine fetches the model if need be and serves in the foreground until ctx ends.
func serveEngine(ctx context.Context, e *cli.Env, c config.Config, o app.EngineOptions) error {
	l, err := app.Listen(ctx, c.Listen)
	if err != nil {
		return err
	}
	err = e.WithFetcher(func(f *models.Fetcher, _ config.Config) (err error) {
		o.Model, err = f.Resolve(ctx, c.Model)
		return err
	})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	o.Hurry = e.Hurry
	s, err := app.NewEngineServer(c, o)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	ready := make(chan error, 1)
	go func() { ready <- announceEngine(ctx, e, s, "http://"+l.Addr().String()) }()
	err = s.Serve(ctx, l)
	if told := <-ready; err == nil && errs.CodeOf(told) != errs.Canceled {
		err = told
	}
	return err
}

// announceEngine waits for the model and prints what is served where.
func announceEngine(ctx context.Context, e *cli.Env, s *app.EngineServer, url string) error {
	if !e.JSON {
		fmt.Fprintf(e.Out, "Macaron's engine listens at %s; loading ...\n", url)
	}
	begun := time.Now()
	if err := s.WaitReady(ctx); err != nil {
		return err
	}
	facts, err := s.Facts()
	if err != nil {
		return err
	}
	in := facts.Engine
	if e.JSON {
		return e.PrintJSON(map[string]any{"url": url, "models": facts.Models, "adapters": facts.Adapters, "base": in.Base, "context": in.Context,
			"threads": in.Threads, "isa": in.ISA, "load_ms": ms(time.Since(begun))})
	}
	adapters := strings.Join(facts.Adapters, ", ")
	fmt.Fprintf(e.Out, "Ready after %.1f s.\n  API       %s/v1\n  models    %s\n  adapters  %s\n  context   %s tokens, %d sequences at once, %d threads, %s\nStop with Ctrl-C.\n",
		time.Since(begun).Seconds(), url, strings.Join(facts.Models, ", "), cli.OrDash(adapters), cli.Thousands(int64(in.Context)), in.Batch, in.Threads, in.ISA)
	return nil
}
