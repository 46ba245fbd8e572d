package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// options say what is measured.
type options struct {
	macaron, contract string // the binary and its contract
	peer, python      string // directory of the Python proxy and its interpreter; "" leaves it out
	durability        string // of the log: full or normal
	profile           string // file for a CPU profile of Macaron; "" takes none
	work              string // directory of everything that is written

	word             time.Duration // of a soak's upstream, between two words
	running, waiting int           // turns at once, and those that wait; 0: more than any load needs
}

// bench is the upstream and the subjects, all running.
type bench struct {
	options
	upstream *subject
	subjects []*subject
}

func (b *bench) stop() {
	for _, s := range b.subjects {
		s.stop()
	}
	if b.upstream != nil {
		b.upstream.stop()
	}
}

// start starts the upstream and all subjects.
func start(o options) (*bench, error) {
	b := &bench{options: o}
	steps := []func() (*subject, error){b.startMacaron, b.startBare("bare", false), b.startBare("bare, flushing", true)}
	if o.peer != "" {
		steps = append(steps, b.startPeer)
	}
	var err error
	if b.upstream, err = b.self("upstream", "/health"); err != nil {
		return nil, err
	}
	for _, step := range steps {
		s, err := step()
		if err != nil {
			b.stop()
			return nil, err
		}
		b.subjects = append(b.subjects, s)
	}
	return b, nil
}

// self starts this program in one of its roles.
func (b *bench) self(role, path string, more ...string) (*subject, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	return b.selfAt(address, role, path, more...)
}

func (b *bench) selfAt(address, role, path string, more ...string) (*subject, error) {
	me, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return process(b.work, role, path, address, nil, append([]string{me, "-role", role, "-listen", address}, more...)...)
}

func (b *bench) startBare(name string, flush bool) func() (*subject, error) {
	return func() (*subject, error) {
		s, err := b.self("bare", "/health", "-upstream", b.upstream.base, "-durability", b.durability,
			"-db", filepath.Join(b.work, fmt.Sprintf("bare-%t.db", flush)), fmt.Sprintf("-flush=%t", flush))
		if err == nil {
			s.Name, s.client = name, newClient(s.base, "m")
		}
		return s, err
	}
}

// startMacaron starts the binary with a home of its own. The contract's adapters are taken
// to be model names of the upstream, so no weights are read.
func (b *bench) startMacaron() (*subject, error) {
	text, err := os.ReadFile(b.contract)
	if err != nil {
		return nil, err
	}
	contract, home := filepath.Join(b.work, "macaron.toml"), filepath.Join(b.work, "home")
	if err := os.WriteFile(contract, bytes.ReplaceAll(text, []byte(`"adapters/`), []byte(`"model:`)), 0o600); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	command := []string{b.macaron, "serve"}
	if b.profile != "" { // the same app, in this program, which can profile it
		me, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = []string{me, "-role", "profiled", "-profile", b.profile}
	}
	s, err := process(b.work, "macaron", "/readyz", address, []string{
		"MACARON_HOME=" + home, "MACARON_LISTEN=" + address, "MACARON_CONTRACT=" + contract, "MACARON_DURABILITY=" + b.durability,
		"MACARON_UPSTREAM=" + b.upstream.base + "/v1", "MACARON_UPSTREAM_DIALECT=vllm",
		"GOGC=" + b.gogc(), fmt.Sprint("MACARON_QUEUE_RUNNING=", cmp.Or(b.running, 1024)), fmt.Sprint("MACARON_QUEUE_WAITING=", cmp.Or(b.waiting, 65536)), "MACARON_CONNECTIONS=65536",
	}, command...)
	if err == nil {
		s.client, s.drained = newClient(s.base, "macaron"), s.summarised
	}
	return s, err
}

// gogc is Go's own for a soak, whose live heap is derived from it; else what the binary sets.
func (b *bench) gogc() string {
	if b.word > 0 {
		return "100"
	}
	return ""
}

// startPeer starts the Python proxy as its own script does, without a limit that the load
// would meet.
func (b *bench) startPeer() (*subject, error) {
	if _, err := os.Stat(filepath.Join(b.peer, "mol_harness")); err != nil {
		return nil, errors.Join(err, errors.New("the peer is not there: see make bench-proxy"))
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	metrics, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s, err := process(b.work, "peer", "/health", address, []string{
		"PYTHONPATH=" + b.peer, "PYTHONDONTWRITEBYTECODE=1", "UPSTREAM=" + b.upstream.base, "PROXY_PORT=" + port(address), "MOL_METRICS_PORT=" + port(metrics),
		"SERVED_MODEL_NAME=Macaron-V1-Venti", "MOL_QUEUE_TIMEOUT_S=60", "MOL_MAX_QUEUED_REQUESTS=4096", "MOL_MAX_INFLIGHT_REQUESTS=1024",
	}, b.python, "-m", "mol_harness.proxy")
	if err == nil {
		s.client = newClient(s.base, "Macaron-V1-Venti")
	}
	return s, err
}

// serveRole runs this program as something that is measured or measured against.
func serveRole(role, listen, upstreamURL, db string, o options, flush bool) error {
	mux := http.NewServeMux()
	switch role {
	case "upstream":
		mux.Handle("/", upstream{word: o.word})
	case "bare":
		writer, err := startWriter(db, o.durability)
		if err != nil {
			return err
		}
		mux.Handle("POST /v1/chat/completions", &bare{upstream: upstreamURL, flush: flush, writer: writer,
			client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}})
		mux.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "{}") })
	default:
		return fmt.Errorf("there is no role %q", role)
	}
	// The engine shares the kernel's memory for connections with what is measured, and takes little of it.
	s := &http.Server{Addr: listen, Handler: mux, ConnContext: func(ctx context.Context, c net.Conn) context.Context {
		_ = c.(*net.TCPConn).SetWriteBuffer(128 << 10) // the kernel's own bound is a wider one
		return ctx
	}}
	return s.ListenAndServe()
}

// stored is how many bytes the log of Macaron has, without the write-ahead log beside it, which
// comes and goes.
func (b *bench) stored() (int64, error) {
	info, err := os.Stat(filepath.Join(b.work, "home", "log.db"))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
