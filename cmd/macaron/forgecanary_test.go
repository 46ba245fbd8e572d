package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"macaron/internal/contract"
)

// below is an engine that does tasks of one call once its instructions have been added to, and
// answers whoever talks to it.
type below struct {
	*httptest.Server
	stays chan struct{} // one for each client that has heard the first words and stays
}

type belowAsked struct {
	Messages []struct{ Role, Content string }
	Tools    []struct {
		Function struct {
			Name       string
			Parameters struct {
				Properties map[string]struct{ Enum []any }
			}
		}
	}
}

// slowly is what somebody asks for who may leave in the middle, and goes how it is answered.
const slowly, goes = "Speak slowly.", "This goes slowly."

// option is a change of the contract's instructions, as a proposer is shown it.
var option = regexp.MustCompile(`(?m)^([A-H]): say: `)

func newBelow(t *testing.T) below {
	t.Helper()
	stays := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q belowAsked
		if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&q) != nil {
			http.NotFound(w, r)
			return
		}
		name, text := q.answer()
		w.Header().Set("Content-Type", "text/event-stream")
		if name != "" {
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c%d\",\"function\":{\"name\":%q,\"arguments\":%q}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n", len(q.Messages), name, text)
			return
		}
		for _, word := range strings.SplitAfter(text, " ") { // a client that leaves after the first one has cut the answer off
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q}}]}\n\n", word)
			_ = http.NewResponseController(w).Flush()
		}
		if text == goes {
			select {
			case <-r.Context().Done():
				return
			case <-stays:
			}
		}
		fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return below{s, stays}
}

// answer is a call, or words.
func (q belowAsked) answer() (name, text string) {
	first, last := q.Messages[0].Content, q.Messages[len(q.Messages)-1]
	switch found := option.FindStringSubmatch(last.Content); {
	case found != nil:
		return "", found[1]
	case strings.HasPrefix(last.Content, "Request: "):
		return "", "L0"
	case last.Content == slowly:
		return "", goes
	case len(q.Tools) == 0:
		return "", "Hello."
	case last.Role == "tool":
		return "finish", `{"answer":"$last"}`
	case !strings.Contains(first, "\n- "):
		return "", "no"
	}
	for _, x := range q.Tools {
		args := map[string]any{}
		for p, takes := range x.Function.Parameters.Properties {
			for _, v := range takes.Enum {
				if slices.Contains(strings.FieldsFunc(last.Content, func(r rune) bool { return strings.ContainsRune(" ,;?\n", r) }), strings.TrimSuffix(fmt.Sprint(v), ".")) || strings.Contains(last.Content, fmt.Sprint(v)+".") {
					args[p] = v
				}
			}
		}
		if x.Function.Name != "finish" && len(args) == len(x.Function.Parameters.Properties) {
			raw, _ := json.Marshal(args) //nolint:errchkjson // texts and numbers
			return x.Function.Name, string(raw)
		}
	}
	return "", "no"
}

// oneCall are tools, and families whose tasks take one call of them.
var (
	oneCallTools = []string{"price_of", "hours_of", "count_lines", "first_line", "find_file", "count", "add_up", "change_case", "sort_words", "take_field", "reverse"}
	oneCall      = "['compose/item_price', 'compose/person_hours', 'terminal/count_lines', 'terminal/first_line', 'terminal/find', 'text/count', 'text/sum', 'text/case', 'text/sort', 'text/field', 'text/flip']"
)

// liveRules makes of the research contract one of few attempts and four conversations of each arm.
// By its salt the families of text for training are three whose tasks take one call.
var liveRules = strings.NewReplacer("families, draw 62", "watched, draw 846", "train = 32", "train = 20", "validation = 18", "validation = 30", "families = ['rest']", "families = "+oneCall, "budget = 0.1", "budget = 0.2", "test = 'sign-flip'", "test = 'mcnemar'", "families = 20", "families = 2",
	"items = 60", "items = 10", "items = 6\n", "items = 1\n", "items = 12\n", "items = 2\n", "items = 33\n", "items = 2\n", "requests = 0", "requests = 4", "latency = 1.5", "latency = 100",
	"cases = 5", "cases = 1", "tokens = 1.5\nturns = 1.5", "tokens = 20\nturns = 20", "new = 0", "new = 48", "constant = 0.8", "constant = 1")

const forgeWatched = `schema = "macaron.forge/1"
name = "watched"
actor = "harness"
arm = "contract"
generations = 1
[canary]
share = 0.5
[evaluation]
dir = "judge"
contract = "evaluation.toml"
key = "judge/key.pub"
[discovery]
worlds = ["text"]
tasks = 4
failing = 1.0
high = 1.0
harder = false
proposals = 0
[expansion]
proposer = "reflective"
attempts = 24
minibatch = 1
max_edits = 1
controls = false
coverage = 0
`

// layWatched sets such a run up; it serves at an address.
func (s smithy) layWatched(engine string) {
	raw, err := os.ReadFile("../../macaron.toml")
	if err != nil {
		s.t.Fatal(err)
	}
	before, _, _ := strings.Cut(string(raw), "# How a run acts")
	text := strings.ReplaceAll(before, `"adapters/`, `"model:`) + `[agent]
mode = "functions"
adapter = "L1"
max_turns = 3
[agent.prompts]
system = "Do the task."
[[tools]]
name = "finish"
use = "builtin:run.finish"
parameters = {type = "object", properties = {answer = {enum = ["$last"]}}, required = ["answer"], additionalProperties = false}
`
	for _, name := range oneCallTools {
		text += fmt.Sprintf("[[tools]]\nname = %q\nuse = \"world:%s\"\nmax_calls = 1\n", name, name)
	}
	if _, err := contract.Parse([]byte(text)); err != nil {
		s.t.Fatal(err)
	}
	s.write("macaron.toml", text)
	s.write("forge.toml", forgeWatched)
	s.rules(liveRules)
	if err := os.Mkdir(s.path("judge/home"), 0o700); err != nil {
		s.t.Fatal(err)
	}
	s.write("judge/home/config.toml", fmt.Sprintf("contract = %q\n[upstream]\nurl = %q\ndialect = \"openai\"\n", s.path("macaron.toml"), engine))
}

// seen is what a conversation was served by.
type seen struct{ release, arm string }

// liveRun is a loop that serves while it works.
type liveRun struct {
	smithy
	below
	cmd   *exec.Cmd
	ended chan error
	base  string
}

// live starts the run, and waits until it listens.
func (s smithy) live(engine below) *liveRun {
	s.t.Helper()
	l := &liveRun{s, engine, s.macaron("forge", "run", "forge.toml", "--serve"), make(chan error, 1), ""}
	out, err := os.Create(s.path("told"))
	if err == nil {
		defer out.Close() // the process has its own
		l.cmd.Stdout, l.cmd.Stderr = out, out
		err = l.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	go func() { l.ended <- l.cmd.Wait() }()
	s.t.Cleanup(func() { _ = l.cmd.Process.Kill() })
	l.until("it listens", func() bool {
		_, after, ok := strings.Cut(s.read("told"), "listens at ")
		l.base, _, ok = strings.Cut(after, "\n")
		return ok
	})
	return l
}

// until waits for something to come true, unless the process ends before.
func (l *liveRun) until(what string, done func() bool) {
	l.t.Helper()
	for !done() {
		select {
		case err := <-l.ended:
			l.t.Fatalf("it ended before %s: %v: %s", what, err, l.read("told"))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// over: the run is, and serving goes on.
func (l *liveRun) over() bool { return strings.Contains(l.read("told"), "serving goes on") }

// names are where canary and champion stand.
func (l *liveRun) names() (canary, champion string) {
	l.t.Helper()
	resp, err := http.Get(l.base + "/v1/forge/aliases")
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	var all struct {
		Aliases []struct{ Alias, Release string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		l.t.Fatal(err)
	}
	for _, a := range all.Aliases {
		switch a.Alias {
		case "canary":
			canary = a.Release
		case "champion":
			champion = a.Release
		}
	}
	return canary, champion
}

// converse begins a conversation. One of the arm that is cut is left behind its first words.
func (l *liveRun) converse(cut string) seen {
	l.t.Helper()
	says := "Hello there."
	if cut != "" {
		says = slowly
	}
	resp, err := http.Post(l.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"macaron","stream":true,"messages":[{"role":"user","content":"`+says+`"}]}`))
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	at := seen{resp.Header.Get("x-macaron-release"), resp.Header.Get("x-macaron-arm")}
	if resp.StatusCode != http.StatusOK {
		l.t.Fatalf("a conversation: %s", resp.Status)
	}
	for lines := bufio.NewReader(resp.Body); ; {
		line, err := lines.ReadString('\n')
		switch {
		case err == io.EOF, at.arm == cut && cut != "" && strings.Contains(line, "This"):
			return at
		case err != nil:
			l.t.Fatal(err)
		case cut != "" && strings.Contains(line, "This"):
			end := l.stay()
			defer end()
		}
	}
}

// stay has the engine go on, until it is ended: a handler whose client has left may take the first
// word for this.
func (l *liveRun) stay() (end func()) {
	over := make(chan struct{})
	go func() {
		for {
			select {
			case l.stays <- struct{}{}:
			case <-over:
				return
			}
		}
	}()
	return func() { close(over) }
}

// tried waits for the trial, and converses until the run is over. Between the two nothing is served
// but the pair that was in force and the one on trial.
func (l *liveRun) tried(cut string) (release string, arms map[string]int) {
	l.t.Helper()
	l.until("there was a trial", func() bool {
		release, _ = l.names()
		if release == "" && l.over() {
			l.t.Fatalf("there was no trial: %s", l.read("told"))
		}
		return release != ""
	})
	l.until("status told of the trial", func() bool { // which lasts as long as nobody converses
		told := l.do(0, "forge", "status")
		return strings.Contains(told, "proposed canary") && strings.Contains(told, "6/8")
	})
	arms = map[string]int{}
	l.until("the run was over", func() bool {
		at := l.converse(cut)
		switch arms[at.arm]++; {
		case at.arm == "canary" && at.release != release, at.arm == "champion" && at.release != "", at.arm == "" && at.release != "" && at.release != release:
			l.t.Errorf("a conversation was served %+v while %s was on trial", at, release)
		}
		return l.over()
	})
	return release, arms
}

// stopped ends the process as a person does, and tells how the run came out.
func (l *liveRun) stopped(code int) {
	l.t.Helper()
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		l.t.Fatal(err)
	}
	<-l.ended
	if got := l.cmd.ProcessState.ExitCode(); got != code {
		l.t.Errorf("the exit code is %d, not %d: %s", got, code, l.read("told"))
	}
}

// A run that serves meets its canary on live conversations. One whose conversations break off is taken
// back, and is not promoted; one whose conversations end well becomes champion, which everybody is
// served from then on, until a person takes it back. The engine is below, known by name alone.
func TestACanaryMeetsLiveConversations(t *testing.T) {
	program, err := exec.LookPath("macaron")
	if err != nil {
		t.Fatal(err)
	}
	engine := newBelow(t)
	t.Setenv("MACARON_UPSTREAM", engine.URL+"/v1")
	t.Setenv("MACARON_UPSTREAM_DIALECT", "openai")
	t.Setenv("MACARON_LISTEN", "127.0.0.1:0")
	s := smithy{t, t.TempDir(), program, ""}
	s.layWatched(engine.URL + "/v1")
	l := s.live(engine)
	_, arms := l.tried("canary")
	canary, champion := l.names()
	if arms["canary"] == 0 || arms["champion"] == 0 || canary != "" || champion != "" || l.converse("").release != "" {
		t.Errorf("%v; the canary is %q, the champion %q: %s", arms, canary, champion, l.read("told"))
	}
	l.stopped(11)
	s.write("forge.toml", strings.Replace(forgeWatched, `"watched"`, `"again"`, 1))
	l = s.live(engine)
	good, arms := l.tried("")
	canary, champion = l.names()
	if arms["canary"] < 4 || arms["champion"] < 4 || canary != "" || champion != good {
		t.Errorf("%v; the canary is %q, the champion %q, not %q: %s", arms, canary, champion, good, l.read("told"))
	}
	if at := l.converse(""); at != (seen{good, ""}) {
		t.Errorf("after the promotion a conversation is served %+v", at)
	}
	if told := s.do(0, "forge", "aliases"); !strings.Contains(told, good[7:19]) {
		t.Errorf("aliases tells nothing of the champion: %s", told)
	}
	s.do(0, "forge", "rollback", "--reason", "a person says so")
	l.until("the rollback was seen", func() bool { return l.converse("").release == "" })
	l.stopped(0)
}
