package app

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/contract/sign"
	"macaron/internal/disk"
	"macaron/internal/errs"
	"macaron/internal/ids"
	"macaron/internal/jobs"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/evaluation/evaluator"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/scripted"
	"macaron/internal/store/homelock"
	storejobs "macaron/internal/store/jobs"
)

// Jobs opens the queue of jobs where the settings say that the log is. alone: this process holds
// the home's lock. What it cannot keep, it tells the log; nil: nobody.
func Jobs(ctx context.Context, c config.Config, alone bool, log *slog.Logger) (*storejobs.Queue, error) {
	if c.Store.URL != "" {
		return storejobs.Open(ctx, storejobs.Options{URL: c.Store.URL.Reveal(), Log: log})
	}
	return storejobs.Open(ctx, storejobs.Options{Path: filepath.Join(c.Home, "jobs.db"), Alone: alone, Log: log})
}

// ForgeRun is a run of the loop in this process.
type ForgeRun struct {
	*loop.Loop
	Queue *storejobs.Queue
	app   *App           // whose harness attempts; nil: the actor is scripted
	runs  *loop.RunsFile // nil: the actor is scripted
	store Store
	lock  *homelock.Lock
}

// OpenForge opens a run by its settings; command does it again. Where the log is a file of this
// home, nobody else may use the home meanwhile; over Postgres so many machines as want to may work
// on one run. With the actor harness it opens the program, as o says, without a listener.
func OpenForge(ctx context.Context, c config.Config, set loop.Settings, command string, o Options) (_ *ForgeRun, err error) {
	f := &ForgeRun{}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	if err := f.open(ctx, c, set.Actor, o); err != nil {
		return nil, err
	}
	if f.Queue, err = Jobs(ctx, c, true, o.Log); err != nil {
		return nil, err
	}
	run, err := set.Run()
	if err != nil {
		return nil, err
	}
	f.Loop = &loop.Loop{Settings: set, Owner: auth.Local, Run: run, Command: command, Queue: f.Queue, Ledger: &ledger.Ledger{Store: f.store, Clock: clock.System{}, Limits: ledger.DefaultLimits}}
	if err := f.evaluator(set.Evaluation); err != nil {
		return nil, err
	}
	if f.app != nil {
		return f, errors.Join(f.harness(ctx), f.produced(ctx, o))
	}
	return f, f.rehearse(c)
}

// open opens what the actor needs: the whole program, or the log alone.
func (f *ForgeRun) open(ctx context.Context, c config.Config, actor string, o Options) (err error) {
	if actor == loop.Harness {
		if f.app, err = New(c, o); err != nil {
			return err
		}
		f.store = f.app.store
		return f.app.WaitReady(ctx)
	}
	if c.Store.URL == "" {
		if f.lock, err = homelock.Acquire(c.Home); err != nil {
			return err
		}
	}
	f.store, err = OpenStore(ctx, c)
	return err
}

// Close gives everything back.
func (f *ForgeRun) Close() (err error) {
	if f.Queue != nil {
		err = f.Queue.Close()
	}
	if f.runs != nil {
		err = errors.Join(err, f.runs.Close())
	}
	if f.app != nil {
		return errors.Join(err, f.app.Close())
	}
	if f.store != nil {
		err = errors.Join(err, f.store.Close())
	}
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// evaluator reads what the loop may know of who judges: its public key, and the contract. Whether
// somebody trusted has signed that, the evaluator looks.
func (f *ForgeRun) evaluator(e loop.Evaluation) error {
	keys, err := sign.Publics([]string{e.Key})
	if err != nil {
		return err
	}
	text, err := evaluation.Read(e.Contract)
	if err != nil {
		return err
	}
	k, err := evaluation.Parse(text)
	if err != nil {
		return err
	}
	h, err := k.Hash()
	f.Evaluation = evaluation.Signed{Contract: k, Digest: h, File: ids.DigestOf(text)}
	f.Verifier = evaluator.Verifier{Key: keys[0], Evaluation: h}
	return err
}

// skills is where the skills of a rehearsal lie, for the evaluator's process: by their hashes.
func skills(home string) string { return filepath.Join(home, "forge", "skills") }

// rehearse gives the run a planted problem, and the evaluator as a process that plants the same.
func (f *ForgeRun) rehearse(c config.Config) error {
	r, err := loop.NewRehearsal(f.Scripted)
	if err != nil {
		return err
	}
	dir := skills(c.Home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return disk.Error(err, dir+" cannot be made")
	}
	r.Keep = func(h ids.Digest, skill []byte) error { return disk.Replace(filepath.Join(dir, h.Hex()), skill, 0o600) }
	self, err := os.Executable()
	if err != nil {
		return err
	}
	problem, err := json.Marshal(f.Scripted)
	if err != nil {
		return err
	}
	f.Judge = func(ctx context.Context, v evaluator.Verifier) (loop.Judge, error) {
		return evaluator.Await(ctx, func() *exec.Cmd {
			cmd := exec.Command(self, "forge", "evaluator", "rehearse", f.Settings.Evaluation.Dir, f.Settings.Evaluation.Contract, "--problem", string(problem), "--skills", dir, "--outside", c.Home)
			cmd.Env, cmd.Stderr = []string{}, os.Stderr
			return cmd
		}, v)
	}
	r.Into(f.Loop)
	return nil
}

// Serve serves on a listener until ctx ends, as `macaron serve` does, while the run goes on.
func (f *ForgeRun) Serve(ctx context.Context, l net.Listener) error { return f.app.Serve(ctx, l) }

// Work works on the run until it has ended, or stands still because somebody paused it or has to
// say something; patient: it waits until that was said. told is called about every half second.
func (f *ForgeRun) Work(ctx context.Context, patient bool, told func([]jobs.Status)) error {
	ctx = auth.With(ctx, auth.Principal{Owner: f.Owner})
	if err := f.Begin(ctx); err != nil {
		return err
	}
	still, stop := context.WithCancelCause(ctx)
	go f.watch(still, stop, patient, told)
	err := f.Queue.Work(still, map[string]jobs.Handler{loop.Kind: f.Handle}, 1)
	stop(nil)
	if ctx.Err() != nil {
		return errs.New(errs.Canceled, "the run "+f.Run+" was stopped", "the same command goes on with it")
	}
	return err
}

// Absorb moves an entry of a release's contract into the adapter of that release; "": of what is in
// force. told hears what is done.
func (f *ForgeRun) Absorb(ctx context.Context, release ids.Digest, entry string, told func(note string)) (loop.Moved, error) {
	if release != "" && f.app != nil {
		f.Start = func(ctx context.Context) (mindforge.Pair, error) {
			s, err := f.app.releases.Snapshot(ctx, f.Owner, release)
			return pairOf(s), err
		}
	}
	return f.Move(auth.With(ctx, auth.Principal{Owner: f.Owner}), entry, told)
}

// errStill ends the work of a run that has ended or stands still.
var errStill = errors.New("the run stands still")

func (f *ForgeRun) watch(ctx context.Context, stop context.CancelCauseFunc, patient bool, told func([]jobs.Status)) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		all, err := f.Queue.List(ctx, f.Run)
		if err == nil {
			told(all)
			paused, err := f.Queue.Paused(ctx, f.Run)
			if err == nil && still(all, paused && !patient) {
				stop(errStill)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// still reports whether nothing is done on jobs.
func still(all []jobs.Status, paused bool) bool {
	for _, s := range all {
		if s.State == jobs.Running || s.State == jobs.Waiting && !paused {
			return false
		}
	}
	return true
}

// Rehearsed opens an evaluator that judges candidates at a planted problem. It plants the problem
// itself, and believes a skill by its hash.
func Rehearsed(dir, contract, problem, skills string, outside []string) (*evaluator.Evaluator, error) {
	var s scripted.Setup
	if err := json.Unmarshal([]byte(problem), &s); err != nil {
		return nil, errs.Wrap(errs.InvalidRequest, err, "the problem cannot be read", "it is the table scripted of forge.toml, as JSON")
	}
	r, err := loop.NewRehearsal(s)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(skills)
	if err != nil {
		return nil, disk.OpenError(err, skills+" cannot be opened", "name the directory that the loop keeps skills in")
	}
	up := func(h ids.Digest) ([]byte, error) {
		file, err := root.Open(h.Hex())
		if err != nil {
			return nil, err
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(file, 1<<20))
	}
	return evaluator.Open(evaluator.Options{Dir: dir, Contract: contract, Outside: outside, Catalogue: r.Catalogue, Actor: r.Looking(up), Worlds: []mindforge.World{scripted.World{Policy: r.Policy}}, Traffic: r.Live(400), Safety: loop.Safety{}})
}

// ForgeApprove signs a person's yes to what a run waits for, and lets it go on.
func ForgeApprove(ctx context.Context, l *ledger.Ledger, q *storejobs.Queue, owner, run string, key ed25519.PrivateKey) (loop.Wanted, error) {
	all, err := q.List(ctx, run)
	if err != nil {
		return loop.Wanted{}, err
	}
	for _, s := range all {
		w, ok := loop.WaitsFor(s.Progress.Note)
		if !ok || s.State.Ended() {
			continue
		}
		yes, err := evaluator.Approve{Candidate: w.Candidate, Against: w.Against, Evaluation: w.Evaluation}.Yes(key)
		if err != nil {
			return w, err
		}
		if err := loop.Approve(ctx, l, owner, run, w, sign.KeyID(key.Public().(ed25519.PublicKey)), yes); err != nil {
			return w, err
		}
		return w, q.Resume(ctx, run)
	}
	return loop.Wanted{}, errs.New(errs.NotFound, "the run "+errs.Clip(run)+" waits for nobody", "`macaron forge status` tells where it is")
}
