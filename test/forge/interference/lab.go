package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"

	"macaron/internal/backend"
	"macaron/internal/backend/local"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/train"
	"macaron/internal/train/recipe"
)

// lab is the engine and the rows.
type lab struct {
	o       options
	engine  *engine.Engine
	machine recipe.Machine
	rows    map[string][]sized // to train on
	dev     map[string][][]byte
}

// sized is a line of a data file and its tokens.
type sized struct {
	text   []byte
	tokens int
}

// longest is the most tokens of a row, as the recipes of the default set have it.
const longest = 900

func openLab(ctx context.Context, o options) (*lab, error) {
	e, err := engine.Open(ctx, engine.Options{Model: o.model, Threads: o.threads})
	if err != nil {
		return nil, err
	}
	b, err := local.New(e, nil)
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	in := e.Info()
	l := &lab{o: o, engine: e, rows: map[string][]sized{}, dev: map[string][][]byte{}, machine: recipe.Machine{
		Passes: train.NewGraph(e.Model(), e, train.Options{Mode: e.Mode()}), Base: e.Model().Shape(in.Name), Context: in.Context, Clock: clock.System{}, Load: e.LoadAdapter,
		Encode: func(m []chat.Message, open bool) ([]int32, error) {
			return b.Encode(backend.Request{Messages: m, Decoding: backend.Decoding{Bare: !open}})
		},
		Decode: func(tokens []int32) string { return string(e.Tokenizer().Decode(tokens)) },
	}}
	if err := l.read(); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return l, nil
}

func (l *lab) close() { _ = l.engine.Close() } // nothing runs any more

func (l *lab) read() error {
	for _, name := range names {
		rows, err := l.lines(name + ".train.jsonl")
		if err != nil {
			return err
		}
		l.rows[name] = rows
		held, err := l.lines(name + ".dev.jsonl")
		if err != nil {
			return err
		}
		shuffle(held, 0)
		for _, r := range held[:min(l.o.dev, len(held))] {
			l.dev[name] = append(l.dev[name], r.text)
		}
	}
	return nil
}

// lines reads the rows that can be trained on.
func (l *lab) lines(name string) (out []sized, err error) {
	raw, err := os.ReadFile(filepath.Join(l.o.data, name))
	if err != nil {
		return nil, err
	}
	for _, text := range bytes.Split(bytes.TrimSpace(raw), []byte("\n")) {
		n, err := l.machine.Length(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n > 0 && n <= longest {
			out = append(out, sized{text, n})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no row that can be used", name)
	}
	return out, nil
}

func shuffle(rows []sized, seed uint64) {
	rand.New(rand.NewPCG(seed, 17)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] }) //nolint:gosec // an order is no secret
}

// cut writes the rows of an arm: of each specialist so many tokens, drawn anew by the seed
// and, where there are too few, more than once; and of the union all of them.
func (l *lab) cut(a arm) error {
	if err := os.MkdirAll(l.o.at(a), 0o755); err != nil {
		return err
	}
	var everything []byte
	for _, name := range names {
		var own []byte
		for n, pass := 0, uint64(0); n < l.o.tokens; pass++ {
			rows := append([]sized{}, l.rows[name]...)
			shuffle(rows, a.Seed*1000+pass)
			for _, r := range rows {
				if n >= l.o.tokens {
					break
				}
				n += r.tokens
				own = append(append(own, r.text...), '\n')
			}
		}
		if err := os.WriteFile(l.o.at(a, name+".jsonl"), own, 0o644); err != nil {
			return err
		}
		everything = append(everything, own...)
	}
	return os.WriteFile(l.o.at(a, union+".jsonl"), everything, 0o644)
}

// settings are those of the default set's recipes, the same for all adapters; the data, the
// rank and the seed differ. Alpha is 32 whatever the rank, and so is the learning rate.
const settings = `method = "sft"
seed = %d
out = %q
[adapter]
rank = %d
alpha = 32
[data]
train = %q
max_tokens = %d
[optimizer]
learning_rate = 6e-4
schedule = "cosine"
warmup_steps = 6
final_ratio = 0.05
beta2 = 0.98
eps = 1e-8
grad_clip_norm = 1.0
[run]
epochs = 1
batch = 16
batch_tokens = 1100
checkpoint_every = 20
`

// train makes an adapter, unless it is there, and gives the tokens that it was trained on.
func (l *lab) train(ctx context.Context, a arm, name string) (int, error) {
	dir, err := filepath.Abs(l.o.at(a, name))
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	text := fmt.Sprintf(settings, a.Seed, dir, a.of(name), dir+".jsonl", longest)
	if err := os.WriteFile(dir+".toml", []byte(text), 0o644); err != nil {
		return 0, err
	}
	r, err := recipe.Parse([]byte(text), filepath.Dir(dir))
	if err != nil {
		return 0, err
	}
	res, err := r.Train(ctx, l.machine, recipe.Options{})
	return int(res.Tokens), err
}

// answer is the likeliest answer of an adapter to a prompt.
func (l *lab) answer(ctx context.Context, a *lora.Adapter, prompt []int32) (string, error) {
	s, err := l.engine.Submit(ctx, engine.Request{Prompt: prompt, Adapter: a, MaxTokens: 96, Sampling: sample.Params{}})
	if err != nil {
		return "", err
	}
	var all []int32
	for {
		t, err := s.Next()
		if errors.Is(err, io.EOF) {
			return l.machine.Decode(all), nil
		}
		if err != nil {
			return "", err
		}
		if t.ID >= 0 {
			all = append(all, t.ID)
		}
	}
}
