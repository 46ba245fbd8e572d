package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"macaron"
	"macaron/cmd/macaron/cli"
	"macaron/internal/app"
	"macaron/internal/bench/flow"
	"macaron/internal/bench/ui4a"
	"macaron/internal/config"
	"macaron/internal/disk"
	"macaron/internal/engine/encoder"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/mint/filter"
)

// trainExport are the flags of data export --train.
type trainExport struct{ out, settings, evaluation, encoder string }

func exportDataset(ctx context.Context, e *cli.Env, owner string, t trainExport) error {
	c, err := e.Config()
	if err != nil {
		return err
	}
	set := filter.Defaults()
	if t.settings != "" {
		raw, err := os.ReadFile(t.settings)
		if err != nil {
			return disk.OpenError(err, t.settings+" cannot be read", "docs/DATA.md has the settings")
		}
		if set, err = filter.ParseSettings(raw); err != nil {
			return err
		}
	}
	enc, digest, err := openEncoder(t.encoder, c, set)
	if err != nil {
		return err
	}
	if enc != nil {
		defer enc.Close() // read-only
	}
	sets, err := Evaluations(t.evaluation)
	if err != nil {
		return err
	}
	index, err := filter.NewIndex(ctx, sets, set.Evals.NGram, embedding(enc))
	if err != nil {
		return err
	}
	if t.out == "" {
		t.out = filepath.Join(c.Home, "datasets")
	}
	return e.WithStore(ctx, func(s app.Store) error { return makeDataset(ctx, e, s, c, owner, t.out, set, index, digest) })
}

func makeDataset(ctx context.Context, e *cli.Env, s app.Store, c config.Config, owner, out string, set filter.Settings, index *filter.Index, encoder ids.Digest) error {
	f, err := filter.New(set, index, out)
	if err != nil {
		return err
	}
	p := app.NewProduction(s, c.Home)
	if err := p.Feed(ctx, f, owner); err != nil {
		return errors.Join(err, f.Abandon())
	}
	dir, m, err := f.Close(encoder)
	if err != nil {
		return err
	}
	if e.JSON {
		return e.PrintJSON(map[string]any{"dataset": "sha256:" + filepath.Base(dir), "dir": dir, "manifest": m})
	}
	read, dropped := m.Source.Turns+m.Source.Runs, 0
	for _, n := range m.Dropped {
		dropped += n
	}
	fmt.Fprintf(e.Out, "%s\n%d turns and runs read, %d dropped; %d rows to train on, %d held out\n", dir, read, dropped, m.Rows["train"], m.Rows["held_out"])
	return nil
}

// openEncoder opens the sentence encoder that finds parts of evaluations by meaning, nil
// where none is set.
func openEncoder(dir string, c config.Config, set filter.Settings) (*encoder.Encoder, ids.Digest, error) {
	if dir == "" {
		dir = c.Router.EmbeddingModel
	}
	if dir == "" || set.Evals.Cosine == 0 {
		return nil, "", nil
	}
	enc, err := encoder.Open(dir)
	if err != nil {
		return nil, "", err
	}
	return enc, enc.Digest, nil
}

// embedding keeps a nil encoder a nil interface.
func embedding(enc *encoder.Encoder) filter.Embedder {
	if enc == nil {
		return nil
	}
	return enc
}

// Evaluations are the sets of the project, and of another registry.
func Evaluations(more string) ([]filter.EvalSet, error) {
	sets, err := filter.ReadEvals(macaron.Evaluation, "evaluation.toml", suite)
	if err != nil || more == "" {
		return sets, err
	}
	others, err := filter.ReadEvals(os.DirFS(filepath.Dir(more)), filepath.Base(more), suite)
	return append(sets, others...), err
}

// suite gives the instructions of a suite that the program makes, as the benchmark's
// command makes it by itself, or the requests of the cases of cards.
func suite(name string) ([]string, error) {
	switch name {
	case "flow":
		return flowTasks(), nil
	case "ui4a":
		return cardCases()
	}
	return nil, errs.New(errs.NotFound, "there is no suite "+errs.Clip(name), "the suites that can be named are flow and ui4a; give others as files")
}

// cardCases are what people ask in the cases of cards, and what is known when they do.
func cardCases() ([]string, error) {
	cases, err := ui4a.Cases()
	var out []string
	for _, c := range cases {
		out = append(out, c.Request)
		for _, x := range c.Context {
			out = append(out, x.Text)
		}
	}
	return out, err
}

func flowTasks() []string {
	const windows = 8
	var out []string
	for _, t := range flow.Tasks("macaron", windows) {
		out = append(out, t.Instruction)
	}
	return out
}
