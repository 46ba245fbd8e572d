// Package engine is `macaron engine`: the built-in engine, measured and served alone.
package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/chat"
	"macaron/internal/config"
	"macaron/internal/contract"
	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/models"
)

// started is about when the process began, for the time to the first token.
var started = time.Now()

// New gives the commands of engine.
func New(e *cli.Env) *cobra.Command {
	return cli.Noun("engine", "Serve and measure the built-in engine", newEngineServe(e), newEngineBench(e), newEngineFirst(e))
}

// OpenEngine opens the engine of the settings.
func OpenEngine(ctx context.Context, e *cli.Env) (*engine.Engine, config.Config, error) {
	var file models.Local
	var cfg config.Config
	err := e.WithFetcher(func(f *models.Fetcher, c config.Config) (err error) {
		cfg = c
		file, err = f.Resolve(ctx, c.Model)
		return err
	})
	if err != nil {
		return nil, cfg, err
	}
	eng, err := engine.Open(ctx, engine.Options{Model: file.Path, Name: file.Name, Digest: file.Digest, Threads: cfg.Engine.Threads,
		Context: cfg.Engine.Context, KVBytes: cfg.Engine.KVBytes, MaxBatch: cfg.Engine.Batch,
		Packed: engine.PackedIn(cfg.Home), Notice: func(err error) { fmt.Fprintln(e.Err, "macaron:", err) }})
	return eng, cfg, err
}

func newEngineBench(e *cli.Env) *cobra.Command {
	o := engine.BenchOptions{}
	var dirs []string
	c := &cobra.Command{
		Use:     "bench",
		Short:   "Measure prompt and decode speed",
		Example: "  macaron engine bench --threads 2\n  macaron engine bench --depth 0,512 --json\n  macaron engine bench -p 0 --sequences 8 --adapters adapters/L0,adapters/L1",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			eng, _, err := OpenEngine(cmd.Context(), e)
			if err != nil {
				return err
			}
			defer eng.Close() // nothing runs any more
			for _, dir := range dirs {
				a, err := eng.LoadAdapter(dir)
				if err != nil {
					return err
				}
				o.Adapters = append(o.Adapters, a)
			}
			tests, err := eng.Bench(cmd.Context(), o)
			if err != nil {
				return err
			}
			return printBench(e, eng.Info(), o, tests)
		},
	}
	c.Flags().IntVarP(&o.Prompt, "prompt", "p", 512, "tokens of the prompt; 0 leaves the test out")
	c.Flags().IntVarP(&o.Decode, "decode", "n", 128, "tokens to generate; 0 leaves the test out")
	c.Flags().IntSliceVarP(&o.Depths, "depth", "d", []int{0}, "tokens of context before those to generate; several are several tests")
	c.Flags().IntVarP(&o.Repeat, "repeat", "r", 5, "rounds")
	c.Flags().IntVar(&o.Sequences, "sequences", 1, "sequences that decode at once")
	c.Flags().StringSliceVar(&dirs, "adapters", nil, "directories of adapters; the sequences take them in turn")
	return c
}

// printBench prints a row a test; as JSON, the median of each test stands under its name.
func printBench(e *cli.Env, in engine.Info, o engine.BenchOptions, tests []engine.BenchTest) error {
	if e.JSON {
		out := map[string]any{"model": in.Name, "base": in.Base, "threads": in.Threads, "isa": in.ISA,
			"sequences": o.Sequences, "adapters": len(o.Adapters), "tests": tests}
		for _, t := range tests {
			out[t.Name] = t.Speed.Median
		}
		return e.PrintJSON(out)
	}
	rows := [][]string{{"model", "threads", "sequences", "adapters", "test", "tokens/s", "min", "max", "rounds"}}
	for _, t := range tests {
		s := t.Speed
		rows = append(rows, []string{in.Name, fmt.Sprint(in.Threads), fmt.Sprint(o.Sequences), fmt.Sprint(len(o.Adapters)), t.Name,
			fmt.Sprintf("%.1f", s.Median), fmt.Sprintf("%.1f", s.Min), fmt.Sprintf("%.1f", s.Max), fmt.Sprint(len(s.Runs))})
	}
	return e.Table(rows...)
}

// firstToken is what `engine first` prints; times are since the process began.
type firstToken struct {
	PromptTokens int     `json:"prompt_tokens"`
	Open         float64 `json:"open_ms"`   // the engine is ready
	Forced       float64 `json:"forced_ms"` // first token with a forced adapter
	RouteTokens  int     `json:"route_tokens,omitempty"`
	Route        float64 `json:"route_ms,omitempty"`  // duration of the route hop, after that
	Answer       float64 `json:"answer_ms,omitempty"` // and from there to the first token of the routed answer
}

func newEngineFirst(e *cli.Env) *cobra.Command {
	var dir, hcp, text string
	c := &cobra.Command{
		Use:     "first",
		Short:   "Measure the time from process start to the first token",
		Example: "  macaron engine first --adapter adapters/L0 --route macaron.toml",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var f firstToken
			if err := measureFirst(cmd.Context(), e, &f, dir, hcp, text); err != nil {
				return err
			}
			if e.JSON {
				return e.PrintJSON(f)
			}
			fmt.Fprintf(e.Out, "ready %.0f ms, first token %.0f ms after the process began (prompt of %d tokens)\n", f.Open, f.Forced, f.PromptTokens)
			if f.RouteTokens > 0 {
				fmt.Fprintf(e.Out, "routed: %.0f ms for the route hop of %d tokens, then %.0f ms to the first token\n", f.Route, f.RouteTokens, f.Answer)
			}
			return nil
		},
	}
	c.Flags().StringVar(&dir, "adapter", "", "directory of the adapter")
	c.Flags().StringVar(&hcp, "route", "", "contract whose route hop is measured too")
	c.Flags().StringVar(&text, "text", "What should I cook with two eggs and some rice?", "the user's message")
	return c
}

func measureFirst(ctx context.Context, e *cli.Env, f *firstToken, dir, hcp, text string) error {
	eng, _, err := OpenEngine(ctx, e)
	if err != nil {
		return err
	}
	defer eng.Close() // nothing runs any more
	f.Open = ms(time.Since(started))
	var rev adapter.Revision
	if dir != "" {
		if rev, err = lora.Inspect(dir); err != nil {
			return err
		}
	}
	b, err := local.New(eng, func(adapter.Revision) (string, error) { return dir, nil })
	if err != nil {
		return err
	}
	answer := backend.Request{Messages: []chat.Message{chat.Text(chat.System, "You are a helpful assistant."), chat.Text(chat.User, text)}, Revision: rev, MaxTokens: 1}
	if f.PromptTokens, err = drain(ctx, b, answer); err != nil {
		return err
	}
	f.Forced = ms(time.Since(started))
	if hcp == "" {
		return nil
	}
	k, err := contract.Load(hcp)
	if err != nil {
		return err
	}
	var labels []string
	for _, a := range k.Adapters {
		labels = append(labels, a.Name)
	}
	at := time.Now()
	if f.RouteTokens, err = drain(ctx, b, backend.Request{Messages: k.RouteMessages(text, nil), Choices: labels, Revision: rev}); err != nil {
		return err
	}
	f.Route, at = ms(time.Since(at)), time.Now()
	answer.Messages[0] = chat.Text(chat.System, k.AnswerSystem(labels[0], nil))
	_, err = drain(ctx, b, answer)
	f.Answer = ms(time.Since(at))
	return err
}

// drain runs a generation to its end and tells the tokens of its prompt.
func drain(ctx context.Context, b *local.Backend, r backend.Request) (prompt int, err error) {
	for ev, err := range b.Generate(ctx, r) {
		if err != nil {
			return 0, err
		}
		if ev.Start != nil {
			prompt = ev.Start.PromptTokens
		}
	}
	return prompt, nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
