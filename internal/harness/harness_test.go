package harness

import (
	"context"
	"iter"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"macaron/internal/backend"
	"macaron/internal/chat"
	"macaron/internal/contract"
	"macaron/internal/errs"
	"macaron/internal/money"
	"macaron/internal/record"
	"macaron/internal/tool"
)

func double(n int) (any, error) { return 2 * n, nil }

func TestFunctionsAreCalledUntilThereIsAnAnswer(t *testing.T) {
	r := setup(t, t.TempDir(), "", script("double {\"n\":4}\ndouble {\"n\":5}", `double {"n":"x"}`, `nothing {}`, "18"), false, number("double", tool.Pure, double))
	got := r.run(t, Options{})
	done(t, got, "18")
	shown := r.shown(t, got.RunID)
	if len(shown) != 4 || shown[0] != "8" || shown[1] != "10" || !strings.Contains(shown[2], "do not fit") || !strings.Contains(shown[3], `there is no tool "nothing"`) {
		t.Errorf("%q", shown)
	}
	if got.Totals.Turns != 4 || got.Totals.ToolCalls != 2 || got.Totals.Usage.PromptTokens != 40 {
		t.Errorf("%+v", got.Totals)
	}
	state, err := r.log.Run(ctx, "o", got.RunID)
	if err != nil || state.Status != record.RunDone || state.Title != "do it" {
		t.Errorf("%+v %v", state, err)
	}
}

// A task whose files cannot be laid out is refused, and nothing is left of it.
func TestFilesThatCannotBeLaidOut(t *testing.T) {
	r := setup(t, t.TempDir(), "", script("never"), false)
	for name, more := range map[string]string{
		"../x": "", "/x": "", "a/../../x": "", "a/./b": "", ".": "", "": "", "a//b": "", "x\x00y": "", "x\ny": "", "\xff": "", strings.Repeat("a/", 600) + "a": "",
		"a": "a/b/c", "large": strings.Repeat("x", 255) + "y",
	} {
		files := map[string][]byte{name: []byte("1"), more: []byte("2")}
		if more == "" {
			delete(files, more)
			files[name] = []byte("1")
		}
		_, err := r.Run(ctx, "o", Task{Instruction: "do it", Files: files}, Options{})
		if name == "large" { // longer than file systems take: found only when it is written
			if err == nil {
				t.Error("a name of 256 bytes was written")
			}
		} else if e := errs.As(err); err == nil || e.Code != errs.InvalidRequest || e.Field != "files" {
			t.Errorf("%.40q: %v", name, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(r.Home, "run_*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %q %v", left, err)
	}
}

// priced tells what tokens cost.
type priced struct{ backend.Generator }

func (p priced) Generate(ctx context.Context, q backend.Request) iter.Seq2[chat.Event, error] {
	return func(yield func(chat.Event, error) bool) {
		for e, err := range p.Generator.Generate(ctx, q) {
			if e.Start != nil {
				e.Start.Rate = money.Rate{Input: 1e9, Cached: 5e8, Output: 10e9}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// Every bound ends a run in a state of its own.
func TestBudgets(t *testing.T) {
	again := strings.Split(strings.Repeat("double {\"n\":1};", 30), ";")
	var answers []say
	for _, a := range again {
		answers = append(answers, say(a))
	}
	for name, c := range map[string]struct {
		agent string
		limit record.RunLimits
		want  record.RunStatus
	}{
		"turns":        {"max_turns = 3", record.RunLimits{}, record.RunTurns},
		"turns, lower": {"max_turns = 30", record.RunLimits{Turns: 2}, record.RunTurns},
		"tokens":       {"max_tokens = 25", record.RunLimits{}, record.RunTokens},
		"calls":        {"max_tool_calls = 2", record.RunLimits{}, record.RunCalls},
		"money":        {"max_cost_usd = 0.000045", record.RunLimits{}, record.RunMoney},
		"time":         {"", record.RunLimits{WallMS: 1}, record.RunTime},
	} {
		t.Run(name, func(t *testing.T) {
			ends := function{number("double", tool.Pure, double).def, func(ctx context.Context, _ map[string]any) (any, error) {
				if c.want == record.RunTime {
					<-ctx.Done() // the run's time ends it
				}
				return 1, nil
			}}
			r := setup(t, t.TempDir(), c.agent, script(answers...), false, ends)
			r.Priced = func(string) bool { return true }
			r.Generator = priced{r.Generator} // 10 prompt tokens, 4 of them cached, and 1: 18e-6
			got := r.run(t, Options{Limits: c.limit})
			if got.Status != c.want || got.Reason == "" {
				t.Errorf("%+v", got)
			}
			if c.want == record.RunMoney && got.Totals.Turns != 3 {
				t.Errorf("%+v", got.Totals)
			}
		})
	}
	r := setup(t, t.TempDir(), "max_cost_usd = 1", script("x"), false)
	if _, err := r.Run(ctx, "o", Task{Instruction: "do it"}, Options{}); errs.CodeOf(err) != errs.InvalidRequest {
		t.Errorf("money without prices: %v", err)
	}
}

// Code may compose what only computes and reads; what changes something stands alone, after
// the model has looked.
func TestHybridLooksBeforeItCommits(t *testing.T) {
	wrote := 0
	write := number("write", tool.Write, func(n int) (any, error) { wrote++; return n, nil })
	look := number("look", tool.Read, double)
	look.def.Observe = true
	r := setup(t, t.TempDir(), `mode = "hybrid"`, script("read {\"n\":1}\nwrite {\"n\":2}", "write {\"n\":3}\nwrite {\"n\":4}", "look {\"n\":1}\nread {\"n\":1}",
		"```python\nwrite(5)\n```", "```python\nlook(2)\nread(3)\n```", "ok"), true, write, look, number("read", tool.Read, double))
	got := r.run(t, Options{})
	done(t, got, "ok")
	shown := r.shown(t, got.RunID)
	for i, want := range []string{"2", "write changes something", "3", "look at what write did", "2", "look at the result of look", "NameError", "[look gave: 4]"} {
		if !strings.Contains(shown[i], want) {
			t.Errorf("%d: %q, want %q", i, shown[i], want)
		}
	}
	if wrote != 1 || !strings.Contains(shown[7], "read failed") {
		t.Errorf("%d writes; %q", wrote, shown)
	}
}

// 48 calls that depend on each other, in code and one by one: a scripted policy, which
// shows that the plumbing carries it and nothing about models.
func TestSimulated48DependentCallsInFewTurns(t *testing.T) {
	step := number("step", tool.Read, func(n int) (any, error) { return (n*31 + 7) % 1009, nil })
	var one []say
	for n, i := 5, 0; i < 48; i++ {
		one = append(one, say(`step {"n":`+strconv.Itoa(n)+`}`))
		n = (n*31 + 7) % 1009
		if i == 47 {
			one = append(one, say(strconv.Itoa(n)))
		}
	}
	single := setup(t, t.TempDir(), "max_turns = 100", script(one...), false, step).run(t, Options{})
	r := setup(t, t.TempDir(), `mode = "repl"`, script("```python\nn = 5\nfor i in range(24):\n    n = step(n)\n```", "```python\nfor i in range(24):\n    n = step(n)\nn\n```", say(single.Answer)), true, step)
	code := r.run(t, Options{})
	done(t, code, single.Answer)
	if shown := r.shown(t, code.RunID); !strings.HasPrefix(shown[1], single.Answer+"\n") {
		t.Errorf("%q", shown)
	}
	if single.Totals.ToolCalls != 48 || code.Totals.ToolCalls != 48 || single.Totals.Turns != 49 || code.Totals.Turns > 6 {
		t.Errorf("%+v %+v", single.Totals, code.Totals)
	}
}

func TestGatesKeepARunFromEnding(t *testing.T) {
	const hooks = `
[[hooks]]
name = "digits"
on = "stop"
check = "answer.matches"
with = {pattern = "[0-9]+"}
max_rounds = 2
[[hooks]]
name = "even"
on = "stop"
python = "'the answer is odd' if int(event['answer']) % 2 else None"
[[hooks]]
name = "first"
on = "start"
python = "len(event['task']) == 5"
[[hooks]]
name = "small"
on = "before_tool"
python = "'too large' if event['arguments']['n'] > 9 else True"
`
	tools := []tool.Tool{number("double", tool.Pure, double)}
	r := setup(t, t.TempDir(), hooks, script(`double {"n":10}`, "seven", "7", "8"), true, tools...)
	got := r.run(t, Options{})
	done(t, got, "8")
	if diff := cmp.Diff([]string{"error forbidden: small: too large", "Not yet: the answer must match [0-9]+", "Not yet: the answer is odd"}, r.shown(t, got.RunID)); diff != "" {
		t.Error(diff)
	}
	r = setup(t, t.TempDir(), hooks, script("a", "b", "8"), true, tools...)
	if got := r.run(t, Options{}); got.Status != record.RunGated || !strings.Contains(got.Reason, "digits") {
		t.Errorf("%+v", got)
	}
	r = setup(t, t.TempDir(), hooks, script("8"), true, tools...)
	if got, err := r.Run(ctx, "o", Task{Instruction: "do it now"}, Options{}); err != nil || got.Status != record.RunFailed || !strings.Contains(got.Reason, "first") {
		t.Errorf("%+v %v", got, err)
	}
}

// A call that needs a person leaves the run standing, in an answer and inside of code.
func TestACallWaitsForAPerson(t *testing.T) {
	for mode, answers := range map[contract.Mode][]say{contract.Functions: {`pay {"n":3}`, "paid"}, contract.REPL: {"```python\nx = double(1)\npay(x)\n```", "paid"}} {
		for _, yes := range []bool{true, false} {
			paid := 0
			pay := number("pay", tool.Write, func(n int) (any, error) { paid++; return "thanks", nil })
			pay.def.Approval = true
			r := setup(t, t.TempDir(), "", script(answers...), mode == contract.REPL, pay, number("double", tool.Pure, double))
			got := r.run(t, Options{Mode: mode})
			if got.Status != record.RunWaiting || got.Call == "" || paid != 0 {
				t.Fatalf("%s: %+v", mode, got)
			}
			if again, err := r.Resume(ctx, "o", got.RunID, Decision{}, Options{}); err != nil || again.Status != record.RunWaiting || again.Call != got.Call {
				t.Fatalf("%s: without an answer: %+v %v", mode, again, err)
			}
			if err := r.Approve(ctx, "x", got.RunID, got.Call, true, ""); errs.CodeOf(err) != errs.NotFound {
				t.Errorf("somebody else: %v", err)
			}
			if err := r.Approve(ctx, "o", got.RunID, got.Call, yes, "too much"); err != nil {
				t.Fatal(err)
			}
			if err := r.Approve(ctx, "o", got.RunID, got.Call, yes, ""); errs.CodeOf(err) != errs.InvalidRequest {
				t.Errorf("twice: %v", err)
			}
			got, err := r.Resume(ctx, "o", got.RunID, Decision{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			done(t, got, "paid")
			if (paid == 1) != yes || !yes && !strings.Contains(r.shown(t, got.RunID)[0], "too much") {
				t.Errorf("%s %v: %d, %q", mode, yes, paid, r.shown(t, got.RunID))
			}
		}
	}
}

func TestACallInDoubtIsAPersonsToDecide(t *testing.T) {
	for _, retry := range []bool{true, false} {
		made := 0
		send := number("send", tool.Irreversible, func(int) (any, error) {
			if made++; made == 1 {
				return nil, errs.New(errs.UpstreamUnavailable, "the line is dead", "")
			}
			return "sent", nil
		})
		r := setup(t, t.TempDir(), "\n[policies]\neffects = [\"irreversible\"]\n", script(`send {"n":1}`, "ok"), false, send)
		got := r.run(t, Options{})
		if got.Status != record.RunInDoubt || got.Call == "" || made != 1 {
			t.Fatalf("%+v", got)
		}
		if again, err := r.Resume(ctx, "o", got.RunID, Decision{}, Options{}); err != nil || again.Status != record.RunInDoubt || again.Call != got.Call || made != 1 {
			t.Fatalf("without a decision: %+v %v", again, err)
		}
		if _, err := r.Resume(ctx, "o", got.RunID, Decision{Retry: "other"}, Options{}); errs.CodeOf(err) != errs.InvalidRequest {
			t.Errorf("another call: %v", err)
		}
		d := Decision{AssumeDone: got.Call}
		if retry {
			d = Decision{Retry: got.Call}
		}
		got, err := r.Resume(ctx, "o", got.RunID, d, Options{})
		if err != nil {
			t.Fatal(err)
		}
		done(t, got, "ok")
		if (made == 2) != retry {
			t.Errorf("retry %v: %d calls", retry, made)
		}
		if shown := r.shown(t, got.RunID)[0]; retry != (shown == `"sent"`) {
			t.Errorf("retry %v: %q", retry, shown)
		}
	}
}

func TestMemoryIsKeptForTheTenantAndBounded(t *testing.T) {
	const memory = `
[memory]
max_items = 2
[[tools]]
name = "keep"
use = "builtin:memory.add"
[[tools]]
name = "find"
use = "builtin:memory.search"
[[tools]]
name = "drop"
use = "builtin:memory.forget"
`
	dir := t.TempDir()
	r := setup(t, dir, memory, script("keep {\"text\":\"the key is red\"}\nkeep {\"text\":\"the door is blue\"}\nkeep {\"text\":\"the lamp is red\"}", `find {"query":"what is red?"}`, "ok"), false)
	got := r.run(t, Options{})
	done(t, got, "ok")
	if shown := r.shown(t, got.RunID)[3]; !strings.Contains(shown, "lamp") || strings.Contains(shown, "key") {
		t.Errorf("%q", shown)
	}
	items, err := r.log.Memory(ctx, "o", "test", 9)
	if err != nil || len(items) != 2 {
		t.Fatalf("%+v %v", items, err)
	}
	r.policy.On = script(say(`drop {"item":"`+items[0].ID+`"}`), `drop {"item":"none"}`, "ok").On
	got = r.run(t, Options{})
	done(t, got, "ok")
	run, err := r.Transcript(ctx, "o", got.RunID)
	if err != nil || !strings.Contains(run.Opened.Messages[0].Text(), "the door is blue") {
		t.Errorf("%+v %v", run, err)
	}
	if items, err := r.log.Memory(ctx, "o", "test", 9); err != nil || len(items) != 1 || items[0].Text != "the lamp is red" {
		t.Errorf("%+v %v", items, err)
	}
	if other, err := r.Run(ctx, "x", Task{Instruction: "do it"}, Options{}); err != nil || other.Status != record.RunDone {
		t.Errorf("%+v %v", other, err)
	}
}

func TestSkillsAreReadOnDemand(t *testing.T) {
	r := setup(t, t.TempDir(), "\n[[skills]]\nname = \"knots\"\ndescription = \"how to tie\"\ntext = \"over and under\"\n", script(`read_skill {"name":"knots"}`, `read_skill {"name":"x"}`, "ok"), false)
	got := r.run(t, Options{})
	done(t, got, "ok")
	run, err := r.Transcript(ctx, "o", got.RunID)
	if err != nil || !strings.Contains(run.Opened.Messages[0].Text(), "- knots: how to tie") || strings.Contains(run.Opened.Messages[0].Text(), "over") {
		t.Errorf("%+v %v", run, err)
	}
	if shown := r.shown(t, got.RunID); shown[0] != `"over and under"` || !strings.Contains(shown[1], "there are knots") {
		t.Errorf("%q", shown)
	}
}
