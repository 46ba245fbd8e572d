package update_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"macaron/internal/adapter"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/engine"
	"macaron/internal/engine/enginetest"
	"macaron/internal/engine/lora"
	"macaron/internal/engine/sample"
	"macaron/internal/ids"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/update"
	"macaron/internal/mindforge/update/tinkerclient"
	"macaron/internal/mint"
	"macaron/internal/mint/blob"
	"macaron/internal/mint/catalogue"
	"macaron/internal/mint/local"
	"macaron/internal/record"
	"macaron/internal/store/sqlite"
	"macaron/internal/transcript"
	"macaron/internal/wire/tinker"
)

var ctx = context.Background()

// shop is a training service on a tiny model, behind its handler, with a catalogue.
type shop struct {
	http.Handler
	engine    *engine.Engine
	catalogue *catalogue.Catalogue
}

// shelf publishes into the catalogue, as the program does.
type shelf struct{ *catalogue.Catalogue }

func (s shelf) Publish(ctx context.Context, owner string, r mint.Revision) (ids.Digest, error) {
	p, err := s.Catalogue.Publish(ctx, owner, catalogue.Draft{Files: catalogue.Files{Config: r.Config, Tensors: r.Tensors}, Name: path.Base(r.Path),
		Parent: r.Parent, Contract: r.Contract, Checkpoint: r.Checkpoint, Data: r.Data, Recipe: r.Recipe, Metrics: r.Metrics})
	return p.Hash, err
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// open opens a shop. Without a shelf the service publishes nothing itself, as one elsewhere.
func open(t testing.TB, shelved bool) *shop {
	t.Helper()
	home, c := t.TempDir(), clock.System{}
	s := &shop{engine: must[*engine.Engine](t)(engine.Open(ctx, engine.Options{Model: enginetest.Model(t, 1), Threads: 2, KVBytes: 16 << 20}))}
	store := must[*sqlite.Store](t)(sqlite.Open(ctx, sqlite.Options{Path: filepath.Join(home, "log.db")}))
	blobs := must[*blob.Store](t)(blob.Open(filepath.Join(home, "mint")))
	s.catalogue = must[*catalogue.Catalogue](t)(catalogue.Open(catalogue.Options{Home: home, Store: store, Clock: c, Parents: 8}))
	o := mint.Options{Store: store.Mint(), Blobs: blobs, Workers: []mint.Worker{local.New(s.engine, local.Options{Name: "tiny"})}, Clock: c, IDs: ids.NewSource(c, nil)}
	if shelved {
		o.Publisher = shelf{s.catalogue}
	}
	service := must[*mint.Service](t)(mint.Open(ctx, o))
	s.Handler = tinker.Handler(tinker.Deps{Service: service, Owner: func(*http.Request) string { return "o" }, Clock: c, Log: slog.New(slog.DiscardHandler),
		Failed: func(string) {}, Key: []byte("a key of thirty-two bytes, or so")})
	t.Cleanup(func() {
		for _, close := range []func() error{service.Close, s.catalogue.Close, store.Close, blobs.Close, s.engine.Close} {
			if err := close(); err != nil {
				t.Error(err)
			}
		}
	})
	return s
}

// updater is a client of the shop in this process.
func (s *shop) updater(t testing.TB, through http.RoundTripper, j update.Journal) *update.Updater {
	t.Helper()
	if through == nil {
		through = tinkerclient.Within{Handler: s}
	}
	c := must[*tinkerclient.Client](t)(tinkerclient.New(tinkerclient.Options{URL: "http://mint.invalid", Key: "tml-x", HTTP: &http.Client{Transport: through},
		Wait: func(ctx context.Context, _ time.Duration) error { return errors.New("there is no second try") }}))
	return &update.Updater{Client: c, Catalogue: s.catalogue, Owner: "o", Splits: splits, Journal: j, Now: time.Now}
}

// splits has every family whose name is "secret" sealed and "held" for validation.
var splits splitter

type splitter struct{}

func (splitter) Of(_, family string) evaluation.Split {
	switch family {
	case "secret":
		return evaluation.Sealed
	case "held":
		return evaluation.Validation
	}
	return evaluation.Train
}

// revision loads a published adapter as the engine serves it.
func (s *shop) adapter(t testing.TB, hash ids.Digest) *lora.Adapter {
	t.Helper()
	if hash == "" {
		return nil
	}
	return must[*lora.Adapter](t)(s.engine.LoadAdapter(must[string](t)(s.catalogue.Dir(ctx, "o", hash))))
}

// attempt samples an answer to a family's question from the engine and has it on record, as
// the harness does: token ids and log probabilities as served. It passes if its first byte is
// even, which has nothing to do with the question.
func (s *shop) attempt(t testing.TB, family, id string, by ids.Digest, seed uint64) update.Trajectory {
	t.Helper()
	task := mindforge.Task{ID: "w/" + family + "/0/" + id, World: "w", Family: family, Instruction: "say " + family + " " + id}
	prompt := s.engine.Tokenizer().Encode("<|im_start|>user\n"+task.Instruction+"<|im_end|>\n<|im_start|>assistant\n", true)
	stream := must[*engine.Stream](t)(s.engine.Submit(ctx, engine.Request{Prompt: prompt, Adapter: s.adapter(t, by), MaxTokens: 12, Sampling: sample.Params{Temperature: 1, Seed: seed}}))
	b := &record.Blob{Prompt: prompt}
	for {
		x, err := stream.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if x.ID >= 0 {
			b.Tokens, b.Logps = append(b.Tokens, x.ID), append(b.Logps, float32(x.Logprob))
		}
	}
	said := chat.Text(chat.Assistant, string(s.engine.Tokenizer().Decode(b.Tokens)))
	pass := b.Tokens[0]%2 == 0
	return update.Trajectory{Task: task, Outcome: mindforge.Outcome{Pass: pass, Run: fmt.Sprint(id, seed)}, Run: recorded(task, said, b, by)}
}

// score is the log probability of an answer.
func (s *shop) score(t testing.TB, prompt, answer []int32, by ids.Digest) (sum float64) {
	t.Helper()
	stream := must[*engine.Stream](t)(s.engine.Submit(ctx, engine.Request{Prompt: slices.Concat(prompt, answer), Adapter: s.adapter(t, by), MaxTokens: 1, ScorePrompt: true}))
	for {
		if _, err := stream.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	all := stream.Prompt()
	for _, p := range all[len(all)-len(answer):] {
		sum += p.Logprob
	}
	return sum
}

// recorded is the record of a run with one answer.
func recorded(task mindforge.Task, said chat.Message, b *record.Blob, by ids.Digest) *transcript.Run {
	h := record.Head{Seq: 1, Run: "r", Purpose: record.Discovery, Revision: by, Contract: "sha256:c"}
	next := h
	next.Seq, next.Blob = 2, b
	return transcript.Fold([]record.Record{
		{Head: h, Body: record.RunOpened{Task: record.RunTask{ID: task.ID, Instruction: task.Instruction}, Mode: "functions", Messages: []chat.Message{chat.Text(chat.User, task.Instruction)}}},
		{Head: next, Body: record.Hop{ID: "h", Hop: record.HopAnswer, Message: &said}},
	})
}

// some are attempts at tasks of four families, several at each.
func (s *shop) some(t testing.TB, by ids.Digest, tasks, attempts int) (all []update.Trajectory) {
	t.Helper()
	for _, family := range []string{"a", "b", "c", "d"} {
		for n := range tasks {
			for k := range attempts {
				all = append(all, s.attempt(t, family, fmt.Sprint(n), by, uint64(1+n*100+k)))
			}
		}
	}
	return all
}

func settings(method string) update.Settings {
	s := update.Defaults()
	s.Method, s.Adapter, s.Base, s.Rank, s.Batch, s.Epochs, s.LearningRate = method, "L1", "tiny", 4, 8, 1, 1e-2
	s.Selection.Effective = 2
	return s
}

// job selects from attempts.
func job(t testing.TB, s update.Settings, all []update.Trajectory, from adapter.Revision) update.Job {
	t.Helper()
	got, err := s.Select(ctx, all, splits, from)
	if err != nil {
		t.Fatal(err)
	}
	return update.Job{Run: "run-1", Generation: 1, Operator: mindforge.Train, Seed: 7, Settings: s, From: from, Contract: ids.DigestOf([]byte("contract")), Selected: got}
}
