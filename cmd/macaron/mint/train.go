package mint

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	embedded "macaron/cmd/macaron/engine"
	"macaron/internal/app"
	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/errs"
	"macaron/internal/repl"
	"macaron/internal/train"
	"macaron/internal/train/recipe"
)

// NewTrain gives `macaron train`.
func NewTrain(e *cli.Env) *cobra.Command {
	var o recipe.Options
	var page string
	c := &cobra.Command{
		Use:     "train RECIPE.toml",
		Short:   "Train an adapter by a recipe, or go on with a run that was stopped",
		Long:    "Trains a LoRA adapter on the built-in engine as a TOML recipe says (docs/formats/recipe.md).\nA run that was stopped or killed goes on from its last checkpoint, to the same bits.\nWith --page its curves are on a page as long as it trains; `macaron mint watch WORK --page` shows them afterwards.",
		Example: "  macaron train recipes/default-set/L0.toml\n  macaron train my.toml --fresh --json\n  macaron train my.toml --page",
		Args:    cli.Args(1, 1, "a recipe"),
		RunE: func(cmd *cobra.Command, given []string) error {
			if err := o.Check(); err != nil {
				return err
			}
			r, err := readRecipe(given[0])
			if err != nil {
				return err
			}
			if !cmd.Flags().Changed("page") {
				return trainBy(cmd.Context(), e, r, o)
			}
			s, err := showRun(cmd.Context(), e, page, app.RecipeRun(r.Metrics(), 0))
			if err != nil {
				return err
			}
			return errors.Join(trainBy(cmd.Context(), e, r, o), s.close())
		},
	}
	c.Flags().BoolVar(&o.Fresh, "fresh", false, "begin anew, and remove the checkpoint of an earlier run")
	c.Flags().IntVar(&o.Stop, "stop-after", 0, "stop with a checkpoint after so many steps; 0: at the end")
	pageFlag(c, &page)
	return c
}

func readRecipe(path string) (*recipe.Recipe, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, disk.OpenError(err, "the recipe "+path+" cannot be read", "give the path of a TOML file")
	}
	return recipe.Parse(raw, filepath.Dir(path))
}

func trainBy(ctx context.Context, e *cli.Env, r *recipe.Recipe, o recipe.Options) error {
	eng, cfg, err := embedded.OpenEngine(ctx, e)
	if err != nil {
		return err
	}
	defer eng.Close() // nothing runs any more
	m, closeMachine, err := Machine(eng, cfg)
	if err != nil {
		return err
	}
	defer closeMachine()
	o.Tell = tellSteps(e)
	res, err := r.Train(ctx, m, o)
	if err != nil {
		return err
	}
	return printTrained(e, res)
}

// Machine is the engine as recipes use it.
func Machine(eng *engine.Engine, cfg config.Config) (recipe.Machine, func(), error) {
	b, err := local.New(eng, nil)
	if err != nil {
		return recipe.Machine{}, nil, err
	}
	in := eng.Info()
	s := &sandbox{cfg: cfg}
	return recipe.Machine{
		Passes:  train.NewGraph(eng.Model(), eng, train.Options{Mode: eng.Mode(), Spill: app.Spill(&cfg)}),
		Base:    eng.Model().Shape(in.Name),
		Context: in.Context,
		Clock:   clock.System{},
		Encode: func(messages []chat.Message, open bool) ([]int32, error) {
			return b.Encode(backend.Request{Messages: messages, Decoding: backend.Decoding{Bare: !open}})
		},
		Decode:  func(tokens []int32) string { return string(eng.Tokenizer().Decode(tokens)) },
		Load:    eng.LoadAdapter,
		Sample:  sampler(eng),
		Top:     likeliest(eng),
		Command: s.run,
	}, s.close, nil
}

// sampler answers prompts at once; the engine queues and batches them.
func sampler(eng *engine.Engine) func(context.Context, *lora.Adapter, []recipe.Prompt) ([]recipe.Answer, error) {
	return func(ctx context.Context, a *lora.Adapter, prompts []recipe.Prompt) ([]recipe.Answer, error) {
		out := make([]recipe.Answer, len(prompts))
		const most = 128 // below the engine's queue
		for lo := 0; lo < len(prompts); lo += most {
			var streams []*engine.Stream
			for _, p := range prompts[lo:min(lo+most, len(prompts))] {
				s, err := eng.Submit(ctx, engine.Request{Prompt: p.Tokens, Adapter: a, MaxTokens: p.MaxTokens, Sampling: sample.Params{Temperature: p.Temperature, Seed: p.Seed}})
				if err != nil {
					return nil, err
				}
				streams = append(streams, s)
			}
			for i, s := range streams {
				if err := collect(s, &out[lo+i]); err != nil {
					return nil, err
				}
			}
		}
		return out, nil
	}
}

func collect(s *engine.Stream, into *recipe.Answer) error {
	for {
		t, err := s.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if t.ID >= 0 {
			into.Tokens = append(into.Tokens, t.ID)
			into.Logprobs = append(into.Logprobs, float32(t.Logprob))
		}
	}
}

// likeliest scores a conversation with alternatives at every place.
func likeliest(eng *engine.Engine) func(context.Context, *lora.Adapter, []int32, int) ([][]recipe.Likely, error) {
	return func(ctx context.Context, a *lora.Adapter, tokens []int32, n int) ([][]recipe.Likely, error) {
		s, err := eng.Submit(ctx, engine.Request{Prompt: tokens, Adapter: a, MaxTokens: 1, ScorePrompt: true, PromptTop: n})
		if err != nil {
			return nil, err
		}
		if err := collect(s, &recipe.Answer{}); err != nil {
			return nil, err
		}
		var out [][]recipe.Likely
		for _, p := range s.Prompt() {
			var at []recipe.Likely
			for _, l := range p.Top {
				at = append(at, recipe.Likely{Token: l.ID, Logprob: l.Logprob})
			}
			out = append(out, at)
		}
		return out, nil
	}
}

// sandbox opens when the first command needs it.
type sandbox struct {
	cfg  config.Config
	pool *repl.Pool
}

func (s *sandbox) run(ctx context.Context, args []string, input string) (string, error) {
	if s.pool == nil {
		c := s.cfg.Sandbox
		root := filepath.Join(s.cfg.Home, "runs")
		if err := os.MkdirAll(root, 0o700); err != nil {
			return "", disk.Error(err, root+" cannot be made")
		}
		p, err := repl.Open(ctx, repl.Options{Backend: c.Backend, Python: c.Python, Bubblewrap: c.Bubblewrap, AllowMissing: c.AllowMissing, Root: root})
		if err != nil {
			return "", err
		}
		s.pool = p
	}
	out, err := s.pool.Exec(ctx, repl.Command{Args: args, Stdin: strings.NewReader(input)})
	if err != nil {
		return "", err
	}
	if out.Code != 0 {
		return "", errs.New(errs.InvalidRequest, fmt.Sprintf("the reward's command ended with %d: %s", out.Code, errs.Clip(out.Output)), "make it print one number and end with 0")
	}
	return out.Output, nil
}

func (s *sandbox) close() {
	if s.pool != nil {
		_ = s.pool.Close() // what it left is removed by the next one
	}
}

// tellSteps prints a line for a step at most twice a second, on a terminal, with the time
// that is left.
func tellSteps(e *cli.Env) func(step, steps int, m map[string]float64) {
	if e.JSON || !cli.OnTerminal(e.Err) {
		return nil
	}
	began, first, last := time.Now(), -1, time.Time{}
	return func(step, steps int, m map[string]float64) {
		if first < 0 {
			began, first = time.Now().Add(-time.Duration(m["seconds"]*float64(time.Second))), step-1
		}
		if time.Since(last) < 500*time.Millisecond && step < steps {
			return
		}
		last = time.Now()
		left := time.Duration(float64(time.Since(began)) / float64(step-first) * float64(steps-step))
		fmt.Fprintf(e.Err, "step %d/%d %s, %s left\n", step, steps, glance(m), left.Round(time.Second))
	}
}

// glance are the metrics that a person looks at.
func glance(m map[string]float64) string {
	var out []string
	for _, k := range []string{"loss", "reward", "kl", "teacher_kl", "accuracy", "held_out_loss"} {
		if v, ok := m[k]; ok {
			out = append(out, fmt.Sprintf("%s %.4f", k, v))
		}
	}
	return strings.Join(out, " ")
}

func printTrained(e *cli.Env, r recipe.Result) error {
	if e.JSON {
		return e.PrintJSON(map[string]any{"done": r.Done, "dir": r.Dir, "provenance": r})
	}
	if !r.Done {
		fmt.Fprintln(e.Out, "stopped with a checkpoint; the same command goes on")
		return nil
	}
	fmt.Fprintf(e.Out, "%s\nrevision %s, %d steps, %d tokens\n", r.Dir, r.Revision, r.Steps, r.Tokens)
	for _, k := range slices.Sorted(maps.Keys(r.Metrics)) {
		fmt.Fprintf(e.Out, "%s %.4f\n", k, r.Metrics[k])
	}
	return nil
}
