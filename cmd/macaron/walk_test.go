package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"macaron/cmd/macaron/cli"
	"macaron/internal/engine/enginetest"
	"macaron/internal/mindforge/evaluation"
	"macaron/internal/mindforge/loop"
	"macaron/internal/mindforge/scripted"
)

// walk is a line for each command: how the test runs it. The lines run in order in one home; $HOME,
// $FILE, $DIR and $MODEL are there, $KEY, $TURN, $SESSION, $RUN, $TOOL and $DATASET are what an earlier line has printed.
var walk = []struct{ path, args, input string }{
	{"version", "", ""},
	{"config show", "", ""},
	{"doctor", "", ""},
	{"health", "", ""},
	{"model ls", "", ""},
	{"model show", "$MODEL", ""},
	{"model pull", "file:$MODEL --name small", ""},
	{"model export-tokenizer", "$DIR/tokenizer", ""},
	{"adapter ls", "", ""},
	{"adapter show", "L0", ""},
	{"adapter add", "$ADAPTER --name L9 --title Nine --description nine", ""},
	{"adapter rm", "L9", ""},
	{"storage report", "", ""},
	{"chat", "", "hello\n"},
	{"route", "hello", ""},
	{"route explain", "$TURN", ""},
	{"data export", "--session $SESSION", ""},
	{"data export", "--session $SESSION --format atif", ""},
	{"data export", "--train", ""},
	{"data report", "$HOME$DATASET", ""},
	{"data delete", "--session $SESSION --dry-run", ""},
	{"key create", "", ""},
	{"key list", "", ""},
	{"key tenant", "local --rpm 5", ""},
	{"key import", "$HOME/keys/keys.toml", ""},
	{"key rotate", "$KEY", ""},
	{"key revoke", "$KEY", ""},
	{"backup", "$FILE", ""},
	{"restore", "$FILE --home $DIR/restored", ""},
	{"hcp init", "$DIR/c.toml", ""},
	{"hcp check", "$DIR/c.toml", ""},
	{"hcp hash", "$DIR/c.toml", ""},
	{"hcp show", "$DIR/c.toml --resolved", ""},
	{"hcp diff", "$DIR/c.toml $DIR/c.toml", ""},
	{"hcp migrate", "../../internal/contract/testdata/contract.toml", ""},
	{"hcp release", "$DIR/c.toml", ""},
	{"hcp keygen", "$DIR/k", ""},
	{"hcp sign", "$DIR/c.toml --key $DIR/k", ""},
	{"hcp verify", "$DIR/c.toml --trusted $DIR/k.pub", ""},
	{"hcp pack", "$DIR/c.toml -o $DIR/c.hcp", ""},
	{"hcp unpack", "$DIR/c.hcp -o $DIR/unpacked", ""},
	{"run show", "testdata/run.jsonl", ""},
	{"run export", "testdata/run.jsonl --format atif", ""},
	{"hcp audit", "testdata/run.jsonl testdata/run.jsonl", ""},
	{"run start", "hello --max-turns 1", ""},
	{"run list", "", ""},
	{"run resume", "$RUN", ""},
	{"run approve", "$RUN call_1", ""},
	{"run judge", "$RUN --score 1", ""},
	{"run cancel", "$RUN", ""},
	{"bench run", "flow --windows 1 --depth 1 --modes functions --max-turns 1 --out $DIR/bench.jsonl", ""},
	{"bench harbor", "testdata/harbor --agent none --out $DIR/trial", ""},
	{"bench ui4a", "--list", ""},
	{"bench report", "$DIR/bench.jsonl", ""},
	{"hcp import-mol", "../../internal/contract/molprofile/testdata/Fixture-One --base tiny", ""},
	{"tool save", "testdata/tool.json", ""},
	{"tool list", "", ""},
	{"tool show", "$TOOL", ""},
	{"tool promote", "$TOOL --cases testdata/cases.json", ""},
	{"tool demote", "$TOOL", ""},
	{"mint publish", "$ADAPTER --name L1 --metric reward=0.5 --key $DIR/k", ""},
	{"mint revisions", "--name L1", ""},
	{"mint show", "$TOOL --trusted $DIR/k.pub", ""},
	{"mint promote", "L1 $TOOL --reason better", ""},
	{"mint alias", "L1 canary L1@champion", ""},
	{"mint export", "L1@canary $DIR/layout --format oci", ""},
	{"mint export", "L1@canary $DIR/a.gguf --format gguf", ""},
	{"mint export", "L1@canary $DIR/merged.gguf --format merged --base $MODEL", ""},
	{"engine bench", "-p 8 -n 4 -r 1 --model $DIR/merged.gguf", ""},
	{"mint import", "$DIR/layout --trusted $DIR/k.pub --promote again", ""},
	{"mint promote", "L1 none", ""},
	{"mint rollback", "L1", ""},
	{"mint history", "L1", ""},
	{"mint gc", "", ""},
	{"forge run", "$DIR/forge.toml", ""},
	{"forge status", "", ""},
	{"forge pause", "$FORGE", ""},
	{"forge resume", "$FORGE", ""},
	{"forge report", "$FORGE", ""},
	{"forge approve", "$FORGE --key $DIR/k", ""},
	{"forge evaluator sign", "$DIR/evaluation.toml --key $DIR/k", ""},
	{"forge evaluator init", "$DIR/judges --trusted $DIR/k.pub --people $DIR/k.pub", ""},
	{"forge absorb", "$DIR/forge.toml skills.plan", ""},
	{"forge release", "", ""},
	{"forge promote", "$TOOL --reason first", ""},
	{"forge canary", "none", ""},
	{"forge lineage", "champion", ""},
	{"forge rollback", "", ""},
	{"forge aliases", "", ""},
	{"forge lineage", "--attest $DIR/statements --key $DIR/k", ""},
	{"mcp list", "own", ""},
	{"mcp accept", "own run_code", ""},
	{"engine bench", "-p 8 -n 4 -r 1", ""},
	{"engine first", "", ""},
	{"train", "$DIR/sft.toml --stop-after 1", ""},
	{"mint runs", "", ""},
	{"mint watch", "$DIR/sft.out.work --once", ""},
	{"mint watch", "$DIR/sft.out.work --page", ""},
	{"mint mlflow", "$DIR/sft.out.work/metrics.jsonl --out $DIR/mlruns", ""},
	{"ui4a build", "-", "export default () => <p>a</p>;"},
	{"ui4a prompt", "", ""},
	{"ui4a check", "-", "export default () => <p>a</p>;"},
	{"ui4a shot", "testdata/card.tsx -o $DIR/card.png", ""},
	{"ui4a export", "testdata/card.tsx --to a2ui", ""},
	{"ui4a serve", "testdata/card.tsx --port 0", ""},
	{"man", "$DIR/man", ""},
	{"serve", "", ""},
	{"up", "", ""},
	{"mint serve", "", ""},
	{"engine serve", "--port 0", ""},
}

// refused are the commands that have nothing to do with this contract, and say so.
var refused = map[string]bool{"forge approve": true, "forge absorb": true, "run start": true, "run resume": true, "run approve": true, "run judge": true, "run cancel": true}

// plainOutput are the commands whose output is a text by its nature, or a protocol's messages.
var plainOutput = map[string]bool{"help": true, "mcp serve": true, "forge evaluator contract": true}

// Every command prints JSON when it is asked to, and a document tells of it.
func TestEveryCommandSpeaksJSON(t *testing.T) {
	flags, dir := tiny(t), t.TempDir()
	known := map[string]string{"$HOME": flags[1], "$FILE": filepath.Join(dir, "backup"), "$DIR": dir, "$MODEL": flags[5], "$ADAPTER": enginetest.Adapter(t, 7)}
	serveOwnTools(t, flags[1])
	conversations(t, dir)
	recipeOf(t, dir, "sft", "sft", "talk.jsonl", "")
	known["$FORGE"] = forgeOf(t, dir)
	tested, docs := map[string]bool{}, documents(t)
	for _, w := range walk {
		tested[w.path] = true
		line := append([]string{"--json"}, flags...)
		line = append(line, strings.Fields(w.path)...)
		for _, a := range strings.Fields(w.args) {
			for name, value := range known {
				a = strings.ReplaceAll(a, name, value)
			}
			line = append(line, a)
		}
		out, failed := speak(t, w.input, line)
		for name, pattern := range map[string]string{"$KEY": `key_[0-9A-Z]{26}`, "$TURN": `trn_[0-9A-Z]{26}`, "$SESSION": `ses_[0-9A-Z]{26}`, "$RUN": `run_[0-9A-Z]{26}`, "$TOOL": `sha256:[0-9a-f]{64}`, "$DATASET": `/datasets/[0-9a-f]{64}`} {
			if found := regexp.MustCompile(pattern).FindString(out); found != "" {
				known[name] = found
			}
		}
		if err := allJSON(out); err != nil && !refused[w.path] {
			t.Errorf("macaron %s --json: %v in %.300q; %.300s", w.path, err, out, failed)
		}
		if !strings.Contains(docs, "macaron "+w.path) {
			t.Errorf("no document tells of macaron %s", w.path)
		}
	}
	for _, path := range runnable(newRoot(&cli.Env{})) {
		if !tested[path] && !plainOutput[path] {
			t.Errorf("macaron %s stands in no line of walk", path)
		}
	}
}

// forgeOf writes the settings of a run of the loop that proposes nothing, and gives the run's name.
func forgeOf(t *testing.T, dir string) string {
	t.Helper()
	text := fmt.Sprintf("schema = \"macaron.forge/1\"\nname = \"walk\"\narm = \"none\"\ngenerations = 1\n[evaluation]\ndir = %q\ncontract = %q\nkey = %q\n", dir+"/judge", dir+"/evaluation.toml", dir+"/k.pub")
	rules, err := evaluation.Planted(scripted.DefaultSetup.Families)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string][]byte{"forge.toml": []byte(text), "evaluation.toml": rules} {
		if err := os.WriteFile(filepath.Join(dir, path), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, err := loop.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	run, err := set.Run()
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// serveOwnTools makes this program an MCP server of the home.
func serveOwnTools(t *testing.T, home string) {
	t.Helper()
	config := fmt.Sprintf("[mcp.own]\ncommand = [\"/bin/sh\", \"-c\", \"exec macaron mcp serve --home %s/own --contract %[1]s/macaron.toml\"]\nenv = [\"PATH\"]\n", home)
	if err := os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

// speak runs a command line; what serves is stopped once it has said where.
func speak(t *testing.T, input string, line []string) (out, failed string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var said, told bytes.Buffer
	w := io.Writer(&said)
	for _, word := range []string{"serve", "up"} {
		if line[len(line)-1] == word || line[len(line)-1] == "--page" || line[len(line)-2] == "--port" {
			w = writer(func(p []byte) (int, error) { defer stop(); return said.Write(p) })
		}
	}
	execute(ctx, line, &cli.Env{In: strings.NewReader(input), Out: w, Err: &told})
	return said.String(), told.String()
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// allJSON reads one JSON value after the other; an error object is none of a command that works.
func allJSON(out string) error {
	dec, n := json.NewDecoder(strings.NewReader(out)), 0
	for {
		var v any
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) && n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
		if o, is := v.(map[string]any); is && o["error"] != nil && !strings.Contains(out, "no macaron server answers") {
			return errors.New("the command failed")
		}
		n++
	}
}

func runnable(c *cobra.Command) (paths []string) {
	for _, sub := range c.Commands() {
		if sub.HasSubCommands() {
			paths = append(paths, runnable(sub)...)
		}
		if sub.Runnable() && !sub.Hidden && (!sub.HasSubCommands() || sub.Name() == "route") {
			paths = append(paths, strings.TrimPrefix(sub.CommandPath(), "macaron "))
		}
	}
	return paths
}

func documents(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../../docs", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		more, err := os.ReadFile(path)
		text = append(text, more...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
