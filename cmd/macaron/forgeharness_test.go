package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"macaron/internal/app"
	"macaron/internal/auth"
	"macaron/internal/clock"
	"macaron/internal/config"
	"macaron/internal/mindforge"
	"macaron/internal/mindforge/ledger"
	"macaron/internal/mindforge/loop"
)

// chooses is what a model with random weights can act by: each choice is one of few, so that now
// and then it does a task of one call.
const chooses = `
[agent]
mode = "functions"
adapter = "L1"
max_turns = 3
step_tokens = 96
[agent.prompts]
system = "Call."
[[tools]]
name = "finish"
use = "builtin:run.finish"
description = "End."
parameters = {type = "object", properties = {answer = {enum = ["$last"]}}, required = ["answer"], additionalProperties = false}
[[tools]]
name = "price_of"
use = "world:price_of"
max_calls = 1
[[tools]]
name = "hours_of"
use = "world:hours_of"
max_calls = 1
`

// shrinks makes of the research contract one of few attempts. By its salt the two families whose
// tasks take one call are the ones for training; no stage asks for a gain before the sealed test.
var shrinks = strings.NewReplacer("families, draw 62", "tiny, draw 1356", "train = 32", "train = 20", "validation = 18", "validation = 30", "families = 20", "families = 2",
	"['compose', 'terminal', 'text']", "['compose']", "items = 60", "items = 3", "items = 6\n", "items = 1\n", "dead = 2", "dead = 1",
	"items = 12\ngain = -0.1", "items = 1\ngain = -1", "items = 33\ngain = 0.0", "items = 1\ngain = -1", "new = 0", "new = 1", "cases = 5", "cases = 1",
	"tokens = 1.5\nturns = 1.5", "tokens = 9\nturns = 9", "constant = 0.8", "constant = 1")

const forgeTiny = `schema = "macaron.forge/1"
name = "tiny"
seed = 1
actor = "harness"
generations = 1
[canary]
share = 0.0
[evaluation]
dir = "judge"
contract = "evaluation.toml"
key = "judge/key.pub"
[discovery]
worlds = ["compose"]
tasks = 2
proposals = 0
harder = false
[expansion]
attempts = 12
minibatch = 1
controls = false
coverage = 0
[update]
attempts = 40
rank = 2
epochs = 1
rows = 1
selection.effective = 1.0
`

// smithy is a directory with a run of the loop in which the harness acts, the tiny model below it.
type smithy struct {
	t                   *testing.T
	dir, program, model string
}

func (s smithy) path(name string) string { return filepath.Join(s.dir, name) }

func (s smithy) write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s smithy) read(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(s.path(name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

func (s smithy) macaron(args ...string) *exec.Cmd {
	cmd := exec.Command(s.program, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "MACARON_HOME="+s.path("home"), "MACARON_CONTRACT="+s.path("macaron.toml"), "MACARON_MODEL="+s.model)
	return cmd
}

// do runs a command that ends with a code, and gives what it printed.
func (s smithy) do(code int, args ...string) string {
	s.t.Helper()
	var told bytes.Buffer
	cmd := s.macaron(args...)
	cmd.Stderr = &told
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		s.t.Fatalf("macaron %v: %v\n%s%s", args, err, out, told.String())
	}
	return string(out)
}

// lay sets the run up by the program's own commands.
func (s smithy) lay(contract string) {
	s.write("macaron.toml", strings.NewReplacer("macaron.hcp/1", "macaron.hcp/2", "temperature = 0.0", "temperature = 1.0").Replace(contract)+chooses)
	s.write("forge.toml", forgeTiny)
	s.rules(shrinks)
}

// rules has the research contract, changed, signed by its owner, and an evaluator that judges by it.
func (s smithy) rules(change *strings.Replacer) {
	s.do(0, "hcp", "keygen", "owner.key")
	s.do(0, "hcp", "keygen", "person.key")
	s.write("evaluation.toml", change.Replace(s.do(0, "forge", "evaluator", "contract", "--research", "--people", "person.key.pub")))
	s.do(0, "forge", "evaluator", "sign", "evaluation.toml", "--key", "owner.key")
	s.evaluator()
}

func (s smithy) evaluator() {
	s.do(0, "forge", "evaluator", "init", "judge", "--trusted", "owner.key.pub", "--people", "person.key.pub")
}

// like sets up the same run: the evaluator has the seed and the key of the other one.
func (s smithy) like(other smithy) {
	for _, name := range []string{"macaron.toml", "forge.toml", "owner.key.pub", "person.key.pub", "evaluation.toml", "evaluation.toml.sig"} {
		s.write(name, other.read(name))
	}
	s.evaluator()
	for _, name := range []string{"judge/key", "judge/key.pub", "judge/seed"} {
		s.write(name, other.read(name))
	}
}

// killed lets the run go on until it tells of one of the stages, and then kills its process; false:
// it has ended before. A stage that is over within a tick is not told of.
func (s smithy) killed(stages ...string) bool {
	s.t.Helper()
	cmd := s.macaron("forge", "run", "forge.toml")
	told, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	lines := bufio.NewScanner(told)
	for lines.Scan() {
		if stage, _, _ := strings.Cut(lines.Text(), ":"); slices.Contains(stages, stage) {
			break
		}
	}
	_ = cmd.Process.Kill()           // it may have ended
	_, _ = io.Copy(io.Discard, told) // the evaluator ends when nobody asks it any more
	_ = cmd.Wait()                   // "signal: killed" is what was asked for
	return cmd.ProcessState.ExitCode() == -1
}

// entries are the run's, by their keys.
func (s smithy) entries() (all []ledger.Entry, bodies map[string]ledger.Body) {
	s.t.Helper()
	set, err := loop.Parse([]byte(forgeTiny))
	if err != nil {
		s.t.Fatal(err)
	}
	run, err := set.Run()
	if err != nil {
		s.t.Fatal(err)
	}
	store, err := app.OpenStore(s.t.Context(), config.Config{Home: s.path("home")})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	all, err = (&ledger.Ledger{Store: store, Clock: clock.System{}, Limits: ledger.DefaultLimits}).All(s.t.Context(), auth.Local, run)
	if err != nil {
		s.t.Fatal(err)
	}
	bodies = map[string]ledger.Body{}
	for _, e := range all {
		if bodies[e.Key], err = e.Decode(); err != nil {
			s.t.Fatal(err)
		}
	}
	return all, bodies
}

// A generation in which the harness acts goes the whole way on a real engine: it discovers, trains a
// revision on what the model did by luck, and the evaluator's process judges that up to the sealed
// test. Killed at its stages, the same command comes to the same ledger.
func TestTheHarnessRunsTheLoop(t *testing.T) {
	program, err := exec.LookPath("macaron")
	if err != nil {
		t.Fatal(err)
	}
	flags := tiny(t)
	contract, err := os.ReadFile(flags[3])
	if err != nil {
		t.Fatal(err)
	}
	calm, want, bodies := undisturbed(t, program, string(contract), flags[5])
	wentThrough(t, bodies)
	calm.do(0, "forge", "lineage")
	s := smithy{t, t.TempDir(), program, flags[5]}
	s.like(calm)
	kills := 0
	for i := range 3 {
		if s.killed([]string{"discovery", "expansion", "update", "gate"}[i+1:]...) {
			kills++
		}
	}
	s.do(11, "forge", "run", "forge.toml")
	got, _ := s.entries()
	if err := ledger.Equal(want, got); err != nil || kills == 0 {
		t.Errorf("%d kills: %v", kills, err)
	}
}

// undisturbed is a run that nobody kills. Each evaluator draws tasks of its own; where the start did
// one by luck that the candidate did not, it refuses the candidate before the sealed test, rightly,
// and another one judges.
func undisturbed(t *testing.T, program, contract, model string) (s smithy, all []ledger.Entry, bodies map[string]ledger.Body) {
	t.Helper()
	for range 5 {
		s = smithy{t, t.TempDir(), program, model}
		s.lay(contract)
		s.do(11, "forge", "run", "forge.toml")
		if all, bodies = s.entries(); bodies["g001/gate/proposed/"+string(mindforge.Sealed)] != nil {
			break
		}
	}
	return s, all, bodies
}

// wentThrough looks at what the ledger has of each stage.
func wentThrough(t *testing.T, bodies map[string]ledger.Body) {
	t.Helper()
	made := func(key string) ledger.Made { m, _ := bodies["g001/"+key].(ledger.Made); return m }
	if made("discovered").Tell["kept"] != "2" || made("discovery/0000").Cost.Attempts == 0 || made("discovery/0000").Cost.Output == 0 {
		t.Errorf("discovery: %+v %+v", made("discovered"), made("discovery/0000"))
	}
	revision := made("revision")
	if revision.What != "revision" || revision.Cost.Trained == 0 {
		t.Errorf("update: %+v, %+v", revision, bodies["g001/update"])
	}
	trained, _ := bodies["g001/trained"].(ledger.Candidate)
	has := false
	for _, r := range trained.Candidate.Revisions {
		has = has || r.Hash == revision.Hash
	}
	if !has {
		t.Errorf("the candidate has no revision %s: %+v", revision.Hash, trained.Candidate.Revisions)
	}
	for _, stage := range []mindforge.Stage{mindforge.Lint, mindforge.Smoke, mindforge.Minibatch, mindforge.Validation, mindforge.Sealed} {
		d, ok := bodies["g001/gate/proposed/"+string(stage)].(ledger.Decision)
		if !ok || d.Decision.Candidate != trained.Hash || d.Decision.Pass != (stage != mindforge.Sealed) || stage != mindforge.Lint && d.Decision.Cost.Attempts == 0 {
			t.Errorf("gate: %s: %+v", stage, d)
		}
	}
}
