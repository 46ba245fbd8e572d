// Package config gathers what belongs to this machine: where state lives, what to
// listen on, which engine serves. $MACARON_HOME/config.toml < environment < flags;
// every value remembers where it came from. No other room reads the environment.
// What decides behaviour and travels with the adapters is the contract's, not here.
package config

import (
	"log/slog"
	"strings"
	"time"

	"macaron/internal/money"
)

// LiveStore is the variable of the setting live_store.
const LiveStore = "MACARON_LIVE_STORE"

// Config is one machine's settings, checked and complete.
type Config struct {
	Home        string // directory of all state: log.db, blobs/, config.toml, lock
	Listen      string // host:port; beyond this machine only with keys
	Contract    string // path of the contract, macaron.toml
	Signed      Signed
	Model       string // name of the base model in the catalogue, or a path
	Durability  string // "normal" (survives a kill) or "full" (survives power loss)
	Store       Store
	Models      Models
	Engine      Engine
	Upstream    Upstream
	Servers     []Server          // [[engines]] of the file; Below has them and the upstream
	MCP         []MCPServer       // [mcp.NAME] of the file
	Secrets     map[string]Secret // [secrets.NAME] of the file, for tools of contracts
	Environment map[string]string // [environment] of the file, for code of runs
	Tools       Tools
	Queue       Queue
	Router      Router
	Runs        Runs
	Mint        Mint
	Prices      money.Table // [[prices]] of the file
	Price       *money.Rate // of what none of them fits; nil: nobody knows
	Sandbox     Sandbox
	Log         Log
	Traces      Traces
	Stop        Stop
	Door        Door
	Key         Secret // that this program's own commands show to a running server
	LiveStore   Secret // where the evaluator counts live turns, if that is a database

	origins map[string]Origin
	values  map[string]string
	strays  []string
}

// Signed says which contracts this machine takes.
type Signed struct {
	Overlays []string // of the contract, laid over it in this order
	Required bool     // a trusted key must have signed it
	Keys     []string // files of the public keys that are trusted
}

// Models says how model files are fetched.
type Models struct {
	Endpoint string // base URL of hf sources
	Python   string // interpreter whose pip fetches pip sources
}

// Engine sizes the embedded engine; zero means its own default.
type Engine struct {
	Threads int
	KVBytes int64  // memory for cached prefixes
	Context int    // tokens
	Batch   int    // sequences decoded at once
	Key     Secret // that the clients of `engine serve` must have; none: anybody on this machine
}

// Upstream names one server that serves instead of the embedded engine, for set-ups
// that need no list of engines. It is used when URL is set.
type Upstream struct {
	URL     string // such as http://127.0.0.1:8000/v1
	Key     Secret
	Dialect string            // what the server understands; docs/formats/engines.md
	Models  map[string]string // adapter name -> model name there; the name itself if absent
	Timeout time.Duration     // longest silence of the server
}

// Door says who may come in, beside whoever has a key.
type Door struct {
	Cert, CertKey string   // PEM files; set together, they make the listener speak TLS
	MediaHosts    []string // from which engines may fetch what clients link to
	Hosts         []string // names of this server beside those of loopback; none: any name where keys are asked for
	Origins       []string // origins of other sites whose pages may call the API
	Connections   int      // at once; more wait to be accepted
}

// Router is what this machine has for routing.
type Router struct {
	EmbeddingModel string // directory of the sentence encoder that makes shortlists; "": words make them
}

// Sandbox says how this machine keeps code of models apart; docs/formats/repl.md.
type Sandbox struct {
	Backend      string
	Python       string
	Bubblewrap   string
	Pool         int
	AllowMissing []string // names of layers
}

// Runs is how this machine runs tasks.
type Runs struct {
	Running int  // at once
	Waiting int  // for a place; more are refused
	Resume  bool // those that a stop cut short go on at the start
}

// Mint is the training service; docs/MINT.md.
type Mint struct {
	Enabled   bool
	Names     []string      // that the base has for clients, beside its own
	Tokenizer string        // what clients' tokenizer loaders are given; "": the first of the names
	Silence   time.Duration // that ends a session
	Grace     time.Duration // that results are kept after the end of their session
	Idle      time.Duration // after which a state that was not saved is let go
	Sessions  int           // of a tenant that live
	Models    int           // of a tenant under training
	Futures   int           // of a tenant that are pending
	Bytes     int64         // that pending requests of all tenants take
	Samples   int           // sampling requests at once
	Resident  int           // models whose optimizer is in memory
	Optimizer int64         // bytes that they take together, and what one may take
	Replay    time.Duration // of work that a restart may have to do again
	Gradient  string        // where a request says nothing of it; docs/engine/longstraw.md
	Memory    int64         // bytes of a pass that stay in memory, the others go to disk; 0: all stay
	Backends  []Backend     // [[mint.backends]] of the file
}

// Queue bounds the turns that this process holds at once.
type Queue struct {
	Running int // turns that generate at once
	Waiting int // turns that wait for a place; more are refused with 429

	RouteTimeout time.Duration // longest route hop; then the contract's default takes the turn
}

// Log says how the operator's log is written.
type Log struct {
	Level  string // debug, info, warn, error
	Format string // text or json
}

// Stop says how a server ends.
type Stop struct {
	Delay time.Duration // not ready, and still taking requests
	Drain time.Duration // then: taking none, and finishing what is open
}

// Traces says where OpenTelemetry spans go. Without an endpoint none are made.
type Traces struct {
	Endpoint string   // whole URL of an OTLP/HTTP receiver
	Exporter string   // otlp or none
	Headers  Secret   // NAME=VALUE pairs for the receiver, separated by commas
	Content  bool     // conversations stand in spans
	Sample   *float64 // share of the traces that begin here; nil: OTEL_TRACES_SAMPLER, or all
}

// On reports whether spans are made.
func (t Traces) On() bool { return t.Endpoint != "" && t.Exporter != "none" }

// Secret is a credential: it prints and logs as dots, Reveal gives it out.
type Secret string

// Reveal returns the credential itself, for the one header that carries it.
func (s Secret) Reveal() string { return string(s) }

// String hides the credential.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "******"
}

// GoString hides the credential from %#v.
func (s Secret) GoString() string { return s.String() }

// LogValue hides the credential from the log.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalText hides the credential from every encoder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Origin says where a value came from.
type Origin string

// The origins, weakest first. FromFile and FromEnv carry the name after a colon.
const (
	FromDefault Origin = "default"
	FromFile    Origin = "file"
	FromEnv     Origin = "environment"
	FromFlag    Origin = "flag"
)

// Shown is one line of `config show`.
type Shown struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
	Help   string `json:"help"`
}

// Show lists every setting with its value and origin, in the order of the file.
func (c Config) Show() []Shown {
	var out []Shown
	for _, f := range fields {
		out = append(out, Shown{Key: f.Key, Value: c.values[f.Key], Origin: c.origins[f.Key], Help: f.Help})
	}
	return out
}

// Origin tells where a setting came from, by the kind alone.
func (c Config) Origin(key string) Origin {
	kind, _, _ := strings.Cut(string(c.origins[key]), ":")
	return Origin(kind)
}
