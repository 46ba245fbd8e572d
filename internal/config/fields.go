package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Field describes one setting: its key in config.toml, its environment variable
// and its flag.
type Field struct {
	Key  string // dotted, as in config.toml
	Env  string
	Flag string
	Help string
	When When // a change is in force

	secret func(c *Config) *Secret // the value is a credential: not in the file
	file   func(c *Config) *Secret // the value is the path of a file with one
	set    func(c *Config, value string) error
	preset string // default, when it is a constant
	many   bool   // it is a list, which config.toml may have as an array
}

// When says what makes a change of a setting take effect.
type When string

// A setting is read once by each process, unless another word stands at it.
const (
	AtStart  When = ""        // a server has to be started again
	OnReload When = "reload"  // a running server takes it up when it is told to reload
	Commands When = "command" // only commands read it, each when it starts
)

// assign gives a setting its value.
func (f Field) assign(c *Config, v string) (err error) {
	switch {
	case f.secret != nil:
		*f.secret(c) = Secret(v)
	case f.file != nil:
		*f.file(c), err = readKey(v)
	default:
		err = f.set(c, v)
	}
	return err
}

// Fields lists the settings, so that commands can offer them as flags.
func Fields() []Field { return append([]Field(nil), fields...) }

var fields = []Field{
	{Key: "home", Env: "MACARON_HOME", Flag: "home", Help: "directory of all state",
		set: text(func(c *Config) *string { return &c.Home })},
	{Key: "listen", Env: "MACARON_LISTEN", Flag: "listen", Help: "address to serve on; beyond this machine only with keys", preset: "127.0.0.1:8080",
		set: text(func(c *Config) *string { return &c.Listen })},
	{Key: "contract", Env: "MACARON_CONTRACT", Flag: "contract", Help: "path of the contract (macaron.toml)",
		set: text(func(c *Config) *string { return &c.Contract })},
	{Key: "contract_overlays", Env: "MACARON_CONTRACT_OVERLAYS", Flag: "contract-overlays", Help: "overlays of the contract that are in force, comma-separated, in order",
		many: true, set: list(func(c *Config) *[]string { return &c.Signed.Overlays }, anything)},
	{Key: "require_signed_contract", Env: "MACARON_REQUIRE_SIGNED_CONTRACT", Flag: "require-signed-contract", Help: "true takes only a contract that a trusted key has signed (macaron hcp sign)", preset: "false",
		set: truth(func(c *Config) *bool { return &c.Signed.Required })},
	{Key: "trusted_contract_keys", Env: "MACARON_TRUSTED_CONTRACT_KEYS", Flag: "trusted-contract-keys", Help: "files of public keys that may sign contracts, comma-separated",
		many: true, set: list(func(c *Config) *[]string { return &c.Signed.Keys }, anything)},
	{Key: "model", Env: "MACARON_MODEL", Flag: "model", Help: "base model: a catalogue name, a GGUF file or a model directory", preset: "smollm2-135m-instruct",
		set: text(func(c *Config) *string { return &c.Model })},
	{Key: "durability", Env: "MACARON_DURABILITY", Flag: "durability", Help: "normal (survives a kill) or full (survives power loss)", preset: "normal",
		set: oneOf(func(c *Config) *string { return &c.Durability }, "normal", "full")},
	{Key: "store", Env: "MACARON_STORE", Flag: "store", Help: "where the log is kept: sqlite (in home) or postgres://user@host/database", preset: "sqlite", set: setStore},
	{Key: "store_password_file", Env: "MACARON_STORE_PASSWORD_FILE", Flag: "store-password-file", Help: "file with the password for the store",
		file: func(c *Config) *Secret { return &c.Store.Password }},
	{Key: "retention.days", When: OnReload, Env: "MACARON_RETENTION_DAYS", Flag: "retention-days", Help: "sessions unchanged for so many days are deleted; 0 keeps them", preset: "0", set: setKeep},
	{Key: "retention.tenants", When: OnReload, Env: "MACARON_RETENTION_TENANTS", Flag: "retention-tenants", Help: "tenant=days pairs, comma-separated, for tenants with days of their own", set: setTenants},
	{Key: "models.hf_endpoint", When: Commands, Env: "HF_ENDPOINT", Flag: "hf-endpoint", Help: "base URL of hf: sources", preset: "https://huggingface.co",
		set: text(func(c *Config) *string { return &c.Models.Endpoint })},
	{Key: "models.python", When: Commands, Env: "MACARON_PYTHON", Flag: "python", Help: "Python with pip, for pip: sources", preset: "python3",
		set: text(func(c *Config) *string { return &c.Models.Python })},
	{Key: "engine.threads", Env: "MACARON_THREADS", Flag: "threads", Help: "threads of the engine; 0 takes the cores", preset: "0",
		set: whole(func(c *Config, n int64) { c.Engine.Threads = int(n) }, 0, 1024)},
	{Key: "engine.kv_bytes", Env: "MACARON_KV_BYTES", Flag: "kv-bytes", Help: "memory for cached prefixes in bytes; 0 takes the engine's default", preset: "0",
		set: whole(func(c *Config, n int64) { c.Engine.KVBytes = n }, 0, 1<<45)},
	{Key: "engine.context", Env: "MACARON_CONTEXT", Flag: "context", Help: "longest context in tokens; 0 takes the model's", preset: "0",
		set: whole(func(c *Config, n int64) { c.Engine.Context = int(n) }, 0, 1<<24)},
	{Key: "engine.batch", Env: "MACARON_BATCH", Flag: "batch", Help: "sequences decoded at once; 0 takes the engine's default", preset: "0",
		set: whole(func(c *Config, n int64) { c.Engine.Batch = int(n) }, 0, 256)},
	{Key: "engine.api_key_file", Env: "MACARON_API_KEY_FILE", Flag: "api-key-file", Help: "file with the API key that engine serve asks its clients for",
		file: func(c *Config) *Secret { return &c.Engine.Key }},
	{Key: "engine.api_key", Env: "MACARON_API_KEY", Help: "that key itself (environment only)",
		secret: func(c *Config) *Secret { return &c.Engine.Key }},
	{Key: "upstream.url", When: OnReload, Env: "MACARON_UPSTREAM", Flag: "upstream", Help: "OpenAI-compatible server to use instead of the embedded engine",
		set: text(func(c *Config) *string { return &c.Upstream.URL })},
	{Key: "upstream.key_file", When: OnReload, Env: "MACARON_UPSTREAM_KEY_FILE", Flag: "upstream-key-file", Help: "file with the upstream's API key",
		file: func(c *Config) *Secret { return &c.Upstream.Key }},
	{Key: "upstream.key", When: OnReload, Env: "MACARON_UPSTREAM_KEY", Help: "the upstream's API key (environment only)",
		secret: func(c *Config) *Secret { return &c.Upstream.Key }},
	{Key: "upstream.dialect", When: OnReload, Env: "MACARON_UPSTREAM_DIALECT", Flag: "upstream-dialect", Help: "auto, or what the server is: macaron, vllm, sglang, llama-server, anthropic, openai", preset: "auto",
		set: oneOf(func(c *Config) *string { return &c.Upstream.Dialect }, dialects...)},
	{Key: "upstream.models", When: OnReload, Env: "MACARON_UPSTREAM_MODELS", Flag: "upstream-models", Help: "adapter=model pairs, comma-separated",
		set: models},
	{Key: "upstream.timeout", When: OnReload, Env: "MACARON_UPSTREAM_TIMEOUT", Flag: "upstream-timeout", Help: "longest silence of the upstream", preset: "2m",
		set: span(func(c *Config) *time.Duration { return &c.Upstream.Timeout }, time.Second, 24*time.Hour)},
	{Key: "queue.running", When: OnReload, Env: "MACARON_QUEUE_RUNNING", Flag: "queue-running", Help: "turns that generate at once", preset: "8",
		set: whole(func(c *Config, n int64) { c.Queue.Running = int(n) }, 1, 65536)},
	{Key: "queue.waiting", When: OnReload, Env: "MACARON_QUEUE_WAITING", Flag: "queue-waiting", Help: "turns that wait for a place; more are refused", preset: "64",
		set: whole(func(c *Config, n int64) { c.Queue.Waiting = int(n) }, 0, 65536)},
	{Key: "queue.route_timeout", Env: "MACARON_ROUTE_TIMEOUT", Flag: "route-timeout", Help: "longest route hop; then the default takes the turn", preset: "30s",
		set: span(func(c *Config) *time.Duration { return &c.Queue.RouteTimeout }, 10*time.Millisecond, time.Hour)},
	{Key: "tls_cert", Env: "MACARON_TLS_CERT", Flag: "tls-cert", Help: "PEM file with this server's certificate and its chain; read again when it changes",
		set: text(func(c *Config) *string { return &c.Door.Cert })},
	{Key: "tls_key", Env: "MACARON_TLS_KEY", Flag: "tls-key", Help: "PEM file with the certificate's key",
		set: text(func(c *Config) *string { return &c.Door.CertKey })},
	{Key: "hosts", When: OnReload, Env: "MACARON_HOSTS", Flag: "hosts", Help: "names that clients may call this server by, comma-separated",
		many: true, set: list(func(c *Config) *[]string { return &c.Door.Hosts }, hostName)},
	{Key: "cors_origins", When: OnReload, Env: "MACARON_CORS_ORIGINS", Flag: "cors-origins", Help: "origins of other sites whose pages may call the API, comma-separated",
		many: true, set: list(func(c *Config) *[]string { return &c.Door.Origins }, origin)},
	{Key: "media_hosts", Env: "MACARON_MEDIA_HOSTS", Flag: "media-hosts", Help: "hosts from which engines may fetch images that clients link to, comma-separated; * is every public name; none: only data: URLs",
		many: true, set: list(func(c *Config) *[]string { return &c.Door.MediaHosts }, mediaHost)},
	{Key: "connections", Env: "MACARON_CONNECTIONS", Flag: "connections", Help: "connections at once; more wait to be accepted", preset: "4096",
		set: whole(func(c *Config, n int64) { c.Door.Connections = int(n) }, 1, 1<<20)},

	{Key: "drain", Env: "MACARON_DRAIN", Flag: "drain", Help: "how long open turns may go on after a stop was asked for", preset: "10s",
		set: span(func(c *Config) *time.Duration { return &c.Stop.Drain }, 10*time.Millisecond, time.Hour)},
	{Key: "drain_delay", Env: "MACARON_DRAIN_DELAY", Flag: "drain-delay", Help: "how long, before that, /readyz says no while new requests are still taken", preset: "0s",
		set: span(func(c *Config) *time.Duration { return &c.Stop.Delay }, 0, 10*time.Minute)},
	{Key: "key_file", When: Commands, Env: "MACARON_KEY_FILE", Flag: "key-file", Help: "file with the API key that commands such as chat show to a running server",
		file: func(c *Config) *Secret { return &c.Key }},
	{Key: "key", When: Commands, Env: "MACARON_KEY", Help: "that key itself (environment only)",
		secret: func(c *Config) *Secret { return &c.Key }},
	{Key: "live_store", When: Commands, Env: LiveStore, Help: "database in which the evaluator counts live turns; the loop that starts it sets it (environment only)",
		secret: func(c *Config) *Secret { return &c.LiveStore }},

	{Key: "router.embedding_model", Env: "MACARON_ROUTER_EMBEDDING_MODEL", Flag: "router-embedding-model", Help: "directory of a sentence encoder for router.shortlist; none: by words",
		set: text(func(c *Config) *string { return &c.Router.EmbeddingModel })},
	{Key: "runs.running", Env: "MACARON_RUNS_RUNNING", Flag: "runs-running", Help: "runs of tasks at once", preset: "2",
		set: whole(func(c *Config, n int64) { c.Runs.Running = int(n) }, 1, 1024)},
	{Key: "runs.waiting", Env: "MACARON_RUNS_WAITING", Flag: "runs-waiting", Help: "runs that wait for a place; more are refused", preset: "16",
		set: whole(func(c *Config, n int64) { c.Runs.Waiting = int(n) }, 1, 65536)},
	{Key: "runs.resume", Env: "MACARON_RUNS_RESUME", Flag: "runs-resume", Help: "true: runs that a stop cut short go on at the start", preset: "false",
		set: truth(func(c *Config) *bool { return &c.Runs.Resume })},
	{Key: "mint.enabled", Env: "MACARON_MINT", Flag: "mint", Help: "true: the training service is there, with the embedded engine", preset: "true",
		set: truth(func(c *Config) *bool { return &c.Mint.Enabled })},
	{Key: "mint.names", Env: "MACARON_MINT_NAMES", Flag: "mint-names", Help: "names that the base has for clients of the training service, comma-separated; none: its own and the one it was published under",
		many: true, set: list(func(c *Config) *[]string { return &c.Mint.Names }, anything)},
	{Key: "mint.tokenizer", Env: "MACARON_MINT_TOKENIZER", Flag: "mint-tokenizer", Help: "tokenizer that clients of the training service load: a public name or a directory of theirs; none: the base's name",
		set: text(func(c *Config) *string { return &c.Mint.Tokenizer })},
	{Key: "mint.session_expiry", Env: "MACARON_MINT_SESSION_EXPIRY", Flag: "mint-session-expiry", Help: "silence of a client that ends its training session", preset: "5m",
		set: span(func(c *Config) *time.Duration { return &c.Mint.Silence }, 30*time.Second, 24*time.Hour)},
	{Key: "mint.grace", Env: "MACARON_MINT_GRACE", Flag: "mint-grace", Help: "how long results are kept after the end of their session", preset: "1h",
		set: span(func(c *Config) *time.Duration { return &c.Mint.Grace }, time.Minute, 8760*time.Hour)},
	{Key: "mint.sampler_idle", Env: "MACARON_MINT_SAMPLER_IDLE", Flag: "mint-sampler-idle", Help: "how long a sampler without a checkpoint is kept unused", preset: "2h",
		set: span(func(c *Config) *time.Duration { return &c.Mint.Idle }, time.Minute, 8760*time.Hour)},
	{Key: "mint.sessions", Env: "MACARON_MINT_SESSIONS", Flag: "mint-sessions", Help: "training sessions of a tenant that live at once", preset: "100",
		set: whole(func(c *Config, n int64) { c.Mint.Sessions = int(n) }, 1, 1<<20)},
	{Key: "mint.models", Env: "MACARON_MINT_MODELS", Flag: "mint-models", Help: "models of a tenant under training at once", preset: "64",
		set: whole(func(c *Config, n int64) { c.Mint.Models = int(n) }, 1, 1<<20)},
	{Key: "mint.futures", Env: "MACARON_MINT_FUTURES", Flag: "mint-futures", Help: "requests of a tenant that are pending at once", preset: "10000",
		set: whole(func(c *Config, n int64) { c.Mint.Futures = int(n) }, 1, 1<<20)},
	{Key: "mint.bytes", Env: "MACARON_MINT_BYTES", Flag: "mint-bytes", Help: "bytes that pending requests of all tenants take at most", preset: "1073741824",
		set: whole(func(c *Config, n int64) { c.Mint.Bytes = n }, 1<<20, 1<<40)},
	{Key: "mint.samples", Env: "MACARON_MINT_SAMPLES", Flag: "mint-samples", Help: "sampling requests that run at once", preset: "32",
		set: whole(func(c *Config, n int64) { c.Mint.Samples = int(n) }, 1, 4096)},
	{Key: "mint.resident", Env: "MACARON_MINT_RESIDENT", Flag: "mint-resident", Help: "models under training whose optimizer stays in memory", preset: "8",
		set: whole(func(c *Config, n int64) { c.Mint.Resident = int(n) }, 1, 4096)},
	{Key: "mint.resident_bytes", Env: "MACARON_MINT_RESIDENT_BYTES", Flag: "mint-resident-bytes", Help: "bytes that their values, gradients and optimizers take together; an adapter that takes more is refused", preset: "4294967296",
		set: whole(func(c *Config, n int64) { c.Mint.Optimizer = n }, 1<<20, 1<<44)},
	{Key: "mint.replay", Env: "MACARON_MINT_REPLAY", Flag: "mint-replay", Help: "work of a model that a restart may have to do again", preset: "30s",
		set: span(func(c *Config) *time.Duration { return &c.Mint.Replay }, 100*time.Millisecond, time.Hour)},
	{Key: "mint.gradient", Env: "MACARON_MINT_GRADIENT", Flag: "mint-gradient", Help: "what gradients go through where a request has no prefix_mode: exact, plain, response-only or resident-prefix", preset: "exact",
		set: oneOf(func(c *Config) *string { return &c.Mint.Gradient }, "exact", "plain", "response-only", "resident-prefix")},
	{Key: "mint.memory", Env: "MACARON_MINT_MEMORY", Flag: "mint-memory", Help: "bytes of a training pass that stay in memory, the others go to files in the home's scratch; 0: all stay", preset: "0",
		set: whole(func(c *Config, n int64) { c.Mint.Memory = n }, 0, 1<<50)},
	{Key: "price", When: OnReload, Env: "MACARON_PRICE", Flag: "price", Help: "USD for a million tokens where no [[prices]] say, as input=3,cached=0.3,output=15; none: nobody knows", set: setPrice},
	{Key: "tools.networks", Env: "MACARON_TOOLS_NETWORKS", Flag: "tools-networks", Help: "private networks that http tools may reach, such as 10.1.0.0/16, comma-separated",
		many: true, set: list(func(c *Config) *[]string { return &c.Tools.Networks }, network)},
	{Key: "sandbox.backend", Env: "MACARON_SANDBOX_BACKEND", Flag: "sandbox-backend", Help: "what keeps code of models apart: auto, bubblewrap, or starlark, a small language that needs nothing", preset: "auto",
		set: oneOf(func(c *Config) *string { return &c.Sandbox.Backend }, "auto", "bubblewrap", "starlark")},
	{Key: "sandbox.python", Env: "MACARON_SANDBOX_PYTHON", Flag: "sandbox-python", Help: "interpreter inside; everybody must be able to read it", preset: "/usr/bin/python3",
		set: text(func(c *Config) *string { return &c.Sandbox.Python })},
	{Key: "sandbox.bubblewrap", Env: "MACARON_SANDBOX_BUBBLEWRAP", Flag: "sandbox-bubblewrap", Help: "program that makes the sandbox, 0.8 or newer", preset: "bwrap",
		set: text(func(c *Config) *string { return &c.Sandbox.Bubblewrap })},
	{Key: "sandbox.pool", Env: "MACARON_SANDBOX_POOL", Flag: "sandbox-pool", Help: "sandboxes that are kept warm", preset: "2",
		set: whole(func(c *Config, n int64) { c.Sandbox.Pool = int(n) }, 0, 256)},
	{Key: "sandbox.allow_missing", Env: "MACARON_SANDBOX_ALLOW_MISSING", Flag: "sandbox-allow-missing", Help: "layers of the sandbox whose absence is accepted, comma-separated; macaron doctor lists them",
		many: true, set: list(func(c *Config) *[]string { return &c.Sandbox.AllowMissing }, layerName)},
	{Key: "log.level", When: OnReload, Env: "MACARON_LOG_LEVEL", Flag: "log-level", Help: "debug, info, warn or error", preset: "info",
		set: oneOf(func(c *Config) *string { return &c.Log.Level }, "debug", "info", "warn", "error")},
	{Key: "log.format", Env: "MACARON_LOG_FORMAT", Flag: "log-format", Help: "text or json", preset: "text",
		set: oneOf(func(c *Config) *string { return &c.Log.Format }, "text", "json")},

	{Key: "traces.endpoint", Env: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", Flag: "traces-endpoint", Help: "OTLP/HTTP receiver of traces, such as http://127.0.0.1:4318/v1/traces; none: no traces", set: setEndpoint},
	{Key: "traces.exporter", Env: "OTEL_TRACES_EXPORTER", Flag: "traces-exporter", Help: "otlp or none", preset: "otlp",
		set: oneOf(func(c *Config) *string { return &c.Traces.Exporter }, "otlp", "none")},
	{Key: "traces.headers_file", Env: "MACARON_TRACES_HEADERS_FILE", Flag: "traces-headers-file", Help: "file with NAME=VALUE pairs, comma-separated, for the receiver of traces",
		file: func(c *Config) *Secret { return &c.Traces.Headers }},
	{Key: "traces.content", Env: "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", Flag: "traces-content", Help: "true puts conversations into traces", preset: "false",
		set: truth(func(c *Config) *bool { return &c.Traces.Content })},
	{Key: "traces.sample", Env: "MACARON_TRACES_SAMPLE", Flag: "traces-sample", Help: "share of the traces that begin here, 0 to 1; none: OTEL_TRACES_SAMPLER decides", set: setSample},
}

func text(at func(*Config) *string) func(*Config, string) error {
	return func(c *Config, v string) error { *at(c) = v; return nil }
}

func oneOf(at func(*Config) *string, allowed ...string) func(*Config, string) error {
	return func(c *Config, v string) error {
		for _, a := range allowed {
			if v == a {
				*at(c) = v
				return nil
			}
		}
		return fmt.Errorf("it must be one of %s", strings.Join(allowed, ", "))
	}
}

func whole(set func(*Config, int64), low, high int64) func(*Config, string) error {
	return func(c *Config, v string) error {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < low || n > high {
			return fmt.Errorf("it must be a whole number from %d to %d", low, high)
		}
		set(c, n)
		return nil
	}
}

func span(at func(*Config) *time.Duration, low, high time.Duration) func(*Config, string) error {
	return func(c *Config, v string) error {
		d, err := time.ParseDuration(v)
		if err != nil || d < low || d > high {
			return fmt.Errorf("it must be a duration from %s to %s, such as 90s", low, high)
		}
		*at(c) = d
		return nil
	}
}

// list reads words separated by commas.
func list(at func(*Config) *[]string, check func(string) error) func(*Config, string) error {
	return func(c *Config, v string) error {
		var words []string
		for _, w := range strings.Split(v, ",") {
			if w = strings.TrimSpace(w); w == "" {
				continue
			}
			if err := check(w); err != nil {
				return err
			}
			words = append(words, w)
		}
		*at(c) = words
		return nil
	}
}

// layerName takes a word; which layers there are the sandbox says.
func layerName(s string) error {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("%q is no name of a layer", s)
	}
	return nil
}

// anything is a word of a list that is checked where it is used.
func anything(string) error { return nil }

// models reads "L0=chat,L1=agent"; a file gives a table instead, flattened to this.
func models(c *Config, v string) error {
	m := map[string]string{}
	for _, pair := range strings.Split(v, ",") {
		name, model, ok := strings.Cut(strings.TrimSpace(pair), "=")
		if !ok || name == "" || model == "" {
			return fmt.Errorf("it must be adapter=model pairs separated by commas")
		}
		m[name] = model
	}
	c.Upstream.Models = m
	return nil
}
