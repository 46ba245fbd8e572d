package tidy

import "fmt"

// Rule forbids imports. From and Except are directories of this module; Not are
// import paths, those of the module without its name.
type Rule struct {
	From   []string // who is bound; "" is everybody
	Except []string // who is not
	Tests  bool     // tests are bound too
	Not    []string
	Why    string
}

// vocabulary are the packages of words, which everybody may import.
var vocabulary = []string{"internal/errs", "internal/ids", "internal/chat", "internal/adapter", "internal/record", "internal/canonical", "internal/clock", "internal/contract", "internal/tool", "internal/money", "internal/mindforge"}

// forgeRooms lie below the words of the loop and are no words.
var forgeRooms = []string{"internal/mindforge/stat", "internal/mindforge/evaluation", "internal/mindforge/gate", "internal/mindforge/ledger", "internal/mindforge/serve", "internal/mindforge/world", "internal/mindforge/edit", "internal/mindforge/expansion", "internal/mindforge/scripted", "internal/mindforge/act", "internal/mindforge/batch", "internal/mindforge/loop", "internal/mindforge/update", "internal/mindforge/attest", "internal/mindforge/lineage", "internal/mindforge/reflect", "internal/mindforge/report"}

// pure are the packages whose results depend on their arguments alone.
var pure = []string{"internal/chat", "internal/adapter", "internal/canonical", "internal/record", "internal/ownview", "internal/split", "internal/engine/kv", "internal/engine/constrain", "internal/accounting", "internal/transcript", "internal/trajectory", "internal/money", "internal/ui4a/action", "internal/ui4a/library", "internal/mindforge/stat", "internal/mindforge/gate"}

var databases = []string{"database/sql", "modernc.org/sqlite", "github.com/pressly/goose", "github.com/jackc/pgx"}

// Rules are the directions in which imports may go.
var Rules = []Rule{
	{From: []string{"internal"}, Except: []string{"internal/app"}, Not: []string{"internal/app"},
		Why: "app is the only wiring: cmd -> app -> rooms -> vocabulary"},
	{From: []string{"internal"}, Except: []string{"internal/app", "internal/wire", "internal/backend/upstream"}, Not: []string{"internal/wire"},
		Why: "rooms speak neutral words; only app mounts wire formats (upstream reads server-sent events with wire/sse)"},
	{From: []string{"internal/backend/upstream"}, Tests: true, Not: []string{"internal/wire/openai"},
		Why: "a dialect of an upstream is not the wire format of our clients: a change to one must not change the other"},
	{From: vocabulary, Except: forgeRooms, Tests: true, Not: rooms("internal/turn", "internal/session", "internal/backend", "internal/engine", "internal/store", "internal/registry", "internal/models", "internal/config", "internal/obs", "internal/web"),
		Why: "vocabulary is at the end of all arrows"},
	{From: pure, Not: []string{"os", "os/exec", "net", "net/http", "io/fs", "database/sql", "internal/store", "internal/backend", "internal/disk"},
		Why: "these are functions of their arguments: golden bytes and replays depend on it"},
	{From: []string{"internal/engine"}, Not: rooms("internal/session", "internal/turn", "internal/route", "internal/ownview", "internal/summary", "internal/record", "internal/contract", "internal/store", "internal/backend", "internal/registry", "internal/models", "internal/config", "internal/limits"),
		Why: "the engine knows token ids and revisions, never sessions"},
	{Except: []string{"internal/store", "test/bench/proxy"}, Not: databases,
		Why: "only store/* knows a database, so that another one fits behind the same suite (the benchmark's bare loop writes to one as well)"},
	{Except: []string{"internal/store/jobs"}, Not: []string{"github.com/riverqueue"}, Tests: true,
		Why: "one room knows the queue; to all others a job is a word"},
	{From: []string{"internal/jobs"}, Not: rooms("os", "net", "net/http", "internal/store", "internal/mindforge", "internal/app", "internal/config"),
		Why: "words of jobs: who does them, and where they are kept, it does not know"},
	{Except: []string{"internal/obs"}, Not: []string{"github.com/prometheus", "go.opentelemetry.io"},
		Why: "only obs knows telemetry"},
	{Except: []string{"internal/browser"}, Not: []string{"github.com/chromedp"}, Tests: true,
		Why: "one driver of the browser"},
	{Except: []string{"cmd"}, Not: []string{"github.com/spf13/cobra"}, Tests: true,
		Why: "rooms do not know that there is a command line"},
	{Except: []string{"internal/progress"}, Not: []string{"github.com/vbauerster/mpb"}, Tests: true,
		Why: "rooms report progress by a function; one place draws it"},
	{Except: []string{"internal/engine/kernel", "internal/repl/refusal", "internal/disk/disktest"}, Not: []string{"unsafe", "C"},
		Why: "memory that the compiler does not check stays in one package (and in the ioctls of the sandbox and of a test that no library has); cgo nowhere"},
	{Except: []string{"internal/repl"}, Not: []string{"github.com/elastic/go-seccomp-bpf", "golang.org/x/net/bpf", "go.starlark.net"}, Tests: true,
		Why: "only repl knows the sandbox"},
	{From: []string{"internal/repl"}, Not: rooms("internal/turn", "internal/session", "internal/backend", "internal/engine", "internal/store", "internal/contract", "internal/config", "internal/tool", "internal/record"),
		Why: "a sandbox runs code and calls back; it knows neither models nor conversations nor what a tool is"},
	{From: []string{"internal/store"}, Not: rooms("internal/session", "internal/turn", "internal/summary", "internal/backend"), Except: []string{"internal/store/storetest"},
		Why: "a store keeps records and knows no rules of conversation"},
	{Except: []string{"internal/ui4a"}, Not: []string{"github.com/evanw/esbuild"}, Tests: true,
		Why: "one room knows the compiler of TypeScript"},
	{Except: []string{"internal/mcp"}, Not: []string{"github.com/modelcontextprotocol"},
		Why: "one room speaks the protocol; to all others its tools are tools"},
	{Except: []string{"internal/mint/artifact"}, Not: []string{"oras.land/oras-go", "github.com/opencontainers", "github.com/google/go-containerregistry"}, Tests: true,
		Why: "one room speaks to registries; to all others a revision is two files and where they come from"},
	{From: []string{"internal/mint/catalogue"}, Not: rooms("internal/store", "internal/turn", "internal/session", "internal/harness", "internal/backend", "net/http"),
		Why: "the catalogue keeps and names; where its rows lie comes in through an interface, and who serves them asks it"},
	{From: []string{"internal/mindforge/ledger"}, Not: rooms("internal/store", "internal/turn", "internal/session", "internal/harness", "internal/backend", "internal/config", "os", "net/http"),
		Why: "the ledger says what may be written and what was changed behind its back; where its rows lie comes in through an interface"},
	{From: []string{"internal/mindforge/serve"}, Not: rooms("internal/store", "internal/turn", "internal/session", "internal/harness", "internal/backend", "internal/engine", "internal/config", "net/http"),
		Why: "it says which pair is served, and judges by the records; who serves it asks it"},
	{Except: []string{"internal/mindforge/attest"}, Not: []string{"github.com/in-toto", "github.com/secure-systems-lab"}, Tests: true,
		Why: "one room tells the ledger in the words of in-toto"},
	{From: []string{"internal/mindforge/attest", "internal/mindforge/lineage"}, Not: rooms("os", "net", "net/http", "internal/store", "internal/mindforge/serve", "internal/backend", "internal/config"),
		Why: "statements and graphs are functions of the entries"},
	{From: []string{"internal/toolshed"}, Not: rooms("internal/store", "internal/harness", "internal/turn", "internal/mcp", "net/http"),
		Why: "the shed judges: it has a log and a sandbox, and knows neither agents nor who asks"},
	{From: []string{"internal/tool/gate"}, Not: []string{"os", "os/exec", "net", "net/http", "internal/store", "internal/repl", "internal/harness", "internal/mcp"},
		Why: "the gate decides and records; what tools do, and where records lie, comes in through interfaces"},
	{From: []string{"internal/harness"}, Except: []string{"internal/harness/harnesstest"}, Not: []string{"internal/engine", "internal/store", "internal/backend/local", "internal/backend/upstream", "internal/turn", "net/http", "os/exec"},
		Why: "a run sees a Generator, the gate and the sandbox, never who stands behind them"},
	{From: []string{"internal/train"}, Not: rooms("internal/mint", "internal/session", "internal/turn", "internal/store", "internal/backend", "internal/harness", "internal/config", "net/http", "os/exec"),
		Why: "the trainer knows the engine's parts and tensors; who trains, and where revisions go, it does not"},
	{From: []string{"internal/mint/pass"}, Not: rooms("internal/session", "internal/turn", "internal/store", "internal/backend", "internal/harness", "internal/config", "internal/engine", "os/exec"),
		Why: "it passes on what a client says; where names lie, and what a body means, comes in through interfaces"},
	{From: []string{"internal/mint"}, Except: []string{"internal/mint/catalogue", "internal/mint/artifact", "internal/mint/pass"}, Not: rooms("internal/session", "internal/turn", "internal/store", "internal/backend", "internal/harness", "internal/config", "net/http", "os/exec"),
		Why: "the service trains and samples; where rows lie, who asks and what a conversation is, it does not know"},
	{From: []string{"internal/reach"}, Not: rooms("internal/tool", "internal/mint", "internal/config", "net/http"),
		Why: "which addresses are whose is known without knowing who connects"},
	{From: []string{"internal/mint/ledger", "internal/mint/blob"}, Not: rooms("internal/engine", "internal/train"),
		Why: "stores know rows and bytes, not what is computed"},
	{From: []string{"internal/train"}, Not: rooms("internal/mint", "internal/store", "internal/backend", "internal/config", "internal/registry", "internal/session", "internal/turn", "internal/repl", "net/http", "os/exec"),
		Why: "training computes; where checkpoints are filed, who asks, and sandboxes come in from outside"},
	{From: []string{"internal/mindforge/discovery"}, Not: rooms("internal/turn", "internal/session", "internal/store", "internal/backend", "internal/engine", "internal/config", "internal/harness", "internal/mindforge/evaluation", "internal/mindforge/gate", "net/http", "os/exec"),
		Why: "discovery proposes: models, runs and the sealed split answer behind interfaces, and it never learns what is sealed"},
	{From: []string{"internal/mindforge/world"}, Not: rooms("internal/turn", "internal/session", "internal/store", "internal/backend", "internal/engine", "internal/config", "internal/mint", "net/http", "os/exec"),
		Why: "a task is a function of its name: a world knows tools and workspaces, and neither models nor logs"},
	{From: []string{"internal/turn"}, Not: []string{"internal/engine", "internal/store", "internal/backend/local", "internal/backend/upstream", "net/http"},
		Why: "a turn sees a Generator and its own interfaces, never who stands behind them"},
	{From: []string{"internal/ui4a/grammar"}, Not: rooms("internal/engine", "internal/backend", "internal/turn", "internal/contract", "net/http", "os"),
		Why: "the grammar of cards is a text made of the library's table; which decoder takes it, and whose answers it holds, it does not know"},
	{From: []string{"internal/bench/ui4a"}, Not: rooms("internal/session", "internal/turn", "internal/store", "internal/harness", "internal/engine", "internal/config", "internal/web"),
		Why: "the bench judges cards: it knows the card's language, a browser and a model, and not the product around them"},
	{From: []string{"internal/ui4a"}, Not: rooms("internal/turn", "internal/backend", "internal/store", "internal/engine", "internal/config", "internal/web", "internal/harness"),
		Why: "cards know their language, the browser's side and, in surface, the log; turns and models come to them through the page"},
	{From: []string{"internal/mindforge/edit"}, Not: rooms("os", "net", "net/http", "internal/store", "internal/backend", "internal/harness", "internal/engine", "internal/bench"),
		Why: "edits are texts in, texts out: the evaluator makes and reads them again in its own process"},
	{From: []string{"internal/mindforge/stat", "internal/mindforge/evaluation", "internal/mindforge/gate"}, Not: rooms("internal/mindforge/expansion", "internal/mindforge/ledger", "internal/harness", "internal/backend", "internal/store", "internal/config", "net/http"),
		Why: "who judges knows nothing of who searches, and reads no byte that the loop writes"},
	{From: []string{"internal/mindforge/expansion", "internal/mindforge/scripted"}, Not: rooms("os", "time", "net", "net/http", "internal/store", "internal/backend", "internal/harness", "internal/engine", "internal/bench"),
		Why: "a search is a function of its settings and of outcomes; who acts, and where outcomes are kept, comes in through interfaces"},
	{From: []string{"internal/mindforge/batch"}, Not: rooms("os", "time", "internal/errs", "internal/mindforge", "internal/store", "internal/harness"),
		Why: "what is done several at once, it does not know"},
	{From: []string{"internal/mindforge/act"}, Not: rooms("net", "net/http", "internal/store", "internal/backend", "internal/engine", "internal/mindforge/scripted"),
		Why: "attempts go through the harness, whoever stands behind it"},
	{From: []string{"internal/mindforge/reflect"}, Not: rooms("os", "net", "net/http", "internal/store", "internal/engine", "internal/harness", "internal/backend/local", "internal/backend/upstream"),
		Why: "a proposer sees a Generator and evidence, and runs nothing"},
	{From: []string{"internal/mindforge/update"}, Except: []string{"internal/mindforge/update/tinkerclient"}, Not: rooms("net", "net/http", "internal/store", "internal/engine", "internal/backend/local", "internal/config", "internal/mindforge/scripted"),
		Why: "an update selects and says what is trained; the protocol is its client's, whether what trains is this process or another"},
	{From: []string{"internal/mindforge/update/tinkerclient"}, Not: rooms("internal/store", "internal/backend", "internal/engine", "internal/harness", "internal/config", "internal/mindforge/expansion", "internal/mindforge/evaluation"),
		Why: "a client knows the protocol and an address, never who answers there"},
	{From: []string{"internal/mindforge/report"}, Not: rooms("os", "net", "net/http", "internal/store", "internal/harness", "internal/backend", "internal/engine", "internal/config", "internal/bench", "internal/mindforge/loop"),
		Why: "a report is made of the ledger alone, so that it can be made again"},
	{Not: []string{"github.com/stretchr/testify", "github.com/golang/mock", "go.uber.org/mock", "github.com/spf13/viper"}, Tests: true,
		Why: "std and go-cmp test; the real part runs where a mock would stand; config is one struct"},
}

func rooms(names ...string) []string { return names }

// Check gives a line for each import that a rule forbids.
func (r Rule) Check(files []File) []string {
	var bad []string
	for _, f := range files {
		if f.Test && !r.Tests || len(r.From) > 0 && !Within(f.Dir, r.From...) || Within(f.Dir, r.Except...) {
			continue
		}
		for _, i := range f.Imports {
			if Within(i, r.Not...) {
				bad = append(bad, fmt.Sprintf("%s imports %s: %s", f.Path, i, r.Why))
			}
		}
	}
	return bad
}
