package summary_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"macaron/internal/adapter"
	"macaron/internal/backend"
	"macaron/internal/backend/backendtest"
	"macaron/internal/chat"
	"macaron/internal/clock"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/obs"
	"macaron/internal/record"
	"macaron/internal/session"
	"macaron/internal/store/sqlite"
	"macaron/internal/summary"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type rig struct {
	t      *testing.T
	log    *session.Log
	deps   summary.Deps
	engine *backendtest.Scripted
	k      *contract.Contract
}

func newRig(t *testing.T) *rig {
	t.Helper()
	text, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "log.db"), Durability: sqlite.Normal})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	source := ids.NewSource(clock.System{}, nil)
	log, engine := session.New(store, session.Options{IDs: source}), &backendtest.Scripted{}
	return &rig{t: t, log: log, engine: engine, k: k, deps: summary.Deps{Log: log, Contracts: fixed{k}, Generator: engine,
		IDs: source, Meter: obs.NewMetrics("test"), Logger: obs.Discard()}}
}

type fixed struct{ k *contract.Contract }

func (f fixed) Contract(ids.Digest) (*contract.Contract, error) { return f.k, nil }

// delivered stores a delivered turn and gives its id.
func (r *rig) delivered(text, answer string) string {
	r.t.Helper()
	p, err := r.log.Resolve(r.t.Context(), session.Where{Owner: "local"}, []chat.Message{chat.Text(chat.User, text)})
	if err != nil {
		r.t.Fatal(err)
	}
	turn, err := r.log.Begin(r.t.Context(), p, session.Opening{Contract: r.k.Hash(), Tools: []chat.ToolDef{{Name: "f"}}})
	if err != nil {
		r.t.Fatal(err)
	}
	m := chat.Text(chat.Assistant, answer)
	hop := record.Hop{ID: "hop_1", Hop: record.HopAnswer, Adapter: adapter.Revision{Name: "L2"}, Message: &m, Finish: chat.FinishStop}
	if err := r.log.Close(r.t.Context(), turn, record.StatusDelivered, "", session.Served{Hop: hop}); err != nil {
		r.t.Fatal(err)
	}
	return turn.ID
}

func (r *rig) start() *summary.Worker {
	w := summary.Start(r.deps)
	r.t.Cleanup(func() { r.stop(w) })
	return w
}

func (r *rig) stop(w *summary.Worker) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := w.Close(ctx); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) summaryOf(id string) session.Turn {
	r.t.Helper()
	t, err := r.log.Turn(r.t.Context(), "local", id)
	if err != nil {
		r.t.Fatal(err)
	}
	return t
}

func (r *rig) await(w *summary.Worker, turns ...string) {
	r.t.Helper()
	ctx, stop := context.WithTimeout(r.t.Context(), time.Minute)
	defer stop()
	if !w.Await(ctx, "local", turns) {
		r.t.Fatal("the summaries do not come")
	}
}

// The summary's prompt is the answer's, gone on: same view, tools and adapter, so
// that its KV is there.
func TestTheSummaryGoesOnAfterTheAnswer(t *testing.T) {
	r := newRig(t)
	id := r.delivered("write a loop", "for i in 1 2 3")
	r.await(r.start(), id)
	q := r.engine.Seen()[0]
	var got []string
	for _, m := range q.Messages {
		got = append(got, string(m.Role)+": "+m.Text())
	}
	want := "system: " + r.k.AnswerSystem("L2", nil) + "|user: write a loop|assistant: for i in 1 2 3|user: " + r.k.SummaryPrompt()
	if strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
	if q.Revision.Name != "L2" || q.MaxTokens != r.k.Budgets.SummaryTokens || *q.Sampling.Temperature != 0 || len(q.Tools) != 1 {
		t.Errorf("asked %+v", q)
	}
	if s := r.summaryOf(id); s.SummarySource != record.SummaryModel || s.Summary != "L2 heard "+r.k.SummaryPrompt() {
		t.Errorf("%q from %s", s.Summary, s.SummarySource)
	}
}

func TestAPassingFailureIsTriedAgain(t *testing.T) {
	r := newRig(t)
	var n atomic.Int32
	r.engine.On = func(context.Context, backend.Request, func(chat.Event) bool) (bool, error) {
		if n.Add(1) == 1 {
			return true, errs.New(errs.Overloaded, "busy", "")
		}
		return false, nil
	}
	id := r.delivered("write a loop", "for i in 1 2 3")
	r.await(r.start(), id)
	if s := r.summaryOf(id); n.Load() != 2 || s.SummarySource != record.SummaryModel {
		t.Errorf("%d tries, %q from %s", n.Load(), s.Summary, s.SummarySource)
	}
}

// failing stores no summary the first time.
type failing struct {
	*session.Log
	n atomic.Int32
}

func (f *failing) PutSummary(ctx context.Context, owner, turn string, s session.Served, sum record.Summary) (bool, error) {
	if f.n.Add(1) == 1 {
		return false, errs.New(errs.StorageFailed, "the database is away", "")
	}
	return f.Log.PutSummary(ctx, owner, turn, s, sum)
}

// A summary that the log could not take is written again long before its lease would have ended.
func TestWhatCannotBeStoredIsTriedAgain(t *testing.T) {
	r := newRig(t)
	log := &failing{Log: r.log}
	r.deps.Log = log
	id := r.delivered("write a loop", "for i in 1 2 3")
	r.await(r.start(), id)
	if s := r.summaryOf(id); log.n.Load() != 2 || s.SummarySource != record.SummaryModel {
		t.Errorf("stored %d times, %q from %s", log.n.Load(), s.Summary, s.SummarySource)
	}
}

func TestWhatNoModelCanWriteIsAnExtract(t *testing.T) {
	for name, on := range map[string]func(context.Context, backend.Request, func(chat.Event) bool) (bool, error){
		"too long": func(context.Context, backend.Request, func(chat.Event) bool) (bool, error) {
			return true, errs.New(errs.ContextExceeded, "too long", "")
		},
		"empty": func(_ context.Context, _ backend.Request, emit func(chat.Event) bool) (bool, error) {
			backendtest.Emit(emit, chat.Event{Text: " \n"})
			return true, nil
		},
		"panic": func(context.Context, backend.Request, func(chat.Event) bool) (bool, error) { panic("defect") },
	} {
		r := newRig(t)
		r.engine.On = on
		id := r.delivered("write a loop", strings.Repeat("for  i\n", 200))
		r.await(r.start(), id)
		s := r.summaryOf(id)
		if s.SummarySource != record.SummaryExtract || !strings.HasPrefix(s.Summary, "for i for i") || len(s.Summary) > r.k.Budgets.SummaryTokens+10 {
			t.Errorf("%s: %q from %s", name, s.Summary, s.SummarySource)
		}
	}
}

// A stop within its deadline lets a running summary finish; past it the work goes
// back to the queue, for the next worker.
func TestCloseDrainsOrGivesBack(t *testing.T) {
	r := newRig(t)
	started, release := make(chan struct{}, 2), make(chan struct{})
	r.engine.On = func(ctx context.Context, _ backend.Request, _ func(chat.Event) bool) (bool, error) {
		started <- struct{}{}
		select {
		case <-release:
			return false, nil
		case <-ctx.Done():
			return true, ctx.Err()
		}
	}
	id := r.delivered("write a loop", "for i in 1 2 3")
	w := summary.Start(r.deps)
	<-started
	r.stop(w)
	if s := r.summaryOf(id); s.SummarySource != "" {
		t.Errorf("%q from %s", s.Summary, s.SummarySource)
	}
	if w.Await(t.Context(), "local", []string{id}) {
		t.Error("a closed worker promises a summary")
	}
	w = summary.Start(r.deps)
	<-started
	close(release)
	if err := w.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.summaryOf(id); s.SummarySource != record.SummaryModel {
		t.Errorf("%q from %s", s.Summary, s.SummarySource)
	}
}

func TestManySummariesAllCome(t *testing.T) {
	r := newRig(t)
	var all []string
	for i := range 20 {
		all = append(all, r.delivered(strings.Repeat("x", i+1), "done"))
	}
	r.await(r.start(), all...)
}

// A turn at one process waits for a summary that another process of the same log writes.
func TestASummaryOfAnotherProcessIsSeen(t *testing.T) {
	r := newRig(t)
	one, other := r.start(), r.start()
	for i := range 8 { // whichever of them takes it
		id := r.delivered(strings.Repeat("x", i+1), "done")
		r.await(one, id)
		r.await(other, id)
	}
}
