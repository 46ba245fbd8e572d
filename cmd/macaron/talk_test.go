package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"macaron/cmd/macaron/cli"
	"macaron/internal/engine/enginetest"
	"macaron/internal/errs"
	"macaron/internal/turn"
)

// tiny gives the flags of a home with the real engine on a tiny model.
func tiny(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	text := `schema = "macaron.hcp/1"
name = "tiny"
version = "1.0.0"
[model]
base = "tiny"
[prompts]
system = "{{specialist}}"
route = "{{adapters}} {{order}}"
summary = "sum"
foreign = "[{{summary}}]"
tools = "{{tools}}"
[router]
adapter = "L0"
default = "L0"
order = ["L1", "L0"]
min_probability = 0.0
request_chars = 60
context_chars = 20
[budgets]
route_tokens = 8
summary_tokens = 8
answer_tokens = 12
summary_wait_ms = 20000
[sampling]
temperature = 0.0
`
	for i := range 2 {
		text += fmt.Sprintf("[[adapters]]\nname = \"L%d\"\ntitle = \"T%d\"\nsource = %q\ndescription = \"d%d\"\nprompt = \"p%d\"\n", i, i, enginetest.Adapter(t, uint64(i+1)), i, i)
	}
	contract := filepath.Join(home, "macaron.toml")
	if err := os.WriteFile(contract, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"--home", home, "--contract", contract, "--model", enginetest.Model(t, 1), "--threads", "1", "--kv-bytes", "4194304", "--listen", anywhere}
}

// anywhere is an address that nobody listens on, and where whoever serves gets a port that is free.
const anywhere = "127.0.0.1:0"

// invoke executes a command line and gives its exit code and what it printed.
func invoke(t *testing.T, input string, args ...string) (int, string, string) {
	t.Helper()
	var out, err bytes.Buffer
	code := execute(t.Context(), args, &cli.Env{In: strings.NewReader(input), Out: &out, Err: &err})
	return code, out.String(), err.String()
}

func TestRouteShowsTheDecision(t *testing.T) {
	flags := tiny(t)
	code, out, failed := invoke(t, "", append(flags, "--json", "route", "write a loop")...)
	var r turn.Report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil {
		t.Fatalf("exit %d, %v: %s %s", code, err, out, failed)
	}
	sum := r.Probabilities["L0"] + r.Probabilities["L1"]
	if r.Reason != "model" || sum < 0.999 || sum > 1.001 || r.Turn != "" || len(r.Hops) != 1 {
		t.Errorf("%+v", r)
	}
	code, out, _ = invoke(t, "", append(flags, "route", "write a loop")...)
	if code != 0 || !strings.HasPrefix(out, r.Adapter+" (model)\n") || !strings.Contains(out, "%") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, failed := invoke(t, "", append(flags, "route")...); code != errs.InvalidRequest.Exit() || !strings.Contains(failed, "next:") {
		t.Errorf("exit %d: %s", code, failed)
	}
}

func TestChatTalks(t *testing.T) {
	code, out, failed := invoke(t, "hello\n/adapter L1\nand you?\n/new\n/adapter\nbye\n/quit\nnever\n", append(tiny(t), "chat", "--adapter", "L0")...)
	lines := strings.Split(strings.TrimSpace(out), "\n[")
	if code != 0 || len(lines) != 3 || !strings.HasPrefix(lines[0], "[L0 forced] ") || !strings.HasPrefix(lines[1], "L1 forced] ") || !strings.Contains(lines[2][:10], " 0.") && !strings.Contains(lines[2][:10], " 1.") {
		t.Errorf("exit %d: %q %s", code, lines, failed)
	}
	code, _, failed = invoke(t, "hello\n", append(tiny(t), "chat", "--adapter", "L9")...)
	if code != errs.AdapterNotFound.Exit() || !strings.Contains(failed, `no adapter "L9"`) {
		t.Errorf("exit %d: %s", code, failed)
	}
}

// With --json an answer is one line, and nothing else is printed.
func TestChatInJSON(t *testing.T) {
	code, out, failed := invoke(t, "hello\n/adapter L1\nand you?\n", append(tiny(t), "--json", "chat", "--adapter", "L0")...)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 2 {
		t.Fatalf("exit %d: %q %s", code, out, failed)
	}
	for i, line := range lines {
		var got struct {
			Content *string
			Macaron *turn.Report
		}
		if err := json.Unmarshal([]byte(line), &got); err != nil || got.Content == nil || got.Macaron == nil || got.Macaron.Adapter != fmt.Sprintf("L%d", i) || got.Macaron.Turn == "" {
			t.Errorf("%v in %s", err, line)
		}
	}
}

// What a model says must not steer the terminal.
func TestControlCharactersAreStruckOut(t *testing.T) {
	if got := cli.Plain("a\x1b[31mb\x07\u009b2Jc\n\td\r"); got != "a[31mb2Jc\n\td" {
		t.Errorf("%q", got)
	}
}

func TestABusyPortEndsUpBeforeAnythingIsFetched(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	code, _, failed := invoke(t, "", "up", "--home", t.TempDir(), "--model", "no-such-model", "--listen", l.Addr().String())
	if code != errs.AddressInUse.Exit() || !strings.Contains(failed, "PORT=") {
		t.Errorf("exit %d: %s", code, failed)
	}
}
